// Rows that no writer of kiln's makes, in a file whose structure and schema are whole. Each reader says which record and
// which field is wrong; nobody uses it.
#include <gtest/gtest.h>

#include <functional>

#include "database/sqlite.h"
#include "database/trial_store.h"
#include "records/record_values.h"
#include "tests/database/sample_records.h"
#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

// SQLite writes anything once its checks are off; triggers are made again, as the schema has them.
void forge(const std::string &path, const std::string &sql) {
    const Result<Connection> connection = Connection::open(path, OpenMode::write);
    const Result<Table> triggers = connection->query("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'");
    ASSERT_TRUE(connection->run_script("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF").ok());
    for (const auto &row : triggers->rows) {
        ASSERT_TRUE(connection->run("DROP TRIGGER " + std::get<std::string>(row[0])).ok());
    }
    const Status status = connection->run_script(sql);
    ASSERT_TRUE(status.ok()) << sql << ": " << status.error().message;
    for (const auto &row : triggers->rows) ASSERT_TRUE(connection->run(std::get<std::string>(row[1])).ok());
}

TEST(ForgedRows, AreNamedByEveryReader) {
    const ScratchFolder folder;
    const std::string path = folder / "forged.db";
    std::string one, two;
    {
        Result<TrialStore> store = TrialStore::open(path, OpenMode::create);
        one = *store->append(sample('a', 100).trial, sample('a', 100).measurement);
        two = *store->append(sample('b', 110).trial, sample('b', 110).measurement);
        ASSERT_TRUE(store->append(sample_race({one, two})).ok());
        ASSERT_TRUE(store->name_workload(sample_trial().workload, "net", "layer", 1).ok());
    }
    const std::string good = ScratchFolder::read(path);
    const struct {
        std::string sql, record, field;
    } cases[] = {
        {"UPDATE target SET threads = 4294967297", "", "threads"},
        {"UPDATE target SET threads = 0", "", "threads"},
        {"UPDATE target SET halide = ''", "trial ", "target"},
        {"UPDATE workload SET key = ''", "", "workload"},
        {"UPDATE workload SET key = '/'", "", "workload"},
        {"UPDATE machine SET key = ''", "", "machine"},
        {"UPDATE toolchain SET text = char(7)", "", "changed"},
        {"UPDATE trial SET cache = 'WARM'", "", "cache: `WARM`"},
        {"UPDATE trial SET max_error = -1", "trial ", "max_error"},
        {"UPDATE trial SET max_error = NULL", "trial ", "max_error"},
        {"UPDATE trial SET max_error = 9e999", "trial ", "max_error"},
        {"UPDATE trial SET error_budget = 9e999", "trial ", "error_budget"},
        {"UPDATE trial SET workspace_bytes = -5", "trial ", "workspace_bytes"},
        {"UPDATE trial SET workspace_bytes = 9223372036854775807", "trial ", "changed"},
        {"UPDATE trial SET stderr_text = hex(zeroblob(20000))", "trial ", "stderr_text"},
        {"UPDATE trial SET status = 'good'", "", "status"},
        {"UPDATE trial SET status = 'crash'", "trial ", "message"},
        {"UPDATE trial SET candidate = ''", "trial ", "candidate"},
        {"UPDATE trial SET created_at = 'yesterday'", "trial ", "created_at"},
        {"UPDATE trial SET object_hash = NULL", "trial ", "object_hash"},
        {"UPDATE trial SET message = CAST(x'ff00fe' AS TEXT)", "trial ", "message"},
        {"UPDATE trial SET id = hex(zeroblob(1000000)) WHERE seq = 1", "trial 000", "id"},
        {"UPDATE measurement SET median = 9e999", "measurement ", "median"},
        {"UPDATE measurement SET median = -1", "measurement ", "median"},
        {"UPDATE measurement SET spread = -1", "measurement ", "spread"},
        {"UPDATE measurement SET samples = '[1e999]'", "", "samples"},
        {"UPDATE measurement SET samples = '[-1]'", "measurement ", "samples"},
        {"UPDATE measurement SET samples = '[]'", "measurement ", "samples"},
        {"UPDATE measurement SET samples = '{'", "", "samples"},
        {"UPDATE measurement SET samples = (WITH RECURSIVE n(s, i) AS (VALUES ('[', 0) UNION ALL SELECT s || s, i + 1 "
         "FROM n WHERE i < 20) SELECT s FROM n ORDER BY i DESC LIMIT 1)",
         "", "samples"},
        {"UPDATE race SET confidence = 1e300", "race ", "confidence"},
        {"UPDATE race SET metric = 'joules'", "", "metric"},
        {"UPDATE race_entry SET ratio = 9e999, ratio_hi = 9e999 WHERE place = 2", "race ", "ratio"},
        {"UPDATE race_entry SET ratio_lo = 2, ratio = 2, ratio_hi = 2 WHERE place = 1", "race ", "ratio"},
        {"UPDATE race_entry SET samples = 'null'", "", "samples"},
        {"DELETE FROM race_entry", "race ", "needs at least two entries"},
        {"UPDATE workload_name SET count = -1", "workload_name net/layer", "count"},
        {"UPDATE workload_name SET count = 9223372036854775807", "workload_name net/layer", "count"},
    };
    for (const auto &c : cases) {
        SCOPED_TRACE(c.sql);
        ScratchFolder::write(path, good);
        forge(path, c.sql);
        const TrialStore store = std::move(*TrialStore::open(path, OpenMode::read_only));
        std::vector<std::string> said;
        const auto note = [&](const auto &result) {
            if (!result.ok()) said.push_back(result.error().message);
        };
        note(store.trials({}));
        note(store.best({}));
        note(store.races({}));
        note(store.trial(two));
        note(store.measurement_of(one));
        EXPECT_FALSE(said.empty() && c.record != "workload_name net/layer") << "a reader used it silently";
        const size_t readers = said.size();
        note(store.export_text());
        note(TrialStore::in_memory()->merge(store));
        EXPECT_EQ(said.size(), readers + 2) << "export and merge take nothing from it";
        for (const std::string &message : said) {
            EXPECT_NE(message.find("forged.db"), std::string::npos) << message;
            EXPECT_LT(message.size(), 500u) << message;
        }
        EXPECT_NE(said.back().find(c.record), std::string::npos) << said.back();
        EXPECT_NE(said.back().find(c.field), std::string::npos) << said.back();
        EXPECT_FALSE(store.verify().ok());
        for (const ReportKind kind :
             {ReportKind::best, ReportKind::trials, ReportKind::workloads, ReportKind::failures, ReportKind::races}) {
            const Result<Report> report = store.report({kind});  // for people: rows as they are
            EXPECT_TRUE(report.ok()) << report.error().message;
        }
    }
}

// SQLite's file format lets a cell have any type; it converts what it is asked for.
TEST(ForgedRows, OfAnotherTypeAreNotConverted) {
    const ScratchFolder folder;
    const std::string path = folder / "forged.db";
    ASSERT_TRUE(TrialStore::open(path, OpenMode::create)->append(sample_failure(), std::nullopt).ok());
    std::string bytes = ScratchFolder::read(path);
    // The types of status, message, stderr_text and error_budget: a text of n bytes is 13 + 2 n, a blob 12 + 2 n.
    const size_t at = bytes.rfind(std::string({13 + 2 * 5, 13 + 2 * 19, 13, 7}));
    ASSERT_NE(at, std::string::npos);
    bytes[at + 1]--;
    ScratchFolder::write(path, bytes);
    const Result<std::vector<Trial>> trials = TrialStore::open(path, OpenMode::read_only)->trials({});
    ASSERT_FALSE(trials.ok());
    EXPECT_NE(trials.error().message.find("message"), std::string::npos) << trials.error().message;
}

TEST(ForgedRows, CountsThatOverflowAreShownAsTheLargestNumber) {
    const ScratchFolder folder;
    const std::string path = folder / "poisoned.db";
    {
        Result<TrialStore> store = TrialStore::open(path, OpenMode::create);
        for (const char *name : {"a", "b", "c"}) {
            ASSERT_TRUE(store->name_workload(sample_trial().workload, "net", name, largest_count).ok());
        }
        EXPECT_EQ(store->report({ReportKind::workloads})->table.rows[0][1], Cell(3 * largest_count));
        const Status refused = store->name_workload(sample_trial().workload, "net", "a", largest_count + 1);
        ASSERT_FALSE(refused.ok());
        EXPECT_NE(refused.error().message.find("count: needs 1 to 10^15"), std::string::npos);
    }
    forge(path, "UPDATE workload_name SET count = 9223372036854775807");
    Result<TrialStore> store = TrialStore::open(path, OpenMode::write);
    EXPECT_EQ(store->report({ReportKind::workloads})->table.rows[0][1], Cell(INT64_MAX));
    for (const char *name : {"a", "b", "c"}) {
        ASSERT_TRUE(store->name_workload(sample_trial().workload, "net", name, 2).ok()) << "tune sets it anew";
    }
    EXPECT_EQ(store->report({ReportKind::workloads})->table.rows[0][1], Cell(int64_t{6}));
    EXPECT_TRUE(store->verify().ok());
}

}  // namespace
}  // namespace kiln
