// One measurement at a time on a machine: a lock that all kiln processes share, whoever started them. The system drops
// it with the process.
//
// What is locked is nobody's to make, replace or remove. In a folder where everybody may write, the first one decides
// what lies there, and a FIFO would hang all others. So the lock is flock(2) on something of the system itself, which
// needs no right but to read.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tuner/process/descriptor.h"
#include "tuner/process/lock_holder.h"
#include "workload/result.h"

namespace kiln {

// The system's folder of CPUs: always of this machine, while / and /tmp may be a network's or a container's own. Where
// that cannot be locked, /dev/null.
std::string machine_lock_path();

// What happens while another process holds the lock; either may be empty.
struct LockWait {
    // Called where that takes longer than two seconds, and then about every second.
    std::function<void(const std::optional<LockHolder> &)> on_wait;
    std::function<bool()> is_over;  // nobody waits any more
};

class MeasuringLock {
public:
    // Waits until nobody else holds it. Errors: nothing at `path` can be locked (environment); the user interrupted, or
    // the wait is over (interrupted).
    static Result<MeasuringLock> acquire(const std::string &path, const LockWait &wait = {});

private:
    explicit MeasuringLock(Descriptor file) : file_(std::move(file)) {}

    Descriptor file_;  // closing it releases the lock
};

}  // namespace kiln
