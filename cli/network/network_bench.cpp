#include "cli/network/network_bench.h"

#include <fmt/format.h>

#include "cli/network/call_files.h"

namespace kiln {
namespace {

constexpr int step_calls = 15;

// A network call takes milliseconds: fewer samples than of a kernel, for longer.
SamplingLimits limits_of_a_turn() {
    SamplingLimits limits;
    limits.min_samples = 6;
    return limits;
}

// Answers why there is no network; empty if there is one.
Result<std::string> build(NetworkWorkshop &workshop, const network::Program &program, BuiltNetwork *built) {
    Result<NetworkBuild> build = workshop.build(program);
    if (!build) return build.error();
    if (const auto *unbuilt = std::get_if<Unbuilt>(&*build)) return unbuilt->reason;
    *built = std::get<BuiltNetwork>(*build);
    return std::string();
}

Result<std::vector<double>> time_steps(NetworkRunRequest request, NetworkRunner &runner, Layer *layer) {
    request.sampling.reset();
    request.step_calls = step_calls;
    const Result<Attempt<NetworkRunReport>> ran = runner.run(request);
    if (!ran) return ran.error();
    std::vector<double> medians;
    if (!ran->ok()) {
        layer->problem = fmt::format("{}: {}", name(ran->failure().status), ran->failure().message);
        return medians;
    }
    for (const Samples &step : ran->value().steps) medians.push_back(summarize(step).median);
    return medians;
}

}  // namespace

Result<BenchedSteps> bench_network(const network::Program &program, const std::string &model, int threads,
                                   const NetworkBenchParts &parts, Bench &bench) {
    BenchedSteps benched;
    Layer &layer = benched.whole;
    BuiltNetwork chosen, standard;
    Result<std::string> problem = build(parts.chosen, program, &chosen);
    if (problem && problem->empty() && parts.standard) problem = build(*parts.standard, program, &standard);
    if (!problem) return problem.error();
    layer.problem = *problem;
    if (!layer.problem.empty()) return benched;

    CallFiles files(program, parts.chosen.folder() + "/calls");
    if (Status s = files.write_inputs(); !s) return s.error();
    if (Status s = files.write_constants(parts.constants); !s) return s.error();
    const auto request = [&](const BuiltNetwork &built) {
        return NetworkRunRequest{.files = built.files, .threads = threads, .inputs = files.inputs()};
    };
    NetworkRunRequest once = request(chosen);
    once.outputs = files.outputs();
    const Result<Attempt<NetworkRunReport>> ran = parts.chosen.runner().run(once);
    if (!ran) return ran.error();
    if (!ran->ok()) {
        layer.problem = fmt::format("{}: {}", name(ran->failure().status), ran->failure().message);
        return benched;
    }
    if (Status s = files.write_outputs(); !s) return s.error();

    BenchedNetwork network{.chosen = request(chosen),
                           .standard = {},
                           .about = fmt::format("{} kernels", chosen.kernels),
                           .untuned = chosen.untuned,
                           .for_peers = files.for_peers(model),
                           .profiles = parts.steps};
    network.chosen.sampling = limits_of_a_turn();
    if (parts.standard) network.standard = request(standard);
    if (network.standard) network.standard->sampling = limits_of_a_turn();
    Result<Layer> measured = bench.measure(network, parts.chosen.runner());
    if (!measured) return measured.error();
    layer = std::move(*measured);
    if (!parts.steps || !layer.problem.empty()) return benched;
    Result<std::vector<double>> steps = time_steps(network.chosen, parts.chosen.runner(), &layer);
    if (!steps) return steps.error();
    benched.step_ns = std::move(*steps);
    return benched;
}

}  // namespace kiln
