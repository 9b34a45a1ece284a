#include "schedules/space.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <map>
#include <set>

namespace kiln {
namespace {

const Knob *find_knob(const std::vector<Knob> &knobs, std::string_view name) {
    const auto found = std::find_if(knobs.begin(), knobs.end(), [&](const Knob &k) { return k.name == name; });
    return found == knobs.end() ? nullptr : &*found;
}

}  // namespace

Space::Space(Candidate base, std::vector<Knob> knobs, std::vector<Constraint> constraints)
    : base_(std::move(base)), knobs_(std::move(knobs)), constraints_(std::move(constraints)) {
    assert(check(base_).ok());
}

const Knob *Space::find(std::string_view name) const { return find_knob(knobs_, name); }

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
    Knobs all = candidate.knobs;
    for (const Knob &knob : knobs_) {
        auto found = all.find(knob.name);
        if (found == all.end() && knob.zero_left_out) found = all.emplace(knob.name, 0).first;
        if (found == all.end()) return unsupported("knob `" + knob.name + "` is missing");
        if (!std::binary_search(knob.values.begin(), knob.values.end(), found->second)) {
            return unsupported("knob `" + knob.name + "` cannot be " + std::to_string(found->second) + " here" +
                               (knob.why.empty() ? "" : ": " + knob.why));
        }
    }
    for (const auto &[name, value] : candidate.knobs) {
        const Knob *knob = find(name);
        if (!knob) return unsupported("unknown knob `" + name + "`");
        if (knob->zero_left_out && value == 0) return unsupported("knob `" + name + "` is left out where it is 0");
    }
    for (const Constraint &constraint : constraints_) {
        if (const auto reason = constraint(all); !reason.empty()) return unsupported(std::string(reason));
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
        const auto refuses = [&](const Constraint &constraint) { return !constraint(candidate.knobs).empty(); };
        if (std::any_of(constraints_.begin(), constraints_.end(), refuses)) continue;
        leave_out_zeros(&candidate.knobs);
        return candidate;
    }
    return std::nullopt;
}

void Space::leave_out_zeros(Knobs *knobs) const {
    std::erase_if(*knobs, [this](const auto &entry) {
        const Knob *knob = entry.second == 0 ? find(entry.first) : nullptr;
        return knob && knob->zero_left_out;
    });
}

namespace {

std::string text_of(const Knobs &knobs) {
    std::string text;
    for (const auto &[name, value] : knobs) text += (text.empty() ? "" : ", ") + name + " " + std::to_string(value);
    return text;
}

// Domains and constraints of one alternative, for candidates that choose it.
struct Choice {
    Knobs chosen;
    std::vector<Knob> domains;  // `why` is the whole reason
    std::vector<Constraint> constraints;

    std::string_view operator()(const Knobs &knobs) const {
        if (!std::includes(knobs.begin(), knobs.end(), chosen.begin(), chosen.end())) return {};
        for (const Knob &domain : domains) {
            const int64_t value = knobs.find(domain.name)->second;
            if (!std::binary_search(domain.values.begin(), domain.values.end(), value)) return domain.why;
        }
        for (const Constraint &constraint : constraints) {
            if (const auto reason = constraint(knobs); !reason.empty()) return reason;
        }
        return {};
    }
};

// What all alternatives that have a knob say of other values; nothing where they differ.
std::string shared_why(const std::vector<Alternative> &alternatives, const std::string &name) {
    std::set<std::string> reasons;
    for (const Alternative &a : alternatives) {
        if (const Knob *own = find_knob(a.knobs, name)) reasons.insert(own->why);
    }
    return reasons.size() == 1 ? *reasons.begin() : "";
}

}  // namespace

std::pair<std::vector<Knob>, std::vector<Constraint>> join_alternatives(std::vector<Alternative> alternatives) {
    if (alternatives.size() == 1 && alternatives[0].chosen.empty()) {
        return {std::move(alternatives[0].knobs), std::move(alternatives[0].constraints)};
    }
    std::map<std::string, std::set<int64_t>> chosen_from, domains;
    std::map<std::string, bool> zero_left_out;
    for (const Alternative &a : alternatives) {
        for (const auto &[name, value] : a.chosen) chosen_from[name].insert(value);
        for (const Knob &own : a.knobs) {
            domains[own.name].insert(own.values.begin(), own.values.end());
            zero_left_out.try_emplace(own.name, true).first->second &= own.zero_left_out;
        }
    }
    std::vector<Constraint> constraints;
    for (Alternative &a : alternatives) {
        Choice choice{a.chosen, {}, std::move(a.constraints)};
        for (auto &[name, values] : domains) {
            const Knob *own = find_knob(a.knobs, name);
            if (!own) values.insert(0);
            const std::string why = own && !own->why.empty() ? ": " + own->why : "";
            choice.domains.push_back({name, own ? own->values : std::vector<int64_t>{0},
                                      name + " has no such value with " + text_of(a.chosen) + why});
        }
        constraints.emplace_back(std::move(choice));
    }
    domains.merge(chosen_from);
    std::vector<Knob> knobs;
    for (const auto &[name, values] : domains) {
        knobs.push_back({name, {values.begin(), values.end()}, shared_why(alternatives, name), zero_left_out[name]});
    }
    return {std::move(knobs), std::move(constraints)};
}

Knobs present(const Knobs &values, const std::vector<Knob> &domains) {
    Knobs there;
    for (const auto &[name, value] : values) {
        const Knob *domain = find_knob(domains, name);
        if (domain && !(domain->zero_left_out && value == 0)) there.emplace(name, value);
    }
    return there;
}

void drop_knobs_that_do_not_apply(std::vector<Knob> *knobs, Candidate *base) {
    std::erase_if(*knobs, [&](const Knob &knob) {
        const bool applies = knob.values.back() != 0;
        if (!applies) base->knobs.erase(knob.name);
        return !applies;
    });
}

}  // namespace kiln
