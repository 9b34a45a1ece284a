// The C files of a network: plain functions of its layout.
#pragma once

#include <string>
#include <vector>

#include "package/c/c_layer.h"
#include "package/c/c_network.h"
#include "package/packaged_network.h"

namespace kiln {

std::string c_network_header(const CNetwork &network);     // include/NAME.h
std::string c_network_run(const CNetwork &network);        // src/NAME_run.c
std::string c_network_constants(const CNetwork &network);  // src/NAME_constants.c
std::string c_network_readme(const CNetwork &network, const Package &package);

// src/NAME_kernels.h: what the other files of src/ declare for each other.
std::string c_kernels_header(const std::string &package, const std::vector<CLayer> &layers);

}  // namespace kiln
