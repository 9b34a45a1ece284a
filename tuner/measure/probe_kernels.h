// The inner loops that tuner/measure/hardware_probe.h times, by instruction set. They are written in assembly where the
// result would otherwise depend on how this file is compiled (a debug build must measure the same machine), and carry
// their own target attributes, so the file is compiled for the baseline.
#pragma once

#include <cstddef>
#include <cstdint>

#include "workload/target.h"

namespace kiln {

// Independent f32 multiply-adds on registers only.
struct FmaKernel {
    const char *instructions;
    int64_t flop_per_iteration;
    void (*run)(int64_t iterations);
};
FmaKernel fma_kernel(const Target &target);
// The same of small integers: products of 8 bits that are added up in 32, as quantized convolutions need them. Where a target
// has no such instruction, products of 16 bits.
FmaKernel int8_kernel(const Target &target);

// Both go once over `bytes`, a multiple of stream_block, from addresses aligned to it.
inline constexpr size_t stream_block = 512;
struct StreamKernels {
    void (*read)(const char *data, size_t bytes);
    void (*copy)(char *to, const char *from, size_t bytes);
};
StreamKernels stream_kernels(const Target &target);

// Makes `count` (a multiple of 16) integer additions. Each needs the one before and takes one cycle.
void dependent_additions(int64_t count);

}  // namespace kiln
