#include "graph/lower/node/transposed_bytes.h"

#include <cstring>

namespace kiln::graph {
namespace {

// The innermost axis of the result lies `stride` bytes apart in the input.
template<size_t size>
void copy_row(const std::byte *from, int64_t stride, int64_t count, std::byte *to) {
    for (int64_t i = 0; i < count; i++) std::memcpy(to + i * size, from + i * stride, size);
}

void copy_row(size_t size, const std::byte *from, int64_t stride, int64_t count, std::byte *to) {
    if (size == 1) return copy_row<1>(from, stride, count, to);
    if (size == 2) return copy_row<2>(from, stride, count, to);
    if (size == 4) return copy_row<4>(from, stride, count, to);
    copy_row<8>(from, stride, count, to);
}

}  // namespace

ConstantData transposed_bytes(const Transpose &op, const TypedShape &form, const ConstantData &data) {
    const size_t rank = form.shape.size(), size = size_of(form.type);
    if (rank == 0 || data.bytes().empty()) return data;
    std::vector<int64_t> input_strides(rank, static_cast<int64_t>(size));
    for (size_t d = rank - 1; d-- > 0;) input_strides[d] = input_strides[d + 1] * form.shape[d + 1];
    Shape extents;
    std::vector<int64_t> strides;
    for (const int axis : op.permutation) {
        extents.push_back(form.shape[axis]);
        strides.push_back(input_strides[axis]);
    }
    std::vector<std::byte> result(data.bytes().size());
    const std::byte *from = data.bytes().data();
    const size_t row = extents.back() * size;
    std::vector<int64_t> place(rank, 0);
    for (size_t done = 0; done < result.size(); done += row) {
        copy_row(size, from, strides.back(), extents.back(), result.data() + done);
        for (size_t d = rank - 1; d-- > 0;) {
            from += strides[d];
            if (++place[d] < extents[d]) break;
            from -= strides[d] * extents[d];
            place[d] = 0;
        }
    }
    return ConstantData(std::move(result));
}

}  // namespace kiln::graph
