// Who takes a turn before a race, where single measurements say little: those of a kernel whose data lies in the caches and
// the memory that the machine's users share. One lucky minute must not win, and one busy minute must not lose, so times
// decide nothing across states of that memory. Kernels that look good among those measured in a like state take turns in
// one process, and who is fast there is in the field of the race. The choice is a pure function.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "records/memory_state.h"

namespace kiln {

struct QualifyingTime {
    double recorded_ns = 0;
    std::optional<MemoryState> memory;  // when that was recorded; nothing: not known
    std::optional<double> turn_ns;      // in turns with the others; nothing: it had none yet
    bool is_set = false;                // the incumbent and the default take part in any case
};

struct QualifyingRules {
    size_t most = 8;            // that take turns at once, beside those that are set
    double close = 1.10;        // of the fastest in turns: a kernel that should be as fast as that has a turn, too
    double not_worth_it = 1.5;  // of the third in its state: what is slower is known to lose
};

// Answers indices, the most promising first. At first the fastest of each state, then the second of each, and so on. Once
// there are times of turns: all that should be close to the fastest, going by those of their state that had a turn. None:
// the field is known.
std::vector<size_t> next_qualifiers(const std::vector<QualifyingTime> &times, const QualifyingRules &rules);

// The states that the times were taken in: for each time its group. Times of one group may be compared.
std::vector<size_t> groups_of_like_state(const std::vector<QualifyingTime> &times);

}  // namespace kiln
