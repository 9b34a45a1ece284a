// What `kiln build` says: of each kernel on the way, and of the package at the end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "package/package.h"
#include "package/package_kernels.h"

namespace kiln {

// A line on stderr.
void show_kernel(const KernelReport &report);

// Lines on stderr for the first few kernels that are not as wanted: a network has many. Where they take long, a line every ten
// seconds says how many there are.
class NetworkReports {
public:
    NetworkReports(size_t targets, size_t kernels, std::function<int64_t()> now_ns);
    void show(const KernelReport &report);

private:
    void show_outcome(const KernelReport &report);

    size_t targets_, kernels_, done_ = 0;  // kernels of all targets
    std::function<int64_t()> now_ns_;
    int64_t last_line_ns_;
    int shown_ = 0;
};

// The answer on stdout.
void print_package(const Package &package, const std::string &output);

}  // namespace kiln
