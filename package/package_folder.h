// A package is written into a folder beside the output, on the same file system. At the end that folder takes the
// output's place in one step. An output that exists is replaced only if it is empty or a package of kiln's.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "workload/result.h"

namespace kiln {

class PackageFolder {
public:
    // Errors: an output that must not be replaced (bad_input), a place that cannot be written (environment).
    static Result<PackageFolder> create(const std::string &output);

    PackageFolder(PackageFolder &&other) noexcept;
    PackageFolder &operator=(PackageFolder &&) = delete;
    ~PackageFolder();  // removes the folder that was not committed, or the package that was replaced

    const std::filesystem::path &path() const { return path_; }

    // At any moment the output is the old package or the new one.
    Status commit();

private:
    PackageFolder(std::filesystem::path path, std::filesystem::path output);
    std::filesystem::path path_, output_;
};

// Files of a package. Writing makes the folders, too.
Status write_text(const std::filesystem::path &path, const std::string &text);
Result<std::string> read_text(const std::filesystem::path &path);
Status make_folders(const std::filesystem::path &folder);

}  // namespace kiln
