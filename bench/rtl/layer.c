/* One layer of a package as a program without anything around it: operands drawn, a call to fill the caches, a call that is
 * counted. The same program runs in kiln-simulate and on the VexRiscv of vexriscv.cpp.
 *   FUNCTION  the layer's function; UPPER the same in capitals; PACKAGE the package's name
 *   CHANNELS, KERNEL_BYTES  sizes of its operands
 */
#include <stddef.h>
#include <stdint.h>

#include "package.h"

#define JOINED(a, b) a##b
#define NAMED(a, b) JOINED(a, b)

/* The first variable, where vexriscv.cpp looks for it. */
__attribute__((section(".data.a"))) volatile uint32_t bench_hash = 1;

static int8_t kernel[KERNEL_BYTES];
static int32_t bias[CHANNELS], multiplier[CHANNELS], shift[CHANNELS];

/* As kiln's runner has them. */
static __attribute__((aligned(64))) int8_t input[NAMED(UPPER, _INPUT_BYTES)], output[NAMED(UPPER, _OUTPUT_BYTES)];
static __attribute__((section(".behind_stack"))) struct {
    int32_t packed[NAMED(UPPER, _PACKED_WORDS)];
    __attribute__((aligned(64))) int64_t workspace[NAMED(UPPER, _WORKSPACE_BYTES) / 8 + 1];
} at;

static uint32_t state = 1;
static int32_t drawn(void) { return (int32_t)((state = state * 1664525 + 1013904223) >> 16); }

void *memcpy(void *restrict to, const void *restrict from, size_t count) {
    char *t = to;
    for (const char *f = from; count > 0; count--) *t++ = *f++;
    return to;
}
void *memset(void *to, int value, size_t count) {
    for (char *t = to; count > 0; count--) *t++ = (char)value;
    return to;
}

int main(void) {
    for (size_t i = 0; i < sizeof input; i++) input[i] = (int8_t)drawn();
    for (size_t i = 0; i < sizeof kernel; i++) kernel[i] = (int8_t)drawn();
    for (int32_t c = 0; c < CHANNELS; c++) {
        bias[c] = drawn() % 4000 - 2000;
        multiplier[c] = (1 << 30) + drawn() * 16000;
        shift[c] = -(drawn() % 4) - 5;
    }
    const NAMED(PACKAGE, _constants) constants = {.kernel = kernel,
                                                  .bias = bias,
                                                  .multiplier = multiplier,
                                                  .shift = shift,
                                                  .input_zero_point = -128,
                                                  .output_zero_point = -128,
                                                  .result_bounds = {-128, 127}};
    NAMED(FUNCTION, _pack)(&constants, at.packed, at.workspace);
    FUNCTION(input, at.packed, output, at.workspace);
    __asm__ volatile("slti zero, zero, 1" ::: "memory");
    FUNCTION(input, at.packed, output, at.workspace);
    __asm__ volatile("slti zero, zero, 2" ::: "memory");
    for (size_t i = 0; i < sizeof output; i++) bench_hash = (bench_hash ^ (uint8_t)output[i]) * 16777619;
    __asm__ volatile("slti zero, zero, 3" ::: "memory");
    return (int)(bench_hash & 127);
}
