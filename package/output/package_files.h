// The files of a package, by name. In a folder that holds a package, kiln replaces and removes these files and nothing
// else: whatever else lies there was made by somebody else.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/result.h"

namespace kiln {

inline constexpr int64_t most_manifest_bytes = int64_t(64) << 20;

// Whether a text is the manifest of a package, of this version or a later one; and whether of a package of that name.
bool is_manifest(std::string_view text, std::optional<std::string_view> name = {});

// Relative paths of the files that every package of this name may consist of, sorted.
std::vector<std::string> package_files(const std::string &name);

// Those that a manifest lists beside them: of C sources. Others than `src/NAME_...c`, Makefile and CMakeLists.txt are left out.
std::vector<std::string> listed_files(std::string_view manifest, const std::string &name);

// The name of the package in a folder; nothing if the folder is empty. Errors (bad_input): the folder holds no package,
// or a file besides the package's, which the message names; links are such files. Precondition: it is a folder.
Result<std::optional<std::string>> package_in(const std::filesystem::path &folder);

// Removes the files that a package of this name has, the others that are named, and the folders that are empty then.
// `folder` is a descriptor; no link below it is followed. Other files stay, and so do the folders around them.
void remove_package(int folder, const std::string &name, const std::vector<std::string> &others);

}  // namespace kiln
