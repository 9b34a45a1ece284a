#include "tuner/race/race_rules.h"

#include <algorithm>

namespace kiln {
namespace {

RatioInterval ratio_of(const Entrant &a, const Entrant &b) { return paired_ratio(a.heats, b.heats); }

// The entrants that took part in all heats. An entrant that left is slower than another one.
std::vector<size_t> not_out(const std::vector<Entrant> &entrants) {
    size_t most_heats = 0;
    for (const Entrant &e : entrants) most_heats = std::max(most_heats, e.heats.size());
    std::vector<size_t> left;
    for (size_t i = 0; i < entrants.size(); i++) {
        if (entrants[i].heats.size() == most_heats) left.push_back(i);
    }
    return left;
}

size_t leader_of(const std::vector<Entrant> &entrants, const std::vector<size_t> &among) {
    size_t leader = among.front();
    for (const size_t i : among) {
        if (i != leader && ratio_estimate(entrants[i].heats, entrants[leader].heats) < 1) leader = i;
    }
    return leader;
}

// Every job knows the default, but each draws other candidates, of which another may have the smallest code.
bool wins_ties(const Entrant &a, const Entrant &b) {
    return a.is_default != b.is_default ? a.is_default : a.object_bytes < b.object_bytes;
}

}  // namespace

std::vector<size_t> still_racing(const std::vector<Entrant> &entrants, const RaceRules &rules) {
    const std::vector<size_t> left = not_out(entrants);
    const size_t leader = leader_of(entrants, left);
    std::vector<size_t> racing;
    bool decided = true;
    for (const size_t i : left) {
        if (i == leader) {
            racing.push_back(i);
            continue;
        }
        const RatioInterval to_leader = ratio_of(entrants[i], entrants[leader]);
        const bool early = entrants[i].heats.size() < rules.fewest_heats;
        if (to_leader.lo > (early ? rules.hopeless : 1)) continue;
        decided &= !early && to_leader.is_within(rules.level_margin);
        racing.push_back(i);
    }
    return decided ? std::vector<size_t>() : racing;
}

std::vector<RacePlace> final_places(const std::vector<Entrant> &entrants, const RaceRules &rules) {
    const std::vector<size_t> left = not_out(entrants);
    const size_t leader = leader_of(entrants, left);
    size_t winner = leader;
    for (const size_t i : left) {
        if (!wins_ties(entrants[i], entrants[winner])) continue;
        const RatioInterval to_leader = ratio_of(entrants[i], entrants[leader]);
        if (!to_leader.excludes_one() && to_leader.ratio <= 1 + rules.given_up) winner = i;
    }
    std::vector<RacePlace> places;
    for (size_t i = 0; i < entrants.size(); i++) {
        if (i != winner) places.push_back({i, ratio_of(entrants[i], entrants[winner])});
    }
    std::stable_sort(places.begin(), places.end(),
                     [](const RacePlace &a, const RacePlace &b) { return a.to_winner.ratio < b.to_winner.ratio; });
    places.insert(places.begin(), RacePlace{winner, {}});
    return places;
}

}  // namespace kiln
