#include "tuner/reference/movement_loops.h"

#include "workload/signature.h"

namespace kiln {

namespace {

using Coordinates = std::vector<int64_t>;  // N, spatial, C

int64_t index_of(const Coordinates &at, const std::vector<int64_t> &shape) {
    int64_t index = 0;
    for (size_t d = 0; d < at.size(); d++) index = index * shape[d] + at[d];
    return index;
}

Coordinates coordinates_of(int64_t index, const std::vector<int64_t> &shape) {
    Coordinates at(shape.size());
    for (size_t d = shape.size(); d-- > 0; index /= shape[d]) at[d] = index % shape[d];
    return at;
}

// The pixel of the larger image that channel `c` of pixel `at` of the smaller one is.
Coordinates in_block(const Workload &w, Coordinates at, int64_t channels) {
    int64_t pixel = at.back() / channels;
    at.back() %= channels;
    for (size_t d = w.block.size(); d-- > 0; pixel /= w.block[d]) {
        at[d + 1] = at[d + 1] * w.block[d] + pixel % w.block[d];
    }
    return at;
}

}  // namespace

std::vector<double> move_elements(const Workload &w, const std::vector<double> &operand) {
    if (w.op == Operation::layout_transform) return operand;  // the same in canonical order
    const Signature tensors = signature(w);
    const std::vector<int64_t> &from = tensors.operands[0].logical, &to = tensors.result.logical;
    const bool gathers = w.op == Operation::space_to_depth;
    const std::vector<int64_t> &deep = gathers ? to : from, &wide = gathers ? from : to;
    std::vector<double> result(elements(to));
    for (int64_t i = 0, count = elements(deep); i < count; i++) {
        const Coordinates at = in_block(w, coordinates_of(i, deep), wide.back());
        bool exists = true;
        for (size_t d = 0; d < at.size(); d++) exists = exists && at[d] < wide[d];
        if (!exists) continue;
        if (gathers) {
            result[i] = operand[index_of(at, wide)];
        } else {
            result[index_of(at, wide)] = operand[i];
        }
    }
    return result;
}

}  // namespace kiln
