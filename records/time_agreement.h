// Whether two times of one kernel say the same. Pure.
#pragma once

#include <string>

#include "records/trial.h"

namespace kiln {

// The medians of two processes differ because the kernel's memory lies elsewhere and the machine has changed: by a tenth,
// or by as much as the samples of one of them spread.
inline constexpr double same_time = 0.1;
double tolerance(const Measurement &a, const Measurement &b);
bool times_agree(const Measurement &recorded, const Measurement &now);

// Whether the machine's memory was in one state for the first and in another for the second, so that different times say
// nothing against each other.
bool is_memory_another(const Measurement &recorded, const Measurement &now);

// Whether single calls took so different times, as they do where neighbours push data out of the last cache and let it in
// again, that the medians of both may be those of one kernel: nine tenths of the calls of each lie in ranges that overlap.
// Never where the memory does not matter, which its state tells.
bool do_calls_overlap(const Measurement &recorded, const Measurement &now);

// For people: how and, if it is known, why the times differ, as "645.0 us when it was recorded, 2061.3 us now: the machine's
// memory is in another state (then L3 11.0 GB/s, DRAM 35.2 GB/s; now L3 4.1 GB/s, DRAM 15.0 GB/s)". Empty where they agree, and
// where they are of other metrics or machines.
std::string difference_text(const Measurement &recorded, const Measurement &now);

}  // namespace kiln
