// One measurement at a time on a machine: how a command takes its turn, and what it says while others have theirs.
#pragma once

#include <cstdint>
#include <optional>

#include "tuner/process/lock_holder.h"
#include "tuner/process/measuring_lock.h"

namespace kiln {

// Says on stderr who measures meanwhile: once, and once more for each process that is stopped and lets nobody on.
void tell_wait(const std::optional<LockHolder> &holder);

// The machine for this process, as a kernel has it while it is timed: until the answer ends, other kiln processes wait.
// Nothing where the machine cannot be locked, the user interrupts, or others have it for longer than `patience_ns`.
std::optional<MeasuringLock> take_machine(int64_t patience_ns);

// A job must not wait long for its peak: a busy moment is seen in it (compare/peak.h). A time of a peer is a time like ours.
inline constexpr int64_t patience_of_peaks_ns = 2'000'000'000, endless_patience_ns = INT64_MAX;

}  // namespace kiln
