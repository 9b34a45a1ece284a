#include "graph/rewriting/moved_constant.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "graph/rewriting/permutation.h"

namespace kiln::graph {
namespace {

ConstantData transposed(const Value &constant, const Permutation &permutation) {
    const Shape &from = constant.form.shape, to = permuted(from, permutation);
    const auto size = static_cast<size_t>(size_of(constant.form.type));
    Shape steps(from.size(), 1);  // of the input's axes, in elements
    for (size_t axis = from.size(); axis-- > 1;) steps[axis - 1] = steps[axis] * from[axis];
    const std::byte *source = constant.constant->bytes().data();
    std::vector<std::byte> bytes(constant.constant->bytes().size());
    Shape position(to.size(), 0);
    int64_t element = 0;
    for (size_t offset = 0; offset < bytes.size(); offset += size) {
        std::copy_n(source + element * static_cast<int64_t>(size), size, bytes.data() + offset);
        for (size_t axis = to.size(); axis-- > 0;) {
            const int64_t step = steps[permutation[axis]];
            element += step;
            if (++position[axis] < to[axis]) break;
            element -= step * to[axis];
            position[axis] = 0;
        }
    }
    return ConstantData(std::move(bytes));
}

}  // namespace

std::optional<ConstantData> moved_constant(const Operator &op, const Value &constant) {
    if (std::holds_alternative<Reshape>(op)) return constant.constant;
    if (const auto *transpose = std::get_if<Transpose>(&op)) return transposed(constant, transpose->permutation);
    return {};
}

}  // namespace kiln::graph
