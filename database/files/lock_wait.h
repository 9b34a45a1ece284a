// How a program waits for a lock of a database that another process holds.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace kiln {

struct LockWait {
    std::function<void(const std::string &path)> tell;  // once a wait, after `silent`
    std::function<bool()> interrupted;                  // ends it
    // What others record takes milliseconds: the last record of a work that a user stops gets in, unless somebody sits on the lock.
    std::chrono::milliseconds silent{2000}, when_interrupted{5000};
};

// Of all connections that are opened from now on. A program calls it once, before its first thread: opening a file may wait already, in
// many places, and what is said of it belongs to the program and not to the file.
void set_lock_wait(LockWait wait);

}  // namespace kiln
