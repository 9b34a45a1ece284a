// The C files of a network: plain functions of its layout, and how its kernels are compiled and checked.
#pragma once

#include <string>
#include <vector>

#include "package/c/c_layer.h"
#include "package/c/c_network.h"
#include "package/c/c_object_checks.h"
#include "package/packaged_network.h"
#include "workload/result.h"

namespace kiln {

std::string c_network_header(const CNetwork &network);     // include/NAME.h
std::string c_network_run(const CNetwork &network);        // src/NAME_run.c
std::string c_network_constants(const CNetwork &network);  // src/NAME_constants.c
std::string c_network_readme(const CNetwork &network, const SoftCoreNetwork &facts);

// src/NAME_kernels.h: what the other files of src/ declare for each other.
std::string c_kernels_header(const std::string &package, const std::vector<CLayer> &layers);

// Writes sources of the kernels, and what they include, into src/ of a folder.
Status write_network_kernels(const std::string &package, const std::vector<CLayer> &layers, const std::string &folder);
// The same, compiled and checked there: FOLDER/FUNCTION.o.
Result<std::vector<CObjectFacts>> compile_network_kernels(const std::string &package, const std::vector<CLayer> &layers,
                                                          const std::string &folder);

}  // namespace kiln
