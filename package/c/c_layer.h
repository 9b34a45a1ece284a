// The kernels of a package for a soft core in the words of its C files: names of functions, and what each takes.
//
// Everything that a layer needs beside its activations is one array of int32_t, so that firmware keeps it in flash. A function
// of the layer makes that array, once, on any machine that has the byte order of the core.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "package/package.h"
#include "workload/result.h"
#include "workload/signature.h"

namespace kiln {

// An operand of the function that packs.
struct CConstant {
    std::string name;       // of the member of NAME_constants
    bool is_array = false;  // a pointer, or an array, in NAME_constants; else a number
    DType dtype = DType::i32;
};

struct CLayer {
    const PackagedKernel *kernel;  // of the package, which outlives this
    std::string layer;             // "list/name"
    std::string function;          // "NAME_layer": the others begin with it
    std::string shared;            // the function that computes it and others; empty: it has code of its own
    TensorForm input, weights, output;
    std::vector<CConstant> constants;  // behind the weights, in the order of a call
    // A nest takes all its operands as they are, and has no function that packs. Only networks have any.
    bool is_nest = false;
    bool is_packed = false;  // of a network, whose constants are packed when it is built

    // Of what shares its code, the function that packs alone.
    bool has_file() const { return shared.empty() || !is_packed; }

    int64_t packed_words() const { return kernel->artifact.packed_bytes / 4; }
    std::string source_file() const { return "src/" + function + ".c"; }
    const std::string &computing_function() const { return shared.empty() ? function : shared; }
};

// Code that computes several layers, once in a package. `layer` is one of them.
struct CSharedCode {
    const CLayer *layer;
    int64_t layers = 0;

    const std::string &function() const { return layer->shared; }
    std::string source_file() const { return "src/" + function() + ".c"; }
};
// In the order of the layers, which outlive it.
std::vector<CSharedCode> shared_code(const std::vector<CLayer> &layers);

// In the package's order; layers whose kernels take their sizes with a call share the code that is the same.
std::vector<CLayer> c_layers(const Package &package);
// The same in a network.
std::vector<CLayer> c_network_layers(const Package &package);

// Whether the functions that pack weights, with which layers are called by themselves, can have what the layers need. Errors
// (unsupported): an operand that such packages do not have, or a nest.
Status check_single_layers(const std::vector<CLayer> &layers);

// What C can have of a name, in lower case.
std::string c_identifier(const std::string &name);

// Names for functions, one a layer: "NAME_" and the layer's own name as far as C can have it. None is another's, nor another's
// with something behind it that the header declares, such as "_pack".
std::vector<std::string> c_function_names(const std::string &package, const std::vector<std::string> &layers);

}  // namespace kiln
