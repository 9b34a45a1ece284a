// What `kiln build` says: of each kernel on the way, and of the package at the end.
#pragma once

#include <string>
#include <vector>

#include "package/package.h"
#include "package/package_kernels.h"

namespace kiln {

// A line on stderr.
void show_kernel(const KernelReport &report);

// Lines on stderr for the first few kernels that are not as wanted: a network has many.
class NetworkReports {
public:
    explicit NetworkReports(size_t targets) : targets_(targets) {}
    void show(const KernelReport &report);

private:
    size_t targets_;
    int shown_ = 0;
};

// The answer on stdout.
void print_package(const Package &package, const std::string &output);

}  // namespace kiln
