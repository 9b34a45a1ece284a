#include "graph/lower/composed/control_flow.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/lower/node/formulas.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/node/repetitions.h"
#include "graph/lower/node/shown_names.h"

namespace kiln::graph {
namespace {

void check_outputs(const onnx::Body &body, size_t expected) {
    if (body.outputs.size() == expected) return;
    reject("its graph has " + std::to_string(body.outputs.size()) + " outputs, and the node needs " +
           std::to_string(expected));
}

void check_inputs(const onnx::Body &body, size_t given) {
    if (body.inputs.size() == given) return;
    reject("its graph has " + std::to_string(body.inputs.size()) + " inputs, and the node gives it " +
           std::to_string(given));
}

void check_repetitions(int64_t count) {
    if (count > most_repetitions)
        refuse("it repeats its graph more than " + std::to_string(most_repetitions) + " times");
}

// The condition that input `index` states.
bool known_condition(NodeLowering &node, int index) {
    if (!node.is_known(index)) {
        refuse("its condition is known only when the network runs, and kiln runs no parts of a network by condition; " +
               node.way_out(index));
    }
    if (node.type(node.input(index)) != Element::boolean) reject("its condition must be bool");
    return node.known_integer(index, "cond") != 0;
}

// Whether the condition follows from integers alone that a program chooses once, such as a sampling rate. Floats are data, however
// few.
bool is_chosen_once(const NodeLowering &node, int index) {
    const std::vector<ValueId> settings = node.settings_behind(index);
    return !settings.empty() && std::ranges::none_of(settings, [&](ValueId id) { return is_float(node.type(id)); });
}

// The values of one scan output, one behind the other along a new axis.
ValueId stacked(NodeLowering &node, const std::vector<ValueId> &values, int64_t axis) {
    const int place = axis_of(axis, node.rank(values.front()) + 1);
    std::vector<ValueId> parts;
    for (const ValueId value : values) {
        Shape shape = node.shape(value);
        shape.insert(shape.begin() + place, 1);
        parts.push_back(node.reshape(value, shape));
    }
    return parts.size() == 1 ? parts[0] : node.add(Concat{place}, parts);
}

// A scan output of a graph that is never repeated, of which all that there is to know is what the graph says.
ValueId nothing_stacked(NodeLowering &node, const onnx::ValueInfo &stated, int64_t axis) {
    Shape shape;
    bool is_known = stated.type && stated.shape;
    for (size_t d = 0; is_known && d < stated.shape->size(); d++) {
        const std::optional<int64_t> size = (*stated.shape)[d].size;
        is_known = size && *size >= 0;
        if (is_known) shape.push_back(*size);
    }
    if (!is_known) {
        refuse("it never repeats its graph, so that an output has no shape: its graph does not say that of " +
               shown(stated.name));
    }
    shape.insert(shape.begin() + axis_of(axis, static_cast<int>(shape.size()) + 1), 0);
    value_or_refusal(element_count(shape));
    if (is_float(*stated.type)) return node.constant({{*stated.type, shape}, std::vector<double>()});
    return node.constant({{*stated.type, shape}, std::vector<int64_t>()});
}

// The outputs of a node that repeats its graph: what was carried to the end, and for each scan output what the repetitions made, along
// an axis of its own; the first, where none is stated.
void give_results(NodeLowering &node, const onnx::Body &body, const std::vector<ValueId> &carried,
                  const std::vector<std::vector<ValueId>> &made, const std::vector<int64_t> &axes = {}) {
    for (size_t i = 0; i < carried.size(); i++) node.result(carried[i], static_cast<int>(i));
    for (size_t k = 0; k < made.size(); k++) {
        const int output = static_cast<int>(carried.size() + k);
        if (!node.wants(output)) continue;
        const int64_t axis = axes.empty() ? 0 : axes[k];
        const onnx::ValueInfo &stated = body.outputs[body.outputs.size() - made.size() + k];
        node.result(made[k].empty() ? nothing_stacked(node, stated, axis) : stacked(node, made[k], axis), output);
    }
}

// An attribute with a number for each scan input, or output; zeros where it is left out.
std::vector<int64_t> one_each(const NodeLowering &node, const std::string &attribute, size_t count) {
    std::vector<int64_t> numbers = node.attributes.integers(attribute);
    if (numbers.empty()) numbers.resize(count);
    if (numbers.size() != count) {
        reject("its attribute '" + attribute + "' has " + std::to_string(numbers.size()) + " numbers and must have " +
               std::to_string(count));
    }
    return numbers;
}

// Which way a scan goes through an axis: 1 is backward.
std::vector<int64_t> directions(const NodeLowering &node, const std::string &attribute, size_t count) {
    std::vector<int64_t> stated = one_each(node, attribute, count);
    for (const int64_t direction : stated) {
        if (direction != 0 && direction != 1)
            reject("its attribute '" + attribute + "' has " + std::to_string(direction) + "; must be 0 or 1");
    }
    return stated;
}

// A scan input, whose elements along its axis are read one after the other.
struct ScannedInput {
    ValueId value;
    int axis;
    bool backward;

    int64_t extent(const NodeLowering &node) const { return node.shape(value)[static_cast<size_t>(axis)]; }

    ValueId element(NodeLowering &node, int64_t step) const {
        const ValueId one = take(node, value, {{axis, {backward ? extent(node) - 1 - step : step}}});
        Shape shape = node.shape(one);
        shape.erase(shape.begin() + axis);
        return node.reshape(one, shape);
    }
};

std::vector<ScannedInput> scanned_inputs(const NodeLowering &node, int from) {
    const auto count = static_cast<size_t>(node.input_count() - from);
    const std::vector<int64_t> axes = one_each(node, "scan_input_axes", count),
                               backward = directions(node, "scan_input_directions", count);
    std::vector<ScannedInput> scanned;
    for (size_t i = 0; i < count; i++) {
        const ValueId value = node.input(from + static_cast<int>(i));
        scanned.push_back({value, axis_of(axes[i], node.rank(value)), backward[i] != 0});
        const int64_t first = scanned.front().extent(node), extent = scanned[i].extent(node);
        if (extent != first) {
            reject("its scan inputs have " + std::to_string(first) + " and " + std::to_string(extent) +
                   " elements along their axes");
        }
    }
    return scanned;
}

std::optional<std::vector<ValueId>> outputs_of(NodeLowering &node, std::string_view name) {
    const onnx::Body &body = node.attributes.graph(name);
    if (!body.inputs.empty()) reject("its branch has inputs");
    check_outputs(body, static_cast<size_t>(node.output_count()));
    return node.place(body, {});
}

// Both branches are computed, and the condition chooses among their elements.
void both_branches(NodeLowering &node) {
    const ValueId condition = node.input(0);
    if (node.type(condition) != Element::boolean) reject("its condition must be bool");
    if (node.elements(condition) != 1) reject("its condition must have one element");
    const auto yes = outputs_of(node, "then_branch"), no = outputs_of(node, "else_branch");
    if (!yes || !no) return;
    for (int i = 0; i < node.output_count(); i++) {
        const ValueId a = (*yes)[static_cast<size_t>(i)], b = (*no)[static_cast<size_t>(i)];
        if (!node.wants(i)) continue;
        if (node.type(a) != node.type(b) || node.shape(a) != node.shape(b)) {
            refuse(
                "its condition is known only when the network runs, so that its branches must compute alike: output " +
                std::to_string(i) + " is " + std::string(name(node.type(a))) + " " + to_text(node.shape(a)) +
                " in one and " + std::string(name(node.type(b))) + " " + to_text(node.shape(b)) + " in the other; " +
                node.way_out(0));
        }
        node.result(node.elementwise(select(operand(0), operand(1), operand(2)), {node.reshape(condition, {}), a, b}),
                    i);
    }
}

}  // namespace

void branch(NodeLowering &node) {
    if (!node.is_known(0) && !is_chosen_once(node, 0)) return both_branches(node);
    const auto outputs = outputs_of(node, known_condition(node, 0) ? "then_branch" : "else_branch");
    for (int i = 0; outputs && i < node.output_count(); i++) node.result((*outputs)[static_cast<size_t>(i)], i);
}

void loop(NodeLowering &node) {
    const onnx::Body &body = node.attributes.graph("body");
    const auto carried = static_cast<size_t>(std::max(node.input_count() - 2, 0));
    check_inputs(body, carried + 2);
    if (body.outputs.size() < carried + 1) check_outputs(body, carried + 1);
    check_outputs(body, static_cast<size_t>(node.output_count()) + 1);
    const int64_t most = node.has_input(0) ? node.known_integer(0, "M") : most_repetitions + 1;
    bool again = !node.has_input(1) || known_condition(node, 1);
    if (again && goes_on(body)) node.announce(body, std::min(most, most_repetitions));
    std::vector<ValueId> values;
    for (size_t i = 0; i < carried; i++) values.push_back(node.input(static_cast<int>(i) + 2));
    std::vector<std::vector<ValueId>> scanned(body.outputs.size() - 1 - carried);
    const auto scalar_of = [&](Element type, int64_t number) {
        return node.constant({{type, {}}, std::vector<int64_t>{number}});
    };
    for (int64_t i = 0; i < most && again; i++) {
        check_repetitions(i + 1);
        std::vector<ValueId> inputs{scalar_of(Element::i64, i), scalar_of(Element::boolean, 1)};
        inputs.insert(inputs.end(), values.begin(), values.end());
        const std::optional<std::vector<ValueId>> outputs = node.place(body, inputs);
        if (!outputs) return;
        const std::optional<double> condition = node.known_scalar(outputs->front());
        if (!condition) {
            refuse(
                "whether it goes on is known only when the network runs, and kiln repeats no parts of a network by "
                "condition; export the model without loops");
        }
        again = *condition != 0;
        values.assign(outputs->begin() + 1, outputs->begin() + 1 + static_cast<std::ptrdiff_t>(carried));
        for (size_t k = 0; k < scanned.size(); k++) scanned[k].push_back((*outputs)[1 + carried + k]);
    }
    give_results(node, body, values, scanned);
}

void scan(NodeLowering &node) {
    const onnx::Body &body = node.attributes.graph("body");
    const int64_t count = node.attributes.integer("num_scan_inputs");
    if (count < 1 || count > node.input_count()) {
        reject("its attribute 'num_scan_inputs' is " + std::to_string(count) + ", and it has " +
               std::to_string(node.input_count()) + " inputs");
    }
    const int carried = node.input_count() - static_cast<int>(count);
    check_inputs(body, static_cast<size_t>(node.input_count()));
    if (node.output_count() < carried) {
        reject("it has " + std::to_string(node.output_count()) + " outputs for " + std::to_string(carried) +
               " values that it carries on");
    }
    check_outputs(body, static_cast<size_t>(node.output_count()));
    const std::vector<ScannedInput> scanned = scanned_inputs(node, carried);
    const auto outputs = static_cast<size_t>(node.output_count() - carried);
    const std::vector<int64_t> axes = one_each(node, "scan_output_axes", outputs),
                               prepends = directions(node, "scan_output_directions", outputs);
    const int64_t steps = scanned.front().extent(node);
    check_repetitions(steps);
    node.announce(body, steps);
    std::vector<ValueId> values;
    for (int i = 0; i < carried; i++) values.push_back(node.input(i));
    std::vector<std::vector<ValueId>> made(outputs);
    for (int64_t step = 0; step < steps; step++) {
        std::vector<ValueId> inputs = values;
        for (const ScannedInput &input : scanned) inputs.push_back(input.element(node, step));
        const std::optional<std::vector<ValueId>> results = node.place(body, inputs);
        if (!results) return;
        values.assign(results->begin(), results->begin() + carried);
        for (size_t k = 0; k < outputs; k++) made[k].push_back((*results)[static_cast<size_t>(carried) + k]);
    }
    for (size_t k = 0; k < outputs; k++) {
        if (prepends[k]) std::reverse(made[k].begin(), made[k].end());
    }
    give_results(node, body, values, made, axes);
}

}  // namespace kiln::graph
