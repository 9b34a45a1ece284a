// Replays the search strategies on recorded spaces (bench/spaces, made by record_space.cpp): how many trials each needs
// until it has seen a candidate with 95 % of the fastest one's speed. No hardware, no clock: the same figures
// everywhere.
//
//   search-trials [--seeds N] SPACE.json...      prints one JSON object
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tuner/search/search.h"

namespace kiln {
namespace {

struct RecordedSpace {
    Space space;  // exactly what was recorded
    std::map<Candidate, std::optional<double>> median_ns;
    double best_ns = 0;
    size_t valid = 0;
};

Result<RecordedSpace> read_space(const std::string &path) {
    std::ifstream file(path);
    const auto json = nlohmann::json::parse(file, nullptr, false);
    if (!json.is_object() || json.value("format", "") != "space/1") {
        return bad_input(path + ": is no recorded space (format space/1)");
    }
    Result<Candidate> base = parse_candidate(json.at("base").get<std::string>());
    if (!base) return base.error();
    std::map<Candidate, std::optional<double>> median_ns;
    std::map<std::string, std::set<int64_t>> domains;
    const auto names = json.at("knobs").get<std::vector<std::string>>();
    double best_ns = 0;
    size_t valid = 0;
    for (const auto &row : json.at("trials")) {
        if (row.size() != names.size() + 1)
            return bad_input(path + ": a row has not one value for each knob and a time");
        Candidate candidate = *base;
        for (size_t i = 0; i < names.size(); i++) {
            candidate.knobs[names[i]] = row[i].get<int64_t>();
            domains[names[i]].insert(row[i].get<int64_t>());
        }
        const auto &time = row.back();
        if (time.is_null()) {
            median_ns[candidate] = std::nullopt;
            continue;
        }
        median_ns[candidate] = time.get<double>();
        best_ns = valid++ == 0 ? time.get<double>() : std::min(best_ns, time.get<double>());
    }
    if (valid == 0) return bad_input(path + ": has no valid candidate");
    std::vector<Knob> knobs;
    for (const auto &[name, value] : base->knobs) {
        const auto domain = domains.find(name);
        if (domain == domains.end()) {
            knobs.push_back({name, {value}});
        } else {
            knobs.push_back({name, {domain->second.begin(), domain->second.end()}});
        }
    }
    std::set<Knobs> recorded;
    for (const auto &[candidate, time] : median_ns) recorded.insert(candidate.knobs);
    Candidate first = median_ns.begin()->first;
    const Limit<Knobs> known{"was not recorded", [recorded](const Knobs &k) { return recorded.contains(k); }};
    Space space(first, knobs, {constraint<Knobs>({known})});
    return RecordedSpace{std::move(space), std::move(median_ns), best_ns, valid};
}

// Trials until the goal; all there are where the search ends without.
int64_t trials_needed(const RecordedSpace &recorded, std::string_view strategy, uint64_t seed) {
    constexpr double share = 0.95;  // of the fastest one's speed
    const auto search = std::move(*make_search(strategy, {recorded.space}, seed));
    for (int64_t trials = 1;; trials++) {
        const std::optional<Candidate> proposed = search->propose();
        if (!proposed) return static_cast<int64_t>(recorded.median_ns.size());
        const Observation observation{*proposed, recorded.median_ns.at(*proposed)};
        if (observation.time_ns && *observation.time_ns <= recorded.best_ns / share) return trials;
        search->observe({&observation, 1});
    }
}

double median_trials(const RecordedSpace &recorded, std::string_view strategy, int seeds) {
    std::vector<int64_t> needed;
    for (int seed = 1; seed <= seeds; seed++) {
        needed.push_back(trials_needed(recorded, strategy, static_cast<uint64_t>(seed)));
    }
    std::sort(needed.begin(), needed.end());
    const size_t n = needed.size();
    return static_cast<double>(needed[(n - 1) / 2] + needed[n / 2]) / 2;
}

int run(std::vector<std::string> arguments) {
    int seeds = 30;
    if (arguments.size() > 1 && arguments[0] == "--seeds") {
        seeds = std::atoi(arguments[1].c_str());
        arguments.erase(arguments.begin(), arguments.begin() + 2);
    }
    if (arguments.empty() || seeds < 1) {
        fmt::print(stderr, "usage: search-trials [--seeds N] SPACE.json...\n");
        return 2;
    }
    nlohmann::ordered_json answer = nlohmann::ordered_json::object();
    for (const std::string &path : arguments) {
        const Result<RecordedSpace> recorded = read_space(path);
        if (!recorded) {
            fmt::print(stderr, "search-trials: {}\n", recorded.error().message);
            return 2;
        }
        nlohmann::ordered_json &entry = answer[path];
        entry["valid"] = recorded->valid;
        for (std::string_view strategy : search_names()) {
            entry["trials"][std::string(strategy)] = median_trials(*recorded, strategy, seeds);
        }
    }
    fmt::print("{}\n", answer.dump(2));
    return 0;
}

}  // namespace
}  // namespace kiln

int main(int argc, char **argv) { return kiln::run({argv + 1, argv + argc}); }
