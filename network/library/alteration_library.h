// Alterations from a shared library of a user (network/library/alteration.h, the C interface).
#pragma once

#include <string>
#include <vector>

#include "network/alter/alteration.h"
#include "workload/result.h"

namespace kiln::network {

// The library stays loaded as long as one of them lives. An error names the file: it cannot be loaded, has no table, is of
// another version, or an entry has no name or function. What an alteration does wrong is an error of Alteration::at, or of apply()
// where its patch is wrong.
Result<std::vector<Alteration>> load_alterations(const std::string &file);

}  // namespace kiln::network
