#include "package/network/network_package.h"

#include <filesystem>
#include <utility>

#include "package/network/network_plan.h"
#include "package/network/network_variants.h"
#include "package/network/network_weights.h"
#include "package/network/packed_weights.h"
#include "package/network/program_checks.h"

namespace kiln {
namespace {

// A program and how the library shows it.
struct Part {
    bool prepares_inputs = false;
    network::Program program;
    bool embeds_weights = false;
};

// What kernels are collected for, each with the name of its step.
std::vector<NamedWorkload> workloads_of(const std::vector<Part> &parts) {
    std::vector<NamedWorkload> workloads;
    for (const Part &part : parts) {
        for (const network::Step &step : part.program.steps) {
            const auto *call = std::get_if<network::KernelCall>(&step.work);
            if (!call) continue;
            workloads.push_back({.list = part.program.name, .name = step.name, .count = 1, .workload = call->workload});
        }
    }
    return workloads;
}

Result<PackagedNetwork> lay_out(const NetworkPackageRequest &request, Part part,
                                const std::vector<PackagedKernel> &kernels, const NetworkPackageTools &tools) {
    const Result<std::vector<VariantKernels>> variants = network_variants(part.program, request.targets, kernels);
    if (!variants) return variants.error();
    const PackingTools packing{tools.packer, tools.parts.work_folder, tools.environment.interrupted};
    Result<NetworkWeights> weights = pack_network(part.program, *variants, packing);
    if (!weights) return weights.error();
    PackagedNetwork network;
    network.prepares_inputs = part.prepares_inputs;
    network.program = std::move(part.program);
    for (size_t v = 0; v < variants->size(); v++) {
        network.variants.push_back({(*variants)[v].target, std::move(weights->places[v]), (*variants)[v].why_place});
    }
    network.sections = weights->sections.layout();
    network.plan = network_plan(network, *variants);
    network.weights_file =
        std::filesystem::path(tools.parts.work_folder) / (request.name + "_" + network.function() + ".weights");
    network.weights_bytes = weights->sections.file_bytes();
    Result<std::string> digest = write_weights(network.weights_file, weights->sections, network.plan);
    if (!digest) return digest.error();
    network.weights_digest = std::move(*digest);
    network.embeds_weights = part.embeds_weights;
    return network;
}

}  // namespace

Result<Package> make_network_package(const NetworkPackageRequest &request, const NetworkPackageTools &tools,
                                     const CollectListener &listener) {
    std::vector<Part> parts;
    if (Status s = check_program(request.program); !s) return s.error();
    parts.push_back({false, without_idle_steps(request.program), request.embeds_weights});
    if (request.preparation) {
        if (Status s = check_program(*request.preparation); !s) return s.error();
        parts.push_back({true, without_idle_steps(*request.preparation), true});
    }
    Result<CollectedKernels> collected =
        collect_kernels(workloads_of(parts), request.targets, tools.environment, listener);
    if (!collected) return collected.error();
    Package package;
    package.name = request.name;
    for (Part &part : parts) {
        Result<PackagedNetwork> network = lay_out(request, std::move(part), collected->kernels, tools);
        if (!network) return network.error();
        package.networks.push_back(std::move(*network));
    }
    package.kernels = std::move(collected->kernels);
    return package;
}

}  // namespace kiln
