#include "package/described_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/arena.h"
#include "runtime/kernel_abi.h"
#include "runtime/kiln.h"
#include "workload/signature.h"

namespace kiln {
namespace {

using RowsByKey = std::map<std::pair<std::string, std::string>, int>;  // workload's key, target's string

// 1 + the operand that the kernel wants packed and that is no constant; 0: none.
int packed_operand(const network::KernelCall &call, const PackagedKernel &kernel, const StepPlaces &places) {
    if (kernel.artifact.packed_bytes == 0) return 0;
    const Signature forms = signature(call.workload);
    for (size_t i = 0; i < forms.operands.size(); i++) {
        const bool is_weights = forms.operands[i].role == Role::weights;
        if (is_weights && places[i].memory != graph::Place::Memory::constant) return int(i) + 1;
    }
    return 0;
}

RowsByKey rows_of(const std::vector<DescribedKernel> &kernels) {
    RowsByKey rows;
    for (size_t i = 0; i < kernels.size(); i++)
        rows.emplace(std::pair(kernels[i].key, kernels[i].kernel->target.halide), i);
    return rows;
}

void add(const PackagedKernel &kernel, bool packs, NetworkMemory *memory) {
    const auto lines = [](int64_t bytes) { return int64_t(align_up(size_t(bytes))); };
    const int64_t packed = packs ? lines(kernel.artifact.packed_bytes) : 0;
    memory->scratch = std::max(memory->scratch, lines(kernel.artifact.prepared_bytes) + packed);
    memory->arena = std::max(memory->arena, lines(kernel.workspace_bytes));
    memory->arena_per_thread = std::max(memory->arena_per_thread, lines(kernel.workspace_bytes_per_thread));
}

Result<DescribedNetwork> describe_network(const PackagedNetwork &network, const std::vector<DescribedKernel> &kernels) {
    const RowsByKey rows = rows_of(kernels);
    DescribedNetwork described{&network, {}};
    const network::Program &program = network.program;
    for (const PackagedVariant &variant : network.variants) {
        DescribedVariant &of = described.variants.emplace_back();
        of.variant = &variant;
        of.memory.plan = int64_t(align_up(size_t(program.workspace)));
        const Result<uint64_t> features = required_cpu_features(variant.target);
        if (!features) return features.error();
        of.cpu_features = *features;
        for (size_t i = 0; i < program.steps.size(); i++) {
            of.rows.push_back(-1);
            of.packs.push_back(0);
            const auto *call = std::get_if<network::KernelCall>(&program.steps[i].work);
            if (!call) continue;
            const auto row = rows.find({key(call->workload), variant.target.halide});
            if (row == rows.end()) {
                return unsupported(
                    fmt::format("{} has no kernel for {}", program.steps[i].name, variant.target.halide));
            }
            const PackagedKernel &kernel = *kernels[size_t(row->second)].kernel;
            of.rows.back() = row->second;
            of.packs.back() = packed_operand(*call, kernel, variant.steps[i]);
            add(kernel, of.packs.back() > 0, &of.memory);
        }
    }
    return described;
}

}  // namespace

int64_t NetworkMemory::fixed_bytes() const { return plan + scratch + arena + int64_t(arena_alignment) - 1; }

int64_t NetworkMemory::bytes_per_thread() const { return arena_per_thread + int64_t(sizeof(KernelContext)); }

NetworkMemory DescribedNetwork::most_memory() const {
    NetworkMemory most;
    for (const DescribedVariant &variant : variants) {
        for (const auto part :
             {&NetworkMemory::plan, &NetworkMemory::scratch, &NetworkMemory::arena, &NetworkMemory::arena_per_thread}) {
            most.*part = std::max(most.*part, variant.memory.*part);
        }
    }
    return most;
}

Result<DescribedNetworks> describe_networks(const Package &package, const std::vector<DescribedKernel> &kernels) {
    DescribedNetworks all;
    for (const PackagedNetwork &network : package.networks) {
        Result<DescribedNetwork> described = describe_network(network, kernels);
        if (!described) return described.error();
        all.push_back(std::move(*described));
    }
    return all;
}

std::array<uint8_t, 16> plan_bytes(const std::string &plan) {
    std::array<uint8_t, 16> bytes = {};
    for (size_t i = 0; i < bytes.size(); i++) bytes[i] = uint8_t(std::stoi(plan.substr(2 * i, 2), nullptr, 16));
    return bytes;
}

int64_t bytes_of(const graph::TypedShape &form) {
    int64_t bytes = graph::size_of(form.type);
    for (const int64_t extent : form.shape) bytes *= extent;
    return bytes;
}

int32_t interface_code(graph::Element type) {
    switch (type) {
        case graph::Element::f32:
            return KILN_F32;
        case graph::Element::f64:
            return KILN_F64;
        case graph::Element::f16:
            return KILN_F16;
        case graph::Element::bf16:
            return KILN_BF16;
        case graph::Element::i8:
            return KILN_I8;
        case graph::Element::u8:
            return KILN_U8;
        case graph::Element::i16:
            return KILN_I16;
        case graph::Element::u16:
            return KILN_U16;
        case graph::Element::i32:
            return KILN_I32;
        case graph::Element::u32:
            return KILN_U32;
        case graph::Element::i64:
            return KILN_I64;
        case graph::Element::u64:
            return KILN_U64;
        case graph::Element::boolean:
            break;
    }
    return KILN_BOOL;
}

}  // namespace kiln
