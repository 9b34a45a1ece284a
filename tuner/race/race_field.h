// Which kernels of a workload are worth a race: those that single measurements cannot tell from the fastest, the winner
// so far and the default. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kiln {

struct Contender {
    std::string object_hash;
    int64_t object_bytes = 0;
    double quiet_ns = 0;  // Summary::quiet: a noisy median must not keep the fastest out
    bool is_incumbent = false, is_default = false;
};

struct FieldRules {
    size_t top = 4;             // of the fastest
    double close = 1.10;        // that are within this of the fastest
    double not_worth_it = 1.5;  // even a default slower than this is known to lose
};

// Indices into `contenders`, the fastest first, one for each object. Fewer than two: there is nothing to race. An
// incumbent that is not worth it still races one that is alone, since nothing but a race takes its place.
std::vector<size_t> race_field(const std::vector<Contender> &contenders, const FieldRules &rules);

}  // namespace kiln
