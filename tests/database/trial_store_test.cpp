#include "database/trial_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "database/sqlite.h"
#include "records/content_id.h"
#include "tests/database/sample_records.h"
#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

TrialStore in_memory() {
    Result<TrialStore> store = TrialStore::in_memory();
    EXPECT_TRUE(store.ok()) << store.error().message;
    return std::move(*store);
}

std::string append(TrialStore &store, const Trial &trial, const std::optional<Measurement> &measurement) {
    const Result<std::string> id = store.append(trial, measurement);
    EXPECT_TRUE(id.ok()) << id.error().message;
    return id.ok() ? *id : "";
}
std::string append(TrialStore &store, const Sample &sample) { return append(store, sample.trial, sample.measurement); }

Cell at(const Table &table, size_t row, const std::string &column) {
    const auto found = std::ranges::find(table.columns, column);
    EXPECT_NE(found, table.columns.end()) << column;
    EXPECT_LT(row, table.rows.size()) << column;
    if (found == table.columns.end() || row >= table.rows.size()) return {};
    return table.rows[row][static_cast<size_t>(found - table.columns.begin())];
}

int64_t count(const TrialStore &store, const std::string &table) {
    return std::get<int64_t>(store.sql("SELECT count(*) FROM " + table)->rows[0][0]);
}

TEST(TrialStore, GivesBackWhatWasAppended) {
    TrialStore store = in_memory();
    Trial trial = sample_trial();
    trial.id = append(store, trial, sample_measurement());
    EXPECT_EQ(*store.trial(trial.id), trial);
    EXPECT_EQ(*store.trial(trial.id.substr(0, 4)), trial);
    EXPECT_EQ(*store.trials({}), std::vector{trial});
    const Measurement m = sample_measurement();
    EXPECT_EQ(*store.measurement(m.object_hash, m.machine, m.threads, m.cache, m.metric), m);
    EXPECT_EQ(store.measurement(m.object_hash, m.machine, 2, m.cache, m.metric)->has_value(), false);
    EXPECT_EQ(store.measurement(m.object_hash, m.machine, 1, CacheMode::cold, m.metric)->has_value(), false);
    EXPECT_EQ(store.measurement(m.object_hash, m.machine, 1, m.cache, Metric::cycles)->has_value(), false);
    EXPECT_TRUE(store.verify().ok());
}

TEST(TrialStore, KeepsEveryKindOfFailure) {
    TrialStore store = in_memory();
    std::vector<Trial> failures;
    for (const char *status : {"compile_error", "compile_timeout", "crash", "timeout", "out_of_memory", "wrong_result",
                               "unstable", "refused"}) {
        Trial t = sample_failure(*parse_trial_status(status));
        t.stderr_text = std::string("bytes \xff\x00 kept", 13);
        t.id = append(store, t, std::nullopt);
        failures.push_back(t);
    }
    EXPECT_EQ(*store.trials({}), failures);
    EXPECT_EQ(store.best({})->has_value(), false);
    EXPECT_TRUE(store.verify().ok());
}

TEST(TrialStore, AppendingAgainChangesNothing) {
    TrialStore store = in_memory();
    const std::string id = append(store, sample_trial(), sample_measurement());
    EXPECT_EQ(append(store, sample_trial(), sample_measurement()), id);
    Trial with_id = sample_trial();
    with_id.id = id;
    EXPECT_EQ(append(store, with_id, sample_measurement()), id);
    EXPECT_EQ(count(store, "trial"), 1);
    EXPECT_EQ(count(store, "measurement"), 1);
}

TEST(TrialStore, TrialsOfOneObjectShareAMeasurement) {
    TrialStore store = in_memory();
    append(store, sample_trial(), sample_measurement());
    Trial other = sample_trial();
    other.candidate += "/again:1";
    append(store, other, sample_measurement());
    EXPECT_EQ(count(store, "trial"), 2);
    EXPECT_EQ(count(store, "measurement"), 1);
}

TEST(TrialStore, TheLatestMeasurementOfAnObjectCounts) {
    TrialStore store = in_memory();
    Sample first = sample('a', 100), second = sample('a', 120);
    second.measurement.created_at = "2026-08-15T00:00:00.000Z";
    append(store, second);
    append(store, first);
    const Measurement &m = first.measurement;
    EXPECT_EQ((*store.measurement(m.object_hash, m.machine, 1, m.cache, m.metric))->median, 120);
    EXPECT_EQ((*store.measurement_of(append(store, first)))->median, 100) << "the trial's own";
    EXPECT_FALSE(store.measurement_of(append(store, sample_failure(), std::nullopt))->has_value());
}

TEST(TrialStore, RefusesWhatCannotBeTrue) {
    const struct {
        const char *what;
        std::function<void(Trial &, std::optional<Measurement> &)> change;
        const char *message;
    } cases[] = {
        {"ok without time", [](auto &, auto &m) { m.reset(); }, "must also be given"},
        {"failure with time", [](auto &t, auto &) { t.status = TrialStatus::crash, t.message = "x"; },
         "must not be given"},
        {"failure without message", [](auto &t, auto &m) { t.status = TrialStatus::crash, m.reset(); },
         "a message exists"},
        {"ok with message", [](auto &t, auto &) { t.message = "x"; }, "a message exists"},
        {"no samples", [](auto &, auto &m) { m->samples.clear(); }, "samples must be positive"},
        {"a sample of 0", [](auto &, auto &m) { m->samples[1] = 0; }, "samples must be positive"},
        {"a sample of NaN", [](auto &, auto &m) { m->samples[1] = std::nan(""); }, "samples must be positive"},
        {"a median of 0", [](auto &, auto &m) { m->median = 0; }, "positive and finite"},
        {"a median of NaN", [](auto &, auto &m) { m->median = std::nan(""); }, "NOT NULL"},
        {"another object's time", [](auto &, auto &m) { m->object_hash = "x"; }, "same object"},
        {"another machine's time", [](auto &, auto &m) { m->machine = "x"; }, "same object"},
        {"a time of two threads", [](auto &, auto &m) { m->threads = 2; }, "same object"},
        {"a cold time", [](auto &, auto &m) { m->cache = CacheMode::cold; }, "same object"},
        {"over its budget", [](auto &t, auto &) { t.errors.max = 1; }, "within its error budget"},
        {"NaN as error", [](auto &t, auto &) { t.errors.max = std::nan(""); }, "within its error budget"},
        {"an id of other content", [](auto &t, auto &) { t.id = std::string(32, '0'); },
         "was changed after it was made"},
        {"no workload", [](auto &t, auto &) { t.workload.clear(); }, "a workload has a key"},
        {"no threads", [](auto &t, auto &) { t.threads = 0; }, "at least one thread"},
        {"no toolchain", [](auto &t, auto &) { t.toolchain.clear(); }, "a toolchain has a text"},
        {"no date", [](auto &t, auto &) { t.created_at.clear(); }, "created_at"},
    };
    TrialStore store = in_memory();
    for (const auto &c : cases) {
        Trial trial = sample_trial();
        std::optional<Measurement> measurement = sample_measurement();
        c.change(trial, measurement);
        const Result<std::string> id = store.append(trial, measurement);
        ASSERT_FALSE(id.ok()) << c.what;
        EXPECT_EQ(id.error().code, ErrorCode::bad_input) << c.what;
        EXPECT_NE(id.error().message.find(c.message), std::string::npos) << c.what << ": " << id.error().message;
    }
    for (const char *table : {"trial", "measurement", "workload", "target", "machine", "toolchain"}) {
        EXPECT_EQ(count(store, table), 0) << table << ": nothing is half-written";
    }
}

TEST(TrialStore, WhatSqliteCannotHoldIsStoredAsItsNearest) {
    TrialStore store = in_memory();
    Trial t = sample_failure(TrialStatus::wrong_result);
    t.errors = {.max = std::nan(""), .rms = std::numeric_limits<double>::infinity(), .wide = -0.0};
    t.stderr_text = std::string(20000, 'x');
    const std::string id = append(store, t, std::nullopt);
    EXPECT_EQ(append(store, t, std::nullopt), id);
    const Trial read = **store.trial(id);
    EXPECT_EQ(read.errors.max, std::numeric_limits<double>::infinity());
    EXPECT_EQ(read.errors.rms, std::numeric_limits<double>::infinity());
    EXPECT_EQ(read.errors.wide, 0.0);
    EXPECT_EQ(read.stderr_text.size(), 16384u);
    EXPECT_EQ(append(store, read, std::nullopt), id);
    EXPECT_TRUE(store.verify().ok());
}

TEST(TrialStore, FindsTrialsByThePrefixOfTheirId) {
    TrialStore store = in_memory();
    std::vector<std::string> ids;
    for (int i = 0; i < 600; ++i) {  // enough for two ids that begin with the same four digits, see below
        Trial t = sample_failure();
        t.message = "failure " + std::to_string(i);
        ids.push_back(append(store, t, std::nullopt));
    }
    std::ranges::sort(ids);
    const auto same_begin = [](const auto &a, const auto &b) { return a.substr(0, 4) == b.substr(0, 4); };
    const auto twins = std::ranges::adjacent_find(ids, same_begin);
    ASSERT_NE(twins, ids.end());
    const auto ambiguous = store.trial(twins->substr(0, 4));
    ASSERT_FALSE(ambiguous.ok());
    EXPECT_NE(ambiguous.error().message.find("give more digits"), std::string::npos);
    EXPECT_EQ((*store.trial(*twins))->id, *twins);
    EXPECT_EQ(store.trial("0000000000000000")->has_value(), false);
    for (const std::string &bad : {std::string("abc"), std::string("xyzw"), std::string("ABCD"), std::string(33, 'a'),
                                   std::string("' OR 1 --"), std::string()}) {
        EXPECT_FALSE(store.trial(bad).ok()) << bad;
    }
}

TEST(TrialStore, FiltersByEachField) {
    TrialStore store = in_memory();
    const Trial base = sample_failure();
    append(store, base, std::nullopt);
    const std::pair<std::function<void(Trial &)>, std::function<void(TrialFilter &, const Trial &)>> cases[] = {
        {[](Trial &t) { t.workload = "conv2d/w"; }, [](TrialFilter &f, const Trial &t) { f.workload = t.workload; }},
        {[](Trial &t) { t.target = "arm-64"; }, [](TrialFilter &f, const Trial &t) { f.target = t.target; }},
        {[](Trial &t) { t.machine = "m"; }, [](TrialFilter &f, const Trial &t) { f.machine = t.machine; }},
        {[](Trial &t) { t.toolchain = "k"; }, [](TrialFilter &f, const Trial &t) { f.toolchain = t.toolchain; }},
        {[](Trial &t) { t.candidate = "c"; }, [](TrialFilter &f, const Trial &t) { f.candidate = t.candidate; }},
        {[](Trial &t) { t.threads = 2; }, [](TrialFilter &f, const Trial &t) { f.threads = t.threads; }},
        {[](Trial &t) { t.cache = CacheMode::cold; }, [](TrialFilter &f, const Trial &t) { f.cache = t.cache; }},
        {[](Trial &t) { t.error_budget = 1e-3; },
         [](TrialFilter &f, const Trial &t) { f.error_budget = t.error_budget; }},
    };
    for (const auto &[change, restrict] : cases) {
        Trial t = base;
        change(t);
        append(store, t, std::nullopt);
        TrialFilter only_new, without_new;
        restrict(only_new, t);
        restrict(without_new, base);
        ASSERT_EQ(store.trials(only_new)->size(), 1u);
        t.id = store.trials(only_new)->front().id;
        EXPECT_EQ(store.trials(only_new)->front(), t);
        EXPECT_EQ(store.trials(without_new)->size() + 1, store.trials({})->size());
    }
}

TEST(TrialStore, OldestTrialComesFirst) {
    TrialStore store = in_memory();
    for (const char *time : {"2026-01-03", "2026-01-01", "2026-01-02"}) {
        Trial t = sample_failure();
        t.created_at = std::string(time) + "T00:00:00.000Z";
        append(store, t, std::nullopt);
    }
    const std::vector<Trial> trials = *store.trials({});
    EXPECT_TRUE(std::ranges::is_sorted(trials, {}, &Trial::created_at));
    EXPECT_EQ(trials.size(), 3u);
    EXPECT_EQ(store.trials({}, *store.last_arrival() - 1)->size(), 1u);
    EXPECT_EQ(store.trials({}, *store.last_arrival() - 1)->front(), trials[1]) << "the last that came, not the latest";
    EXPECT_TRUE(store.trials({}, *store.last_arrival())->empty());
    EXPECT_EQ(in_memory().last_arrival().value(), 0);
}

TEST(Best, IsTheLowestMedianOfItsKind) {
    TrialStore store = in_memory();
    append(store, sample('a', 300));
    const std::string best_id = append(store, sample('b', 100));
    append(store, sample('c', 200));
    append(store, sample_failure(), std::nullopt);
    const std::optional<Best> best = *store.best({});
    ASSERT_TRUE(best);
    EXPECT_EQ(best->trial.id, best_id);
    EXPECT_EQ(best->measurement, sample('b', 100).measurement);
    EXPECT_EQ(best->evidence, "median");
    EXPECT_EQ(count(store, "best"), 1);
}

TEST(Best, KindsDoNotCompete) {
    const std::function<void(Sample &)> changes[] = {
        [](Sample &s) { s.trial.workload = "conv2d/w"; },
        [](Sample &s) { s.trial.target = "arm-64"; },
        [](Sample &s) { s.trial.threads = s.measurement.threads = 2; },
        [](Sample &s) { s.trial.machine = s.measurement.machine = "m"; },
        [](Sample &s) { s.trial.toolchain = "k"; },
        [](Sample &s) { s.trial.cache = s.measurement.cache = CacheMode::cold; },
        [](Sample &s) { s.trial.error_budget = 1e-3; },
        [](Sample &s) { s.measurement.metric = Metric::instructions; },
    };
    for (const auto &change : changes) {
        TrialStore store = in_memory();
        append(store, sample('a', 300));
        Sample faster = sample('b', 100);
        change(faster);
        append(store, faster);
        EXPECT_EQ(count(store, "best"), 2);
    }
}

TEST(Best, OverWhatAFilterLeavesOpenIsTheLowestTime) {
    TrialStore store = in_memory();
    append(store, sample('a', 300));
    Sample other = sample('b', 100), counted = sample('c', 5);
    other.trial.toolchain = "k";
    counted.measurement.metric = Metric::instructions;
    append(store, other);
    append(store, counted);
    EXPECT_EQ((*store.best({}))->measurement.median, 100);
    EXPECT_EQ((*store.best({.toolchain = sample_trial().toolchain}))->measurement.median, 300);
    EXPECT_EQ((*store.best({.workload = sample_trial().workload, .toolchain = "k"}))->measurement.median, 100);
    EXPECT_EQ(store.best({.workload = "conv2d/none"})->has_value(), false);
}

TEST(TrialStore, NamesTheWorkloadsThatWereMeasuredInAMetric) {
    TrialStore store = in_memory();
    for (const char *key : {"conv2d/b", "conv2d/a", "conv2d/b"}) {
        Sample counted = sample(key[7], 5);
        counted.trial.workload = key;
        counted.measurement.metric = Metric::cycles;
        append(store, counted);
    }
    append(store, sample('c', 100));
    EXPECT_EQ(*store.workloads_measured_in(Metric::cycles), (std::vector<std::string>{"conv2d/a", "conv2d/b"}));
    EXPECT_EQ(*store.workloads_measured_in(Metric::ns), std::vector<std::string>{sample_trial().workload});
    EXPECT_TRUE(store.workloads_measured_in(Metric::instructions)->empty());
}

// Whether such a kernel is right is up to chance.
TEST(Best, AKernelThatAlsoFailedIsNotUsed) {
    const struct {
        TrialStatus status;
        std::function<void(Trial *)> change;
        bool refutes;
    } table[] = {
        {TrialStatus::wrong_result, [](Trial *) {}, true},
        {TrialStatus::crash, [](Trial *) {}, true},
        {TrialStatus::timeout, [](Trial *) {}, false},
        {TrialStatus::unstable, [](Trial *) {}, false},
        {TrialStatus::wrong_result, [](Trial *t) { t->error_budget *= 10; }, true},
        {TrialStatus::wrong_result, [](Trial *t) { t->error_budget /= 10; }, false},
        {TrialStatus::crash, [](Trial *t) { t->error_budget /= 10; }, true},
        {TrialStatus::wrong_result, [](Trial *t) { t->cache = CacheMode::cold; }, true},
        {TrialStatus::wrong_result, [](Trial *t) { t->candidate = "another of the same code"; }, true},
        {TrialStatus::wrong_result, [](Trial *t) { t->toolchain = "another"; }, true},
        {TrialStatus::wrong_result, [](Trial *t) { t->object_hash = std::string(32, 'f'); }, false},
        {TrialStatus::wrong_result, [](Trial *t) { t->machine = "another"; }, false},
        {TrialStatus::wrong_result, [](Trial *t) { t->threads = 7; }, false},
        {TrialStatus::wrong_result, [](Trial *t) { t->workload = "conv1d/input:1x9x8/kernel:3x8x16"; }, false},
    };
    for (size_t i = 0; i < std::size(table); i++) {
        TrialStore store = in_memory();
        const Sample fast = sample('a', 100);
        append(store, fast);
        append(store, sample('b', 300));
        Trial failed = sample_failure(table[i].status);
        const std::string message = failed.message;
        failed = fast.trial;
        failed.id.clear();
        failed.status = table[i].status, failed.message = message;
        table[i].change(&failed);
        ASSERT_TRUE(store.append(failed, std::nullopt).ok()) << i;
        EXPECT_EQ((*store.best({}))->measurement.median, table[i].refutes ? 300 : 100) << i;
        EXPECT_EQ(store.usable_trials({})->size(), table[i].refutes ? 1u : 2u) << i;
    }
}

TEST(Best, TiesGoToTheSmallerObjectThenTheLowerId) {
    TrialStore store = in_memory();
    Sample unknown = sample('9', 100), large = sample('a', 100), small = sample('b', 100), small_too = sample('c', 100);
    unknown.trial.object_bytes.reset();
    large.trial.object_bytes = 2000;
    small.trial.object_bytes = small_too.trial.object_bytes = 1000;
    append(store, unknown);
    append(store, large);
    const std::string one = append(store, small), two = append(store, small_too);
    EXPECT_EQ((*store.best({}))->trial.id, std::min(one, two));
}

TEST(Reports, ChooseSortAndCut) {
    TrialStore store = in_memory();
    const Trial t = sample_trial();
    Sample other = sample('z', 9000);
    other.trial.workload = "conv1d/input:1x9x8/kernel:3x8x16";
    append(store, other);
    for (int i = 0; i < 4; ++i) append(store, sample(static_cast<char>('a' + i), 1000 - 100 * i));
    append(store, sample_failure(TrialStatus::crash), std::nullopt);
    const auto medians = [&](const ReportRequest &request) {
        const Result<Report> report = store.report(request);
        EXPECT_TRUE(report.ok()) << report.error().message;
        std::string text = std::to_string(report->rows) + ":";
        for (size_t i = 0; i < report->table.rows.size(); ++i) {
            const Cell us = at(report->table, i, "median_us");
            text += std::holds_alternative<double>(us) ? " " + std::to_string(int(1000 * std::get<double>(us))) : " -";
        }
        return text;
    };
    const auto kind = ReportKind::trials;
    EXPECT_EQ(medians({.kind = kind, .sort = "median_us"}), "6: 700 800 900 1000 9000 -");
    EXPECT_EQ(medians({.kind = kind, .sort = "median_us", .descending = true, .top = 2}), "6: 9000 1000");
    EXPECT_EQ(medians({.kind = kind, .workloads = {{t.workload}}, .sort = "median_us", .top = 1}), "5: 700");
    EXPECT_EQ(medians({.kind = kind, .workloads = {{other.trial.workload, "unknown"}}}), "1: 9000");
    EXPECT_EQ(
        medians({.kind = kind, .workloads = {std::vector<std::string>(20000, t.workload)}, .top = 1}).substr(0, 2),
        "5:");
    EXPECT_EQ(medians({.kind = kind, .workloads = {std::vector<std::string>()}}), "0:");
    EXPECT_EQ(medians({.kind = ReportKind::best, .workloads = {{t.workload}}}), "1: 700");
    EXPECT_EQ(medians({.kind = ReportKind::best, .sort = "median_us", .descending = true}), "2: 9000 700");
    EXPECT_EQ(medians({.kind = ReportKind::best, .sort = "median_us", .top = 1}), "2: 700");
    EXPECT_EQ(medians({.kind = kind, .top = 0}), "6:");
    EXPECT_EQ(medians({.kind = kind, .sort = "median_us", .top = 7}), "6: 700 800 900 1000 9000 -");
    const Report plain = *store.report({.kind = kind});
    for (const std::string &column : plain.table.columns) {
        std::vector<std::vector<Cell>> rows = store.report({.kind = kind, .sort = column})->table.rows;
        rows.resize(3);
        EXPECT_EQ(store.report({.kind = kind, .sort = column, .top = 3})->table.rows, rows) << column;
    }
    for (const int64_t top : {0, 1, 2, 3}) {
        const Report report = *store.report({.kind = ReportKind::workloads, .top = top});
        EXPECT_EQ(report.rows, 2) << top;
        EXPECT_EQ(report.table.rows.size(), static_cast<size_t>(std::min<int64_t>(top, 2)));
        EXPECT_FALSE(report.table.columns.empty());
    }
    for (const ReportKind k : {ReportKind::workloads, ReportKind::failures, ReportKind::races}) {
        EXPECT_TRUE(store.report({.kind = k, .workloads = {{t.workload}}, .sort = "name"}).ok());
        const Result<Report> refused = store.report({.kind = k, .sort = "no\" column"});
        ASSERT_FALSE(refused.ok());
        EXPECT_EQ(refused.error().code, ErrorCode::usage);
        EXPECT_NE(refused.error().message.find("unknown column `no\" column`; there are "), std::string::npos);
    }
    ASSERT_TRUE(store.name_workload(t.workload, "net", "b", 1).ok());
    ASSERT_TRUE(store.name_workload(t.workload, "net", "a", 1).ok());
    const std::vector<WorkloadNames> names = *store.workload_names();
    ASSERT_EQ(names.size(), 2u);
    EXPECT_EQ(names[0].key, other.trial.workload);
    EXPECT_TRUE(names[0].names.empty());
    EXPECT_EQ(names[1].names, (std::vector<std::string>{"net/a", "net/b"}));
}

TEST(Reports, AnswerWhatPeopleAsk) {
    TrialStore store = in_memory();
    EXPECT_TRUE(store.report({ReportKind::best})->table.rows.empty());
    const Trial t = sample_trial();
    ASSERT_TRUE(store.name_workload(t.workload, "resnet50", "res2a_branch2b", 3).ok());
    ASSERT_TRUE(store.name_workload(t.workload, "resnet50", "res2a_branch2b", 4).ok());
    ASSERT_TRUE(store.name_workload(t.workload, "other", "layer", 1).ok());
    ASSERT_TRUE(store.name_workload("conv9d/unreadable", "other", "strange", 1).ok());
    append(store, sample('a', 1000));
    const std::string best_id = append(store, sample('b', 500));
    for (int i = 0; i < 3; ++i) {
        Trial failure = sample_failure(i == 0 ? TrialStatus::timeout : TrialStatus::crash);
        failure.created_at = "2026-08-14T10:00:0" + std::to_string(5 + i) + ".000Z";
        append(store, failure, std::nullopt);
    }
    // 2 N Ho Wo Co Ci R S
    const int64_t flops = int64_t{2} * 56 * 56 * 64 * 64 * 9;

    const Table best = store.report({ReportKind::best})->table;
    ASSERT_EQ(best.rows.size(), 1u);
    EXPECT_EQ(at(best, 0, "name"), Cell("other/layer"));
    EXPECT_EQ(at(best, 0, "workload"), Cell(t.workload));
    EXPECT_EQ(at(best, 0, "algorithm"), Cell("direct@1"));
    EXPECT_EQ(at(best, 0, "median_us"), Cell(0.5));
    EXPECT_EQ(at(best, 0, "gflops"), Cell(static_cast<double>(flops) / 500));
    EXPECT_EQ(at(best, 0, "threads"), Cell(int64_t{1}));
    EXPECT_EQ(at(best, 0, "trial"), Cell(best_id));

    const Table trials = store.report({ReportKind::trials})->table;
    ASSERT_EQ(trials.rows.size(), 5u);
    EXPECT_EQ(at(trials, 0, "median_us"), Cell(1.0));
    EXPECT_EQ(at(trials, 2, "median_us"), Cell());
    EXPECT_EQ(at(trials, 2, "status"), Cell("timeout"));

    const Table workloads = store.report({ReportKind::workloads})->table;
    ASSERT_EQ(workloads.rows.size(), 2u);
    EXPECT_EQ(at(workloads, 0, "count"), Cell(int64_t{5}));
    EXPECT_EQ(at(workloads, 0, "flops"), Cell(flops));
    EXPECT_EQ(at(workloads, 0, "trials"), Cell(int64_t{5}));
    EXPECT_EQ(at(workloads, 0, "ok"), Cell(int64_t{2}));
    EXPECT_EQ(at(workloads, 0, "failed"), Cell(int64_t{3}));
    EXPECT_EQ(at(workloads, 0, "best_us"), Cell(0.5));
    EXPECT_EQ(at(workloads, 1, "op"), Cell("conv9d"));
    EXPECT_EQ(at(workloads, 1, "flops"), Cell());
    EXPECT_EQ(at(workloads, 1, "trials"), Cell(int64_t{0}));

    const Table failures = store.report({ReportKind::failures})->table;
    ASSERT_EQ(failures.rows.size(), 2u);
    EXPECT_EQ(at(failures, 0, "status"), Cell("crash"));
    EXPECT_EQ(at(failures, 0, "count"), Cell(int64_t{2}));
    EXPECT_EQ(at(failures, 0, "last_at"), Cell("2026-08-14T10:00:07.000Z"));

    const Table info = *store.info();
    EXPECT_EQ(info.columns, (std::vector<std::string>{"fact", "value"}));
    EXPECT_EQ(info.rows[0], (std::vector<Cell>{"file", ":memory:"}));
    EXPECT_NE(std::ranges::find(info.rows, std::vector<Cell>{"failed", int64_t{3}}), info.rows.end());
}

}  // namespace
}  // namespace kiln
