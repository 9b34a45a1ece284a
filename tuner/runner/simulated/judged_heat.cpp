#include "tuner/runner/simulated/judged_heat.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tuner/runner/simulated/core_judge.h"
#include "tuner/runner/simulated/simulated_kernel.h"

namespace kiln {
namespace {

struct SimulatedTwin {
    std::string executable;
    SimulatedCall call;
    uint32_t hash = 0;
};

Result<SimulatedTwin> simulated(const SimulatedKernel::Request &request, CacheMode cache) {
    auto loaded = SimulatedKernel::create(request);
    if (!loaded) return loaded.error();
    if (const SimulatedCall packed = loaded->pack(); !packed.problem.empty()) return bad_input(packed.problem);
    loaded->poison_output();
    Result<std::string> executable = loaded->program(cache);
    if (!executable) return executable.error();
    SimulatedTwin twin{std::move(*executable), {}};
    for (int call = 0; call < (cache == CacheMode::warm ? 2 : 1); call++) {
        twin.call = loaded->compute();
        if (!twin.call.problem.empty()) return bad_input(twin.call.problem);
    }
    twin.hash = result_hash(loaded->output());
    return twin;
}

std::optional<Error> difference(const SimulatedTwin &twin, const JudgedCounts &judged, const CoreJudge &judge) {
    constexpr const char *way_out =
        "is it the core that --core describes, with memory that answers to every address below 16 MiB?";
    if (judged.hash != twin.hash) {
        return environment_error(
            fmt::format("{}: a kernel has other results there than in simulation; {}", judge.path, way_out));
    }
    const int64_t expected = twin.call.counts.instructions + Simulator::program_overhead;
    if (judged.instructions == expected) return {};
    return environment_error(fmt::format("{}: counts {} instructions of a call that takes {} in simulation; {}",
                                         judge.path, judged.instructions, expected, way_out));
}

RunnerAnswer without_twin(const Error &error) {
    return error.code == ErrorCode::environment ? environment_failed(error)
                                                : failed(TrialStatus::refused, error.message);
}

}  // namespace

RunnerAnswer run_judged_heat(const HeatJob &job, const Workload &workload, const SendLine &send) {
    const Result<std::string> digest = digest_of_judge(*job.judge);
    if (!digest) return environment_failed(digest.error());
    nlohmann::ordered_json conditions = {
        {"judge", "rtl"}, {"program", *digest}, {"core", key(*job.call.core)}, {"kernels", nlohmann::json::array()}};
    RunnerAnswer answer;
    for (const RunnerKernel &kernel : job.kernels) {
        send(step_line("a call on another core"));
        const Result<SimulatedTwin> twin = simulated({kernel, workload, *job.call.core, job.operands}, job.cache);
        if (!twin) return without_twin(twin.error());
        const Result<JudgedCounts> judged = ask_judge(*job.judge, twin->executable);
        if (!judged) return environment_failed(judged.error());
        if (const auto other = difference(*twin, *judged, *job.judge)) return environment_failed(*other);
        answer.heat.push_back({static_cast<double>(judged->cycles)});
        conditions["kernels"].push_back(
            {{"simulated_cycles", twin->call.counts.cycles}, {"counted", nlohmann::json::parse(judged->counts)}});
    }
    answer.conditions = conditions.dump();
    answer.status = TrialStatus::ok;
    return answer;
}

End run_judged_call(const ExecuteJob &job, const Workload &workload, const SendLine &send) {
    send(step_line("a call on another core"));
    const Result<SimulatedTwin> twin = simulated({job.kernel, workload, *job.call.core, job.operands}, CacheMode::cold);
    if (!twin) return without_twin(twin.error());
    const Result<JudgedCounts> judged = ask_judge(*job.judge, twin->executable);
    if (!judged) return environment_failed(judged.error());
    if (const auto other = difference(*twin, *judged, *job.judge)) {
        return failed(TrialStatus::wrong_result, other->message);
    }
    return {};
}

}  // namespace kiln
