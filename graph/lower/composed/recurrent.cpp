#include "graph/lower/composed/recurrent.h"

#include <optional>
#include <utility>
#include <vector>

#include "graph/lower/composed/recurrent_cell.h"
#include "graph/lower/node/formulas.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/repetitions.h"

namespace kiln::graph {
namespace {

// What a step leaves to the next one; the second is LSTM's cell. None: zeros.
struct State {
    std::optional<ValueId> h, c;
};

using Cell = RecurrentCell;

// h' = f(x Wi + h Ri + b)
State rnn_step(NodeLowering &node, const Cell &cell, ValueId x, const State &before) {
    const ValueId sum = before.h ? node.elementwise(operand(0) + operand(1), {x, cell.recur(*before.h)}) : x;
    return {node.elementwise(cell.activation(0, operand(0)), {sum}), {}};
}

// Gates i, o, f, c. c' = f(f) * c + f(i) * g(c), h' = f(o) * h(c'); with peepholes gates see the cell, too.
State lstm_step(NodeLowering &node, const Cell &cell, ValueId x, const State &before) {
    const ValueId sums = before.h ? node.elementwise(operand(0) + operand(1), {x, cell.recur(*before.h)}) : x;
    const auto gate = [&](int index, std::optional<ValueId> c) {
        ValueId sum = cell.gate(sums, index);
        const auto peephole = c ? cell.peephole(index) : std::nullopt;
        if (peephole) sum = node.elementwise(operand(0) + operand(1) * operand(2), {sum, *peephole, *c});
        return sum;
    };
    const bool is_coupled = node.attributes.flag("input_forget", false);
    const Expression i = cell.activation(0, operand(0)), g = cell.activation(1, operand(1));
    std::vector<ValueId> inputs{gate(0, before.c), gate(3, {})};
    Expression c = i * g;
    if (before.c) {
        const Expression f = is_coupled ? constant(1, cell.type()) - i : cell.activation(0, operand(3));
        c = c + f * operand(2);
        inputs.push_back(*before.c);
        if (!is_coupled) inputs.push_back(gate(2, before.c));
    }
    State after;
    after.c = node.elementwise(c, inputs);
    const Expression o = cell.activation(0, operand(0)), h = cell.activation(2, operand(1), false);
    after.h = node.elementwise(o * h, {gate(1, after.c), *after.c});
    return after;
}

// Gates z, r, h. h' = (1 - z) * g(x + r * (h R + b)) + z * h where `linear_before_reset` holds, else g(x + (r * h) R + b).
State gru_step(NodeLowering &node, const Cell &cell, ValueId x, const State &before) {
    const bool is_linear = cell.is_linear_before_reset();
    const Expression one = constant(1, cell.type());
    std::vector<ValueId> inputs{cell.gate(x, 0), cell.gate(x, 1), cell.gate(x, 2)};
    if (!before.h) {
        Expression candidate = operand(1);
        inputs.erase(inputs.begin() + 1);
        if (const auto bias = cell.reset_bias()) {
            candidate = operand(1) + cell.activation(0, operand(2)) * operand(3);
            inputs.insert(inputs.end(), {cell.gate(x, 1), *bias});
        }
        return {node.elementwise((one - cell.activation(0, operand(0))) * cell.activation(1, candidate), inputs), {}};
    }
    const ValueId h = *before.h;
    if (is_linear) {
        const ValueId all = cell.recur(h);
        inputs.insert(inputs.end(), {cell.gate(all, 0), cell.gate(all, 1), cell.gate(all, 2), h});
        const Expression z = cell.activation(0, operand(0) + operand(3)),
                         r = cell.activation(0, operand(1) + operand(4));
        const Expression candidate = cell.activation(1, operand(2) + r * operand(5));
        return {node.elementwise((one - z) * candidate + z * operand(6), inputs), {}};
    }
    const ValueId z_and_r = cell.recur(h);
    const Expression gate = cell.activation(0, operand(0) + operand(1));
    const ValueId reset = node.elementwise(gate * operand(2), {inputs[1], cell.gate(z_and_r, 1), h});
    const ValueId candidate = cell.recur_reset(reset);
    const Expression z = cell.activation(0, operand(0) + operand(1)), g = cell.activation(1, operand(2) + operand(3));
    return {
        node.elementwise((one - z) * g + z * operand(4), {inputs[0], cell.gate(z_and_r, 0), inputs[2], candidate, h}),
        {}};
}

using StepRule = State (*)(NodeLowering &, const Cell &, ValueId, const State &);

// The states behind all steps, in the order of the sequence. Steps that a sequence does not have leave its state as it is: backwards
// they come before the first one.
std::vector<State> run(NodeLowering &node, const Cell &cell, StepRule step, const State &initial) {
    std::vector<State> states(static_cast<size_t>(cell.steps()));
    State now = initial;
    for (int64_t i = 0; i < cell.steps(); i++) {
        const int64_t t = cell.is_reversed() ? cell.steps() - 1 - i : i;
        const State before = std::exchange(now, step(node, cell, cell.input_of_step(t), now));
        if (cell.has_lengths()) {
            now.h = cell.where_inside(t, *now.h, before.h);
            if (now.c) now.c = cell.where_inside(t, *now.c, before.c);
        }
        states[static_cast<size_t>(t)] = now;
    }
    return states;
}

// One value for each direction, along an axis of their own in front of `axis`.
ValueId stacked(NodeLowering &node, std::vector<ValueId> parts, int axis) {
    for (ValueId &part : parts) {
        Shape shape = node.shape(part);
        shape.insert(shape.begin() + axis, 1);
        part = node.reshape(part, shape);
    }
    return parts.size() == 1 ? parts[0] : node.add(Concat{axis}, std::move(parts));
}

std::optional<ValueId> initial_state(NodeLowering &node, const RecurrentInputs &inputs, int input, int direction) {
    if (!node.has_input(input) || node.is_known_zero(node.input(input))) return {};
    const ValueId all = inputs.is_batch_first ? node.transpose(node.input(input), {1, 0, 2}) : node.input(input);
    return node.reshape(take(node, all, {{0, {direction}}}), {inputs.batch, inputs.hidden});
}

template<RecurrentKind kind, StepRule step>
void recurrent(NodeLowering &node, const RecurrentInputs &inputs) {
    check_steps_of_sequence(inputs.steps, inputs.directions());
    std::vector<ValueId> sequences, last_h, last_c;
    for (int direction = 0; direction < inputs.directions(); direction++) {
        const Cell cell(node, kind, inputs, direction);
        const State initial{initial_state(node, inputs, 5, direction),
                            kind == RecurrentKind::lstm ? initial_state(node, inputs, 6, direction) : std::nullopt};
        const std::vector<State> states = run(node, cell, step, initial);
        const State &last = cell.is_reversed() ? states.front() : states.back();
        last_h.push_back(*last.h);
        if (last.c) last_c.push_back(*last.c);
        if (!node.wants(0)) continue;
        std::vector<ValueId> parts;
        for (int64_t t = 0; t < inputs.steps; t++) {
            const ValueId h = *states[static_cast<size_t>(t)].h;
            parts.push_back(
                node.reshape(cell.has_lengths() ? cell.where_inside(t, h, {}) : h, {1, inputs.batch, inputs.hidden}));
        }
        sequences.push_back(parts.size() == 1 ? parts[0] : node.add(Concat{0}, std::move(parts)));
    }
    const auto give = [&](std::vector<ValueId> parts, int axis, std::vector<int> batch_first, int output) {
        if (!node.wants(output)) return;
        const ValueId all = stacked(node, std::move(parts), axis);
        node.result(inputs.is_batch_first ? node.transpose(all, std::move(batch_first)) : all, output);
    };
    give(std::move(sequences), 1, {2, 0, 1, 3}, 0);
    give(std::move(last_h), 0, {1, 0, 2}, 1);
    if (kind == RecurrentKind::lstm) give(std::move(last_c), 0, {1, 0, 2}, 2);
}

}  // namespace

void rnn(NodeLowering &node) {
    recurrent<RecurrentKind::rnn, rnn_step>(node, recurrent_inputs(node, RecurrentKind::rnn));
}

void gru(NodeLowering &node) {
    recurrent<RecurrentKind::gru, gru_step>(node, recurrent_inputs(node, RecurrentKind::gru));
}

void lstm(NodeLowering &node) {
    recurrent<RecurrentKind::lstm, lstm_step>(node, recurrent_inputs(node, RecurrentKind::lstm));
}

void dynamic_quantize_lstm(NodeLowering &node) {
    recurrent<RecurrentKind::lstm, lstm_step>(node, quantized_recurrent_inputs(node));
}

}  // namespace kiln::graph
