// A folder of its own for each job, removed with everything in it at the end. Folders that a killed job left behind are
// removed by the next one: a live job holds a lock on its folder, which the system drops with the process.
#pragma once

#include <string>

#include "tuner/process/descriptor.h"
#include "workload/result.h"

namespace kiln {

class TemporaryFolder {
public:
    static Result<TemporaryFolder> create();  // under $TMPDIR or /tmp
    TemporaryFolder(TemporaryFolder &&other) noexcept;
    TemporaryFolder &operator=(TemporaryFolder &&other) noexcept;
    ~TemporaryFolder();

    const std::string &path() const { return path_; }

private:
    TemporaryFolder(std::string path, Descriptor lock) : path_(std::move(path)), lock_(std::move(lock)) {}

    std::string path_;  // empty: moved from
    Descriptor lock_;   // of the folder itself
};

}  // namespace kiln
