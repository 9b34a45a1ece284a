// A folder of its own for each job, removed with everything in it at the end. Folders that a killed job left behind are
// removed by the next one, and nothing else is. A folder counts as left behind where its name has the exact form, it
// belongs to this user alone, it holds a file that says so, and no job has a lock on it. The system drops such a lock
// with the process.
#pragma once

#include <string>

#include "tuner/process/descriptor.h"
#include "workload/result.h"

namespace kiln {

class TemporaryFolder {
public:
    // Under $TMPDIR or /tmp. Errors (environment): no folder can be made or locked there, or everybody could exchange it.
    static Result<TemporaryFolder> create();
    TemporaryFolder(TemporaryFolder &&other) noexcept;
    TemporaryFolder &operator=(TemporaryFolder &&other) noexcept;
    ~TemporaryFolder();

    const std::string &path() const { return path_; }

private:
    TemporaryFolder(std::string path, Descriptor lock) : path_(std::move(path)), lock_(std::move(lock)) {}

    std::string path_;  // absolute; empty: moved from
    Descriptor lock_;   // of the folder itself
};

}  // namespace kiln
