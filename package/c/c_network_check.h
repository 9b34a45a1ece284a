// A network's program in simulation beside the references of its workloads.
#pragma once

#include <cstdint>
#include <string>

#include "network/program.h"
#include "simulate/core_description.h"
#include "simulate/simulator.h"
#include "workload/result.h"

namespace kiln {

struct CNetworkRun {
    Counts counts;  // of one call, with caches as the call before left them
    int64_t stack_bytes = 0;
};

// Calls `function` of the program file on random inputs, twice on some of them. Results that follow from integers and from steps
// that are rounded one by one must be those of the references, bit for bit; others by 1e-4, and by one quantum where they are
// quantized. Errors (unsupported) name the output.
Result<CNetworkRun> check_c_network(const network::Program &program, const std::string &file,
                                    const std::string &function, const CoreDescription &core);

}  // namespace kiln
