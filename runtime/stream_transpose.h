// Moves a block of a matrix to its transpose by stores that go past the caches: what Halide cannot say (its stores have
// no such hint up to version 21). Kernels of data movement beyond the caches call it, a block a call, where a plain
// store would read each line of the result before it overwrites all of it.
//
//   result[column % run * column_stride + column / run * run_stride + row] = operand[row * row_stride + column]
//
//   row < rows, column < columns
//
// Part of what ships with kernels: no C++ library. A kernel names the function for its target, so that what was
// measured is what runs; a change of what a name does is a new number in it, and thereby another hash of the kernels
// that call it.
#pragma once

#include <stdint.h>

namespace kiln {

inline constexpr int stream_line_bytes = 64;

enum StreamFetch : int32_t {
    fetch_nothing = 0,
    fetch_rows = 1,   // of every tile, some lines further in each row
    fetch_block = 2,  // the operand's memory behind the block's, a share with each tile
};

}  // namespace kiln

// Positions and strides in elements of `element_bytes` (1, 2 or 4) from the tensors' first, 64 bytes being `line`
// elements: `rows` is a multiple of `line`, `columns` is at least `line`. Lines of the result should be at multiples of
// 64 bytes; stores are plain ones where they are not. `last` makes all stores so far visible to other threads. Returns
// 0, always.
#define KILN_STREAM_TRANSPOSE(isa)                                                                                    \
    extern "C" __attribute__((visibility("default"))) int32_t kiln_stream_transpose1_##isa(                           \
        const void *operand, void *result, int64_t read_first, int64_t written_first, int64_t row_stride,             \
        int64_t column_stride, int64_t run_stride, int32_t run, int32_t rows, int32_t columns, int32_t element_bytes, \
        int32_t fetch, int32_t last)

KILN_STREAM_TRANSPOSE(sse2);
KILN_STREAM_TRANSPOSE(avx2);
