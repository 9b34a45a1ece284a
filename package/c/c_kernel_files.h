// The C files of a package's kernels, of layers and of code that several of them share: written, compiled, checked, and described.
#pragma once

#include <string>
#include <vector>

#include "package/c/c_layer.h"
#include "package/c/c_object_checks.h"
#include "package/package.h"
#include "workload/result.h"

namespace kiln {

// What the checks found, in the order of the layers and of shared_code(). A layer's stack is that of its call, whoever has the
// code; its bytes are those of its own.
struct CKernelFacts {
    std::vector<CObjectFacts> layers, shared;
};

// Writes the sources into src/ of a folder.
Status write_kernel_files(const std::string &package, const std::vector<CLayer> &layers, const std::string &folder);
// Compiles and checks them there, with the headers that they include: FOLDER/FUNCTION.o.
Result<CKernelFacts> compile_kernel_files(const std::vector<CLayer> &layers, const std::string &folder);
// The objects of the latter.
std::vector<std::string> kernel_objects(const std::vector<CLayer> &layers, const std::string &folder);

// Fills in what the manifest says of the kernels, which are those of the layers, and of shared code.
void describe_kernels(const std::vector<CLayer> &layers, const CKernelFacts &facts, Package *package);

}  // namespace kiln
