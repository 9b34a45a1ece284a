// Moves a block of a matrix to its transpose, through tiles that are a cache line long on both sides, by plain stores
// or by stores that go past the caches: what Halide cannot say. It has no such store up to version 21, and its compiler
// turns elements of a byte by twice as many instructions. Kernels of data movement call it, a block a call.
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

inline constexpr int transposed_line_bytes = 64;

enum TransposeFetch : int32_t {
    fetch_nothing = 0,
    fetch_rows = 1,   // of every tile, some lines further in each row
    fetch_block = 2,  // the operand's memory behind the block's, a share with each tile
};

}  // namespace kiln

// Positions and strides in elements of `element_bytes` (1, 2 or 4) from the tensors' first, 64 bytes being `line`
// elements: `rows` and `columns` are at least `line`. `past_caches` stores whole lines of the result past the caches if
// they are at multiples of 64 bytes and `rows` is a multiple of `line`, else plainly; `last` then makes all stores so
// far visible to other threads. Returns 0, always.
#define KILN_TRANSPOSE(isa)                                                                                           \
    extern "C" __attribute__((visibility("default"))) int32_t kiln_transpose1_##isa(                                  \
        const void *operand, void *result, int64_t read_first, int64_t written_first, int64_t row_stride,             \
        int64_t column_stride, int64_t run_stride, int32_t run, int32_t rows, int32_t columns, int32_t element_bytes, \
        int32_t fetch, int32_t past_caches, int32_t last)

KILN_TRANSPOSE(sse2);
KILN_TRANSPOSE(avx2);
