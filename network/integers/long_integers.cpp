#include "network/integers/long_integers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "graph/evaluate/evaluate.h"
#include "graph/rewriting/value_range.h"

namespace kiln::network {

using namespace graph;
using scalar::Function;

namespace {

constexpr size_t most_inlined = 256;               // steps of an expression that computes its operands, too
constexpr int64_t most_masked = int64_t{1} << 20;  // elements of a mask that says which of them are fills
constexpr int64_t part_base = int64_t{1} << 16;    // of the parts that sums are made of
constexpr int64_t most_terms = int64_t{1} << 15;   // of which 32 bits hold the sum of parts

// How an integer of 64 bits is computed.
struct Computation {
    scalar::Expression expression;
    std::vector<ValueId> inputs;
};

// Whether the function of moved inputs, which have the fill outside of their shapes, answers the fill there, as a sum does for 0.
bool answers_fill(const Rewriting &graph, double fill, const Computation &computation) {
    std::vector<Numbers> operands;
    for (const ValueId id : computation.inputs) {
        if (graph.shape(id).empty()) return false;
        const Element type = graph.value(id).form.type;
        operands.push_back(is_float(type) ? Numbers{{type, {}}, std::vector<double>{fill}}
                                          : Numbers{{type, {}}, std::vector<int64_t>{static_cast<int64_t>(fill)}});
    }
    std::vector<const Numbers *> inputs;
    for (const Numbers &operand : operands) inputs.push_back(&operand);
    const Result<Numbers> answer = evaluate(Elementwise{computation.expression, {}}, inputs);
    const auto *integers = answer ? std::get_if<std::vector<int64_t>>(&answer->elements) : nullptr;
    return integers && static_cast<double>(integers->front()) == fill;
}

// What lies outside of the shape that was moved is the fill, and no function of another fill. Whether there is room for a mask.
bool keep_fill(Rewriting &graph, const Resample &op, const Shape &shape, Computation *computation) {
    if (answers_fill(graph, op.fill, *computation)) return true;
    const Result<int64_t> count = element_count(shape);
    if (!count || *count > most_masked) return false;
    Resample to_mask = op;
    to_mask.fill = 0;
    const Numbers ones{{Element::f32, shape}, std::vector<double>(size_t(*count), 1)};
    const Result<Numbers> inside = evaluate(to_mask, {&ones});
    if (!inside) return false;
    const scalar::Expression is_inside = scalar::apply(Function::less, scalar::constant(0),
                                                       scalar::operand(static_cast<int>(computation->inputs.size())));
    computation->inputs.push_back(graph.constant(*inside));
    computation->expression = scalar::apply(Function::select, is_inside, std::move(computation->expression),
                                            scalar::constant(op.fill, Element::i64));
    return true;
}

// Of a value whose maker is element-wise, also of one that was moved `depth` times at most: then what it is computed from is moved.
std::optional<Computation> computation_of(Rewriting &graph, ValueId id, int depth = 8) {
    if (graph.value(id).form.type != Element::i64 || !graph.producer(id)) return {};
    const Node node = *graph.producer(id);
    if (const auto *op = std::get_if<Elementwise>(&node.op)) return Computation{op->expression, node.inputs};
    if (!moves(node.op) || node.inputs.size() != 1 || depth == 0) return {};
    std::optional<Computation> before = computation_of(graph, node.inputs[0], depth - 1);
    if (!before) return {};
    const Shape shape = graph.shape(node.inputs[0]);
    for (ValueId &input : before->inputs) {
        if (graph.shape(input).empty()) continue;
        if (graph.shape(input) != shape) return {};
        input = graph.between(node.op, {input});
    }
    const auto *resample = std::get_if<Resample>(&node.op);
    if (resample && resample->reads_outside() && !keep_fill(graph, *resample, shape, &*before)) return {};
    return before;
}

Result<int64_t> terms_of(const Reduce &reduce, const Shape &shape) {
    Shape reduced;
    for (const int axis : reduce.axes) reduced.push_back(shape[static_cast<size_t>(axis)]);
    return element_count(reduced);
}

scalar::Expression of_64_bits(double number) { return scalar::constant(number, Element::i64); }

// The part of operand 0 that counts `unit`s: from 0 to part_base, but for the last one, which has the sign.
scalar::Expression part_of(double unit, bool is_last) {
    using scalar::apply, scalar::operand;
    scalar::Expression whole = operand(0);
    if (unit > 1) {
        const scalar::Expression below = apply(Function::remainder, operand(0), of_64_bits(unit));
        whole = apply(Function::divide, apply(Function::subtract, operand(0), below), of_64_bits(unit));
    }
    return is_last ? whole : apply(Function::remainder, whole, of_64_bits(part_base));
}

// How an integer of 64 bits follows from what lies between kernels, also one that the caller gives.
std::optional<Computation> known_computation(Rewriting &graph, ValueId id) {
    if (const std::optional<ValueId> lower = lower_halves(graph, id))
        return Computation{scalar::cast(scalar::operand(0), Element::i64), {*lower}};
    return computation_of(graph, id);
}

// The reduction of what an expression of operand 0 makes of computed integers, in i32.
ValueId reduced_in_i32(Rewriting &graph, const Reduce &reduce, const Shape &shape, const Computation &computation,
                       const scalar::Expression &outer) {
    scalar::Expression expression = scalar::cast(scalar::compose(outer, 0, computation.expression), Element::i32);
    return graph.between(reduce, {graph.between(Elementwise{std::move(expression), shape}, computation.inputs)});
}

ValueId sum_of_parts(Rewriting &graph, const Reduce &reduce, const Shape &shape, const Computation &computation,
                     int parts) {
    std::vector<ValueId> sums;
    scalar::Expression total;
    double unit = 1;
    for (int part = 0; part < parts; part++, unit *= part_base) {
        sums.push_back(reduced_in_i32(graph, reduce, shape, computation, part_of(unit, part == parts - 1)));
        const scalar::Expression sum = scalar::cast(scalar::operand(part), Element::i64);
        total = part == 0
                    ? sum
                    : scalar::apply(Function::add, total, scalar::apply(Function::multiply, sum, of_64_bits(unit)));
    }
    const Shape result = graph.shape(sums[0]);
    return graph.result(Elementwise{std::move(total), result}, std::move(sums));
}

// The extreme upper half, then the extreme lower one of those that have it. Lower halves are less 2^31, so that they are i32.
ValueId extreme_of_halves(Rewriting &graph, const Reduce &reduce, const Shape &shape, const Computation &computation) {
    using scalar::apply, scalar::cast, scalar::operand;
    constexpr double base = 4294967296.0, half = base / 2;
    const bool is_most = reduce.kind == Reduce::Kind::maximum;
    const scalar::Expression upper = part_of(base, true);
    const scalar::Expression lower =
        apply(Function::subtract, apply(Function::remainder, operand(0), of_64_bits(base)), of_64_bits(half));
    const ValueId above = reduced_in_i32(graph, reduce, shape, computation, upper);
    Computation with_above = computation;
    const auto last = static_cast<int>(with_above.inputs.size());
    with_above.inputs.push_back(above);
    with_above.expression = apply(
        Function::select,
        apply(Function::equal, scalar::compose(upper, 0, computation.expression), cast(operand(last), Element::i64)),
        scalar::compose(lower, 0, computation.expression), of_64_bits(is_most ? -half : half - 1));
    const ValueId below = reduced_in_i32(graph, reduce, shape, with_above, operand(0));
    const auto wide = [](int index) { return cast(operand(index), Element::i64); };
    scalar::Expression whole = apply(Function::add, apply(Function::multiply, wide(0), of_64_bits(base)),
                                     apply(Function::add, wide(1), of_64_bits(half)));
    const Shape result = graph.shape(above);
    return graph.result(Elementwise{std::move(whole), result}, {above, below});
}

}  // namespace

std::optional<Element> readable_form(const Rewriting &graph, ValueId id) {
    const Value &value = graph.value(id);
    if (value.constant || graph.producer(id) != nullptr) return {};
    if (value.form.type == Element::boolean || is_narrow_float(value.form.type)) return Element::f32;
    if (value.form.type == Element::i64) return Element::i32;
    return {};
}

bool moves(const Operator &op) {
    return std::holds_alternative<Transpose>(op) || std::holds_alternative<Reshape>(op) ||
           std::holds_alternative<Resample>(op) || std::holds_alternative<Concat>(op);
}

bool fill_fits(const Operator &op, Element stored) {
    const auto *resample = std::get_if<Resample>(&op);
    if (!resample || !resample->reads_outside()) return true;
    constexpr double most = std::numeric_limits<int32_t>::max(), least = std::numeric_limits<int32_t>::min();
    return stored == Element::i32 ? resample->fill >= least && resample->fill <= most
                                  : static_cast<double>(static_cast<float>(resample->fill)) == resample->fill;
}

ValueId made_readable(Rewriting &graph, ValueId id) {
    return graph.between(Elementwise{scalar::cast(scalar::operand(0), *readable_form(graph, id)), graph.shape(id)},
                         {id});
}

namespace {

bool has_32_bits(const std::optional<graph::ValueRange> &range) {
    return range && range->lo >= std::numeric_limits<int32_t>::min() &&
           range->hi <= std::numeric_limits<int32_t>::max();
}

// What is known to fit 32 bits, as i32: constants, and what element-wise nodes compute.
std::optional<ValueId> short_form(Rewriting &graph, ValueId id) {
    if (graph.is_constant(id)) {
        Numbers numbers = graph.numbers(id);
        const auto fits = [](int64_t number) { return number == static_cast<int32_t>(number); };
        if (!std::ranges::all_of(std::get<std::vector<int64_t>>(numbers.elements), fits)) return {};
        numbers.form.type = Element::i32;
        return graph.constant(numbers);
    }
    const auto *op = graph.computed_by<Elementwise>(id);
    if (!op) return {};
    const Elementwise changed{scalar::cast(op->expression, Element::i32), op->shape};
    const std::vector<ValueId> inputs = graph.producer(id)->inputs;
    if (!has_32_bits(range_of(graph, op->expression, inputs))) return {};
    return graph.between(changed, inputs);
}

}  // namespace

std::optional<ValueId> lower_halves(Rewriting &graph, ValueId id, int depth) {
    if (graph.value(id).form.type != Element::i64) return {};
    if (readable_form(graph, id)) return made_readable(graph, id);
    const Node *maker = graph.producer(id);
    if (!maker || depth == 0) return {};
    const Node node = *maker;
    if (std::holds_alternative<Gather>(node.op)) {
        const std::optional<ValueId> source = lower_halves(graph, node.inputs[0], depth - 1);
        return source ? std::optional(graph.between(node.op, {*source, node.inputs[1]})) : std::nullopt;
    }
    if (!moves(node.op) || !fill_fits(node.op, Element::i32)) return {};
    std::vector<ValueId> sources;
    for (const ValueId input : node.inputs) {
        std::optional<ValueId> source = lower_halves(graph, input, depth - 1);
        if (!source && node.inputs.size() > 1) source = short_form(graph, input);
        if (!source) return {};
        sources.push_back(*source);
    }
    return graph.between(node.op, std::move(sources));
}

std::optional<ValueId> compute_sources(Rewriting &graph, const Elementwise &op, const Node &node) {
    for (size_t i = 0; i < node.inputs.size(); i++) {
        const std::optional<Computation> source = computation_of(graph, node.inputs[i]);
        if (!source) continue;
        scalar::Expression expression = scalar::compose(op.expression, static_cast<int>(i), source->expression);
        if (expression.steps.size() > most_inlined) return {};
        std::vector<ValueId> inputs = node.inputs;
        inputs.insert(inputs.erase(inputs.begin() + std::ptrdiff_t(i)), source->inputs.begin(), source->inputs.end());
        return graph.result(Elementwise{std::move(expression), op.shape}, std::move(inputs));
    }
    return {};
}

bool is_exact_in_floats(const std::optional<graph::ValueRange> &range) {
    constexpr double most = 1 << 24;
    return range && range->lo >= -most && range->hi <= most;
}

std::optional<ValueId> reduce_long(Rewriting &graph, const Node &node) {
    const auto *reduce = std::get_if<Reduce>(&node.op);
    const TypedShape form = graph.value(node.inputs[0]).form;
    if (!reduce || form.type != Element::i64) return {};
    const std::optional<Computation> computation = known_computation(graph, node.inputs[0]);
    if (!computation || computation->expression.steps.size() > most_inlined / 2) return {};
    const auto range = range_of(graph, computation->expression, computation->inputs);
    if (reduce->kind == Reduce::Kind::sum) {
        const Result<int64_t> terms = terms_of(*reduce, form.shape);
        if (!terms || *terms > most_terms) return {};
        return sum_of_parts(graph, *reduce, form.shape, *computation, has_32_bits(range) ? 2 : 4);
    }
    const bool is_extreme = reduce->kind == Reduce::Kind::maximum || reduce->kind == Reduce::Kind::minimum;
    if (!is_extreme || is_exact_in_floats(range)) return {};
    if (!has_32_bits(range)) return extreme_of_halves(graph, *reduce, form.shape, *computation);
    const ValueId extreme = reduced_in_i32(graph, *reduce, form.shape, *computation, scalar::operand(0));
    const Shape result = graph.shape(extreme);
    return graph.result(Elementwise{scalar::cast(scalar::operand(0), Element::i64), result}, {extreme});
}

}  // namespace kiln::network
