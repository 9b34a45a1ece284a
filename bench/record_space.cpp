// Records a small space whole: builds and measures every valid candidate of one layer within the knob values given, and
// prints the times as a file that bench/search_trials replays searches on.
//
//   record-space LIST.json LAYER ALGORITHM DB KNOB:V,V,... KNOB:V,V,... > bench/spaces/NAME.json
//
// Knobs that are not named keep their default. Trials are kept in DB, so a run that was stopped goes on. With `count`
// for DB it only says how many candidates there are.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "catalog/catalog.h"
#include "tuner/job/candidate_judge.h"
#include "tuner/job/workshop.h"
#include "tuner/process/host_machine.h"
#include "tuner/process/interrupt.h"
#include "workload/lists/workload_list.h"

namespace kiln {
namespace {

using Domains = std::map<std::string, std::vector<int64_t>>;

int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

std::string timestamp() {
    const std::time_t now = std::time(nullptr);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S.000Z", std::gmtime(&now));
    return text;
}

Result<Domains> parse_domains(const std::vector<std::string> &arguments, const Space &space) {
    Domains domains;
    for (const std::string &argument : arguments) {
        const size_t colon = argument.find(':');
        const std::string name = argument.substr(0, colon);
        if (colon == std::string::npos || !space.default_candidate().knobs.contains(name)) {
            return bad_input(argument + ": needs KNOB:VALUE,... with one of the knobs of " +
                             to_text(space.default_candidate()));
        }
        std::istringstream values(argument.substr(colon + 1));
        for (std::string value; std::getline(values, value, ',');) domains[name].push_back(std::stoll(value));
    }
    return domains;
}

std::vector<Candidate> candidates_within(const Space &space, const Domains &domains) {
    std::vector<Candidate> candidates{space.default_candidate()};
    for (const auto &[name, values] : domains) {
        std::vector<Candidate> wider;
        for (const Candidate &candidate : candidates) {
            for (int64_t value : values) {
                wider.push_back(candidate);
                wider.back().knobs[name] = value;
            }
        }
        candidates = std::move(wider);
    }
    std::erase_if(candidates, [&](const Candidate &c) { return !space.check(c); });
    Rng order(1);  // so that a slow phase of the machine meets no part of the space more than another
    for (size_t i = candidates.size(); i > 1; i--) std::swap(candidates[i - 1], candidates[order() % i]);
    return candidates;
}

struct Recording {
    Workload workload;
    Target target;
    Machine machine;
    std::string toolchain;
    Space space;
    Domains domains;
    std::vector<Candidate> candidates;
    std::map<std::string, double> median_ns;  // by candidate; nothing: the trial failed
};

std::string to_json(const Recording &r) {
    std::vector<std::string> knobs;
    for (const auto &[name, values] : r.domains) knobs.push_back(name);
    nlohmann::ordered_json head;
    head["format"] = "space/1";
    head["workload"] = key(r.workload);
    head["target"] = to_text(r.target);
    head["machine"] = key(r.machine);
    head["toolchain"] = r.toolchain;
    head["base"] = to_text(r.space.default_candidate());
    head["knobs"] = knobs;
    std::vector<std::string> rows;
    for (const Candidate &candidate : r.candidates) {
        std::vector<int64_t> values;
        for (const std::string &knob : knobs) values.push_back(candidate.knobs.at(knob));
        const auto found = r.median_ns.find(to_text(candidate));
        const std::string time = found == r.median_ns.end() ? "null" : fmt::format("{:.0f}", found->second);
        rows.push_back(fmt::format("[{},{}]", fmt::join(values, ","), time));
    }
    std::string text = head.dump(0);
    text.resize(text.rfind("\n}"));
    return fmt::format("{},\n\"trials\": [\n{}\n]}}\n", text, fmt::join(rows, ",\n"));
}

Status record(const std::string &db, Recording *r) {
    Result<Workshop> workshop = make_workshop(std::filesystem::read_symlink("/proc/self/exe").parent_path(), {});
    if (!workshop) return workshop.error();
    Builder &builder = *workshop->builder;
    Result<TrialStore> store = TrialStore::open(db, OpenMode::create);
    if (!store) return store.error();
    r->toolchain = builder.toolchain();

    TuneOptions options;
    const TuneEnvironment environment{builder, *workshop->runner, *store, r->machine, now_ns, timestamp, interrupted};
    const TuneJob job{r->target, options, environment};
    TrialFilter filter;
    filter.workload = key(r->workload);
    Result<std::vector<Trial>> known = store->trials(filter);
    if (!known) return known.error();
    std::map<std::string, Trial> by_candidate;
    for (const Trial &trial : *known) by_candidate[trial.candidate] = trial;
    CandidateJudge judge(job, r->workload, *known);
    size_t done = 0;
    for (const Candidate &candidate : r->candidates) {
        const std::string text = to_text(candidate);
        if (const auto found = by_candidate.find(text); found != by_candidate.end()) {
            const Trial &trial = found->second;
            if (trial.status == TrialStatus::ok) {
                const auto m =
                    store->measurement(trial.object_hash, trial.machine, trial.threads, trial.cache, Metric::ns);
                if (!m) return m.error();
                if (*m) r->median_ns[text] = (*m)->median;
            }
        } else {
            const Result<JudgedCandidate> judged =
                judge.judge({candidate, "recording", [&] {
                                 return builder.build({r->workload, r->target, candidate});
                             }});
            if (!judged) return judged.error();
            if (judged->time) r->median_ns[text] = judged->time->median;
        }
        if (++done % 20 == 0) fmt::print(stderr, "{} of {}\n", done, r->candidates.size());
    }
    return {};
}

int run(const std::vector<std::string> &arguments) {
    const auto fail = [](const Error &error) {
        fmt::print(stderr, "record-space: {}\n", error.message);
        return 2;
    };
    if (arguments.size() < 4) {
        return fail(bad_input("usage: record-space LIST.json LAYER ALGORITHM DB KNOB:V,V,... > FILE"));
    }
    Result<std::vector<NamedWorkload>> list = read_workload_list(arguments[0]);
    if (!list) return fail(list.error());
    const auto layer =
        std::find_if(list->begin(), list->end(), [&](const NamedWorkload &w) { return w.name == arguments[1]; });
    if (layer == list->end()) return fail(bad_input(arguments[0] + ": no layer " + arguments[1]));
    const Algorithm *algorithm = find_algorithm(arguments[2]);
    if (!algorithm) return fail(bad_input("no algorithm " + arguments[2]));
    const Machine machine = read_machine();
    Result<Target> target = parse_target("host", 1, machine.halide_target);
    if (!target) return fail(target.error());
    if (Status s = algorithm->applies(layer->workload, *target); !s) return fail(s.error());
    const Space space = algorithm->space(layer->workload, *target, core_of(machine, *target));
    const Result<Domains> domains = parse_domains({arguments.begin() + 4, arguments.end()}, space);
    if (!domains) return fail(domains.error());
    Recording recording{layer->workload, *target, machine, "", space, *domains, candidates_within(space, *domains), {}};
    fmt::print(stderr, "{} candidates around {}\n", recording.candidates.size(), to_text(space.default_candidate()));
    if (arguments[3] == "count") {
        for (const Knob &knob : space.knobs()) fmt::print("{}:{}\n", knob.name, fmt::join(knob.values, ","));
        return 0;
    }
    install_interrupt_handler();
    if (Status s = record(arguments[3], &recording); !s) return fail(s.error());
    fmt::print("{}", to_json(recording));
    return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char **argv) { return kiln::run({argv + 1, argv + argc}); }
