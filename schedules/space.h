// A space is the set of candidates of one algorithm and schedule template on one workload, target and machine: a
// domain for each knob, and constraints between knobs, each with the reason it gives for a refusal.
//
// Spaces are pure: they know no clock and no hardware, and randomness comes in as a seeded generator.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "schedules/candidate.h"
#include "workload/result.h"

namespace kiln {

using Rng = std::mt19937_64;

struct Knob {
    std::string name;
    std::vector<int64_t> values;  // ascending, not empty
    std::string why = "";         // of a refusal of other values, where there is more to say
};

struct Constraint {
    std::string reason;  // of a refusal: "the register tile needs more vector registers than the target has"
    std::function<bool(const Knobs &)> holds;
};

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
    std::optional<Candidate> sample(Rng &rng, int tries = 10000) const;

private:
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

// Takes knobs that can only be 0 out of a template's domains, and out of the default candidate: they do not apply to
// this workload, and `Candidate::knob` answers 0 for them.
void drop_knobs_that_do_not_apply(std::vector<Knob> *knobs, Candidate *base);

}  // namespace kiln
