// Races given candidates of one layer in turns, and the default, each built and judged first.
//
//   race-candidates KEY [warm|cold [TARGET [THREADS]]] < FILE     FILE has a candidate a line; prints one JSON object a candidate
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "catalog/catalog.h"
#include "records/measurement.h"
#include "tuner/job/workshop.h"
#include "tuner/process/host_machine.h"
#include "tuner/process/interrupt.h"

namespace kiln {
namespace {

constexpr int heats = 6, rounds = 10;

struct Entrant {
    std::string text, problem;  // of the default or of stdin; why it has no time
    Samples samples;
};

struct Race {
    HeatRequest request;
    std::vector<size_t> entrants;  // of the artifacts of the request
};

// Why it cannot race; nothing where it can, and is entered.
Result<std::optional<std::string>> enter(const std::string &text, Workshop &workshop, HeatRequest *request) {
    const Result<Candidate> candidate = parse_candidate(text);
    if (!candidate) return std::optional(candidate.error().message);
    const auto built = workshop.builder->build({request->workload, request->target, *candidate});
    if (!built) return built.error();
    if (!built->ok()) return std::optional(built->failure().message);
    RunRequest judged;
    judged.workload = request->workload, judged.target = request->target, judged.artifact = built->value();
    judged.measure = false;
    const auto ran = workshop.runner->run(judged);
    if (!ran) return ran.error();
    if (!ran->ok()) return std::optional(ran->failure().message);
    const RunReport &report = ran->value();
    request->workspace_bytes = std::max(request->workspace_bytes, report.workspace_bytes);
    request->workspace_bytes_per_thread =
        std::max(request->workspace_bytes_per_thread, report.workspace_bytes_per_thread);
    request->artifacts.push_back(built->value());
    return std::optional<std::string>();
}

Status race(Workshop &workshop, Race race, std::vector<Entrant> *entrants) {
    race.request.rounds = rounds;
    for (int heat = 0; heat < heats && !race.entrants.empty(); heat++) {
        race.request.seed = static_cast<uint64_t>(heat);
        const auto ran = workshop.runner->heat(race.request);
        if (!ran) return ran.error();
        if (!ran->ok()) return bad_input(ran->failure().message);
        for (size_t i = 0; i < race.entrants.size(); i++) {
            const Samples &times = ran->value().times[i];
            Samples &all = (*entrants)[race.entrants[i]].samples;
            all.insert(all.end(), times.begin(), times.end());
        }
    }
    return {};
}

void print(const std::vector<Entrant> &entrants) {
    for (const Entrant &entrant : entrants) {
        nlohmann::ordered_json line = {{"candidate", entrant.text}};
        if (entrant.samples.empty()) {
            line["problem"] = entrant.problem;
        } else {
            const Summary summary = summarize(entrant.samples);
            line["median_us"] = summary.median * 1e-3;
            line["min_us"] = summary.min * 1e-3;
        }
        fmt::print("{}\n", line.dump());
    }
}

int run(const std::vector<std::string> &arguments) {
    const auto fail = [](const Error &error) {
        fmt::print(stderr, "race-candidates: {}\n", error.message);
        return 2;
    };
    const std::string cache = arguments.size() >= 2 ? arguments[1] : "warm";
    const int threads = arguments.size() >= 4 ? std::atoi(arguments[3].c_str()) : 1;
    if (arguments.empty() || arguments.size() > 4 || (cache != "warm" && cache != "cold") || threads < 1)
        return fail(bad_input("usage: race-candidates KEY [warm|cold [TARGET [THREADS]]] < FILE"));
    const Result<Workload> workload = parse_workload_key(arguments[0]);
    if (!workload) return fail(workload.error());
    install_interrupt_handler();
    const Machine machine = read_machine();
    const Result<Target> target =
        parse_target(arguments.size() >= 3 ? arguments[2] : "host", threads, machine.halide_target);
    if (!target) return fail(target.error());
    Result<Workshop> workshop = make_workshop(std::filesystem::read_symlink("/proc/self/exe").parent_path(), {});
    if (!workshop) return fail(workshop.error());
    Race all;
    all.request.workload = *workload, all.request.target = *target;
    all.request.cache = cache == "cold" ? CacheMode::cold : CacheMode::warm;
    std::vector<std::string> texts;
    const auto untuned = default_candidate(*workload, *target, core_of(machine, *target), default_error_budget);
    if (untuned) texts.push_back(to_text(*untuned));
    for (std::string line; std::getline(std::cin, line);) {
        if (!line.empty()) texts.push_back(line);
    }
    std::vector<Entrant> entrants;
    std::set<std::string> seen;
    for (const std::string &text : texts) {
        if (!seen.insert(text).second) continue;
        const auto problem = enter(text, *workshop, &all.request);
        if (!problem) return fail(problem.error());
        if (!*problem) all.entrants.push_back(entrants.size());
        entrants.push_back({text, problem->value_or(""), {}});
    }
    if (Status s = race(*workshop, std::move(all), &entrants); !s) return fail(s.error());
    print(entrants);
    return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char **argv) { return kiln::run({argv + 1, argv + argc}); }
