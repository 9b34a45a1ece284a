#include "graph/memory/storage.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>

namespace kiln::graph {
namespace {

const Shape &shape(const Stored &stored) { return stored.form->shape; }

bool is_known(const Stored &stored) { return stored.storage->order.size() == shape(stored).size(); }

// The axes of more than one element, the outermost in memory first.
std::vector<int> wide_axes(const Stored &stored) {
    std::vector<int> axes = stored.storage->order;
    std::erase_if(axes, [&](int axis) { return shape(stored)[axis] == 1; });
    return axes;
}

// The digits of the logical index in the order in which memory has them. Digits are told by their strides: those of the axes
// are cut where `cuts` says. Nothing where an axis cannot be cut there.
std::optional<Shape> digits_in_memory(const Stored &stored, const std::set<int64_t> &cuts) {
    const Shape step = row_major_strides(shape(stored));
    Shape digits;
    for (int axis : wide_axes(stored)) {
        int64_t above = step[axis] * shape(stored)[axis];
        for (auto cut = cuts.lower_bound(above); cut != cuts.begin();) {
            --cut;
            if (*cut < step[axis]) break;
            if (above % *cut != 0 || *cut % step[axis] != 0) return {};
            digits.push_back(*cut);
            above = *cut;
        }
    }
    return digits;
}

bool reshape_keeps_bytes(const Stored &input, const Stored &result) {
    const auto is_row_major = [](const Stored &stored) { return std::ranges::is_sorted(wide_axes(stored)); };
    if (is_row_major(input) && is_row_major(result)) return true;
    std::set<int64_t> cuts;
    for (const Stored *stored : {&input, &result}) {
        const Shape step = row_major_strides(shape(*stored));
        for (int axis : wide_axes(*stored)) cuts.insert(step[axis]);
    }
    const auto before = digits_in_memory(input, cuts), after = digits_in_memory(result, cuts);
    return before && after && *before == *after;
}

bool transpose_keeps_bytes(const Transpose &op, const Stored &input, const Stored &result) {
    std::vector<int> axes = wide_axes(result);
    for (int &axis : axes) axis = op.permutation[axis];
    return axes == wide_axes(input);
}

bool is_outermost(int axis, const Stored &stored) {
    return shape(stored)[axis] == 1 || wide_axes(stored).front() == axis;
}

}  // namespace

std::vector<Storage> row_major_storages(const Graph &graph) {
    std::vector<Storage> result;
    for (const Value &value : graph.values) {
        Storage storage{*element_count(value.form.shape) * size_of(value.form.type),
                        std::vector<int>(value.form.shape.size())};
        std::iota(storage.order.begin(), storage.order.end(), 0);
        result.push_back(std::move(storage));
    }
    return result;
}

bool keeps_bytes(const Operator &op, const Stored &input, const Stored &result) {
    if (!is_known(input) || !is_known(result) || input.storage->bytes != result.storage->bytes) return false;
    if (result.storage->bytes == 0) return true;
    if (const auto *transpose = std::get_if<Transpose>(&op)) return transpose_keeps_bytes(*transpose, input, result);
    return std::holds_alternative<Reshape>(op) && reshape_keeps_bytes(input, result);
}

std::optional<int64_t> offset_of_part(const Operator &op, const Stored &input, const Stored &result) {
    const auto *resample = std::get_if<Resample>(&op);
    if (!resample || resample->axes.size() != 1 || !is_known(input) || !is_known(result)) return {};
    const Resample::Axis &axis = resample->axes.front();
    if (axis.taps != 1 || !axis.weights.empty() || axis.indices.empty()) return {};
    for (size_t i = 0; i < axis.indices.size(); i++) {
        if (axis.indices[i] < 0 || axis.indices[i] != axis.indices[0] + static_cast<int64_t>(i)) return {};
    }
    // What is left of the axis may be one element, so the orders are compared without it.
    std::vector<int> before = wide_axes(input), after = wide_axes(result);
    if (before.empty() || before.front() != axis.axis) return {};
    std::erase(before, axis.axis);
    if (!after.empty() && after.front() == axis.axis) after.erase(after.begin());
    if (before != after) return {};
    return input.storage->bytes / shape(input)[axis.axis] * axis.indices[0];
}

bool joins_bytes(const Operator &op, const std::vector<Stored> &inputs, const Stored &result) {
    const auto *concat = std::get_if<Concat>(&op);
    if (!concat || !is_known(result) || result.storage->bytes == 0 || !is_outermost(concat->axis, result)) return false;
    std::vector<int> axes = wide_axes(result);
    std::erase(axes, concat->axis);
    int64_t bytes = 0;
    for (const Stored &input : inputs) {
        if (!is_known(input) || !is_outermost(concat->axis, input)) return false;
        std::vector<int> of_input = wide_axes(input);
        std::erase(of_input, concat->axis);
        if (of_input != axes) return false;
        bytes += input.storage->bytes;
    }
    return bytes == result.storage->bytes;
}

bool is_elementwise_alike(const Operator &op, const Stored &input, const Stored &result) {
    const auto *elementwise = std::get_if<Elementwise>(&op);
    if (!elementwise || shape(input) != elementwise->shape || input.storage->bytes != result.storage->bytes)
        return false;
    if (!is_known(input) || !is_known(result)) return *input.storage == *result.storage;
    return wide_axes(input) == wide_axes(result);
}

}  // namespace kiln::graph
