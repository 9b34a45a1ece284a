#include "cli/answers/candidate_text.h"

#include <algorithm>

#include "catalog/catalog.h"
#include "workload/core.h"

namespace kiln {
namespace {

std::optional<Candidate> default_of(const std::string &algorithm, const CandidatePlace &place) {
    const Algorithm *known = find_algorithm(algorithm);
    if (!known || !known->applies(place.workload, place.target)) return std::nullopt;
    return known->space(place.workload, place.target, core_of(place.machine, place.target)).default_candidate();
}

// Whether both are built by the same versions and have values for the same knobs.
bool is_like(const Candidate &a, const Candidate &b) {
    return a.algorithm == b.algorithm && a.algorithm_version == b.algorithm_version && a.schedule == b.schedule &&
           a.schedule_version == b.schedule_version &&
           std::equal(a.knobs.begin(), a.knobs.end(), b.knobs.begin(), b.knobs.end(),
                      [](const auto &x, const auto &y) { return x.first == y.first; });
}

std::string text_beside(const Candidate &candidate, const Candidate &standard) {
    if (!is_like(candidate, standard)) return to_text(candidate);
    Candidate rest = candidate;
    std::erase_if(rest.knobs, [&](const auto &knob) { return knob.second == standard.knobs.at(knob.first); });
    return to_text(rest) + (rest.knobs.size() < candidate.knobs.size() ? "/…" : "");
}

// Defaults of the algorithms where rows were tried, each computed once.
class Defaults {
public:
    const std::optional<Candidate> &of(const std::string &algorithm, const std::vector<std::string> &place) {
        std::vector<std::string> key = place;
        key.push_back(algorithm);
        const auto found = known_.find(key);
        if (found != known_.end()) return found->second;
        return known_.emplace(std::move(key), compute(algorithm, place)).first->second;
    }

private:
    static std::optional<Candidate> compute(const std::string &algorithm, const std::vector<std::string> &place) {
        const Result<Workload> workload = parse_workload_key(place[0]);
        const Result<Target> target = parse_target(place[1], std::atoi(place[2].c_str()), "");
        const std::optional<Machine> machine = parse_machine_key(place[3]);
        if (!workload || !target || !machine) return std::nullopt;
        return default_of(algorithm, {*workload, *target, *machine});
    }
    std::map<std::vector<std::string>, std::optional<Candidate>> known_;
};

std::string text_of(const Cell &cell) {
    if (const auto *integer = std::get_if<int64_t>(&cell)) return std::to_string(*integer);
    const auto *text = std::get_if<std::string>(&cell);
    return text ? *text : "";
}

}  // namespace

std::string short_text(const Candidate &candidate, const CandidatePlace &place) {
    const std::optional<Candidate> standard = default_of(candidate.algorithm, place);
    return standard ? text_beside(candidate, *standard) : to_text(candidate);
}

bool shorten_candidates(Table *table) {
    std::vector<size_t> columns;  // of the place, then of the candidate
    for (const char *name : {"workload", "target", "threads", "machine", "candidate"}) {
        const auto found = std::find(table->columns.begin(), table->columns.end(), name);
        if (found == table->columns.end()) return false;
        columns.push_back(static_cast<size_t>(found - table->columns.begin()));
    }
    Defaults defaults;
    bool any = false;
    for (auto &row : table->rows) {
        Cell &cell = row[columns.back()];
        const Result<Candidate> candidate = parse_candidate(text_of(cell));
        if (!candidate) continue;
        std::vector<std::string> place;
        for (size_t i = 0; i + 1 < columns.size(); i++) place.push_back(text_of(row[columns[i]]));
        const std::optional<Candidate> &standard = defaults.of(candidate->algorithm, place);
        if (!standard) continue;
        std::string text = text_beside(*candidate, *standard);
        any = any || text != text_of(cell);
        cell = std::move(text);
    }
    return any;
}

}  // namespace kiln
