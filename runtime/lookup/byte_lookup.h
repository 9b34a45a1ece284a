// Looks numbers of 8 bits up in a table of 256 of them, many at once in vectors. Halide cannot express this: up to version 21 it
// has no shuffle of bytes by places that are not known when compiling, and loads each element alone. Kernels of nests call the
// function for what they would store.
//
//   result[i] = table[indices[i] ^ flip],  i < count
//
// Part of what ships with kernels: no C++ library. A kernel names the function for its target, so that the measured function is the
// one that runs. Whoever changes what a function does gives it a name with a new number; kernels that call it then have another hash.
#pragma once

#include <stdint.h>

// `result` is `indices`, or apart from them; neither overlaps the table. Returns 0, always.
#define KILN_LOOK_UP(isa)                                                          \
    extern "C" __attribute__((visibility("default"))) int32_t kiln_look_up1_##isa( \
        const uint8_t *table, const uint8_t *indices, uint8_t *result, int64_t count, int32_t flip)

KILN_LOOK_UP(avx2);
KILN_LOOK_UP(avx512vbmi);
