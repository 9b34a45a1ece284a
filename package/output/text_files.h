// Small files, written and read as a whole. Messages name the file and say what the system said.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "workload/result.h"

namespace kiln {

Error cannot(const std::string &what, const std::filesystem::path &path, const std::string &why);  // environment

// Makes the folders, too.
Status write_text(const std::filesystem::path &path, const std::string &text);

// Errors (environment): it cannot be read, or it has more than `most_bytes`.
Result<std::string> read_text(const std::filesystem::path &path, int64_t most_bytes);

Status make_folders(const std::filesystem::path &folder);

}  // namespace kiln
