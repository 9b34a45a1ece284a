// Races in the store: written, read back, and what they do to `best`.

#include "records/race.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <tuple>

#include "database/trial_store.h"
#include "records/content_id.h"
#include "tests/database/sample_records.h"
#include "tests/test_seed.h"

namespace kiln {
namespace {

class Races : public ::testing::Test {
protected:
    std::string append(const Sample &sample) {
        const Result<std::string> id = store_.append(sample.trial, sample.measurement);
        EXPECT_TRUE(id.ok()) << id.error().message;
        return id.ok() ? *id : "";
    }
    std::string append(const Race &race) {
        const Result<std::string> id = store_.append(race);
        EXPECT_TRUE(id.ok()) << id.error().message;
        return id.ok() ? *id : "";
    }
    void append_at(const std::string &created_at, const std::vector<std::string> &ranking) {
        Race race = sample_race(ranking);
        race.created_at = created_at;
        append(race);
    }

    TrialStore store_ = std::move(*TrialStore::in_memory());
};

TEST_F(Races, AreGivenBackAsTheyWere) {
    const std::string a = append(sample('a', 100)), b = append(sample('b', 110)), c = append(sample('c', 120));
    Race race = sample_race({b, a, c});
    race.entries[2].samples.pop_back();  // left early
    race.id = append(race);
    EXPECT_EQ(race.id, content_id(race));
    EXPECT_EQ(append(race), race.id) << "again changes nothing";
    EXPECT_EQ(*store_.races({}), std::vector{race});
    EXPECT_EQ(*store_.races({.workload = race.workload, .threads = 1}), std::vector{race});
    EXPECT_TRUE(store_.races({.workload = "another"})->empty());
    EXPECT_TRUE(store_.races({.threads = 2})->empty());
    EXPECT_EQ(store_.races({.candidate = "x", .within_budget = 0})->size(), 1u) << "a race has no candidate";
    EXPECT_TRUE(store_.verify().ok());
}

TEST_F(Races, RefuseWhatCannotBeTrue) {
    const std::string a = append(sample('a', 100)), b = append(sample('b', 110));
    Trial failed = sample_failure();
    const std::string failure = *store_.append(failed, std::nullopt);
    Sample cold = sample('c', 50);
    cold.trial.cache = cold.measurement.cache = CacheMode::cold;
    const std::string other_kind = append(cold);
    const struct {
        std::function<void(Race &)> change;
        const char *message;
    } cases[] = {
        {[](Race &r) { r.entries.pop_back(); }, "at least two"},
        {[](Race &r) { r.entries[1].samples.clear(); }, "samples of trial"},
        {[](Race &r) { r.entries[1].samples.push_back(1); }, "no more than the winner's"},
        {[](Race &r) { r.entries[0].samples[0] = 0; }, "samples of trial"},
        {[](Race &r) { r.entries[0].ratio_hi = 2; }, "the winner's ratio is 1"},
        {[](Race &r) { r.entries[1].ratio = 3; }, "inside its interval"},
        {[](Race &r) { r.entries[1].ratio = std::nan(""); }, "NOT NULL"},
        {[](Race &r) { r.entries[1].trial = r.entries[0].trial; }, "UNIQUE"},
        {[](Race &r) { r.entries[1].trial = std::string(32, '0'); }, "a race is between ok trials"},
        {[&](Race &r) { r.entries[1].trial = failure; }, "a race is between ok trials"},
        {[&](Race &r) { r.entries[1].trial = other_kind; }, "a race is between ok trials"},
        {[](Race &r) { r.toolchain = "another"; }, "a race is between ok trials"},
        {[](Race &r) { r.metric = Metric::cycles; }, "a race is between ok trials"},
        {[](Race &r) { r.confidence = 1; }, "confidence is between"},
        {[](Race &r) { r.conditions = "{"; }, "conditions are JSON"},
        {[](Race &r) { r.created_at = "yesterday"; }, "created_at"},
        {[](Race &r) { r.id = std::string(32, '0'); }, "it was changed"},
    };
    for (const auto &c : cases) {
        Race race = sample_race({a, b});
        c.change(race);
        const Result<std::string> id = store_.append(race);
        ASSERT_FALSE(id.ok()) << c.message;
        EXPECT_EQ(id.error().code, ErrorCode::bad_input);
        EXPECT_NE(id.error().message.find(c.message), std::string::npos) << id.error().message;
    }
    EXPECT_TRUE(store_.races({})->empty()) << "nothing of a refused race stays";
    EXPECT_EQ(store_.sql("SELECT * FROM race_entry")->rows.size(), 0u);
}

TEST_F(Races, TheLatestWinnerIsBest) {
    const std::string a = append(sample('a', 100)), b = append(sample('b', 110)), c = append(sample('c', 120));
    append_at("2026-08-20T00:00:00.000Z", {c, a});
    EXPECT_EQ((*store_.best({}))->trial.id, c);
    EXPECT_EQ((*store_.best({}))->evidence, "race");
    EXPECT_EQ((*store_.best({}))->measurement.median, 120);
    append_at("2026-08-22T00:00:00.000Z", {b, c, a});
    EXPECT_EQ((*store_.best({}))->trial.id, b);
    append_at("2026-08-21T00:00:00.000Z", {a, b});  // an older one, merged in later
    EXPECT_EQ((*store_.best({}))->trial.id, b);
    EXPECT_EQ(store_.sql("SELECT * FROM best")->rows.size(), 1u);
    EXPECT_EQ(store_.sql("SELECT evidence FROM best")->rows[0][0], Cell("race"));
    EXPECT_TRUE(store_.verify().ok());
}

TEST_F(Races, AreAReportOfOneRowAnEntry) {
    const std::string a = append(sample('a', 100)), b = append(sample('b', 110));
    append_at("2026-08-20T00:00:00.000Z", {a, b});
    append_at("2026-08-21T00:00:00.000Z", {b, a});
    const Table table = store_.report({ReportKind::races})->table;
    ASSERT_EQ(table.rows.size(), 4u);
    const auto column = [&](const char *name) {
        return static_cast<size_t>(std::ranges::find(table.columns, name) - table.columns.begin());
    };
    const size_t trial = column("trial"), tie = column("tie");
    EXPECT_EQ(table.rows[0][trial], Cell(b));
    EXPECT_EQ(table.rows[1][trial], Cell(a));
    EXPECT_EQ(table.rows[2][trial], Cell(a));
    EXPECT_EQ(table.rows[0][tie], Cell(int64_t{0})) << "the winner ties with nobody";
    EXPECT_EQ(table.rows[1][tie], Cell(int64_t{1})) << "1.125, from 0.875 to 1.375";
}

TEST_F(Races, NameTheNetworkThatTheyWereIn) {
    const std::string a = append(sample('a', 100)), b = append(sample('b', 110));
    for (const char *conditions : {R"({"heats":[{}]})", R"({"network":"net","heats":[{}]})"}) {
        Race race = sample_race({a, b});
        race.conditions = conditions;
        append(race);
    }
    const Table table = store_.report({.kind = ReportKind::races, .sort = "network"})->table;
    ASSERT_EQ(table.rows.size(), 4u);
    EXPECT_EQ(table.columns.back(), "network");
    EXPECT_EQ(table.rows[1].back(), Cell("net"));
    EXPECT_EQ(table.rows[2].back(), Cell());
}

// A winner whose kernel failed afterwards wins no more; then times decide, as without a race.
TEST_F(Races, AWinnerThatFailedAfterwardsIsNotTheBest) {
    const Sample fast = sample('a', 100);
    const std::string a = append(fast), b = append(sample('b', 110)), c = append(sample('c', 105));
    append(sample_race({a, b, c}));
    EXPECT_EQ((*store_.best({}))->trial.id, a);
    Trial failed = fast.trial;
    failed.status = TrialStatus::wrong_result, failed.message = "off", failed.created_at = "2026-09-01T00:00:00.000Z";
    ASSERT_TRUE(store_.append(failed, std::nullopt).ok());
    EXPECT_EQ((*store_.best({}))->trial.id, c);
    EXPECT_EQ((*store_.best({}))->evidence, "median");
}

// Trials of a wider budget were not in the race. One lucky time of theirs must not win against it.
TEST_F(Races, AWinnerGivesWayToATrialOfAnotherBudgetOnlyWhereThatIsFasterByATenth) {
    const std::string a = append(sample('a', 100)), b = append(sample('b', 110));
    append(sample_race({a, b}));
    Sample lucky = sample('c', 95), fast = sample('d', 90);
    for (Sample *s : {&lucky, &fast}) s->trial.error_budget *= 10;
    append(lucky);
    EXPECT_EQ((*store_.best({}))->trial.id, a);
    EXPECT_EQ((*store_.best({}))->evidence, "race");
    const std::string d = append(fast);
    EXPECT_EQ((*store_.best({}))->trial.id, d);
}

TEST_F(Races, CountForTheirKindOnly) {
    Sample cold = sample('c', 50), cold_faster = sample('d', 40);
    for (Sample *s : {&cold, &cold_faster}) s->trial.cache = s->measurement.cache = CacheMode::cold;
    const std::string warm = append(sample('a', 100)), slower = append(sample('b', 110));
    append(cold);
    const std::string cold_best = append(cold_faster);
    append(sample_race({slower, warm}));
    EXPECT_EQ((*store_.best({.cache = CacheMode::warm}))->trial.id, slower);
    EXPECT_EQ((*store_.best({.cache = CacheMode::cold}))->trial.id, cold_best);
    EXPECT_EQ((*store_.best({.cache = CacheMode::cold}))->evidence, "median");
}

Sample measured_again(Sample sample, double median) {
    sample.measurement.median = median;
    sample.measurement.created_at = sample.trial.created_at = "2026-08-15T00:00:00.000Z";
    return sample;
}

// The latest time of an object counts, for each of its trials.
TEST_F(Races, ATimeThatDidNotHoldIsNotTheBest) {
    const Sample lucky = sample('a', 50), steady = sample('b', 80);
    Sample elsewhere = measured_again(lucky, 150);
    elsewhere.trial.toolchain = "a later one, which makes the same object";
    const struct {
        std::vector<Sample> samples;
        double best;
        char candidate;
    } cases[] = {
        {{lucky, steady}, 50, 'a'},
        {{lucky, steady, measured_again(lucky, 150)}, 80, 'b'},
        {{measured_again(lucky, 150), steady, lucky}, 80, 'b'},  // merged later
        {{lucky, steady, measured_again(lucky, 60)}, 60, 'a'},
        {{lucky, measured_again(lucky, 150)}, 150, 'a'},
        {{lucky, steady, elsewhere}, 80, 'b'},
        {{lucky, elsewhere}, 150, 'a'},
    };
    for (size_t i = 0; i < std::size(cases); i++) {
        store_ = std::move(*TrialStore::in_memory());
        for (const Sample &s : cases[i].samples) append(s);
        const Best best = **store_.best({.toolchain = lucky.trial.toolchain});
        EXPECT_EQ(best.measurement.median, cases[i].best) << i;
        EXPECT_EQ(best.trial.candidate, sample(cases[i].candidate, 1).trial.candidate) << i;
        EXPECT_EQ(best.trial.toolchain, lucky.trial.toolchain) << i;
        EXPECT_EQ(best.evidence, "median") << i;
    }
}

// A race compared side by side: a later time of its winner alone is no later race.
TEST_F(Races, AWinnerStaysAndHasTheLatestTime) {
    const std::string a = append(sample('a', 50)), b = append(sample('b', 80));
    append(sample_race({a, b}));
    append(measured_again(sample('a', 50), 150));
    EXPECT_EQ((*store_.best({}))->trial.id, a);
    EXPECT_EQ((*store_.best({}))->evidence, "race");
    EXPECT_EQ((*store_.best({}))->measurement.median, 150);
    EXPECT_EQ(store_.sql("SELECT median FROM best")->rows[0][0], Cell(150.0));
}

// Databases drawn at random, and `best` of them by plain loops over all records.
class DrawnRaces : public Races {
protected:
    struct Recorded {
        Trial trial;
        std::optional<Measurement> own;
        std::string own_id;
    };
    using Kind = std::tuple<std::string, std::string, CacheMode, double, Metric>;
    using Answer = std::tuple<std::string, std::string, double>;  // trial, evidence, median

    static Kind kind_of(const Recorded &r) {
        return {r.trial.workload, r.trial.toolchain, r.trial.cache, r.trial.error_budget, r.own->metric};
    }
    int below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(random_); }
    std::string time() { return "2026-08-1" + std::to_string(below(3)) + "T10:00:00.000Z"; }

    void draw_trial() {
        constexpr TrialStatus failures[] = {TrialStatus::crash, TrialStatus::wrong_result, TrialStatus::unstable};
        Sample s = sample(static_cast<char>('0' + below(9)), 1 + below(4));
        s.measurement.created_at = time(), s.trial.created_at = time();
        if (below(3) == 0) s.trial.workload = "conv1d/input:1x9x8/kernel:3x8x16";
        if (below(3) == 0) s.trial.toolchain = "another";
        if (below(3) == 0) s.trial.error_budget *= 10;
        if (below(4) == 0) s.trial.cache = s.measurement.cache = CacheMode::cold;
        if (below(4) == 0) s.measurement.metric = Metric::cycles;
        s.trial.object_bytes = below(3) ? std::optional<int64_t>(1000 + below(2)) : std::nullopt;
        const bool fails = below(12) == 0;
        if (fails) s.trial.status = failures[below(3)], s.trial.message = "failed";
        const auto own = fails ? std::nullopt : std::optional(s.measurement);
        const Result<std::string> id = store_.append(s.trial, own);
        ASSERT_TRUE(id.ok()) << id.error().message;
        s.trial.id = *id;
        recorded_.push_back({s.trial, own, own ? content_id(*own) : ""});
        if (!fails && below(3) == 0) draw_race(recorded_.back());
    }

    void draw_race(const Recorded &like) {
        std::vector<std::string> ranking;
        for (const Recorded &r : recorded_) {
            if (r.own && kind_of(r) == kind_of(like) && !std::ranges::count(ranking, r.trial.id))
                ranking.push_back(r.trial.id);
        }
        if (ranking.size() < 2) return;
        std::ranges::shuffle(ranking, random_);
        Race race = sample_race(ranking);
        std::tie(race.workload, race.toolchain, race.cache, race.error_budget, race.metric) = kind_of(like);
        race.created_at = time();
        race.id = append(race);
        races_.push_back({kind_of(like), race});
    }

    // The latest measurement of the trial's object, and its id.
    std::pair<Measurement, std::string> latest(const Recorded &r) const {
        std::pair<Measurement, std::string> latest{*r.own, r.own_id};
        for (const Recorded &other : recorded_) {
            if (!other.own || other.own->object_hash != r.own->object_hash || other.own->cache != r.own->cache ||
                other.own->metric != r.own->metric) {
                continue;
            }
            const std::string &id = other.own_id;
            if (std::tie(other.own->created_at, id) > std::tie(latest.first.created_at, latest.second))
                latest = {*other.own, id};
        }
        return latest;
    }

    bool is_usable(const Recorded &r) const {
        return std::ranges::none_of(recorded_, [&](const Recorded &failed) {
            return failed.trial.object_hash == r.trial.object_hash && failed.trial.workload == r.trial.workload &&
                   (failed.trial.status == TrialStatus::crash || (failed.trial.status == TrialStatus::wrong_result &&
                                                                  failed.trial.error_budget >= r.trial.error_budget));
        });
    }

    Answer best_of(const Kind &kind, const std::vector<const Recorded *> &trials) const {
        const Race *last = nullptr;
        for (const auto &[of, race] : races_) {
            if (of == kind && (!last || std::tie(race.created_at, race.id) > std::tie(last->created_at, last->id)))
                last = &race;
        }
        for (const Recorded *r : trials) {
            if (last && last->entries.front().trial == r->trial.id)
                return {r->trial.id, "race", latest(*r).first.median};
        }
        const auto rank = [&](const Recorded *r) {
            const auto [measurement, id] = latest(*r);
            return std::tuple(measurement.median, !r->trial.object_bytes, r->trial.object_bytes, id != r->own_id,
                              r->trial.id);
        };
        const Recorded *first = *std::ranges::min_element(trials, {}, rank);
        return {first->trial.id, "median", latest(*first).first.median};
    }

    std::vector<Answer> plain_best() const {
        std::map<Kind, std::vector<const Recorded *>> kinds;
        for (const Recorded &r : recorded_) {
            if (r.own && is_usable(r)) kinds[kind_of(r)].push_back(&r);
        }
        std::vector<Answer> answers;
        for (const auto &[kind, trials] : kinds) answers.push_back(best_of(kind, trials));
        std::ranges::sort(answers);
        return answers;
    }

    std::mt19937 random_{test_seed()};
    std::vector<Recorded> recorded_;
    std::vector<std::pair<Kind, Race>> races_;
};

TEST_F(DrawnRaces, BestIsWhatPlainLoopsFind) {
    for (int i = 0; i < 20; i++) {
        store_ = std::move(*TrialStore::in_memory());
        recorded_.clear(), races_.clear();
        const int trials = 1 + below(60);
        for (int k = 0; k < trials; k++) ASSERT_NO_FATAL_FAILURE(draw_trial());
        std::vector<Answer> answers;
        const Table best = *store_.sql("SELECT trial, evidence, median FROM best ORDER BY trial");
        for (const auto &row : best.rows) {
            answers.emplace_back(std::get<std::string>(row[0]), std::get<std::string>(row[1]),
                                 std::get<double>(row[2]));
        }
        ASSERT_EQ(answers, plain_best()) << i;
    }
}

}  // namespace
}  // namespace kiln
