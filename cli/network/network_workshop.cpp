#include "cli/network/network_workshop.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "package/network/network_package.h"
#include "schedules/candidate.h"
#include "tuner/build/expected_builds.h"
#include "tuner/measure/remembered_runs.h"
#include "tuner/process/interrupt.h"

namespace kiln {
namespace {

constexpr const char *package_name = "kiln_network_of_a_run";

std::vector<const Workload *> distinct_workloads(const network::Program &program) {
    std::vector<const Workload *> workloads;
    std::set<std::string> keys;
    for (const network::Step &step : program.steps) {
        const auto *call = std::get_if<network::KernelCall>(&step.work);
        if (call && keys.insert(key(call->workload)).second) workloads.push_back(&call->workload);
    }
    return workloads;
}

ChoiceContext of_networks(ChoiceContext context) {
    context.caches = caches_of_networks;
    return context;
}

}  // namespace

struct NetworkWorkshop::State {
    State(Workshop &shop, const ChoiceContext &choice, PackageParts package_parts, const std::string &name)
        : workshop(shop),
          context(of_networks(choice)),
          parts(std::move(package_parts)),
          builds(*shop.builder, building_threads()),
          judgements(*shop.runner),
          folder(shop.folder.path() + "/" + name) {}

    Workshop &workshop;
    const ChoiceContext context;
    PackageParts parts;
    ExpectedBuilds builds;
    RememberedRuns judgements;
    std::string folder;  // of the package without a version

    std::optional<Unbuilt> refusal(const network::Program &program) const;
};

// Whether every workload has an algorithm that applies and is allowed.
std::optional<Unbuilt> NetworkWorkshop::State::refusal(const network::Program &program) const {
    for (const Workload *workload : distinct_workloads(program)) {
        const auto usable = usable_algorithms(*workload, context);
        if (!usable) return Unbuilt{CaseStatus::unsupported, key(*workload) + ": " + usable.error().message};
        if (!usable->empty()) continue;
        return Unbuilt{CaseStatus::not_applicable,
                       key(*workload) + ": no algorithm applies of those that --algorithm and --without leave"};
    }
    return std::nullopt;
}

NetworkWorkshop::NetworkWorkshop(Workshop &workshop, const ChoiceContext &context, PackageParts parts,
                                 const std::string &name)
    : state_(std::make_unique<State>(workshop, context, std::move(parts), name)) {}
NetworkWorkshop::NetworkWorkshop(NetworkWorkshop &&) noexcept = default;
NetworkWorkshop::~NetworkWorkshop() = default;

void NetworkWorkshop::expect(const network::Program &program, const NetworkVersion &version) {
    for (const Workload *workload : distinct_workloads(program)) {
        if (const auto wanted = version.kernels.find(key(*workload)); wanted != version.kernels.end()) {
            state_->builds.expect({*workload, state_->context.target, wanted->second.candidate});
            continue;
        }
        const auto usable = usable_algorithms(*workload, state_->context);
        if (!usable || usable->empty()) continue;
        const auto choice = choose_candidate(*workload, *usable, state_->context);
        if (choice) state_->builds.expect({*workload, state_->context.target, choice->candidate});
    }
}

Result<NetworkBuild> NetworkWorkshop::build(const network::Program &program, const NetworkVersion &version) {
    if (auto refusal = state_->refusal(program)) return NetworkBuild(std::move(*refusal));
    expect(program, version);
    const ChoiceContext &context = state_->context;
    const CollectEnvironment environment{.builder = state_->builds,
                                         .runner = state_->judgements,
                                         .store = context.store,
                                         .machine = context.machine,
                                         .algorithms = context.algorithms,
                                         .error_budget = context.error_budget,
                                         .caches = context.caches,
                                         .interrupted = interrupted,
                                         .wanted = version.kernels};
    BuiltNetwork built;
    std::string missing;  // why the first kernel that is missing is
    const auto see = [&](const KernelReport &report) {
        built.untuned = built.untuned || report.source == KernelSource::untuned;
        if (report.source == KernelSource::missing && missing.empty()) missing = ": " + report.message;
    };
    Result<Package> package = make_network_package(
        {.program = program, .targets = {context.target}, .name = package_name},
        {.environment = environment, .packer = *state_->workshop.packer, .parts = state_->parts}, see);
    if (!package && package.error().code == ErrorCode::unsupported) {
        return NetworkBuild(Unbuilt{CaseStatus::failed, package.error().message + missing});
    }
    if (!package) return package.error();
    package->toolchain = context.toolchain;
    const std::string folder = version.name.empty() ? state_->folder : state_->folder + "-" + version.name;
    if (Status s = write_package(*package, state_->parts, folder); !s) return s.error();
    built.kernels = package->kernels.size();
    for (const PackagedKernel &kernel : package->kernels) {
        built.objects[key(kernel.workload.workload)] = kernel.artifact.object_hash;
        const Result<Candidate> candidate = parse_candidate(kernel.candidate);
        if (!candidate || std::ranges::count(built.algorithms, candidate->algorithm)) continue;
        built.algorithms.push_back(candidate->algorithm);
    }
    built.files = {.library = fmt::format("{}/lib/lib{}.so", folder, package_name),
                   .weights = fmt::format("{}/lib/{}.weights", folder, package_name)};
    return NetworkBuild(std::move(built));
}

NetworkRunner &NetworkWorkshop::runner() { return *state_->workshop.networks; }
const std::string &NetworkWorkshop::folder() const { return state_->workshop.folder.path(); }

}  // namespace kiln
