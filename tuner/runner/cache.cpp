#include "tuner/runner/cache.h"

#include <algorithm>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kiln {

namespace {

void touch(std::span<const std::byte> bytes) {
    for (size_t i = 0; i < bytes.size(); i += 64) {
        [[maybe_unused]] const volatile std::byte read = bytes[i];
    }
}

}  // namespace

bool can_evict_lines() {
#if defined(__x86_64__)
    return true;
#else
    return false;
#endif
}

void evict(std::span<const std::byte> bytes) {
#if defined(__x86_64__)
    for (size_t i = 0; i < bytes.size(); i += 64) {
        _mm_clflush(&bytes[i]);
    }
    _mm_mfence();
#else
    static std::vector<std::byte> other(64 << 20);  // more than the caches hold
    std::fill(other.begin(), other.end(), std::byte(other[0] == std::byte(0)));
#endif
}

void make_cold(std::span<const std::byte> weights, const std::vector<std::span<const std::byte>> &activations) {
    evict(weights);
    for (const auto &span : activations) {
        touch(span);
    }
}

}  // namespace kiln
