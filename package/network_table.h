// The source text of a package's networks (runtime/network/network_table.h). Pure.
#pragma once

#include <string>

#include "package/described_network.h"

namespace kiln {

// The symbol that embedded weights have inside the library.
std::string weights_symbol(const std::string &package, const PackagedNetwork &network);

// C++ source for behind the kernels' table: it defines `extern "C" const kiln_network *<name>_<function>(void)`.
std::string network_source(const std::string &package, const DescribedNetwork &network);

}  // namespace kiln
