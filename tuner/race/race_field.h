// Which kernels of a workload are worth a race: those that single measurements cannot tell from the fastest, the winner
// so far, and the default. The choice is a pure function.
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
    size_t top = 4;             // at most this many of the fastest
    double close = 1.10;        // only those within this factor of the fastest
    double not_worth_it = 1.5;  // even a default slower than this is known to lose
};

// Answers indices into `contenders`, the fastest first, one for each object. With fewer than two there is nothing to
// race. An incumbent that is not worth a race still races a contender that is alone, since only a race replaces it.
std::vector<size_t> race_field(const std::vector<Contender> &contenders, const FieldRules &rules);

}  // namespace kiln
