#include "graph/lower/composed/control_flow.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/lower/node/formulas.h"
#include "graph/lower/node/refusal.h"

namespace kiln::graph {
namespace {

constexpr int64_t most_repetitions = 1 << 14;

void check_outputs(const onnx::Body &body, size_t expected) {
    if (body.outputs.size() == expected) return;
    reject("its graph has " + std::to_string(body.outputs.size()) + " outputs, and the node needs " +
           std::to_string(expected));
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

// The values of one scan output, one behind the other along a new axis in front.
ValueId stacked(NodeLowering &node, const std::vector<ValueId> &values) {
    std::vector<ValueId> rows;
    for (const ValueId value : values) {
        Shape shape = node.shape(value);
        shape.insert(shape.begin(), 1);
        rows.push_back(node.reshape(value, shape));
    }
    return rows.size() == 1 ? rows[0] : node.add(Concat{0}, rows);
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
                " in one and " + std::string(name(node.type(b))) + " " + to_text(node.shape(b)) + " in the other");
        }
        node.result(node.elementwise(select(operand(0), operand(1), operand(2)), {node.reshape(condition, {}), a, b}),
                    i);
    }
}

}  // namespace

void branch(NodeLowering &node) {
    if (!node.is_known(0) && node.settings_behind(0).empty()) return both_branches(node);
    const auto outputs = outputs_of(node, known_condition(node, 0) ? "then_branch" : "else_branch");
    for (int i = 0; outputs && i < node.output_count(); i++) node.result((*outputs)[static_cast<size_t>(i)], i);
}

void loop(NodeLowering &node) {
    const onnx::Body &body = node.attributes.graph("body");
    const auto carried = static_cast<size_t>(std::max(node.input_count() - 2, 0));
    if (body.inputs.size() != carried + 2) {
        reject("its graph has " + std::to_string(body.inputs.size()) + " inputs, and the node gives it " +
               std::to_string(carried + 2));
    }
    if (body.outputs.size() < carried + 1) check_outputs(body, carried + 1);
    check_outputs(body, static_cast<size_t>(node.output_count()) + 1);
    const int64_t most = node.has_input(0) ? node.known_integer(0, "M") : most_repetitions + 1;
    bool goes_on = !node.has_input(1) || known_condition(node, 1);
    std::vector<ValueId> values;
    for (size_t i = 0; i < carried; i++) values.push_back(node.input(static_cast<int>(i) + 2));
    std::vector<std::vector<ValueId>> scanned(body.outputs.size() - 1 - carried);
    const auto scalar_of = [&](Element type, int64_t number) {
        return node.constant({{type, {}}, std::vector<int64_t>{number}});
    };
    for (int64_t i = 0; i < most && goes_on; i++) {
        if (i == most_repetitions) refuse("it repeats its graph more than " + std::to_string(i) + " times");
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
        goes_on = *condition != 0;
        values.assign(outputs->begin() + 1, outputs->begin() + 1 + static_cast<std::ptrdiff_t>(carried));
        for (size_t k = 0; k < scanned.size(); k++) scanned[k].push_back((*outputs)[1 + carried + k]);
    }
    for (size_t i = 0; i < carried; i++) node.result(values[i], static_cast<int>(i));
    for (size_t k = 0; k < scanned.size(); k++) {
        const int output = static_cast<int>(carried + k);
        if (!node.wants(output)) continue;
        if (scanned[k].empty()) refuse("it never repeats its graph, so that an output has no shape");
        node.result(stacked(node, scanned[k]), output);
    }
}

}  // namespace kiln::graph
