// The source text of a package's kernel table (runtime/kernel_table.h). Pure.
#pragma once

#include <string>
#include <string_view>

#include "package/described_kernel.h"
#include "package/described_network.h"

namespace kiln {

// A package puts "kiln_k_<hash>_" before the names of a kernel's own symbols. Kernels with the same hash are the same
// code and are stored once.
std::string symbol_prefix(std::string_view object_hash);

// C++ source that defines `extern "C" const kiln_package *<name>_package(void)`. The kernels are those of the package,
// in table order. Of networks it defines <name>_network() and <name>_prepare(), too.
std::string table_source(const Package &package, const std::vector<DescribedKernel> &kernels,
                         const DescribedNetworks &networks = {});

}  // namespace kiln
