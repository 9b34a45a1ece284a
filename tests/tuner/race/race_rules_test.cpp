// Races without kernels: who runs on, who wins, who is let in.
#include "tuner/race/race_rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tuner/race/race_field.h"

namespace kiln {
namespace {

Entrant entrant(int64_t bytes, const std::vector<double> &ns_by_heat) {
    Entrant e{bytes, {}};
    for (double ns : ns_by_heat) e.heats.push_back(Samples(20, ns));
    return e;
}

Entrant default_entrant(int64_t bytes, const std::vector<double> &ns_by_heat) {
    Entrant e = entrant(bytes, ns_by_heat);
    e.is_default = true;
    return e;
}

TEST(StillRacing, WhoIsNeitherOutNorLevel) {
    const struct {
        const char *what;
        std::vector<Entrant> entrants;
        std::vector<size_t> racing;
    } table[] = {
        {"one heat shows little", {entrant(1, {100}), entrant(1, {103})}, {0, 1}},
        {"one heat shows who is hopeless", {entrant(1, {100}), entrant(1, {103}), entrant(1, {200})}, {0, 1}},
        {"decided after one heat", {entrant(1, {100}), entrant(1, {200})}, {}},
        {"two heats show little, too", {entrant(1, {100, 100}), entrant(1, {103, 103})}, {0, 1}},
        {"but who is hopeless", {entrant(1, {100, 100}), entrant(1, {103, 103}), entrant(1, {200, 201})}, {0, 1}},
        {"three heats agree", {entrant(1, {100, 100, 100}), entrant(1, {103, 103, 103})}, {}},
        {"three heats do not", {entrant(1, {100, 100, 100}), entrant(1, {97, 108, 101})}, {0, 1}},
        {"three heats are of one mind, but few", {entrant(1, {100, 100, 100}), entrant(1, {101, 103, 105})}, {0, 1}},
        {"the slower one is out, the rest goes on",
         {entrant(1, {100, 100, 100}), entrant(1, {97, 108, 101}), entrant(1, {120, 121, 119})},
         {0, 1}},
        {"level", {entrant(1, {100, 100, 100}), entrant(1, {100.1, 100.2, 100.1})}, {}},
        {"a level one runs on while another is open",
         {entrant(1, {100, 100, 100}), entrant(1, {100.1, 99.95, 100}), entrant(1, {97, 108, 101})},
         {0, 1, 2}},
        {"who left stays out", {entrant(1, {100, 100, 100}), entrant(1, {97, 108, 101}), entrant(1, {90})}, {0, 1}},
    };
    for (const auto &row : table) EXPECT_EQ(still_racing(row.entrants, {}), row.racing) << row.what;
}

TEST(FinalPlaces, TheFastestWinsAndTiesGoToTheDefaultOrTheSmallerCode) {
    const struct {
        const char *what;
        std::vector<Entrant> entrants;
        std::vector<size_t> order;
    } table[] = {
        {"by time", {entrant(1, {110, 110}), entrant(9, {100, 100}), entrant(1, {120, 120})}, {1, 0, 2}},
        {"a tie", {entrant(9, {100, 100}), entrant(5, {97, 104})}, {1, 0}},
        {"a tie that may cost too much", {entrant(9, {100, 100}), entrant(5, {97, 108})}, {0, 1}},
        {"a tie of the same size stays with the faster", {entrant(5, {100, 100}), entrant(5, {97, 108})}, {0, 1}},
        {"small code that is slower does not win", {entrant(9, {100, 100}), entrant(1, {104, 104})}, {0, 1}},
        {"small code that left early does not win",
         {entrant(9, {100, 100, 100}), entrant(5, {97, 104, 100}), entrant(1, {101})},
         {1, 0, 2}},
        {"the default wins a tie with smaller code", {entrant(1, {100, 100}), default_entrant(9, {97, 104})}, {1, 0}},
        {"and one of three",
         {entrant(9, {100, 100}), entrant(1, {97, 104}), default_entrant(5, {98, 102.5}), entrant(1, {98, 103})},
         {2, 0, 1, 3}},
        {"a slower default does not win", {entrant(1, {100, 100}), default_entrant(1, {104, 104})}, {0, 1}},
        {"nor one that may cost too much", {entrant(9, {100, 100}), default_entrant(9, {97, 108})}, {0, 1}},
        {"nor one that left early",
         {entrant(9, {100, 100, 100}), entrant(5, {97, 104, 100}), default_entrant(1, {101})},
         {1, 0, 2}},
    };
    for (const auto &row : table) {
        std::vector<size_t> order;
        for (const RacePlace &place : final_places(row.entrants, {})) order.push_back(place.entrant);
        EXPECT_EQ(order, row.order) << row.what;
    }
}

TEST(FinalPlaces, RatiosAreToTheWinner) {
    const std::vector<RacePlace> places = final_places({entrant(1, {110, 110}), entrant(1, {100, 100})}, {});
    ASSERT_EQ(places.size(), 2u);
    EXPECT_EQ(places[0].to_winner.ratio, 1);
    EXPECT_EQ(places[0].to_winner.lo, 1);
    EXPECT_EQ(places[0].to_winner.hi, 1);
    EXPECT_NEAR(places[1].to_winner.ratio, 1.1, 1e-9);
    EXPECT_GT(places[1].to_winner.lo, 1);
}

// Whoever wins, its time is close to the best: 50 races of five kernels on a noisy machine.
TEST(FinalPlaces, TheWinnerIsCloseToTheFastest) {
    const double truth[] = {100, 101, 102, 104, 110};
    const RaceRules rules;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        std::mt19937_64 rng(seed);
        std::normal_distribution<double> normal(0, 1);
        std::vector<Entrant> entrants(5);
        std::vector<size_t> racing{0, 1, 2, 3, 4};
        for (size_t i = 0; i < 5; i++) entrants[i].object_bytes = static_cast<int64_t>(rng() % 1000);
        for (int heat = 0; heat < 8 && !racing.empty(); heat++) {
            for (const size_t i : racing) {
                const double shift = std::exp(0.005 * normal(rng));
                Samples &samples = entrants[i].heats.emplace_back();
                for (int r = 0; r < 20; r++) samples.push_back(truth[i] * shift * std::exp(0.01 * normal(rng)));
            }
            racing = still_racing(entrants, rules);
        }
        EXPECT_LE(truth[final_places(entrants, rules).front().entrant], 102) << seed;
    }
}

TEST(RaceField, TheFastTheIncumbentAndTheDefault) {
    const struct {
        const char *what;
        std::vector<Contender> contenders;
        std::vector<size_t> field;
    } table[] = {
        {"nobody", {}, {}},
        {"the fastest four, fastest first",
         {{"a", 1, 105}, {"b", 1, 100}, {"c", 1, 101}, {"d", 1, 102}, {"e", 1, 103}},
         {1, 2, 3, 4}},
        {"nobody far behind", {{"a", 1, 100}, {"b", 1, 115}}, {0}},
        {"but the default", {{"a", 1, 100}, {"b", 1, 115, false, true}}, {0, 1}},
        {"and the incumbent", {{"a", 1, 100}, {"b", 1, 115, true}}, {0, 1}},
        {"where they have a chance", {{"a", 1, 100}, {"b", 1, 200, false, true}}, {0}},
        {"an incumbent far behind races one that is alone", {{"a", 1, 100}, {"b", 1, 200, true}}, {0, 1}},
        {"not two", {{"a", 1, 100}, {"b", 1, 200, true}, {"c", 1, 101}}, {0, 2}},
        {"nor itself", {{"a", 1, 100, true}, {"b", 1, 200}}, {0}},
        {"an object once", {{"a", 1, 100}, {"a", 1, 100}, {"b", 1, 101}}, {0, 2}},
        {"and the incumbent's trial stands for it", {{"a", 1, 100}, {"a", 1, 100, true}, {"b", 1, 101}}, {1, 2}},
    };
    for (const auto &row : table) EXPECT_EQ(race_field(row.contenders, {}), row.field) << row.what;
}

}  // namespace
}  // namespace kiln
