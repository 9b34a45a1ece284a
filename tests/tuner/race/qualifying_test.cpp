// Who takes a turn before a race, from times that were taken while neighbours came and went.
#include "tuner/race/qualifying.h"

#include <gtest/gtest.h>

#include <set>

namespace kiln {
namespace {

constexpr MemoryState quiet{{70, 35}, {68, 36}}, busy{{20, 25}, {22, 24}};

QualifyingTime in(const std::optional<MemoryState> &memory, double ns) { return {ns, memory, {}, false}; }
QualifyingTime with_turn(QualifyingTime time, double ns) {
    time.turn_ns = ns;
    return time;
}
QualifyingTime set(QualifyingTime time) {
    time.is_set = true;
    return time;
}

TEST(Qualifying, StatesAreGroups) {
    const MemoryState a_little_slower{{60, 35}, {55, 33}}, slow_memory{{70, 12}, {69, 12}};
    const auto groups = groups_of_like_state(
        {in(busy, 1), in(quiet, 1), in({}, 1), in(a_little_slower, 1), in(slow_memory, 1), in(busy, 1)});
    EXPECT_EQ(groups[1], groups[3]);
    EXPECT_EQ(groups[0], groups[5]);
    EXPECT_EQ((std::set<size_t>{groups[0], groups[1], groups[2], groups[4]}.size()), 4u);
}

TEST(Qualifying, TheFirstTurnsGoToTheFastestOfEachState) {
    const struct {
        const char *what;
        std::vector<QualifyingTime> times;
        std::vector<size_t> drawn;
    } table[] = {
        {"nobody", {}, {}},
        {"one state", {in(quiet, 100), in(quiet, 103), in(quiet, 101)}, {0, 2, 1}},
        {"what is known to lose has none", {in(quiet, 100), in(quiet, 103), in(quiet, 101), in(quiet, 160)}, {0, 2, 1}},
        {"one lucky minute leaves the others in",
         {in(quiet, 645), in(busy, 1347), in(busy, 2000), in(busy, 2100), in(busy, 3300)},
         {0, 1, 2, 3}},
        {"also where the sentinel did not see it",
         {in(busy, 645), in(busy, 1347), in(busy, 2000), in(busy, 2100), in(busy, 3300)},
         {0, 1, 2, 3}},
        {"a busy minute does not lose", {in(quiet, 100), in(quiet, 101), in(quiet, 102), in(busy, 250)}, {0, 3, 1, 2}},
        {"rows of before know no state", {in({}, 90), in(quiet, 100), in(quiet, 101)}, {1, 0, 2}},
        {"the default takes part", {in(quiet, 100), in(quiet, 101), in(quiet, 102), set(in(quiet, 900))}, {0, 1, 2, 3}},
    };
    for (const auto &row : table) EXPECT_EQ(next_qualifiers(row.times, {}), row.drawn) << row.what;
}

TEST(Qualifying, AHeatHasRoomForSome) {
    std::vector<QualifyingTime> times;
    for (int i = 0; i < 30; i++) times.push_back(in(i % 2 ? quiet : busy, 100 + i));
    times.push_back(set(in(quiet, 200)));
    const auto drawn = next_qualifiers(times, {});
    EXPECT_EQ(drawn.size(), 9u);
    EXPECT_EQ(drawn.back(), 30u);
}

TEST(Qualifying, LaterTurnsGoToWhoShouldBeCloseToTheFastest) {
    const struct {
        const char *what;
        std::vector<QualifyingTime> times;
        std::vector<size_t> drawn;
    } table[] = {
        {"all had a turn", {with_turn(in(quiet, 100), 100), with_turn(in(quiet, 103), 104)}, {}},
        {"the rest is slower", {with_turn(in(quiet, 100), 100), with_turn(in(quiet, 103), 104), in(quiet, 130)}, {}},
        {"the lucky one was slow, so that a fourth is close",
         {with_turn(in(quiet, 645), 2100), with_turn(in(busy, 1347), 1400), with_turn(in(busy, 2000), 2010),
          in(busy, 1450)},
         {3}},
        {"all are slower now than they were recorded",
         {with_turn(in(quiet, 100), 250), with_turn(in(quiet, 103), 260), in(quiet, 106), in(quiet, 130)},
         {2}},
        {"each state by its own kernels",
         {with_turn(in(quiet, 100), 250), with_turn(in(busy, 240), 245), in(busy, 260), in(quiet, 180)},
         {2}},
        {"the most promising first",
         {with_turn(in(quiet, 100), 100), in(quiet, 105), in(quiet, 101), in(quiet, 103)},
         {2, 3, 1}},
    };
    for (const auto &row : table) EXPECT_EQ(next_qualifiers(row.times, {}), row.drawn) << row.what;
}

}  // namespace
}  // namespace kiln
