// A space is the set of candidates of one algorithm and schedule template on one workload, target and core: a
// domain for each knob, and constraints between knobs, each with the reason it gives for a refusal.
//
// Spaces are pure: they know no clock and no hardware, and randomness comes in as a seeded generator.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "schedules/knobs.h"
#include "workload/result.h"

namespace kiln {

using Rng = std::mt19937_64;

struct Knob {
    std::string name;
    std::vector<int64_t> values;  // ascending, not empty
    std::string why = "";         // of a refusal of other values, where there is more to say
    // Candidates leave it out where it is 0, so that texts from before it was there mean what they meant.
    bool zero_left_out = false;
};

// Answers why knobs are refused, and nothing where they are not. Spaces ask with values of the domains only.
using Constraint = std::function<std::string_view(const Knobs &)>;

// One limit on a template's knobs, or on knobs by name where there is no struct of them (Limit<Knobs>).
template<typename TemplateKnobs>
struct Limit {
    std::string reason;  // of a refusal: "the register tile needs more vector registers than the target has"
    std::function<bool(const TemplateKnobs &)> holds;
};

// All limits as one constraint, which reads the knobs once. The first limit that does not hold gives the reason.
template<typename TemplateKnobs>
Constraint constraint(std::vector<Limit<TemplateKnobs>> limits) {
    return [limits = std::move(limits)](const Knobs &knobs) -> std::string_view {
        const auto refusal = [&limits](const TemplateKnobs &read) -> std::string_view {
            for (const Limit<TemplateKnobs> &limit : limits) {
                if (!limit.holds(read)) return limit.reason;
            }
            return {};
        };
        if constexpr (std::is_same_v<TemplateKnobs, Knobs>)
            return refusal(knobs);
        else
            return refusal(checked_knobs<TemplateKnobs>(knobs));
    };
}

struct DomainLister {
    std::vector<Knob> knobs;

    void needs(std::string_view name, std::vector<int64_t> &values) {
        knobs.push_back({std::string(name), std::move(values)});
    }
    void may_lack(std::string_view name, std::vector<int64_t> &values) {
        if (values != std::vector<int64_t>{0}) needs(name, values);
    }
};

// A template's domains by name, in its order. A knob that may lack is left out where it can only be 0.
template<typename Domains>
std::vector<Knob> knob_list(Domains domains) {
    DomainLister lister;
    visit_knobs(lister, domains);
    return std::move(lister.knobs);
}

class Space {
public:
    // `base` carries the names and versions; its knobs are the default and must lie in the space.
    Space(Candidate base, std::vector<Knob> knobs, std::vector<Constraint> constraints);

    const Candidate &default_candidate() const { return base_; }
    const std::vector<Knob> &knobs() const { return knobs_; }
    const std::vector<Constraint> &constraints() const { return constraints_; }

    // Number of knob assignments, constraints not considered; saturates at 2^63 - 1.
    int64_t size() const;

    // Whether a candidate (from a database, a user, an older version) belongs here; the message says why not.
    Status check(const Candidate &candidate) const;

    // A uniform draw among the valid candidates by rejection; nothing when `tries` draws found none.
    std::optional<Candidate> sample(Rng &rng, int tries = 100000) const;

    // Takes zeros out of a candidate's knobs where they are not written.
    void leave_out_zeros(Knobs *knobs) const;

private:
    const Knob *find(std::string_view name) const;

    Candidate base_;
    std::vector<Knob> knobs_;
    std::vector<Constraint> constraints_;
};

// One of several spaces: the knobs that choose it, and the domains and constraints of the other knobs in it.
struct Alternative {
    Knobs chosen;
    std::vector<Knob> knobs;
    std::vector<Constraint> constraints;
};

// Domains and constraints of all alternatives together, the choosing knobs among them. A knob that some alternative
// does not have is 0 there. Precondition: all are chosen by the same knobs, no two by the same values.
std::pair<std::vector<Knob>, std::vector<Constraint>> join_alternatives(std::vector<Alternative> alternatives);

// The values that have a domain and are written. Other knobs are in no candidate's text.
Knobs present(const Knobs &values, const std::vector<Knob> &domains);

// Takes knobs that can only be 0 out of a template's domains, and out of the default candidate: they do not apply to
// this workload.
void drop_knobs_that_do_not_apply(std::vector<Knob> *knobs, Candidate *base);

}  // namespace kiln
