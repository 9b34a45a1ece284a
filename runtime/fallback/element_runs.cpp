#include "runtime/fallback/element_runs.h"

#include <string.h>

#include "runtime/kiln.h"

namespace kiln {
namespace {

float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// Every case is computed and one chosen, so that compilers make vectors of it. No step makes or takes a subnormal f32:
// a program may have switched them off.
struct F16 {
    static float load(uint16_t bits) {
        const uint32_t magnitude = uint32_t(bits & 0x7fff) << 13, sign = uint32_t(bits & 0x8000) << 16;
        const uint32_t normal = magnitude + 0x38000000;                                           // bias 15 to 127
        const uint32_t special = magnitude + 0x70000000;                                          // Inf, NaN
        const uint32_t small = bits_of(float_of(magnitude + 0x38800000) - float_of(0x38800000));  // units of 2^-24
        return float_of(sign | (magnitude < 0x00800000 ? small : magnitude < 0x0f800000 ? normal : special));
    }
    static uint16_t store(float value) {
        const uint32_t bits = bits_of(value), magnitude = bits & 0x7fffffff;
        const uint32_t odd = magnitude >> 13 & 1;
        const uint32_t normal = (magnitude - 0x38000000 + 0xfff + odd) >> 13;
        // Below 2^-14: adding 1/2 aligns and rounds the fraction to units of 2^-24.
        const uint32_t small = bits_of(float_of(magnitude < 0x38800000 ? magnitude : 0) + 0.5f) - 0x3f000000;
        const uint32_t large = magnitude > 0x7f800000 ? 0x7e00 : 0x7c00;  // from halfway to 65536 on: Inf
        const uint32_t result = magnitude < 0x38800000 ? small : magnitude < 0x477ff000 ? normal : large;
        return static_cast<uint16_t>((bits >> 16 & 0x8000) | result);
    }
};

struct BF16 {
    static float load(uint16_t bits) { return float_of(uint32_t(bits) << 16); }
    static uint16_t store(float value) {
        const uint32_t bits = bits_of(value);
        const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
        return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded);
    }
};

template<typename Format>
void load_halves(const uint16_t *from, const ElementRun &run, float *to, int64_t to_step) {
    if (run.step == 1 && to_step == 1) {
        for (int64_t i = 0; i < run.count; i++) to[i] = Format::load(from[i]);
        return;
    }
    for (int64_t i = 0; i < run.count; i++) to[i * to_step] = Format::load(from[i * run.step]);
}

template<typename T>
void load_integers(const T *from, const ElementRun &run, float *to, int64_t to_step) {
    for (int64_t i = 0; i < run.count; i++) to[i * to_step] = static_cast<float>(from[i * run.step] - run.zero_point);
}

template<typename Format>
void store_halves(const float *from, const ElementRun &run, uint16_t *to) {
    for (int64_t i = 0; i < run.count; i++) to[i * run.step] = Format::store(from[i]);
}

}  // namespace

void load_elements(const void *tensor, const ElementRun &run, float *to, int64_t to_step) {
    if (run.dtype == KILN_I8) return load_integers(static_cast<const int8_t *>(tensor) + run.first, run, to, to_step);
    if (run.dtype == KILN_U8) return load_integers(static_cast<const uint8_t *>(tensor) + run.first, run, to, to_step);
    const auto *halves = static_cast<const uint16_t *>(tensor) + run.first;
    if (run.dtype == KILN_F16) return load_halves<F16>(halves, run, to, to_step);
    if (run.dtype == KILN_BF16) return load_halves<BF16>(halves, run, to, to_step);
    const auto *from = static_cast<const float *>(tensor) + run.first;
    if (run.step == 1 && to_step == 1) {
        memcpy(to, from, sizeof(float) * run.count);
        return;
    }
    for (int64_t i = 0; i < run.count; i++) to[i * to_step] = from[i * run.step];
}

void store_elements(const float *from, const ElementRun &run, void *tensor) {
    auto *halves = static_cast<uint16_t *>(tensor) + run.first;
    if (run.dtype == KILN_F16) return store_halves<F16>(from, run, halves);
    if (run.dtype == KILN_BF16) return store_halves<BF16>(from, run, halves);
    auto *to = static_cast<float *>(tensor) + run.first;
    if (run.step == 1) {
        memcpy(to, from, sizeof(float) * run.count);
        return;
    }
    for (int64_t i = 0; i < run.count; i++) to[i * run.step] = from[i];
}

}  // namespace kiln
