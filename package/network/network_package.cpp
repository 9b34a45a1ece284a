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

// What its kernels are collected for, each with the name of its step.
std::vector<NamedWorkload> workloads_of(const network::Program &program) {
    std::vector<NamedWorkload> workloads;
    for (const network::Step &step : program.steps) {
        const auto *call = std::get_if<network::KernelCall>(&step.work);
        if (call)
            workloads.push_back({.list = program.name, .name = step.name, .count = 1, .workload = call->workload});
    }
    return workloads;
}

Result<PackagedNetwork> lay_out(const NetworkPackageRequest &request, network::Program program,
                                const std::vector<PackagedKernel> &kernels, const NetworkPackageTools &tools) {
    const Result<std::vector<VariantKernels>> variants = network_variants(program, request.targets, kernels);
    if (!variants) return variants.error();
    const PackingTools packing{tools.packer, tools.parts.work_folder, tools.environment.interrupted};
    Result<NetworkWeights> weights = pack_network(program, *variants, packing);
    if (!weights) return weights.error();
    PackagedNetwork network;
    network.program = std::move(program);
    for (size_t v = 0; v < variants->size(); v++) {
        network.variants.push_back({(*variants)[v].target, std::move(weights->places[v]), (*variants)[v].why_place});
    }
    network.sections = weights->sections.layout();
    network.plan = network_plan(network, *variants);
    network.weights_file = std::filesystem::path(tools.parts.work_folder) / (request.name + ".weights");
    network.weights_bytes = weights->sections.file_bytes();
    Result<std::string> digest = write_weights(network.weights_file, weights->sections, network.plan);
    if (!digest) return digest.error();
    network.weights_digest = std::move(*digest);
    network.embeds_weights = request.embeds_weights;
    return network;
}

}  // namespace

Result<Package> make_network_package(const NetworkPackageRequest &request, const NetworkPackageTools &tools,
                                     const CollectListener &listener) {
    if (Status s = check_program(request.program); !s) return s.error();
    network::Program program = without_idle_steps(request.program);
    Result<CollectedKernels> collected =
        collect_kernels(workloads_of(program), request.targets, tools.environment, listener);
    if (!collected) return collected.error();
    Result<PackagedNetwork> network = lay_out(request, std::move(program), collected->kernels, tools);
    if (!network) return network.error();
    Package package;
    package.name = request.name;
    package.kernels = std::move(collected->kernels);
    package.network = std::move(*network);
    return package;
}

}  // namespace kiln
