// Whether an output can be written, found out by writing: before work of minutes whose answer it is. What was made to find
// that out is removed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "workload/result.h"

namespace kiln {

// Folders that were made for something. Those that are empty go again, unless keep() says that it came about.
class MadeFolders {
public:
    // Makes a folder and those above it that are missing. Errors (environment): one cannot be made; then none stays.
    static Result<MadeFolders> make(const std::filesystem::path &folder);

    MadeFolders() = default;
    MadeFolders(MadeFolders &&other) noexcept;
    MadeFolders &operator=(MadeFolders &&) = delete;
    ~MadeFolders();

    void keep() { folders_.clear(); }

private:
    std::vector<std::filesystem::path> folders_;  // outermost first
};

// Errors (environment): a file of this name cannot be written. One that is there stays as it is.
Status check_output_file(const std::string &path);

// Errors: it is there and no folder (bad_input), it cannot be made, or nothing can be written into it (environment).
Status check_output_folder(const std::string &path);

}  // namespace kiln
