#include "graph/lower/node/folding_builder.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "graph/evaluate/evaluation_steps.h"
#include "graph/quantized_forms.h"
#include "graph/rewriting/moved_constant.h"

namespace kiln::graph {
namespace {

// Shapes and scalars are read as often as nodes need them; the steps that are counted are those of more.
constexpr int64_t few_elements = 1 << 10;

// Extents of a value, so their product fits.
int64_t product(const Shape &extents) {
    int64_t result = 1;
    for (const int64_t extent : extents) result *= extent;
    return result;
}

}  // namespace

ValueId FoldingBuilder::constant(std::string name, TypedShape form, ConstantData data) {
    return builder_.constant(std::move(name), std::move(form), std::move(data));
}

Status FoldingBuilder::check_room(int64_t elements) const {
    if (elements > left_.all_elements)
        return unsupported("the model lists more constants than kiln computes beforehand");
    return {};
}

Result<ValueId> FoldingBuilder::constant(std::string name, const Numbers &numbers) {
    const int64_t elements = product(numbers.form.shape);
    if (const Status status = check_room(elements); !status) return status.error();
    left_.all_elements -= elements;
    return constant(std::move(name), numbers.form, to_constant(numbers));
}

Status FoldingBuilder::count_indices(const Operator &op) {
    const auto *resample = std::get_if<Resample>(&op);
    if (!resample) return {};
    for (const Resample::Axis &axis : resample->axes) {
        const auto indices = static_cast<int64_t>(axis.indices.size());
        if (indices > left_.indices) return unsupported("slices, pads and resizes of the model take too many indices");
        left_.indices -= indices;
    }
    return {};
}

bool FoldingBuilder::are_constants(const std::vector<ValueId> &ids) const {
    return std::ranges::all_of(ids, [&](ValueId id) { return builder_.value(id).constant.has_value(); });
}

std::optional<Numbers> FoldingBuilder::known(ValueId id) {
    const Value &value = builder_.value(id);
    const auto kept = kept_.find(id);
    if (!value.constant && kept == kept_.end()) return {};
    const int64_t elements = product(value.form.shape);
    if (elements > few_elements) {
        if (elements > left_.steps) return {};
        left_.steps -= elements;
    }
    if (value.constant) return from_constant(value.form, *value.constant);
    const Node &node = builder_.graph().nodes[kept->second];
    const Result<ConstantData> data = fold(node.op, node.inputs);
    if (!data) return {};
    return from_constant(value.form, *data);
}

std::vector<ValueId> FoldingBuilder::inputs_behind(ValueId id) {
    const Graph &graph = builder_.graph();
    std::set<ValueId> needed{id};
    for (size_t i = graph.nodes.size(); i-- > 0 && left_to_look_at_ > 0; left_to_look_at_--) {
        const Node &node = graph.nodes[i];
        if (needed.count(node.output)) needed.insert(node.inputs.begin(), node.inputs.end());
    }
    std::vector<ValueId> inputs;
    std::ranges::copy_if(graph.inputs, std::back_inserter(inputs), [&](ValueId input) { return needed.count(input); });
    return inputs;
}

bool FoldingBuilder::may_fold(const Operator &op, const std::vector<ValueId> &inputs,
                              const std::vector<TypedShape> &forms, const Shape &result) {
    if (is_kept_for_passes(op) || !are_constants(inputs)) return false;
    if (std::holds_alternative<Reshape>(op)) return true;
    const int64_t elements = product(result);
    if (elements > left_.elements || elements > left_.all_elements) return false;
    const int64_t steps = evaluation_steps(op, forms, result);
    if (steps > left_.steps) return false;
    left_.all_elements -= elements;
    left_.steps -= steps;
    return true;
}

Result<ConstantData> FoldingBuilder::fold(const Operator &op, const std::vector<ValueId> &inputs) const {
    if (const auto moved = moved_constant(op, builder_.value(inputs[0]))) return *moved;
    std::vector<Numbers> numbers;
    numbers.reserve(inputs.size());
    for (const ValueId id : inputs) {
        numbers.push_back(from_constant(builder_.value(id).form, *builder_.value(id).constant));
    }
    std::vector<const Numbers *> operands;
    for (const Numbers &n : numbers) operands.push_back(&n);
    const Result<Numbers> result = evaluate(op, operands);
    if (!result) return result.error();
    return to_constant(*result);
}

Result<ValueId> FoldingBuilder::node(Operator op, std::vector<ValueId> inputs, std::string name,
                                     std::vector<std::string> origins) {
    std::vector<TypedShape> forms;
    for (const ValueId id : inputs) forms.push_back(builder_.value(id).form);
    const Result<TypedShape> form = result_of(op, forms);
    if (!form) return form.error();
    if (const Status status = count_indices(op); !status) return status.error();
    const auto *transpose = std::get_if<Transpose>(&op);
    if (transpose) {
        const auto known = transposed_.find({inputs[0], transpose->permutation});
        if (known != transposed_.end()) return known->second;
    }
    if (!may_fold(op, inputs, forms, form->shape)) {
        const bool is_kept = is_kept_for_passes(op) && are_constants(inputs);
        if (left_.nodes-- <= 0) return unsupported("the model becomes more nodes than kiln computes");
        const Result<ValueId> id = builder_.node(std::move(op), std::move(inputs), std::move(name), std::move(origins));
        if (id && is_kept) kept_.emplace(*id, builder_.graph().nodes.size() - 1);
        return id;
    }
    const Result<ConstantData> data = fold(op, inputs);
    if (!data) return data.error();
    const ValueId id = builder_.constant(std::move(name), *form, *data);
    if (transpose) transposed_.emplace(std::pair(inputs[0], transpose->permutation), id);
    return id;
}

}  // namespace kiln::graph
