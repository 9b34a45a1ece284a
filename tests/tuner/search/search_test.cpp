#include "tuner/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace kiln {
namespace {

Constraint limit(const char *reason, std::function<bool(const Knobs &)> holds) {
    return constraint<Knobs>({{reason, std::move(holds)}});
}

Space space_of(const std::string &algorithm, int64_t size, std::vector<Constraint> constraints = {}) {
    Candidate base;
    base.algorithm = algorithm;
    base.schedule = "test";
    base.knobs["x"] = 0;
    Knob knob{"x", {}};
    for (int64_t i = 0; i < size; i++) knob.values.push_back(i);
    return Space(base, {knob}, std::move(constraints));
}

std::unique_ptr<Search> search_of(std::vector<Space> spaces, uint64_t seed = 1, std::string_view name = "random") {
    return std::move(*make_search(name, std::move(spaces), seed));
}

// Up to so many proposals of a search that is told nothing.
std::vector<Candidate> propose(Search &search, size_t count) {
    std::vector<Candidate> proposals;
    while (proposals.size() < count) {
        const std::optional<Candidate> proposed = search.propose();
        if (!proposed) break;
        proposals.push_back(*proposed);
    }
    return proposals;
}

// Proposals of a search that is told invented times one by one.
template<typename Time>
std::vector<Candidate> run(Search &search, int trials, Time time_of) {
    std::vector<Candidate> proposals;
    for (int i = 0; i < trials; i++) {
        const std::optional<Candidate> proposed = search.propose();
        if (!proposed) break;
        const Observation observation{*proposed, time_of(*proposed)};
        search.observe({&observation, 1});
        proposals.push_back(*proposed);
    }
    return proposals;
}

TEST(Search, UnknownStrategyNamesTheKnown) {
    const auto search = make_search("magic", {space_of("a", 2)}, 1);
    ASSERT_FALSE(search.ok());
    EXPECT_EQ(search.error().code, ErrorCode::usage);
    EXPECT_NE(search.error().message.find("random"), std::string::npos);
    for (std::string_view name : search_names()) EXPECT_TRUE(make_search(name, {space_of("a", 2)}, 1).ok());
}

TEST(Search, ProposesEverythingOnceAndEnds) {
    const std::vector<Constraint> even = {limit("even only", [](const Knobs &k) { return k.at("x") % 2 == 0; })};
    for (std::string_view name : search_names()) {
        const auto search = search_of({space_of("a", 50), space_of("b", 40, even)}, 1, name);
        std::set<Candidate> seen;
        for (;;) {
            const std::vector<Candidate> proposals = propose(*search, 7);
            for (const Candidate &c : proposals) EXPECT_TRUE(seen.insert(c).second) << name << " " << to_text(c);
            if (proposals.size() < 7) break;
        }
        EXPECT_EQ(seen.size(), 70u) << name;
        EXPECT_FALSE(search->propose()) << name;
    }
}

// One valid candidate among a million: nothing new is found after it, and that must not take for ever.
TEST(Search, AlmostEmptySpacesEnd) {
    const std::vector<Constraint> only_zero = {limit("zero only", [](const Knobs &k) { return k.at("x") == 0; })};
    for (std::string_view name : search_names()) {
        const auto search = search_of({space_of("a", 1'000'000, only_zero), space_of("b", 3)}, 1, name);
        const auto proposals = run(*search, 1000, [](const Candidate &) { return std::optional<double>(); });
        EXPECT_LE(proposals.size(), 4u) << name;
        EXPECT_GE(proposals.size(), 3u) << name;
    }
}

// share needs rows: a conditional knob. Children of valid parents are valid, too.
TEST(Search, ProposesOnlyWhatConstraintsAllow) {
    Candidate base;
    base.algorithm = "a";
    base.schedule = "test";
    base.knobs = {{"rows", 1}, {"share", 0}, {"block", 1}};
    const Space space(
        base, {{"rows", {1, 2, 3, 4}}, {"share", {0, 1}}, {"block", {1, 2, 4, 8, 16}}},
        {limit("share needs several rows", [](const Knobs &k) { return !k.at("share") || k.at("rows") > 1; }),
         limit("too large", [](const Knobs &k) { return k.at("rows") * k.at("block") <= 16; })});
    for (std::string_view name : search_names()) {
        const auto search = search_of({space}, 1, name);
        const auto proposals =
            run(*search, 100, [](const Candidate &c) { return std::optional(100.0 - double(c.knobs.at("block"))); });
        EXPECT_EQ(proposals.size(), 25u) << name;
        for (const Candidate &c : proposals) EXPECT_TRUE(space.check(c)) << name << " " << to_text(c);
    }
}

TEST(Search, ToldOfTimesProposesEverythingOnceAndEnds) {
    for (std::string_view name : search_names()) {
        const auto search = search_of({space_of("a", 50), space_of("b", 20)}, 1, name);
        const auto proposals = run(*search, 1000, [](const Candidate &c) {
            return c.algorithm == "b" ? std::optional(1e6) : std::optional(1000.0 + double(c.knobs.at("x")));
        });
        EXPECT_EQ(std::set<Candidate>(proposals.begin(), proposals.end()).size(), 70u) << name;
        EXPECT_EQ(proposals.size(), 70u) << name;
    }
}

TEST(RandomSearch, NeverProposesWhatWasObserved) {
    const auto search = search_of({space_of("a", 10)});
    Candidate known = space_of("a", 10).default_candidate();
    std::vector<Observation> observations;
    for (int64_t i = 0; i < 9; i++) {
        known.knobs["x"] = i;
        observations.push_back({known, std::nullopt});
    }
    search->observe(observations);
    const auto proposals = propose(*search, 5);
    ASSERT_EQ(proposals.size(), 1u);
    EXPECT_EQ(proposals[0].knobs.at("x"), 9);
}

TEST(Search, IsAFunctionOfItsSeed) {
    for (std::string_view name : search_names()) {
        const auto draw = [&](uint64_t seed) {
            return run(*search_of({space_of("a", 1000)}, seed, name), 40,
                       [](const Candidate &c) { return std::optional(1000.0 + double(c.knobs.at("x"))); });
        };
        EXPECT_EQ(draw(1), draw(1)) << name;
        EXPECT_NE(draw(1), draw(2)) << name;
    }
}

TEST(RandomSearch, WeighsAlgorithmsEquallyWhateverTheirSize) {
    const auto search = search_of({space_of("small", 2000), space_of("large", 2000000)});
    std::map<std::string, int> counts;
    for (const Candidate &c : propose(*search, 1000)) counts[c.algorithm]++;
    EXPECT_NEAR(counts["small"], 500, 80);
}

TEST(RandomSearch, UniformWithinASpace) {
    std::map<int64_t, int> counts;
    for (uint64_t seed = 0; seed < 4000; seed++)
        counts[search_of({space_of("a", 8)}, seed)->propose()->knobs.at("x")]++;
    for (int64_t i = 0; i < 8; i++) EXPECT_NEAR(counts[i], 500, 120) << i;
}

// Six knobs of ten values; the time grows with the distance from one point, and one constraint cuts corners off.
Space valley() {
    Candidate base;
    base.algorithm = "valley";
    base.schedule = "test";
    std::vector<Knob> knobs;
    for (const char *name : {"a", "b", "c", "d", "e", "f"}) {
        knobs.push_back({name, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}});
        base.knobs[name] = 0;
    }
    return Space(base, knobs,
                 {limit("a + b is at most 12", [](const Knobs &k) { return k.at("a") + k.at("b") <= 12; })});
}

std::optional<double> time_in_valley(const Candidate &c) {
    if (c.algorithm != "valley") return 10000;
    if (c.knobs.at("f") == 5) return std::nullopt;  // does not build
    double time = 100;
    for (const auto &[name, best] : {std::pair{"a", 7}, {"b", 3}, {"c", 4}, {"d", 8}, {"e", 1}, {"f", 6}}) {
        time += 10.0 * std::abs(double(c.knobs.at(name) - best));
    }
    return time;
}

double best_in_valley(const std::vector<Candidate> &candidates) {
    double best = 1e9;
    for (const Candidate &c : candidates) best = std::min(best, time_in_valley(c).value_or(1e9));
    return best;
}

int trials_until(Search &search, double goal) {
    for (int trials = 1;; trials++) {
        const std::optional<Candidate> proposed = search.propose();
        if (!proposed) return trials;
        const Observation observation{*proposed, time_in_valley(*proposed)};
        search.observe({&observation, 1});
        if (observation.time_ns && *observation.time_ns <= goal) return trials;
    }
}

TEST(EvolutionarySearch, NeedsFarFewerTrialsThanRandomDraws) {
    std::vector<int> bred, drawn;
    for (uint64_t seed = 0; seed < 9; seed++) {
        bred.push_back(trials_until(*search_of({valley()}, seed, "evolutionary"), 130));
        drawn.push_back(trials_until(*search_of({valley()}, seed), 130));
    }
    std::sort(bred.begin(), bred.end()), std::sort(drawn.begin(), drawn.end());
    EXPECT_LE(2 * bred[4], drawn[4]);
}

TEST(EvolutionarySearch, FindsAValleyThatRandomDrawsMiss) {
    int better = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        const auto bred = run(*search_of({valley()}, seed, "evolutionary"), 100, time_in_valley);
        const auto drawn = run(*search_of({valley()}, seed), 100, time_in_valley);
        EXPECT_LE(best_in_valley(bred), 150) << seed;
        better += best_in_valley(bred) < best_in_valley(drawn);
    }
    EXPECT_GE(better, 18);
}

TEST(EvolutionarySearch, SpendsLittleOnAnAlgorithmFarBehindButSome) {
    const auto proposals =
        run(*search_of({valley(), space_of("slow", 1000000)}, 3, "evolutionary"), 300, time_in_valley);
    const auto slow = std::count_if(proposals.begin(), proposals.end(), [](auto &c) { return c.algorithm == "slow"; });
    EXPECT_GT(slow, 2);
    EXPECT_LT(slow, 40);
}

TEST(EvolutionarySearch, SpendsLittleOnAlgorithmsThatNeverWork) {
    std::vector<Space> spaces{valley()};
    for (const char *name : {"b", "c", "d", "e", "f"}) spaces.push_back(space_of(name, 1000000));
    for (uint64_t seed = 0; seed < 5; seed++) {
        const auto search = search_of(spaces, seed, "evolutionary");
        const auto proposals = run(
            *search, 64, [](const Candidate &c) { return c.algorithm == "valley" ? time_in_valley(c) : std::nullopt; });
        const auto valid = std::count_if(proposals.begin(), proposals.end(),
                                         [](const Candidate &c) { return c.algorithm == "valley"; });
        EXPECT_GT(valid, 32) << seed;
    }
}

TEST(EvolutionarySearch, BreedsFromRecordedTrials) {
    const auto search = search_of({valley()}, 1, "evolutionary");
    std::vector<Observation> recorded;
    Candidate c = valley().default_candidate();
    c.knobs = {{"a", 7}, {"b", 3}, {"c", 4}, {"d", 8}, {"e", 1}, {"f", 6}};
    for (int64_t value = 0; value < 10; value++) {
        c.knobs["e"] = value;
        recorded.push_back({c, time_in_valley(c)});
    }
    search->observe(recorded);
    int near = 0;
    for (const Candidate &proposal : propose(*search, 40)) {
        EXPECT_TRUE(valley().check(proposal)) << to_text(proposal);
        near += time_in_valley(proposal).value_or(1e9) < 250;
    }
    EXPECT_GE(near, 15);
}

TEST(EvolutionarySearch, ParentsOfAnotherVersionBreedNothing) {
    const auto search = search_of({space_of("a", 100)}, 1, "evolutionary");
    std::vector<Observation> recorded;
    for (int64_t i = 0; i < 20; i++) {
        Candidate old = space_of("a", 100).default_candidate();
        old.schedule_version = 99;
        old.knobs["x"] = i;
        recorded.push_back({old, 1.0});
    }
    search->observe(recorded);
    EXPECT_EQ(propose(*search, 200).size(), 100u);
}

}  // namespace
}  // namespace kiln
