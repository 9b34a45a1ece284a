#include "records/memory_state.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(MemoryState, IsLikeAnotherWhereEachKnownLevelIs) {
    const struct {
        const char *what;
        MemorySpeed a, b;
        bool like;
    } table[] = {
        {"the same", {70, 35}, {70, 35}, true},
        {"noise of a quiet machine", {74, 38}, {58, 30}, true},
        {"a neighbour in the last cache", {70, 35}, {20, 30}, false},
        {"a neighbour in memory alone", {70, 35}, {65, 15}, false},
        {"gone again", {20, 30}, {70, 35}, false},
        {"one knows no memory", {70, 0}, {70, 35}, true},
        {"one knows no cache", {0, 35}, {70, 15}, false},
        {"nothing is known", {}, {70, 35}, true},
        {"just inside", {100, 50}, {75, 40}, true},
        {"just outside", {100, 50}, {73, 40}, false},
    };
    for (const auto &row : table) {
        EXPECT_EQ(is_like(row.a, row.b), row.like) << row.what;
        EXPECT_EQ(is_like(row.b, row.a), row.like) << row.what;
        EXPECT_EQ((MemoryState{row.a, row.b}.moved()), !row.like) << row.what;
    }
}

TEST(MemoryState, ASlowStateIsNotLikeAFastOneWhateverMovedWithin) {
    const MemoryState quiet{{70, 35}, {60, 33}}, busy{{20, 15}, {22, 16}};
    EXPECT_FALSE(is_like(quiet, busy));
    EXPECT_TRUE(is_like(quiet, {{65, 34}, {65, 34}}));
    EXPECT_NEAR((MemoryState{{64, 0}, {16, 9}}.mean().l3), 32, 1e-9);
    EXPECT_EQ((MemoryState{{64, 0}, {16, 9}}.mean().dram), 9) << "where one reading has none, the other one counts";
}

TEST(MemoryState, SamplesAreTakenAgainAFewTimesOnly) {
    const MemoryState moved{{70, 35}, {20, 30}}, still{{70, 35}, {66, 36}};
    EXPECT_FALSE(is_worth_repeating(still, 0));
    for (int repeats = 0; repeats < 5; repeats++) {
        EXPECT_EQ(is_worth_repeating(moved, repeats), repeats < most_memory_repeats) << repeats;
    }
}

TEST(MemoryState, IsReadFromConditions) {
    const MemoryState both{{70.1, 34.5}, {69.8, 36}}, l3_only{{70.1, 0}, {69.8, 0}};
    const struct {
        const char *conditions;
        std::optional<MemoryState> state;
    } table[] = {
        {R"({"cpu":1,"memory_gb_s":{"l3":[70.1,69.8],"dram":[34.5,36]},"retried":false})", both},
        {R"({"memory_gb_s":{"l3":[70.1,69.8]}})", l3_only},
        {R"({"memory_gb_s":{"l3":[70.1,69.8],"later":[1]}})", l3_only},
        {"", {}},
        {"{}", {}},
        {"[1]", {}},
        {"{\"memory_gb_s\":", {}},
        {R"({"memory_gb_s":7})", {}},
        {R"({"memory_gb_s":{}})", {}},
        {R"({"memory_gb_s":{"l3":[0,0]}})", {}},
        {R"({"memory_gb_s":{"l3":[70.1]}})", {}},
        {R"({"memory_gb_s":{"l3":[70.1,-1]}})", {}},
        {R"({"memory_gb_s":{"l3":["70.1",2]}})", {}},
    };
    for (const auto &row : table) EXPECT_EQ(memory_state_of(row.conditions), row.state) << row.conditions;
}

TEST(MemoryState, IsToldInShort) {
    EXPECT_EQ(text(MemoryState{{70.1, 34.5}, {69.8, 36}}), "L3 69.9 GB/s, DRAM 35.2 GB/s");
    EXPECT_EQ(text(MemoryState{{70.1, 0}, {69.8, 0}}), "L3 69.9 GB/s");
    EXPECT_EQ(text(MemoryState{{0, 9}, {0, 9}}), "DRAM 9.0 GB/s");
}

}  // namespace
}  // namespace kiln
