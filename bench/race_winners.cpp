// Races the best kernels of two databases against each other, layer by layer: did two tunes find equally fast ones?
//
//   race-winners A.db B.db LIST.json...        prints one JSON object
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "database/trial_store.h"
#include "tuner/job/workshop.h"
#include "tuner/process/host_machine.h"
#include "tuner/process/interrupt.h"
#include "tuner/race/paired_ratio.h"
#include "workload/lists/workload_list.h"

namespace kiln {
namespace {

constexpr int heats = 10, rounds = 10;

struct Winner {
    Trial trial;
    Artifact artifact;
};

Result<Winner> winner_of(const TrialStore &store, const Workload &workload, const Target &target, Workshop &workshop) {
    TrialFilter filter;
    filter.workload = key(workload);
    filter.target = target.halide;
    filter.threads = target.threads;
    Result<std::optional<Best>> best = store.best(filter);
    if (!best) return best.error();
    if (!*best) return bad_input("no valid trial of " + key(workload));
    Result<Candidate> candidate = parse_candidate((*best)->trial.candidate);
    if (!candidate) return candidate.error();
    Result<BuildResult> built = workshop.builder->build({workload, target, *candidate});
    if (!built) return built.error();
    if (!built->ok()) return bad_input((*best)->trial.candidate + ": " + built->failure().message);
    return Winner{(*best)->trial, built->value()};
}

// How much longer A's kernel takes than B's.
Result<RatioInterval> race(const Workload &workload, const Target &target, const Winner &a, const Winner &b,
                           Workshop &workshop) {
    if (a.artifact.object_hash == b.artifact.object_hash) return RatioInterval();
    Heats of_a, of_b;
    for (int heat = 0; heat < heats; heat++) {
        HeatRequest request;
        request.workload = workload;
        request.target = target;
        request.artifacts = {a.artifact, b.artifact};
        request.rounds = rounds;
        request.seed = static_cast<uint64_t>(heat);
        const auto most = [](std::optional<int64_t> x, std::optional<int64_t> y) {
            return std::max(x.value_or(0), y.value_or(0));
        };
        request.workspace_bytes = most(a.trial.workspace_bytes, b.trial.workspace_bytes);
        request.workspace_bytes_per_thread =
            most(a.trial.workspace_bytes_per_thread, b.trial.workspace_bytes_per_thread);
        auto ran = workshop.runner->heat(request);
        if (!ran) return ran.error();
        if (!ran->ok()) return bad_input(ran->failure().message);
        HeatReport &report = ran->value();
        of_a.push_back(std::move(report.times[0])), of_b.push_back(std::move(report.times[1]));
    }
    return paired_ratio(of_a, of_b);
}

int run(const std::vector<std::string> &arguments) {
    const auto fail = [](const Error &error) {
        fmt::print(stderr, "race-winners: {}\n", error.message);
        return 2;
    };
    if (arguments.size() < 3) return fail(bad_input("usage: race-winners A.db B.db LIST.json..."));
    install_interrupt_handler();
    Result<TrialStore> a = TrialStore::open(arguments[0], OpenMode::read_only);
    if (!a) return fail(a.error());
    Result<TrialStore> b = TrialStore::open(arguments[1], OpenMode::read_only);
    if (!b) return fail(b.error());
    const Machine machine = read_machine();
    Result<Target> target = parse_target("host", 1, machine.halide_target);
    if (!target) return fail(target.error());
    Result<Workshop> workshop = make_workshop(std::filesystem::read_symlink("/proc/self/exe").parent_path(), {});
    if (!workshop) return fail(workshop.error());
    nlohmann::ordered_json answer = nlohmann::ordered_json::object();
    for (size_t i = 2; i < arguments.size(); i++) {
        Result<std::vector<NamedWorkload>> list = read_workload_list(arguments[i]);
        if (!list) return fail(list.error());
        for (const NamedWorkload &w : *list) {
            Result<Winner> of_a = winner_of(*a, w.workload, *target, *workshop);
            if (!of_a) return fail(of_a.error());
            Result<Winner> of_b = winner_of(*b, w.workload, *target, *workshop);
            if (!of_b) return fail(of_b.error());
            Result<RatioInterval> ratio = race(w.workload, *target, *of_a, *of_b, *workshop);
            if (!ratio) return fail(ratio.error());
            answer[w.name] = {{"ratio", ratio->ratio},
                              {"ratio_lo", ratio->lo},
                              {"ratio_hi", ratio->hi},
                              {"a", of_a->trial.candidate},
                              {"b", of_b->trial.candidate}};
        }
    }
    fmt::print("{}\n", answer.dump(2));
    return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char **argv) { return kiln::run({argv + 1, argv + argc}); }
