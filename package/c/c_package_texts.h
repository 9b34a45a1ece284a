// The files of a package for a soft core, but for its kernels: plain functions of what is packaged.
#pragma once

#include <string>
#include <vector>

#include "package/c/c_layer.h"

namespace kiln {

std::string c_header(const Package &package, const std::vector<CLayer> &layers);
std::string c_table(const Package &package, const std::vector<CLayer> &layers);  // NAME_kernels[]
std::string c_makefile(const Package &package, const std::vector<CLayer> &layers);
std::string c_cmake(const Package &package, const std::vector<CLayer> &layers);
std::string c_readme(const Package &package, const std::vector<CLayer> &layers);

}  // namespace kiln
