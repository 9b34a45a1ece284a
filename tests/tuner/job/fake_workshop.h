// A builder, a runner, a clock and a store without processes and files: what tests feed to the tuning loop.
#pragma once

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tuner/job/tune.h"

namespace kiln {

inline Failure failure(TrialStatus status) { return {status, "made to fail", "what it printed", {}}; }

// Each trial takes one second to build and one to run.
struct FakeClock {
    int64_t ns = 0;
};

class FakeBuilder : public Builder {
public:
    explicit FakeBuilder(FakeClock &clock) : clock_(clock) {}

    Result<BuildResult> build(const BuildRequest &request) override {
        clock_.ns += 1'000'000'000;
        const std::string text = to_text(request.candidate);
        candidates.push_back(text);
        BuildResult result;
        result.wall_ns = 1'000'000'000;
        if (const auto error = fails_with(candidates.size())) return *error;
        if (const auto status = refuses(candidates.size())) {
            Failure failed = failure(*status);
            failed.message = says;
            result.outcome = failed;
            return result;
        }
        Artifact artifact;
        artifact.code = ObjectFile{text};
        artifact.object_hash = hash(text);
        artifact.object_bytes = 1000;
        artifact.packed_bytes = 2000;
        result.outcome = artifact;
        return result;
    }

    const std::string &toolchain() const override { return version; }

    // By the number of the build, from 1.
    std::function<std::optional<Error>(size_t)> fails_with = [](size_t) { return std::nullopt; };
    std::function<std::optional<TrialStatus>(size_t)> refuses = [](size_t) { return std::nullopt; };
    std::string says = "made to fail";  // of what it refuses
    std::function<std::string(const std::string &)> hash = [](const std::string &text) { return "hash of " + text; };
    std::string version = "test 1";
    std::vector<std::string> candidates;  // as asked for

private:
    FakeClock &clock_;
};

class FakeRunner : public Runner {
public:
    explicit FakeRunner(FakeClock &clock) : clock_(clock) {}

    const RunnerTraits &traits() const override { return measures; }

    Result<RunResult> run(const RunRequest &request) override {
        clock_.ns += 1'000'000'000;
        runs++;
        measured += request.measure;
        patience_ns.push_back(request.patience_ns);
        // Behind another process, looking at the clock every second.
        for (int64_t waited_ns = 0; waited_ns < waits_ns(runs); waited_ns += 1'000'000'000) {
            if (request.out_of_time && request.out_of_time()) return Error{ErrorCode::interrupted, "waited"};
            clock_.ns += 1'000'000'000;
        }
        RunResult result;
        result.wall_ns = 1'000'000'000;
        const ErrorMeasures errors{.max = max_error, .wide = wide_error};
        const bool ran_before = !ran_.insert(request.artifact.object_hash).second;
        auto status = refuses(runs);
        if (ran_before && breaks(request.artifact.object_hash)) status = TrialStatus::wrong_result;
        if (status) {
            Failure failed = failure(*status);
            failed.errors = errors;
            result.outcome = failed;
            return result;
        }
        RunReport report;
        report.errors = errors;
        report.workspace_bytes = 64;
        const double ns = time_ns(request.artifact.object_hash);
        if (request.measure) report.samples = samples(request.artifact.object_hash, ns);
        report.sentinel = sentinel(runs);
        cutoffs.push_back(request.cutoffs_ns);
        report.conditions = conditions();
        result.outcome = report;
        return result;
    }

    // The same times as in run(), and a tenth of a second.
    Result<Attempt<HeatReport>> heat(const HeatRequest &request) override {
        clock_.ns += 100'000'000;
        heats.push_back(request);
        const bool any_breaks = std::ranges::any_of(
            request.artifacts, [&](const Artifact &artifact) { return breaks(artifact.object_hash); });
        if (heat_fails || any_breaks) return Attempt<HeatReport>{failure(TrialStatus::crash), 0};
        HeatReport report;
        for (const Artifact &artifact : request.artifacts) {
            report.times.emplace_back(static_cast<size_t>(request.rounds), time_ns(artifact.object_hash));
        }
        report.conditions = conditions();
        return Attempt<HeatReport>{std::move(report), 0};
    }

    std::function<std::optional<TrialStatus>(size_t)> refuses = [](size_t) { return std::nullopt; };
    std::function<SentinelReading(size_t)> sentinel = [](size_t) { return SentinelReading{100, 100}; };
    // By object hash; a time that depends on the kernel alone.
    std::function<double(const std::string &)> time_ns = [](const std::string &hash) {
        return 1000.0 + static_cast<double>(std::hash<std::string>()(hash) % 1000);
    };
    // What a run takes of it; heats always take the time itself.
    std::function<Samples(const std::string &, double)> samples = [](const std::string &, double ns) {
        return Samples{ns, ns, ns};
    };
    std::function<int64_t(size_t)> waits_ns = [](size_t) { return 0; };  // by the number of the run
    std::function<std::string()> conditions = [] { return std::string("{}"); };
    RunnerTraits measures;
    std::vector<HeatRequest> heats;  // as asked for
    std::vector<std::vector<double>> cutoffs;
    std::vector<int64_t> patience_ns;  // of each run
    bool heat_fails = false;
    // By object hash: right once, then wrong in every run, and in heats.
    std::function<bool(const std::string &)> breaks = [](const std::string &) { return false; };
    double max_error = 1e-6;
    double wide_error = 1e-7;
    size_t runs = 0;
    size_t measured = 0;  // of these, not only judged

private:
    FakeClock &clock_;
    std::set<std::string> ran_;  // object hashes
};

inline Machine fake_machine() {
    Machine machine;
    machine.cpu_model = machine.cpu_id = "fake";
    machine.cores = 4;
    machine.l2_bytes = 2 << 20;  // more than the layers of most tests have
    machine.l3_bytes = 16 << 20;
    machine.halide_target = "x86-64-linux-avx-avx2-f16c-fma-sse41";
    return machine;
}

struct FakeWorkshop {
    FakeClock clock;
    FakeBuilder builder{clock};
    FakeRunner runner{clock};
    TrialStore store = std::move(*TrialStore::in_memory());
    Machine machine = fake_machine();
    Target target{machine.halide_target, 1};
    std::string emulator;  // who measures, where that is not the machine
    Leases leases;
    std::function<Result<std::vector<NamedWorkload>>()> wanted;
    std::function<bool()> interrupted = [] { return false; };
    std::function<std::string()> timestamp = [] { return std::string("2026-01-01T00:00:00.000Z"); };
    std::vector<TuneProgress> progress;  // pointers in them are stale

    TuneEnvironment environment() {
        runner.measures.machine = emulator.empty() ? key(machine) : emulator;
        return {builder,
                runner,
                store,
                machine,
                [this] { return clock.ns; },
                [this] { return timestamp(); },
                [this] { return interrupted(); },
                false,
                leases,
                wanted};
    }

    Result<TuneReport> tune(const std::vector<NamedWorkload> &workloads, const TuneOptions &options) {
        return kiln::tune(workloads, target, options, environment(),
                          [this](const TuneProgress &p) { progress.push_back(p); });
    }

    std::vector<Trial> trials() const { return *store.trials({}); }
};

}  // namespace kiln
