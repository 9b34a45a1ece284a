// Did a change of kiln keep the speed of its kernels? Builds the same candidates with the generators of two builds of
// kiln and races those whose objects differ.
//
//   race-generators BEFORE AFTER TRIALS.db SAMPLES LIST.json...
//
// BEFORE and AFTER are kiln-generator programs. For each layer: the default candidate, the best of TRIALS.db where it
// has one (`-`: no database), and SAMPLES valid ones drawn from the spaces of all algorithms. Prints one JSON object:
// for each layer and candidate whether the objects are the same, else AFTER's time over BEFORE's with its interval.
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "catalog/catalog.h"
#include "database/trial_store.h"
#include "tuner/build/generator_builder.h"
#include "tuner/job/workshop.h"
#include "tuner/process/host_machine.h"
#include "tuner/process/interrupt.h"
#include "tuner/race/paired_ratio.h"
#include "workload/lists/workload_list.h"

namespace kiln {
namespace {

constexpr int heats = 10, rounds = 10;

struct Named {
    std::string what;  // default, best, sample
    Candidate candidate;
};

struct Comparison {
    Workload workload;
    Target target;
    Builder &before, &after;
    Runner &runner;
};

std::vector<Named> candidates_of(const Workload &workload, const Target &target, const TrialStore *store, int samples) {
    const Core core = core_of(read_machine(), target);
    std::vector<Named> all;
    if (const auto untuned = default_candidate(workload, target, core, default_error_budget))
        all.push_back({"default", *untuned});
    if (store) {
        TrialFilter filter;
        filter.workload = key(workload), filter.target = target.halide, filter.threads = target.threads;
        const auto best = store->best(filter);
        if (best && *best) {
            if (const auto tuned = parse_candidate((*best)->trial.candidate)) all.push_back({"best", *tuned});
        }
    }
    Rng rng(1);
    std::vector<Space> spaces;
    for (const Algorithm &algorithm : catalog()) {
        if (algorithm.applies(workload, target)) spaces.push_back(algorithm.space(workload, target, core));
    }
    for (int i = 0; i < samples && !spaces.empty(); i++) {
        if (auto drawn = spaces[i % spaces.size()].sample(rng)) all.push_back({"sample", std::move(*drawn)});
    }
    return all;
}

// AFTER's time over BEFORE's. Both kernels are judged first, which tells their workspace too.
Result<RatioInterval> race(const Comparison &c, const Artifact &before, const Artifact &after) {
    HeatRequest request;
    request.workload = c.workload, request.target = c.target, request.artifacts = {after, before};
    request.rounds = rounds;
    for (const Artifact &artifact : request.artifacts) {
        RunRequest judged;
        judged.workload = c.workload, judged.target = c.target, judged.artifact = artifact, judged.measure = false;
        judged.error_budget = 1;  // the kernels of both are judged elsewhere
        const Result<RunResult> ran = c.runner.run(judged);
        if (!ran) return ran.error();
        if (!ran->ok()) return bad_input(ran->failure().message);
        const RunReport &report = ran->value();
        request.workspace_bytes = std::max(request.workspace_bytes, report.workspace_bytes);
        request.workspace_bytes_per_thread =
            std::max(request.workspace_bytes_per_thread, report.workspace_bytes_per_thread);
    }
    Heats of_after, of_before;
    for (int heat = 0; heat < heats; heat++) {
        request.seed = static_cast<uint64_t>(heat);
        auto ran = c.runner.heat(request);
        if (!ran) return ran.error();
        if (!ran->ok()) return bad_input(ran->failure().message);
        HeatReport &report = ran->value();
        of_after.push_back(std::move(report.times[0])), of_before.push_back(std::move(report.times[1]));
    }
    return paired_ratio(of_after, of_before);
}

nlohmann::ordered_json compare(const Comparison &c, const Named &named) {
    nlohmann::ordered_json row = {{"what", named.what}, {"candidate", to_text(named.candidate)}};
    const auto problem = [&](const std::string &who, const std::string &message) {
        row["problem"] = who + ": " + message;
        return row;
    };
    const BuildRequest request{c.workload, c.target, named.candidate};
    const Result<BuildResult> before = c.before.build(request), after = c.after.build(request);
    if (!before) return problem("before", before.error().message);
    if (!after) return problem("after", after.error().message);
    if (!before->ok() || !after->ok()) {
        if (!before->ok() && !after->ok()) row["same"] = true;  // both refuse or fail
        if (!after->ok()) return problem("after", after->failure().message);
        return problem("before", before->failure().message);
    }
    row["same"] = before->value().object_hash == after->value().object_hash;
    if (row["same"]) return row;
    const Result<RatioInterval> ratio = race(c, before->value(), after->value());
    if (!ratio) return problem("race", ratio.error().message);
    row["ratio"] = ratio->ratio, row["ratio_lo"] = ratio->lo, row["ratio_hi"] = ratio->hi;
    return row;
}

int run(const std::vector<std::string> &arguments) {
    const auto fail = [](const Error &error) {
        fmt::print(stderr, "race-generators: {}\n", error.message);
        return 2;
    };
    int samples = 0;
    if (arguments.size() < 5 ||
        std::from_chars(arguments[3].data(), arguments[3].data() + arguments[3].size(), samples).ec != std::errc()) {
        return fail(bad_input("usage: race-generators BEFORE AFTER TRIALS.db|- SAMPLES LIST.json..."));
    }
    install_interrupt_handler();
    std::optional<TrialStore> store;
    if (arguments[2] != "-") {
        Result<TrialStore> opened = TrialStore::open(arguments[2], OpenMode::read_only);
        if (!opened) return fail(opened.error());
        store = std::move(*opened);
    }
    Result<Target> target = parse_target("host", 1, read_machine().halide_target);
    if (!target) return fail(target.error());
    Result<Workshop> workshop = make_workshop(std::filesystem::read_symlink("/proc/self/exe").parent_path(), {});
    if (!workshop) return fail(workshop.error());
    std::vector<std::unique_ptr<GeneratorBuilder>> builders;
    for (size_t i = 0; i < 2; i++) {
        const std::string folder = workshop->folder.path() + "/" + std::to_string(i);
        std::filesystem::create_directory(folder);
        auto builder = GeneratorBuilder::create({arguments[i], folder});
        if (!builder) return fail(builder.error());
        builders.push_back(std::move(*builder));
    }
    nlohmann::ordered_json answer = nlohmann::ordered_json::object();
    for (size_t i = 4; i < arguments.size(); i++) {
        const Result<std::vector<NamedWorkload>> list = read_workload_list(arguments[i]);
        if (!list) return fail(list.error());
        for (const NamedWorkload &w : *list) {
            const Comparison c{w.workload, *target, *builders[0], *builders[1], *workshop->runner};
            nlohmann::ordered_json &rows = answer[w.name] = nlohmann::ordered_json::array();
            for (const Named &named : candidates_of(w.workload, *target, store ? &*store : nullptr, samples)) {
                if (interrupted()) return 130;
                rows.push_back(compare(c, named));
            }
            fmt::print(stderr, "{}: {} of {} the same\n", w.name,
                       std::count_if(rows.begin(), rows.end(), [](const auto &r) { return r.value("same", false); }),
                       rows.size());
        }
    }
    fmt::print("{}\n", answer.dump(2));
    return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char **argv) { return kiln::run({argv + 1, argv + argc}); }
