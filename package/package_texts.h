// The texts of a package that people and build systems read: header, CMake config, README. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "package/described_kernel.h"
#include "package/described_network.h"

namespace kiln {

// A number of bytes for people: "48 bytes", "2.3 kB", "97.5 MB".
std::string size_text(int64_t bytes);

// include/<name>.h
std::string package_header(const Package &package, const DescribedNetworks &networks);
std::string package_cmake_config(const Package &package);  // lib/cmake/<name>/<name>-config.cmake
std::string package_cmake_version();                       // lib/cmake/<name>/<name>-config-version.cmake

enum class LibraryKind { archive, shared };
std::string package_pkg_config(const Package &package, LibraryKind kind);  // lib/pkgconfig/<name>[-shared].pc

std::string package_readme(const Package &package, const std::vector<DescribedKernel> &kernels);
// Precondition: there is a network.
std::string network_readme(const DescribedNetworks &networks, const Package &package,
                           const std::vector<DescribedKernel> &kernels);

}  // namespace kiln
