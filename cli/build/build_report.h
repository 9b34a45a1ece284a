// What `kiln build` says: of each kernel on the way, and of the package at the end.
#pragma once

#include <string>
#include <vector>

#include "package/package.h"
#include "package/package_kernels.h"

namespace kiln {

// A line on stderr. A network has many kernels, so of those only the ones that are not as wanted have one.
void show_kernel(const KernelReport &report);
void show_kernel_of_network(const KernelReport &report);

// The answer on stdout.
void print_package(const Package &package, const std::string &output);

}  // namespace kiln
