// A package is written into a folder beside the output, on the same file system. At the end that folder takes the
// output's place in one step. An output that exists is replaced only if it is the user's own, and empty or a package of
// the same name with nothing else in it (package/package_files.h).
//
// The folder is called `.OUTPUT.kiln-` with six random letters, holds a marker, and is locked for as long as its build
// lives. A build that was killed leaves such a folder; the next one for the same output removes it if it is the user's,
// has the marker and nobody has the lock. Process ids would say nothing: the other process may live in a container.
#pragma once

#include <filesystem>
#include <string>

#include "package/output/output_places.h"
#include "tuner/process/descriptor.h"
#include "workload/result.h"

namespace kiln {

class PackageFolder {
public:
    // For a package of that name. Errors: an output that must not be replaced (bad_input), a place that cannot be written
    // (environment).
    static Result<PackageFolder> create(const std::string &output, const std::string &name);

    PackageFolder(PackageFolder &&other) noexcept;
    PackageFolder &operator=(PackageFolder &&) = delete;
    // Removes the folder that was not committed, with those above it that were made for it, or the package that was replaced.
    ~PackageFolder();

    const std::filesystem::path &path() const { return path_; }

    // At any moment the output is the old package or the new one.
    Status commit();

private:
    PackageFolder(MadeFolders parents, std::filesystem::path path, std::filesystem::path output, std::string name);

    Status take_place();

    MadeFolders parents_;         // of the output
    std::filesystem::path path_;  // empty: it has become the output
    std::filesystem::path output_;
    std::string name_;
    Descriptor lock_;  // of path_
};

}  // namespace kiln
