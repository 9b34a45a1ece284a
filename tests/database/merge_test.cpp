// Laws of merge, export and import, on databases drawn at random.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "database/record_text.h"
#include "database/trial_store.h"
#include "tests/database/random_records.h"
#include "tests/database/sample_records.h"
#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

TrialStore empty() { return std::move(*TrialStore::in_memory()); }

std::string text_of(const TrialStore &store) {
    const Result<std::string> text = store.export_text();
    EXPECT_TRUE(text.ok()) << text.error().message;
    return text.ok() ? *text : "";
}

// A pipe that nobody reads any more.
std::string first_lines_of(const TrialStore &store, size_t parts) {
    std::string text;
    const Status status = store.write_export([&](std::string_view part) {
        text += part;
        return --parts > 0;
    });
    EXPECT_TRUE(status.ok()) << status.error().message;
    return text;
}

RecordCounts merge(TrialStore &into, const TrialStore &from) {
    const Result<RecordCounts> added = into.merge(from);
    EXPECT_TRUE(added.ok()) << added.error().message;
    return added.ok() ? *added : RecordCounts();
}

RecordSource source_of(const std::vector<Record> &records) {
    return {"test", [&records](const std::function<Status(const Record &)> &visit) -> Status {
                for (const Record &record : records) {
                    if (Status status = visit(record); !status) return status;
                }
                return {};
            }};
}

TrialStore imported(const std::string &text) {
    TrialStore store = empty();
    const Result<std::vector<Record>> records = parse_export(text, "test");
    EXPECT_TRUE(records.ok()) << records.error().message;
    if (records) {
        const Result<std::vector<RecordCounts>> added = store.add({source_of(*records)});
        EXPECT_TRUE(added.ok()) << added.error().message;
    }
    return store;
}

TrialStore merged(std::vector<const TrialStore *> stores) {
    TrialStore store = empty();
    for (const TrialStore *from : stores) merge(store, *from);
    EXPECT_TRUE(store.verify().ok());
    return store;
}

std::vector<std::string> lines_of(const std::string &text) {
    std::vector<std::string> lines;
    for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
        lines.push_back(text.substr(at, end - at));
    return lines;
}

// Answers of a database that do not depend on when a row arrived in it.
std::vector<std::vector<Cell>> best_rows(const TrialStore &store) {
    return store.report({ReportKind::best})->table.rows;
}

TEST(Merge, LawsHoldOnRandomDatabases) {
    for (unsigned round = 0; round < 6; ++round) {
        const unsigned seed = test_seed() + round;
        SCOPED_TRACE(seed);
        RandomRecords random(seed);
        const TrialStore a = random.store(16), b = random.store(8), c = random.store(5);
        const TrialStore ab = merged({&a, &b}), ba = merged({&b, &a});
        EXPECT_EQ(text_of(ab), text_of(ba));
        EXPECT_EQ(best_rows(ab), best_rows(ba));
        EXPECT_EQ(text_of(merged({&a, &a})), text_of(a));
        EXPECT_EQ(text_of(merged({&ab, &c})), text_of(merged({&c, &b, &a, &ab})));
        const TrialStore bc = merged({&b, &c});
        EXPECT_EQ(text_of(merged({&ab, &c})), text_of(merged({&a, &bc})));
        TrialStore again = merged({&a, &b});
        EXPECT_EQ(merge(again, b), RecordCounts());
        EXPECT_EQ(merge(again, empty()), RecordCounts());
    }
}

TEST(Merge, ExportImportExportIsTheSameText) {
    for (unsigned round = 0; round < 6; ++round) {
        const unsigned seed = test_seed() + round;
        SCOPED_TRACE(seed);
        RandomRecords random(seed);
        const TrialStore a = random.store(16), b = random.store(8);
        const std::string text = text_of(a);
        const TrialStore back = imported(text);
        EXPECT_EQ(text_of(back), text);
        EXPECT_TRUE(back.verify().ok());
        EXPECT_EQ(best_rows(back), best_rows(a));

        // As git joins two files with merge=union: any order, lines of both, some twice.
        std::vector<std::string> lines = lines_of(text + text_of(b));
        std::mt19937 shuffle(seed);
        std::shuffle(lines.begin() + 1, lines.end(), shuffle);
        std::string joined;
        for (const std::string &line : lines) joined += line + "\r\n";
        EXPECT_EQ(text_of(imported(joined)), text_of(merged({&a, &b})));
    }
}

TEST(Merge, AnExportEndsWhereNobodyReadsOn) {
    TrialStore store = empty();
    for (const char c : {'a', 'b'}) {
        const Sample s = sample(c, 100);
        ASSERT_TRUE(store.append(s.trial, s.measurement).ok());
    }
    const std::string whole = text_of(store);
    EXPECT_EQ(first_lines_of(store, 1) + "\n", lines_of(whole)[0] + "\n");
    EXPECT_EQ(first_lines_of(store, 4), lines_of(whole)[0] + "\n" + lines_of(whole)[1] + "\n");
    EXPECT_EQ(first_lines_of(store, 1000), whole);
}

TEST(Merge, CountsWhatIsNew) {
    TrialStore a = empty(), b = empty();
    const std::string one = *b.append(sample('a', 100).trial, sample('a', 100).measurement);
    const std::string two = *b.append(sample('b', 110).trial, sample('b', 110).measurement);
    ASSERT_TRUE(b.append(sample_race({one, two})).ok());
    ASSERT_TRUE(b.append(sample_failure(), std::nullopt).ok());
    ASSERT_TRUE(b.name_workload(sample_trial().workload, "list", "name", 3).ok());
    ASSERT_TRUE(a.append(sample('a', 100).trial, sample('a', 100).measurement).ok());
    EXPECT_EQ(merge(a, b), (RecordCounts{.names = 1, .measurements = 1, .trials = 2, .races = 1}));
    EXPECT_EQ((*a.best({}))->evidence, "race");
    ASSERT_TRUE(b.name_workload(sample_trial().workload, "list", "name", 2).ok());
    EXPECT_EQ(merge(a, b), RecordCounts()) << "the larger count stays";
    ASSERT_TRUE(b.name_workload(sample_trial().workload, "list", "name", 4).ok());
    EXPECT_EQ(merge(a, b), RecordCounts{.names = 1});
}

TEST(Merge, OfAFileIntoItselfChangesNothing) {
    const ScratchFolder folder;
    const std::string path = folder / "a.db";
    TrialStore store = std::move(*TrialStore::open(path, OpenMode::create));
    ASSERT_TRUE(store.append(sample_trial(), sample_measurement()).ok());
    const TrialStore same = std::move(*TrialStore::open(path, OpenMode::read_only));
    EXPECT_EQ(merge(store, same), RecordCounts());
    EXPECT_EQ(merge(store, store), RecordCounts()) << "even on one connection";
}

TEST(Merge, TakesNothingFromADamagedDatabase) {
    const ScratchFolder folder;
    const std::string path = folder / "damaged.db";
    {
        TrialStore store = std::move(*TrialStore::open(path, OpenMode::create));
        ASSERT_TRUE(store.append(sample_failure(), std::nullopt).ok());
        ASSERT_TRUE(store.append(sample_trial(), sample_measurement()).ok());
    }
    std::string bytes = ScratchFolder::read(path);
    bytes.replace(bytes.rfind("pixels:14"), 9, "pixels:15");
    ScratchFolder::write(path, bytes);
    const TrialStore damaged = std::move(*TrialStore::open(path, OpenMode::read_only));
    TrialStore store = empty();
    const Result<RecordCounts> added = store.merge(damaged);
    ASSERT_FALSE(added.ok());
    EXPECT_NE(added.error().message.find("damaged.db: trial "), std::string::npos) << added.error().message;
    EXPECT_NE(added.error().message.find("was changed"), std::string::npos) << added.error().message;
    EXPECT_EQ(text_of(store), text_of(empty()));
    const Result<std::string> text = damaged.export_text();
    ASSERT_FALSE(text.ok());
    EXPECT_NE(text.error().message.find("was changed"), std::string::npos) << text.error().message;
}

TEST(Merge, OfSeveralSourcesIsAllOrNothing) {
    const TrialStore good = RandomRecords(test_seed()).store(8);
    TrialStore store = empty();
    const RecordSource bad{"bad", [](const auto &) { return Status(bad_input("bad: is bad")); }};
    const Result<std::vector<RecordCounts>> added = store.add({good.source(), bad});
    ASSERT_FALSE(added.ok());
    EXPECT_EQ(added.error().message, "bad: is bad");
    EXPECT_EQ(text_of(store), text_of(empty()));
    EXPECT_EQ(store.add({good.source(), good.source()})->at(1), RecordCounts()) << "the first one brought them all";
}

TEST(Merge, ARecordMayComeBeforeWhatItRefersTo) {
    const TrialStore a = RandomRecords(test_seed()).store(16);
    std::vector<Record> records = *parse_export(text_of(a), "test"), trials;
    std::ranges::reverse(records);
    TrialStore store = empty();
    ASSERT_TRUE(store.add({source_of(records)}).ok());
    EXPECT_EQ(text_of(store), text_of(a));
    // Over the borders of sources, too.
    std::ranges::copy_if(records, std::back_inserter(trials), [](const Record &r) { return r.index() == 2; });
    std::erase_if(records, [](const Record &r) { return r.index() == 2; });
    TrialStore other = empty();
    ASSERT_TRUE(other.add({source_of(trials), source_of(records)}).ok());
    EXPECT_EQ(text_of(other), text_of(a));
}

TEST(Merge, ImportsAllOrNothing) {
    RandomRecords random(test_seed());
    const TrialStore a = random.store(16);
    std::vector<Record> records = *parse_export(text_of(a), "test");
    const auto is_measurement = [](const Record &r) { return std::holds_alternative<StoredMeasurement>(r); };
    std::erase_if(records, is_measurement);
    TrialStore store = empty();
    const Result<std::vector<RecordCounts>> added = store.add({source_of(records)});
    ASSERT_FALSE(added.ok());
    EXPECT_NE(added.error().message.find("which is missing"), std::string::npos) << added.error().message;
    EXPECT_EQ(text_of(store), text_of(empty()));
}

}  // namespace
}  // namespace kiln
