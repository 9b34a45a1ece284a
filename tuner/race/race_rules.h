// Who wins a race, and who need not run any more. The rules are pure functions.
//
// After each heat every entrant is compared with the leader. An entrant that is certainly slower is out. An entrant
// whose time equals the leader's for all that matters is level. All others run the next heat, with the leader. In the
// end the fastest entrant wins. Where others cannot be told from it, the default wins, or else the one with the smallest
// code, so that noise does not decide what a rebuild contains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tuner/race/paired_ratio.h"

namespace kiln {

struct Entrant {
    int64_t object_bytes = 0;
    Heats heats;  // those that it took part in, from the first one on
    bool is_default = false;
};

struct RaceRules {
    double level_margin = 0.005;  // an interval inside 1 +- this much: level
    double given_up = 0.02;       // the largest part of the leader's speed that a tie may cost
    size_t fewest_heats = 3;      // before anybody is out: fewer do not show what memory placement does
    double hopeless = 1.25;       // slower by this factor: out at once, memory placement never does so much
};

// Answers who takes part in the next heat, in ascending order: all that are not out, as long as one of them is not
// level with the leader either. The answer is empty once the race is decided.
std::vector<size_t> still_racing(const std::vector<Entrant> &entrants, const RaceRules &rules);

struct RacePlace {
    size_t entrant = 0;
    RatioInterval to_winner;  // 1 exactly for the winner
};

// The winner first, the others by ratio. Precondition: every entrant has run at least one round.
std::vector<RacePlace> final_places(const std::vector<Entrant> &entrants, const RaceRules &rules);

}  // namespace kiln
