// Results that are narrowed to bytes and stored, several vectors at once.
#pragma once

#include <Halide.h>

namespace kiln {

// How bytes come out of numbers of 32 bits.
enum class JoinBytes {
    narrow,      // what the compiler makes of vectors behind each other: packs, before AVX-512
    by_masks,    // a number's lowest byte is shifted to its place and joined by a mask: AVX-512
    by_funnels,  // each shift takes a byte in: AVX512-VBMI2
};

// A vector of numbers that is narrowed to bytes fills a quarter of a vector. Where four stores behind each other do that, all four
// are narrowed together, and bytes that are neighbours in memory are stored together. No store is moved in front of a load that
// stands before it in the loops.
void join_bytes(Halide::Pipeline &pipeline, JoinBytes how);

}  // namespace kiln
