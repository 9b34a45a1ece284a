// Who wins a race, and who need not run any more. Pure.
//
// After each heat every entrant is compared with the leader. It is out where it is slower for sure, and level where the
// two are the same for all that matters; who is neither runs on, with the leader. In the end the fastest wins, or of
// those that cannot be told from it the one with the smallest code: where times cannot decide, a rebuild must not
// decide by noise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tuner/race/paired_ratio.h"

namespace kiln {

struct Entrant {
    int64_t object_bytes = 0;
    Heats heats;  // of the heats it took part in, from the first one on
};

struct RaceRules {
    Bootstrap bootstrap;
    double level_margin = 0.005;  // an interval inside 1 +- this much: level
    double given_up = 0.02;       // of the leader's speed, at most, for smaller code: a wide interval is no licence
    size_t fewest_heats = 2;      // before anybody is out: one heat does not show what memory placement does
    double hopeless = 1.25;       // ... but for who is slower by more than placement ever does
};

// Who takes part in the next heat, in ascending order: all that are not out, as long as one of them is not level with
// the leader either. None: decided.
std::vector<size_t> still_racing(const std::vector<Entrant> &entrants, const RaceRules &rules);

struct Place {
    size_t entrant = 0;
    RatioInterval to_winner;  // 1 exactly for the winner
};

// The winner first, the others by ratio. Precondition: every entrant has run at least one round.
std::vector<Place> final_places(const std::vector<Entrant> &entrants, const RaceRules &rules);

}  // namespace kiln
