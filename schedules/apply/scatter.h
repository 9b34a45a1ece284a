// What templates share where results are stored elsewhere than computed: phases become pixels, groups of the batch
// become images.
#pragma once

#include <Halide.h>

#include <algorithm>
#include <cstdint>

namespace kiln {

struct Scatter {
    Halide::Var c, x, y;  // of the result
    int lanes = 1;
    int64_t block = 1;  // channels of one block in memory
    bool parallel = false;
};

// `gathered` holds all results; `scattered` copies each to its place.
inline void scatter_output(Halide::Func gathered, Halide::Func scattered, const Scatter &how) {
    gathered.compute_root();
    const int block = static_cast<int>(std::min<int64_t>(how.lanes, how.block));
    scattered.vectorize(block > 1 ? how.c : how.x, block > 1 ? block : how.lanes, Halide::TailStrategy::GuardWithIf);
    if (how.parallel) scattered.parallel(how.y);
}

}  // namespace kiln
