#include "schedules/space.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/test_seed.h"

namespace kiln {
namespace {

Constraint limit(const char *reason, std::function<bool(const Knobs &)> holds) {
    return constraint<Knobs>({{reason, std::move(holds)}});
}

Space small_space() {
    Candidate base;
    base.algorithm = "direct";
    base.schedule = "toy";
    base.knobs = {{"a", 1}, {"b", 0}};
    return Space(base, {{"a", {1, 2, 4}}, {"b", {0, 1}}},
                 {limit("b needs a small a", [](const Knobs &k) { return !k.at("b") || k.at("a") <= 2; })});
}

TEST(Space, SamplesEveryValidCandidateAndNoOther) {
    const Space space = small_space();
    EXPECT_EQ(space.size(), 6);
    Rng rng(test_seed());
    std::set<std::string> seen;
    for (int i = 0; i < 500; i++) {
        const auto candidate = space.sample(rng);
        ASSERT_TRUE(candidate);
        EXPECT_TRUE(space.check(*candidate));
        seen.insert(to_text(*candidate));
    }
    EXPECT_EQ(seen.size(), 5u);
}

TEST(Space, ChecksWithTheReason) {
    const Space space = small_space();
    struct Row {
        const char *text, *reason;
    };
    for (const Row &row : {Row{"direct@1/toy@1/a:4/b:1", "b needs a small a"}, Row{"direct@1/toy@1/a:3/b:1", "`a`"},
                           Row{"direct@1/toy@1/a:1", "`b` is missing"}, Row{"direct@1/toy@1/a:1/b:0/c:1", "`c`"},
                           Row{"direct@1/toy@1/a:1/c:1", "`b` is missing"}, Row{"direct@2/toy@1/a:1/b:0", "direct@2"},
                           Row{"direct@1/toy@3/a:1/b:0", "toy@3"}, Row{"winograd@1/toy@1/a:1/b:0", "winograd"}}) {
        const Status status = space.check(*parse_candidate(row.text));
        ASSERT_FALSE(status) << row.text;
        EXPECT_NE(status.error().message.find(row.reason), std::string::npos) << status.error().message;
    }
    EXPECT_TRUE(space.check(*parse_candidate("direct@1/toy@1/a:2/b:1")));
}

// A knob that came later: what was recorded before means what it meant, and has one text.
TEST(Space, ZeroOfALaterKnobIsLeftOut) {
    auto [knobs, constraints] =
        join_alternatives({{{{"later", 0}}, {{"a", {1, 2}}}, {}}, {{{"later", 8}}, {{"a", {2, 3}}}, {}}});
    for (Knob &knob : knobs) knob.zero_left_out = knob.name == "later";
    Candidate base;
    base.algorithm = "direct", base.schedule = "toy", base.knobs = {{"a", 1}};
    const Space space(base, knobs, constraints);
    const struct {
        const char *text, *reason;  // empty: it is a candidate
    } rows[] = {
        {"direct@1/toy@1/a:1", ""},
        {"direct@1/toy@1/a:3/later:8", ""},
        {"direct@1/toy@1/a:3", "a has no such value with later 0"},
        {"direct@1/toy@1/a:1/later:8", "a has no such value with later 8"},
        {"direct@1/toy@1/a:1/later:0", "knob `later` is left out where it is 0"},
        {"direct@1/toy@1/a:1/later:4", "knob `later` cannot be 4 here"},
        {"direct@1/toy@1/a:1/b:1", "unknown knob `b`"},
        {"direct@1/toy@1/later:8", "knob `a` is missing"},
    };
    for (const auto &row : rows) {
        const Status status = space.check(*parse_candidate(row.text));
        EXPECT_EQ(status ? "" : status.error().message, row.reason) << row.text;
    }
    Rng rng(test_seed());
    std::set<std::string> seen;
    for (int i = 0; i < 100; i++) {
        const Candidate drawn = *space.sample(rng);
        EXPECT_TRUE(space.check(drawn)) << to_text(drawn);
        seen.insert(to_text(drawn));
    }
    EXPECT_EQ(seen.size(), 4u);
    EXPECT_EQ(present({{"a", 1}, {"later", 0}}, knobs), (Knobs{{"a", 1}}));
    // Other alternatives around those keep it so.
    const auto outer = join_alternatives({{{{"block", 1}}, knobs, {}}, {{{"block", 2}}, {{"a", {1}}}, {}}}).first;
    for (const Knob &knob : outer) EXPECT_EQ(knob.zero_left_out, knob.name == "later") << knob.name;
}

TEST(Space, SampleGivesUpWhereNothingIsValid) {
    Candidate base;
    base.algorithm = "direct", base.schedule = "toy", base.knobs = {{"a", 1}};
    int calls = 0;
    // The default passes once, when the space is made; nothing afterwards.
    const Space space(base, {{"a", {1, 2}}}, {limit("never", [&](const Knobs &) { return calls++ == 0; })});
    calls = 1;
    Rng rng(test_seed());
    EXPECT_FALSE(space.sample(rng, 100));
}

TEST(Space, SameSeedSameDraws) {
    const Space space = small_space();
    Rng a(test_seed()), b(test_seed());
    for (int i = 0; i < 20; i++) EXPECT_EQ(space.sample(a), space.sample(b));
}

TEST(Space, JoinsAlternatives) {
    const auto odd = [](const Knobs &k) { return k.at("a") % 2 == 1; };
    auto [knobs, constraints] = join_alternatives({{{{"width", 8}}, {{"a", {1, 2, 3}}}, {limit("a is odd", odd)}},
                                                   {{{"width", 16}}, {{"a", {2, 4}}, {"b", {1, 2}}}, {}}});
    Candidate base;
    base.knobs = {{"width", 8}, {"a", 1}, {"b", 0}};
    const Space space(base, knobs, constraints);
    const auto check = [&](int64_t width, int64_t a, int64_t b) {
        Candidate c = base;
        c.knobs = {{"width", width}, {"a", a}, {"b", b}};
        return space.check(c).ok();
    };
    EXPECT_TRUE(check(8, 1, 0));
    EXPECT_TRUE(check(8, 3, 0));
    EXPECT_FALSE(check(8, 2, 0));  // not odd
    EXPECT_FALSE(check(8, 4, 0));  // a value of the other width
    EXPECT_FALSE(check(8, 1, 1));  // which has no b
    EXPECT_FALSE(check(16, 2, 0));
    EXPECT_TRUE(check(16, 2, 1));  // which need not be odd
    EXPECT_FALSE(check(16, 3, 1));
    EXPECT_FALSE(check(12, 2, 0));
    Candidate bad = base;
    bad.knobs["b"] = 1;
    EXPECT_EQ(space.check(bad).error().message, "b has no such value with width 8");
}

TEST(Space, JoinedAlternativesSayWhyAKnobHasNoSuchValue) {
    const auto reason = [](const char *why_of_8, const char *why_of_16, int64_t a) {
        auto [knobs, constraints] = join_alternatives(
            {{{{"width", 8}}, {{"a", {1}, why_of_8}}, {}}, {{{"width", 16}}, {{"a", {1, 2}, why_of_16}}, {}}});
        Candidate base;
        base.knobs = {{"width", 8}, {"a", 1}};
        const Space space(base, knobs, constraints);
        base.knobs["a"] = a;
        return space.check(base).error().message;
    };
    EXPECT_EQ(reason("it is narrow", "", 2), "a has no such value with width 8: it is narrow");
    EXPECT_EQ(reason("", "it is wide", 2), "a has no such value with width 8");
    EXPECT_EQ(reason("it is small", "it is small", 3), "knob `a` cannot be 3 here: it is small");
    EXPECT_EQ(reason("it is narrow", "it is wide", 3), "knob `a` cannot be 3 here");
}

}  // namespace
}  // namespace kiln
