#include "schedules/knobs.h"

#include <gtest/gtest.h>

namespace kiln {

struct TestKnobs {
    int64_t lanes = 1, spread = 7;
};

template<typename Visitor>
void visit_knobs(Visitor &visit, TestKnobs &k) {
    visit.needs("lanes", k.lanes);
    visit.may_lack("spread", k.spread);
}

namespace {

TEST(Knobs, AreReadByName) {
    const auto knobs = decode_knobs<TestKnobs>({{"lanes", 16}, {"spread", 2}});
    ASSERT_TRUE(knobs.ok());
    EXPECT_EQ(knobs->lanes, 16);
    EXPECT_EQ(knobs->spread, 2);
}

TEST(Knobs, AKnobThatMayLackIsZeroWhereItIsNot) {
    const auto knobs = decode_knobs<TestKnobs>({{"lanes", 16}});
    ASSERT_TRUE(knobs.ok());
    EXPECT_EQ(knobs->spread, 0);
}

TEST(Knobs, OthersAreRefusedByName) {
    const struct {
        Knobs knobs;
        const char *message;
    } rows[] = {
        {{}, "knob `lanes` is missing"},
        {{{"spread", 1}}, "knob `lanes` is missing"},
        {{{"lane", 1}, {"lanes", 1}}, "unknown knob `lane`"},
        {{{"Lanes", 1}}, "knob `lanes` is missing"},
        {{{"lanes", 1}, {"spreads", 1}}, "unknown knob `spreads`"},
    };
    for (const auto &row : rows) {
        const auto knobs = decode_knobs<TestKnobs>(row.knobs);
        ASSERT_FALSE(knobs.ok());
        EXPECT_EQ(knobs.error().message, row.message);
    }
}

TEST(Knobs, AreWrittenInFull) {
    EXPECT_EQ(encode_knobs(TestKnobs{8, 0}), (Knobs{{"lanes", 8}, {"spread", 0}}));
    EXPECT_EQ(decode_knobs<TestKnobs>(encode_knobs(TestKnobs{8, 3}))->spread, 3);
}

TEST(Knobs, BlocksArePowersOfTwoAndWhatDivides) {
    using Sizes = std::vector<int64_t>;
    EXPECT_EQ(block_sizes(1), (Sizes{1}));
    EXPECT_EQ(block_sizes(12), (Sizes{1, 2, 3, 4, 6, 8, 12}));
    EXPECT_EQ(block_sizes(201), (Sizes{1, 2, 3, 4, 8, 16, 32, 64, 128, 201}));  // 67 is none: divisors up to 64
}

}  // namespace
}  // namespace kiln
