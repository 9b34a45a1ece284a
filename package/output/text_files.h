// Small files, written as a whole. Messages name the file and say what the system said.
#pragma once

#include <filesystem>
#include <string>

#include "workload/result.h"

namespace kiln {

Error cannot(const std::string &what, const std::filesystem::path &path, const std::string &why);  // environment

// Makes the folders, too.
Status write_text(const std::filesystem::path &path, const std::string &text);

Status make_folders(const std::filesystem::path &folder);

}  // namespace kiln
