// How fast the memory beyond a core's own caches was while a kernel was measured. The last cache and the memory belong to
// all who use the machine, so a kernel whose data lies there takes twice as long beside one neighbour as beside another,
// while the core itself is as fast as ever. Times of such kernels are compared only where these speeds were alike, or
// in turns within one process. The functions are pure; tuner/runner/sentinel.h measures.
#pragma once

#include <optional>
#include <string>

namespace kiln {

// GB/s of one core that reads. 0: it was not measured.
struct MemorySpeed {
    double l3 = 0;    // lines of as many bytes as the workload has, over and over, none of them fetched ahead
    double dram = 0;  // bytes that were evicted from all caches before, in order
    bool operator==(const MemorySpeed &) const = default;
};

// Readings half a second apart differ by up to this factor on a quiet machine. Beside compilers on the other core, which use
// the same last cache, they fall to a half and less.
inline constexpr double like_speeds = 1.35;

// Whether each level that both know was about as fast. Without a level that both know there is nothing against it.
bool is_like(const MemorySpeed &a, const MemorySpeed &b);

// Right before and right after the samples.
struct MemoryState {
    MemorySpeed before, after;
    bool operator==(const MemoryState &) const = default;

    bool moved() const { return !is_like(before, after); }
    MemorySpeed mean() const;  // of each level, geometric
};
bool is_like(const MemoryState &a, const MemoryState &b);  // of the means

// Whether samples should be taken again because the state moved while they were taken. `repeats`: how often they were.
inline constexpr int most_memory_repeats = 2;
bool is_worth_repeating(const MemoryState &state, int repeats);

// The state that a measurement's conditions tell of: {"memory_gb_s":{"l3":[11.2,10.8],"dram":[34.5,36]}}. Nothing where they
// tell of none, as those of kernels whose data stays in the core's own caches.
std::optional<MemoryState> memory_state_of(const std::string &conditions);

// "L3 11.0 GB/s, DRAM 35.2 GB/s"
std::string text(const MemoryState &state);

}  // namespace kiln
