#include "schedules/space.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <map>
#include <set>

namespace kiln {

Space::Space(Candidate base, std::vector<Knob> knobs, std::vector<Constraint> constraints)
    : base_(std::move(base)), knobs_(std::move(knobs)), constraints_(std::move(constraints)) {
    assert(check(base_).ok());
}

int64_t Space::size() const {
    int64_t product = 1;
    for (const Knob &knob : knobs_) {
        if (__builtin_mul_overflow(product, static_cast<int64_t>(knob.values.size()), &product)) {
            return std::numeric_limits<int64_t>::max();
        }
    }
    return product;
}

Status Space::check(const Candidate &candidate) const {
    auto versioned = [](const std::string &name, int version) { return name + "@" + std::to_string(version); };
    if (candidate.algorithm != base_.algorithm || candidate.algorithm_version != base_.algorithm_version) {
        return unsupported("algorithm " + versioned(candidate.algorithm, candidate.algorithm_version) + " is not " +
                           versioned(base_.algorithm, base_.algorithm_version));
    }
    if (candidate.schedule != base_.schedule || candidate.schedule_version != base_.schedule_version) {
        return unsupported("schedule " + versioned(candidate.schedule, candidate.schedule_version) + " is not " +
                           versioned(base_.schedule, base_.schedule_version));
    }
    if (candidate.knobs.size() > knobs_.size()) {
        for (const auto &[name, value] : candidate.knobs) {
            if (!base_.knobs.contains(name)) return unsupported("unknown knob `" + name + "`");
        }
    }
    for (const Knob &knob : knobs_) {
        const auto found = candidate.knobs.find(knob.name);
        if (found == candidate.knobs.end()) return unsupported("knob `" + knob.name + "` is missing");
        if (!std::binary_search(knob.values.begin(), knob.values.end(), found->second)) {
            return unsupported("knob `" + knob.name + "` cannot be " + std::to_string(found->second) + " here" +
                               (knob.why.empty() ? "" : ": " + knob.why));
        }
    }
    for (const Constraint &constraint : constraints_) {
        if (!constraint.holds(candidate.knobs)) return unsupported(constraint.reason);
    }
    return {};
}

std::optional<Candidate> Space::sample(Rng &rng, int tries) const {
    Candidate candidate = base_;
    for (int i = 0; i < tries; i++) {
        for (const Knob &knob : knobs_) {
            // Not std::uniform_int_distribution: its results differ between standard libraries, a seed must not.
            candidate.knobs[knob.name] = knob.values[rng() % knob.values.size()];
        }
        if (check(candidate).ok()) return candidate;
    }
    return std::nullopt;
}

std::pair<std::vector<Knob>, std::vector<Constraint>> join_alternatives(const std::string &knob,
                                                                        std::vector<Alternative> alternatives) {
    if (alternatives.size() == 1) return {alternatives[0].knobs, alternatives[0].constraints};
    std::map<std::string, std::set<int64_t>> domains;
    std::vector<Constraint> constraints;
    for (Alternative &a : alternatives) {
        domains[knob].insert(a.value);
        const auto chosen = [knob, value = a.value](const Knobs &k) { return value_of(k, knob) == value; };
        for (const Knob &own : a.knobs) {
            domains[own.name].insert(own.values.begin(), own.values.end());
            constraints.push_back(
                {own.name + " has no such value with this value of " + knob, [chosen, own](const Knobs &k) {
                     return !chosen(k) ||
                            std::binary_search(own.values.begin(), own.values.end(), value_of(k, own.name));
                 }});
        }
        for (Constraint &limit : a.constraints) {
            constraints.push_back({limit.reason, [chosen, holds = std::move(limit.holds)](const Knobs &k) {
                                       return !chosen(k) || holds(k);
                                   }});
        }
    }
    std::vector<Knob> knobs;
    for (const auto &[name, values] : domains) knobs.push_back({name, {values.begin(), values.end()}});
    return {std::move(knobs), std::move(constraints)};
}

void drop_knobs_that_do_not_apply(std::vector<Knob> *knobs, Candidate *base) {
    std::erase_if(*knobs, [&](const Knob &knob) {
        const bool applies = knob.values.back() != 0;
        if (!applies) base->knobs.erase(knob.name);
        return !applies;
    });
}

}  // namespace kiln
