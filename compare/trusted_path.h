// Whether a file may be run: only the user and root could have put it where it is.
#pragma once

#include <filesystem>

#include "workload/result.h"

namespace kiln {

// Links are followed first. Then the file and every folder that it lies in must belong to the user or to root, and nobody
// else may write to them; a sticky folder, such as /tmp, may be written by others. Errors (environment) name what is not
// so, and the way out.
Status check_trusted(const std::filesystem::path &path);

}  // namespace kiln
