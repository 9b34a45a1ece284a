// Functions of a package in simulation: what packs the constants of a kernel, and whole networks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "package/package.h"
#include "simulate/core_description.h"
#include "simulate/simulator.h"
#include "workload/result.h"

namespace kiln {

using Bytes = std::vector<std::byte>;

// What kiln_pack of a kernel's program makes of all operands but the input, which are in the order of its signature. Errors
// name the kernel.
Result<Bytes> packed_constants(const PackagedKernel &kernel, const std::vector<std::span<const std::byte>> &operands,
                               const CoreDescription &core);

struct SimulatedRun {
    std::vector<Bytes> outputs;
    Counts counts;
    int64_t stack_bytes = 0;
};

// One call after the other of a function that takes inputs, then outputs, on each of the inputs. What it keeps in memory stays.
Result<std::vector<SimulatedRun>> run_simulated(const std::string &program, const std::string &function,
                                                const std::vector<std::vector<Bytes>> &inputs,
                                                const std::vector<int64_t> &output_bytes, const CoreDescription &core);

}  // namespace kiln
