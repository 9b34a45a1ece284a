// A network of a package in the words of its files: which row of the table each step calls, and how much memory a run
// needs. Table, header, README and manifest say the same of it, so it is derived once, here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "package/described_kernel.h"
#include "package/packaged_network.h"
#include "workload/result.h"

namespace kiln {

// In whole cache lines.
struct NetworkMemory {
    int64_t plan = 0;     // values, as the program lays them out
    int64_t scratch = 0;  // prepared inputs, and weights that are no constants
    int64_t arena = 0, arena_per_thread = 0;

    int64_t fixed_bytes() const;       // of a workspace of any alignment
    int64_t bytes_per_thread() const;  // beside those
};

struct DescribedVariant {
    const PackagedVariant *variant;  // of the package, which outlives this
    std::vector<int> rows;           // by step: the kernel's number in the package; -1: a copy
    std::vector<int> packs;          // by step: 1 + the operand that is packed in each run; 0: none
    uint64_t cpu_features = 0;
    NetworkMemory memory;
};

struct DescribedNetwork {
    const PackagedNetwork *network;
    std::vector<DescribedVariant> variants;

    NetworkMemory most_memory() const;  // enough for each variant
};

// By network of the package, which outlives them. Errors (unsupported): a step has no kernel; a target that packages cannot hold.
using DescribedNetworks = std::vector<DescribedNetwork>;
Result<DescribedNetworks> describe_networks(const Package &package, const std::vector<DescribedKernel> &kernels);

// The bytes of a plan, as a weights file and the library have them.
std::array<uint8_t, 16> plan_bytes(const std::string &plan);

int64_t bytes_of(const graph::TypedShape &form);
int32_t interface_code(graph::Element type);  // KILN_F32, ...

}  // namespace kiln
