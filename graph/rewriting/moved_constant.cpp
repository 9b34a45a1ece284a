#include "graph/rewriting/moved_constant.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "graph/rewriting/permutation.h"

namespace kiln::graph {
namespace {

// Rows and columns in blocks, so that a line of the cache is used whole before it goes.
template<typename Bits>
void transpose_matrix(const std::byte *source, int64_t rows, int64_t columns, std::byte *target) {
    constexpr int64_t block = 32;
    for (int64_t row = 0; row < rows; row += block) {
        for (int64_t column = 0; column < columns; column += block) {
            for (int64_t c = column; c < std::min(columns, column + block); c++) {
                for (int64_t r = row; r < std::min(rows, row + block); r++) {
                    std::memcpy(target + (c * rows + r) * sizeof(Bits), source + (r * columns + c) * sizeof(Bits),
                                sizeof(Bits));
                }
            }
        }
    }
}

// Where a permutation cuts the axes in two parts that change places, the elements of the first part.
std::optional<int64_t> rows_of_matrix(const Shape &shape, const Permutation &permutation) {
    const size_t cut = permutation.empty() ? 0 : permutation.front();
    int64_t rows = 1;
    for (size_t i = 0; i < permutation.size(); i++) {
        if (static_cast<size_t>(permutation[i]) != (i + cut) % permutation.size()) return {};
        if (i < cut) rows *= shape[i];
    }
    return rows;
}

void transpose_elements(const Value &constant, const Permutation &permutation, std::vector<std::byte> *bytes) {
    const Shape &from = constant.form.shape, to = permuted(from, permutation);
    const auto size = static_cast<size_t>(size_of(constant.form.type));
    const Shape steps = row_major_strides(from);
    const std::byte *source = constant.constant->bytes().data();
    Shape position(to.size(), 0);
    int64_t element = 0;
    for (size_t offset = 0; offset < bytes->size(); offset += size) {
        std::copy_n(source + element * static_cast<int64_t>(size), size, bytes->data() + offset);
        for (size_t axis = to.size(); axis-- > 0;) {
            const int64_t step = steps[permutation[axis]];
            element += step;
            if (++position[axis] < to[axis]) break;
            element -= step * to[axis];
            position[axis] = 0;
        }
    }
}

ConstantData transposed(const Value &constant, const Permutation &permutation) {
    const auto bytes = constant.constant->bytes();
    std::vector<std::byte> result(bytes.size());
    const auto rows = rows_of_matrix(constant.form.shape, permutation);
    if (result.empty()) return ConstantData(std::move(result));
    const int64_t elements = static_cast<int64_t>(bytes.size()) / size_of(constant.form.type);
    if (rows && size_of(constant.form.type) == 4) {
        transpose_matrix<uint32_t>(bytes.data(), *rows, elements / *rows, result.data());
    } else {
        transpose_elements(constant, permutation, &result);
    }
    return ConstantData(std::move(result));
}

}  // namespace

std::optional<ConstantData> moved_constant(const Operator &op, const Value &constant) {
    if (std::holds_alternative<Reshape>(op)) return constant.constant;
    if (const auto *transpose = std::get_if<Transpose>(&op)) return transposed(constant, transpose->permutation);
    return {};
}

}  // namespace kiln::graph
