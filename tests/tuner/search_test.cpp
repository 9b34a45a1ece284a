#include "tuner/search.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace kiln {
namespace {

Space space_of(const std::string &algorithm, int64_t size, std::vector<Constraint> constraints = {}) {
    Candidate base;
    base.algorithm = algorithm;
    base.schedule = "test";
    base.knobs["x"] = 0;
    Knob knob{"x", {}};
    for (int64_t i = 0; i < size; i++) knob.values.push_back(i);
    return Space(base, {knob}, std::move(constraints));
}

std::unique_ptr<Search> search_of(std::vector<Space> spaces, uint64_t seed = 1) {
    return std::move(*make_search("random", std::move(spaces), seed));
}

TEST(Search, UnknownStrategyNamesTheKnown) {
    const auto search = make_search("magic", {space_of("a", 2)}, 1);
    ASSERT_FALSE(search.ok());
    EXPECT_EQ(search.error().code, ErrorCode::usage);
    EXPECT_NE(search.error().message.find("random"), std::string::npos);
    for (std::string_view name : search_names()) EXPECT_TRUE(make_search(name, {space_of("a", 2)}, 1).ok());
}

TEST(RandomSearch, ProposesEverythingOnceAndEnds) {
    const std::vector<Constraint> even = {{"even only", [](const Knobs &k) { return k.at("x") % 2 == 0; }}};
    const auto search = search_of({space_of("a", 50), space_of("b", 40, even)});
    std::set<Candidate> seen;
    for (;;) {
        const std::vector<Candidate> proposals = search->propose(7);
        for (const Candidate &c : proposals) EXPECT_TRUE(seen.insert(c).second) << to_text(c);
        if (proposals.size() < 7) break;
    }
    EXPECT_EQ(seen.size(), 70u);
    EXPECT_TRUE(search->propose(1).empty());
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
    const auto proposals = search->propose(5);
    ASSERT_EQ(proposals.size(), 1u);
    EXPECT_EQ(proposals[0].knob("x"), 9);
}

TEST(RandomSearch, IsAFunctionOfItsSeed) {
    const auto draw = [](uint64_t seed) { return search_of({space_of("a", 1000)}, seed)->propose(20); };
    EXPECT_EQ(draw(1), draw(1));
    EXPECT_NE(draw(1), draw(2));
}

TEST(RandomSearch, WeighsAlgorithmsEquallyWhateverTheirSize) {
    const auto search = search_of({space_of("small", 2000), space_of("large", 2000000)});
    std::map<std::string, int> counts;
    for (const Candidate &c : search->propose(1000)) counts[c.algorithm]++;
    EXPECT_NEAR(counts["small"], 500, 80);
}

TEST(RandomSearch, UniformWithinASpace) {
    std::map<int64_t, int> counts;
    for (uint64_t seed = 0; seed < 4000; seed++) counts[search_of({space_of("a", 8)}, seed)->propose(1)[0].knob("x")]++;
    for (int64_t i = 0; i < 8; i++) EXPECT_NEAR(counts[i], 500, 120) << i;
}

}  // namespace
}  // namespace kiln
