#include "tuner/race/qualifying.h"

#include <algorithm>
#include <numeric>

namespace kiln {
namespace {

using Members = std::vector<size_t>;  // of a group, the fastest by record first

std::vector<Members> members_of(const std::vector<QualifyingTime> &times) {
    const std::vector<size_t> group = groups_of_like_state(times);
    std::vector<Members> members(group.empty() ? 0 : *std::max_element(group.begin(), group.end()) + 1);
    for (size_t i = 0; i < times.size(); i++) members[group[i]].push_back(i);
    for (Members &m : members) {
        std::stable_sort(m.begin(), m.end(),
                         [&](size_t a, size_t b) { return times[a].recorded_ns < times[b].recorded_ns; });
    }
    return members;
}

Members first_draw(const std::vector<QualifyingTime> &times, const QualifyingRules &rules) {
    constexpr size_t anchor = 2;  // one lucky time, or two, do not make all others look slow
    Members drawn;
    const std::vector<Members> groups = members_of(times);
    size_t drawn_by_time = 0;
    for (size_t rank = 0; rank < times.size() && drawn_by_time < rules.most; rank++) {
        for (const Members &group : groups) {
            if (rank >= group.size() || drawn_by_time >= rules.most) continue;
            const double anchor_ns = times[group[std::min(anchor, group.size() - 1)]].recorded_ns;
            if (times[group[rank]].recorded_ns > rules.not_worth_it * anchor_ns) continue;
            drawn.push_back(group[rank]);
            drawn_by_time++;
        }
    }
    for (size_t i = 0; i < times.size(); i++) {
        if (times[i].is_set && std::find(drawn.begin(), drawn.end(), i) == drawn.end()) drawn.push_back(i);
    }
    return drawn;
}

// How much longer the group's kernels take in turns than was recorded. A median: one lucky record says nothing of the others.
double factor_of(const std::vector<QualifyingTime> &times, const Members &group) {
    std::vector<double> factors;
    for (const size_t i : group) {
        if (times[i].turn_ns) factors.push_back(*times[i].turn_ns / times[i].recorded_ns);
    }
    if (factors.empty()) return 1;
    std::sort(factors.begin(), factors.end());
    return factors[(factors.size() - 1) / 2];  // in doubt the smaller one: a turn more costs little
}

Members later_draw(const std::vector<QualifyingTime> &times, const QualifyingRules &rules) {
    double fastest_ns = 0;
    for (const QualifyingTime &t : times) {
        if (t.turn_ns && (fastest_ns == 0 || *t.turn_ns < fastest_ns)) fastest_ns = *t.turn_ns;
    }
    std::vector<std::pair<double, size_t>> expected;
    for (const Members &group : members_of(times)) {
        const double factor = factor_of(times, group);
        for (const size_t i : group) {
            const double ns = factor * times[i].recorded_ns;
            if (!times[i].turn_ns && ns <= rules.close * fastest_ns) expected.push_back({ns, i});
        }
    }
    std::sort(expected.begin(), expected.end());
    Members drawn;
    for (const auto &[ns, i] : expected) {
        if (drawn.size() < rules.most) drawn.push_back(i);
    }
    return drawn;
}

}  // namespace

// The fastest memory first: each group begins with the fastest state that is not like that of the group before.
std::vector<size_t> groups_of_like_state(const std::vector<QualifyingTime> &times) {
    std::vector<size_t> order(times.size()), group(times.size());
    std::iota(order.begin(), order.end(), 0);
    const auto speed = [&](size_t i) { return times[i].memory ? times[i].memory->mean() : MemorySpeed(); };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return std::pair(speed(a).l3, speed(a).dram) > std::pair(speed(b).l3, speed(b).dram);
    });
    std::vector<size_t> firsts;  // of the groups
    for (const size_t i : order) {
        const auto belongs = [&](size_t first) {
            return times[i].memory.has_value() == times[first].memory.has_value() && is_like(speed(i), speed(first));
        };
        const auto found = std::find_if(firsts.begin(), firsts.end(), belongs);
        group[i] = size_t(found - firsts.begin());
        if (found == firsts.end()) firsts.push_back(i);
    }
    return group;
}

std::vector<size_t> next_qualifiers(const std::vector<QualifyingTime> &times, const QualifyingRules &rules) {
    const bool any_turn = std::any_of(times.begin(), times.end(), [](const auto &t) { return t.turn_ns.has_value(); });
    return any_turn ? later_draw(times, rules) : first_draw(times, rules);
}

}  // namespace kiln
