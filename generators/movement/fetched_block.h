// Brings a block of a pipeline's argument into the caches before any of it is read or written. Halide can do that where
// Funcs read (Func::prefetch), but not for what they write.
#pragma once

#include <Halide.h>

#include <vector>

namespace kiln {

// `rows` runs of `run` elements, the first of each `row_stride` elements after that of the one before.
struct MemoryBlock {
    Halide::Parameter buffer;  // an argument of the pipeline; an output, which has none yet, one of the same name
    Halide::Expr first;        // its place in the buffer, in elements; over the arguments of the Func
    int64_t rows = 1, row_stride = 0, run = 1;
};

// A Func that fetches the block of its arguments when it is computed, line after line as memory has them. Its value is
// 0, and LLVM sees that, so that what is made to depend on it is not slower. The last line may be beyond the buffer,
// which prefetches are allowed to be.
Halide::Func fetched_block(const MemoryBlock &block, const std::vector<Halide::Var> &arguments);

}  // namespace kiln
