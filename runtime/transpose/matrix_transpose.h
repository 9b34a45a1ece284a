// Moves a block of a matrix to its transpose, through tiles that are a cache line long on both sides, by plain stores
// or by stores that go past the caches. Halide cannot express this: up to version 21 it has no store past the caches,
// and its compiler needs twice as many instructions to turn elements of one byte. Kernels of data movement call the
// function once for each block.
//
//   result[column % run * column_stride + column / run * run_stride + row] = operand[row * row_stride + column]
//
//   row < rows, column < columns
//
// Part of what ships with kernels: no C++ library. A kernel names the function for its target, so that the measured
// function is the one that runs. Whoever changes what a function does gives it a name with a new number; kernels that
// call it then have another hash.
#pragma once

#include <stdint.h>

namespace kiln {

inline constexpr int transposed_line_bytes = 64;

enum TransposeFetch : int32_t {
    fetch_nothing = 0,
    fetch_rows = 1,   // of every tile, some lines further in each row
    fetch_block = 2,  // with each tile, a share of the memory that follows the block in the operand
};

}  // namespace kiln

// Positions count from the tensors' first element; positions and strides are in elements of `element_bytes` (1, 2 or
// 4). `line` is the number of elements in 64 bytes; `rows` and `columns` are at least `line`. `past_caches` stores
// whole lines of the result past the caches if they are at multiples of 64 bytes and `rows` is a multiple of `line`,
// else plainly; `last` then makes all stores so far visible to other threads. Returns 0, always.
#define KILN_TRANSPOSE(isa)                                                                                           \
    extern "C" __attribute__((visibility("default"))) int32_t kiln_transpose1_##isa(                                  \
        const void *operand, void *result, int64_t read_first, int64_t written_first, int64_t row_stride,             \
        int64_t column_stride, int64_t run_stride, int32_t run, int32_t rows, int32_t columns, int32_t element_bytes, \
        int32_t fetch, int32_t past_caches, int32_t last)

KILN_TRANSPOSE(sse2);
KILN_TRANSPOSE(avx2);
