// Which kernel each layer of a network gets when they share one memory: the fewest cycles of all layers together within limits
// of bytes.
//
// Stack and workspace are used by one kernel at a time, so their limits leave kernels out one by one. Code lies side by side,
// so its limit is for the sum, where code that several layers share counts once (of layers tied by it, the 8 kernels that most of
// them may have). That is the knapsack problem with one item of each class. It is solved exactly: layer by layer, every sum of bytes keeps its fewest cycles, and what another sum beats in
// both is dropped. Code is a few ten thousand bytes, so there are not many sums. Beside the best choice they are all the
// choices that are best for some limit.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "workload/result.h"

namespace kiln {

// A kernel that a layer may have.
struct KernelOption {
    std::string code;    // kernels with the same are one in memory; empty: nothing else has it
    int64_t cycles = 0;  // of all the layer's calls
    int64_t text = 0, stack = 0, workspace = 0;
};

struct LayerKernels {
    std::string layer;  // for messages
    std::vector<KernelOption> options;
};

struct MemoryBudget {
    static constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();
    int64_t text = unlimited, stack = unlimited, workspace = unlimited;
    int64_t caller_text = 0;  // what the limit of code leaves for the caller of the kernels
    bool is_limited() const { return text != unlimited || stack != unlimited || workspace != unlimited; }
};

// An option of each layer, and what they take together.
struct KernelChoice {
    std::vector<size_t> options;
    int64_t cycles = 0, text = 0, stack = 0, workspace = 0;
};

// The choices that are best for some limit of code, within the other limits: ascending by bytes, descending by cycles. Errors
// (unsupported): layers have no kernel within the limits; the message names them, and the least that each needs.
Result<std::vector<KernelChoice>> pareto_choices(const std::vector<LayerKernels> &layers, const MemoryBudget &budget);

// The one with the fewest cycles. Errors (unsupported): as above, or all kernels together have too much code; the message has
// the least that is possible, and the layers that take most of it.
Result<KernelChoice> best_choice(const std::vector<LayerKernels> &layers, const MemoryBudget &budget);

}  // namespace kiln
