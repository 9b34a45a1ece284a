// One measurement at a time on a machine: a lock that all kiln processes share, whoever started them. The system drops
// it with the process.
#pragma once

#include <functional>
#include <string>

#include "tuner/process/descriptor.h"
#include "workload/result.h"

namespace kiln {

// Not below $TMPDIR, which differs between users.
inline constexpr const char *machine_lock_path = "/tmp/kiln-measuring.lock";

class MeasuringLock {
public:
    // Waits until nobody else holds it. `on_wait` is called once, where that takes longer than two seconds. Errors: no
    // such file can be made (environment), or the user interrupted.
    static Result<MeasuringLock> acquire(const std::string &path, const std::function<void()> &on_wait);

private:
    explicit MeasuringLock(Descriptor file) : file_(std::move(file)) {}

    Descriptor file_;  // closing it releases the lock
};

}  // namespace kiln
