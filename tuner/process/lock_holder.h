// Who holds a lock, as the kernel tells it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace kiln {

struct LockHolder {
    pid_t process = 0;
    std::string command;      // its words, as it was started; empty where the system does not tell
    bool is_stopped = false;  // by Ctrl-Z or SIGSTOP: it lets nobody on until it is continued
};

// Who holds flock(2) on what `descriptor` has open. Nothing: nobody, or a process that is not shown here, as that of a
// container is not in another.
std::optional<LockHolder> holder_of_lock(int descriptor);

}  // namespace kiln
