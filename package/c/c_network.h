// A network's program as its C files have it: calls of kernels, one array of constants, one arena.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "network/program.h"
#include "package/c/c_layer.h"
#include "package/package.h"
#include "simulate/core_description.h"
#include "workload/result.h"

namespace kiln {

// A parameter of NAME_run().
struct CPort {
    network::Port port;
    std::string name;   // of the parameter
    std::string macro;  // NAME_INPUT: its macros begin with it
    bool is_output = false;
};

struct CNetworkStep {
    const network::Step *step;
    int kernel = -1;  // of the layers; -1: a copy
    // As the kernel takes them: of a convolution input, packed constants, result; of a nest all operands, then the result; of a
    // copy from, to. The offset of a constant is that in the array of all.
    std::vector<network::Place> arguments;
};

struct CNetwork {
    std::string package;
    const network::Program *program;  // outlives this, as the package of the layers does
    std::vector<CPort> ports;         // inputs, then outputs
    std::vector<CLayer> layers;       // the kernels, in the package's order
    std::vector<CNetworkStep> steps;
    std::vector<int32_t> constants;
    int64_t values_bytes = 0;     // of the arena: values between steps
    int64_t workspace_bytes = 0;  // behind them: of kernels

    std::string function() const { return package + "_run"; }
    int64_t arena_bytes() const { return values_bytes + workspace_bytes; }
};

// The C type of a port's elements, as people have them; null where C99 has none.
const char *c_port_type(graph::Element type);

// The kernels are those of the package, each for workloads of the program. Constants are packed by the kernels that read them.
// Errors (unsupported) name the step: it has no kernel, or what its kernel packs is computed when the network runs; or the port:
// C has no type for it.
Result<CNetwork> lay_out_c_network(const Package &package, const network::Program &program,
                                   const CoreDescription &core);

}  // namespace kiln
