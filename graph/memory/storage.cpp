#include "graph/memory/storage.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>

#include "graph/convolution_inputs.h"

namespace kiln::graph {
namespace {

const Shape &shape(const Stored &stored) { return stored.form->shape; }

std::vector<MemoryLoop> wide_loops(const Stored &stored) { return wide_loops(shape(stored), stored.storage->order); }

// Elements of the logical index that a step of the loop is apart.
int64_t stride(const MemoryLoop &loop, const Shape &strides) { return strides[size_t(loop.axis)] * loop.step; }

// The digits of the logical index in the order in which memory has them. Digits are told by their strides: those of the loops
// are cut where `cuts` says. Nothing where a loop cannot be cut there.
std::optional<Shape> digits_in_memory(const Stored &stored, const std::set<int64_t> &cuts) {
    const Shape strides = row_major_strides(shape(stored));
    Shape digits;
    for (const MemoryLoop &loop : wide_loops(stored)) {
        const int64_t least = stride(loop, strides);
        int64_t above = least * loop.extent;
        for (auto cut = cuts.lower_bound(above); cut != cuts.begin();) {
            --cut;
            if (*cut < least) break;
            if (above % *cut != 0 || *cut % least != 0) return {};
            digits.push_back(*cut);
            above = *cut;
        }
    }
    return digits;
}

bool is_row_major(const Stored &stored) {
    return wide_loops(stored) == wide_loops(shape(stored), row_major_order(shape(stored).size()));
}

bool reshape_keeps_bytes(const Stored &input, const Stored &result) {
    if (is_row_major(input) && is_row_major(result)) return true;
    std::set<int64_t> cuts;
    for (const Stored *stored : {&input, &result}) {
        const Shape strides = row_major_strides(shape(*stored));
        for (const MemoryLoop &loop : wide_loops(*stored)) cuts.insert(stride(loop, strides));
    }
    const auto before = digits_in_memory(input, cuts), after = digits_in_memory(result, cuts);
    return before && after && *before == *after;
}

bool transpose_keeps_bytes(const Transpose &op, const Stored &input, const Stored &result) {
    std::vector<MemoryLoop> loops = wide_loops(result);
    for (MemoryLoop &loop : loops) loop.axis = op.permutation[size_t(loop.axis)];
    return loops == wide_loops(input);
}

// The loops inside of the outermost one of an axis, if that is the outermost of all.
std::vector<MemoryLoop> inside_of(int axis, const Stored &stored) {
    std::vector<MemoryLoop> loops = wide_loops(stored);
    if (!loops.empty() && loops.front().axis == axis) loops.erase(loops.begin());
    return loops;
}

// Whether a convolution adds this input to its sums, and reads it as nothing else. Every kernel reads the element of an addend before it
// writes that of the result, and writes it once.
bool is_addend(const Convolution &op, const Node &node, size_t index, const Stored &first, const Stored &result) {
    constexpr size_t own = 2;  // the input and the weights
    if (index < own || std::ranges::count(node.inputs, node.inputs[index]) > 1) return false;
    return further_inputs(op, *first.form, shape(result))[index - own].role == Role::addend;
}

}  // namespace

Order row_major_order(size_t axes) {
    Order order{std::vector<int>(axes)};
    std::iota(order.axes.begin(), order.axes.end(), 0);
    return order;
}

std::vector<MemoryLoop> memory_loops(const Shape &shape, const Order &order) {
    std::vector<MemoryLoop> loops;
    for (const int axis : order.axes) loops.push_back({axis, shape[size_t(axis)], 1});
    if (order.block == 0) return loops;
    const int blocked = order.axes.back();
    for (MemoryLoop &loop : loops) {
        if (loop.axis == blocked) loop = {blocked, shape[size_t(blocked)] / order.block, order.block};
    }
    loops.back() = {blocked, order.block, 1};
    return loops;
}

std::vector<MemoryLoop> wide_loops(const Shape &shape, const Order &order) {
    std::vector<MemoryLoop> wide;
    for (const MemoryLoop &loop : memory_loops(shape, order)) {
        if (loop.extent == 1) continue;
        if (!wide.empty() && wide.back().axis == loop.axis && wide.back().step == loop.step * loop.extent) {
            wide.back() = {loop.axis, wide.back().extent * loop.extent, loop.step};
        } else {
            wide.push_back(loop);
        }
    }
    return wide;
}

std::vector<Storage> row_major_storages(const Graph &graph) {
    std::vector<Storage> result;
    for (const Value &value : graph.values) {
        result.push_back(
            {*element_count(value.form.shape) * size_of(value.form.type), row_major_order(value.form.shape.size())});
    }
    return result;
}

bool keeps_bytes(const Operator &op, const Stored &input, const Stored &result) {
    if (input.storage->bytes != result.storage->bytes) return false;
    if (result.storage->bytes == 0) return true;
    if (const auto *transpose = std::get_if<Transpose>(&op)) return transpose_keeps_bytes(*transpose, input, result);
    return std::holds_alternative<Reshape>(op) && reshape_keeps_bytes(input, result);
}

std::optional<int64_t> offset_of_part(const Operator &op, const Stored &input, const Stored &result) {
    const auto *resample = std::get_if<Resample>(&op);
    if (!resample || resample->axes.size() != 1) return {};
    const Resample::Axis &axis = resample->axes.front();
    if (axis.taps != 1 || !axis.weights.empty() || axis.indices.empty()) return {};
    for (size_t i = 0; i < axis.indices.size(); i++) {
        if (axis.indices[i] < 0 || axis.indices[i] != axis.indices[0] + static_cast<int64_t>(i)) return {};
    }
    const std::vector<MemoryLoop> before = wide_loops(input);
    if (before.empty() || before.front().axis != axis.axis) return {};
    const int64_t first = axis.indices[0], count = int64_t(axis.indices.size()), whole = before.front().step;
    // What is left of the axis may be one step, so the loops are compared without it.
    if (first % whole != 0 || count % whole != 0 || inside_of(axis.axis, input) != inside_of(axis.axis, result))
        return {};
    return input.storage->bytes / shape(input)[axis.axis] * first;
}

bool joins_bytes(const Operator &op, const std::vector<Stored> &inputs, const Stored &result) {
    const auto *concat = std::get_if<Concat>(&op);
    if (!concat || result.storage->bytes == 0) return false;
    const std::vector<MemoryLoop> inside = inside_of(concat->axis, result);
    int64_t bytes = 0;
    for (const Stored &input : inputs) {
        if (inside_of(concat->axis, input) != inside) return false;
        bytes += input.storage->bytes;
    }
    return bytes == result.storage->bytes;
}

bool may_write_over(const Node &node, size_t index, const Stored &first, const Stored &input, const Stored &result) {
    const auto *convolution = std::get_if<Convolution>(&node.op);
    const bool reads_place_by_place = convolution ? is_addend(*convolution, node, index, first, result)
                                                  : std::holds_alternative<Elementwise>(node.op);
    return reads_place_by_place && shape(input) == shape(result) && input.storage->bytes == result.storage->bytes &&
           wide_loops(input) == wide_loops(result);
}

}  // namespace kiln::graph
