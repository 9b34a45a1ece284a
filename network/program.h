// A network as a list of kernel calls with static memory: what a package writes down and what its program runs.
//
// A program knows workloads and places, and no kernel: which candidate computes a workload is chosen for each target when a
// package is built. Every tensor is dense, in the form that signature(workload) states.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "graph/graph.h"
#include "graph/memory/memory_plan.h"
#include "workload/workload.h"

namespace kiln::network {

using graph::Place;

// A stored number stands for (stored - zero_point) * scale.
struct PortQuantization {
    double scale = 1;
    int64_t zero_point = 0;
    bool operator==(const PortQuantization &) const = default;
};

// An input or output of the network, in row-major order. The shape is that of the memory: a prepared input may be channels-last.
struct Port {
    std::string name;  // the model's
    graph::TypedShape form;
    // What the model quantizes or dequantizes there, and the caller does instead (graph/passes/quantization/stored_edges.h).
    std::optional<PortQuantization> quantization = {};
    bool operator==(const Port &) const = default;
};

inline int64_t bytes_of(const Port &port) {
    return *graph::element_count(port.form.shape) * graph::size_of(port.form.type);
}

// Elements that steps read, as they read them: weights in the layout of their workload, before a kernel packs them.
struct Constant {
    std::string name;
    graph::ConstantData data;
    bool operator==(const Constant &) const = default;
};

// Call of a kernel of this workload.
struct KernelCall {
    Workload workload;
    std::vector<Place> operands;  // in the order of signature(workload).operands
    Place result;  // may be the place of an operand where the workload reads each element where it writes it
    bool operator==(const KernelCall &) const = default;
};

// Copies rows of bytes that do not overlap.
struct Copy {
    Place from, to;
    int64_t rows = 1, row_bytes = 0;
    int64_t from_pitch = 0, to_pitch = 0;  // bytes from one row to the next
    bool operator==(const Copy &) const = default;
};

struct Step {
    std::string name;                  // printable; of the model's first node that it computes
    std::vector<std::string> origins;  // the model's nodes that it computes
    std::variant<KernelCall, Copy> work;
    // For people: by which steps what it reads was computed, ascending, and the form of what it computes.
    std::vector<int> reads = {};
    int64_t result_bytes = 0;
    std::string layout = {};  // NHWC, NCHW or NCHW<block>c of a tensor with spatial axes
    std::string why = {};     // why it computes with floats, in a network of quantized numbers
    bool operator==(const Step &) const = default;
};

// What the choice of layouts says of itself. Times are sums over kernels and moves, each measured or estimated on its own.
struct LayoutSummary {
    double cost_ns = 0, lower_bound_ns = 0;  // no choice costs less than the bound
    double channels_last_ns = 0;             // with every convolution channels-last
    int measured = 0, estimated = 0;         // costs
    bool operator==(const LayoutSummary &) const = default;
};

// An alteration at one place of the network, or a pass at all of its places, and what the nodes that it changes cost.
struct AlterationNote {
    enum class Reason {
        costs_less,
        gains_too_little,
        not_measured,  // what stands there was measured, what would take its place was not
        not_weighed,   // at any of these places, since the network is too large
    };
    std::string alteration;
    std::string where;  // nodes of the model
    bool is_chosen = false;
    Reason reason = Reason::costs_less;
    bool is_measured = false;  // the kernels of convolutions on both sides; else everything is estimated
    double before_ns = 0, after_ns = 0;
    bool operator==(const AlterationNote &) const = default;
};

// Place::index counts `inputs`, `outputs` or `constants`; a place in the workspace has an offset alone. Steps run one after the
// other.
struct Program {
    std::string name;
    std::vector<Port> inputs, outputs;
    std::vector<Constant> constants;
    std::vector<Step> steps;
    int64_t workspace = 0;              // bytes beside those that kernels need; aligned to graph::workspace_alignment
    int64_t workspace_lower_bound = 0;  // the largest sum of bytes that are alive at once
    LayoutSummary layouts;
    std::vector<AlterationNote> alterations = {};
    bool operator==(const Program &) const = default;
};

}  // namespace kiln::network
