// The random numbers that tensors are filled with.
#pragma once

#include <cmath>
#include <cstdint>

namespace kiln {

// SplitMix64 (Steele, Lea and Flood): small, fast, and good enough to fill tensors.
class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}

    uint64_t next() {
        uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    float uniform() { return float(int64_t(next() >> 39)) * 0x1p-24f - 1; }  // [-1, 1) in steps of 2^-24
    float wide(float exponents) {
        const float magnitude = std::exp2(uniform() * exponents);
        return next() & 1 ? magnitude : -magnitude;
    }

private:
    uint64_t state_;
};

}  // namespace kiln
