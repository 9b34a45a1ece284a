// Schemas that somebody changed: each opening refuses them by name, before anything of them runs.
#include "database/schema_check.h"

#include <gtest/gtest.h>

#include "database/trial_store.h"
#include "tests/database/sample_records.h"
#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

constexpr OpenMode all_modes[] = {OpenMode::create, OpenMode::write, OpenMode::read_only};

TEST(SchemaCheck, RefusesWhatIsNotKilnsByName) {
    const ScratchFolder folder;
    const std::string path = folder / "ours.db";
    ASSERT_TRUE(TrialStore::open(path, OpenMode::create)->append(sample_trial(), sample_measurement()).ok());
    const std::string ours = ScratchFolder::read(path);
    const std::string endless = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT * FROM n";
    const struct {
        std::string sql;
        const char *message;
    } cases[] = {
        {"CREATE TRIGGER evil AFTER INSERT ON trial BEGIN DELETE FROM measurement; END",
         "the trigger `evil` is not kiln's"},
        {"CREATE TABLE notes (a)", "the table `notes` is not kiln's"},
        {"CREATE VIEW more AS " + endless, "the view `more` is not kiln's"},
        {"CREATE INDEX i ON trial (abs(build_ns))", "the index `i` is not kiln's"},
        {"DROP VIEW best; CREATE VIEW best AS " + endless, "the view `best` was changed"},
        {"DROP VIEW trials; CREATE TABLE trials (a)", "the table `trials` is not kiln's"},
        {"DROP TRIGGER trial_is_final", "the trigger `trial_is_final` is missing"},
        {"DROP TRIGGER race_is_final; CREATE TRIGGER race_is_final BEFORE UPDATE ON race BEGIN SELECT 1; END",
         "the trigger `race_is_final` was changed"},
        {"DROP INDEX trial_of_workload", "the index `trial_of_workload` is missing"},
        {"ALTER TABLE machine ADD COLUMN evil TEXT AS (hex(zeroblob(100000000)))", "the table `machine` was changed"},
        {"ALTER TABLE machine ADD COLUMN evil TEXT CHECK (evil IS NULL OR evil <> hex(randomblob(9)))",
         "the table `machine` was changed"},
        {"CREATE TABLE \"sqlite\nx\x1b[2J\" (a)", "is not kiln's"},
        {"ANALYZE", "the table `sqlite_stat1` is not kiln's"},
        {"PRAGMA user_version = 0", "is not kiln's"},
    };
    for (const auto &c : cases) {
        ScratchFolder::write(path, ours);
        ASSERT_TRUE(Connection::open(path, OpenMode::write)->run_script(c.sql).ok()) << c.sql;
        const std::string changed = ScratchFolder::read(path);
        for (const OpenMode mode : all_modes) {
            const Result<TrialStore> store = TrialStore::open(path, mode);
            ASSERT_FALSE(store.ok()) << c.sql;
            EXPECT_EQ(store.error().code, ErrorCode::bad_input);
            EXPECT_TRUE(store.error().message.starts_with(path + ": ")) << store.error().message;
            EXPECT_NE(store.error().message.find(c.message), std::string::npos) << store.error().message;
        }
        EXPECT_EQ(ScratchFolder::read(path), changed) << c.sql;
    }
}

// What SQLite itself refuses to make may still be in a file.
TEST(SchemaCheck, RefusesForgedSchemas) {
    const ScratchFolder folder;
    const std::string path = folder / "ours.db";
    ASSERT_TRUE(TrialStore::open(path, OpenMode::create)->append(sample_trial(), sample_measurement()).ok());
    const std::string ours = ScratchFolder::read(path);
    const struct {
        const char *written, *forged;
    } cases[] = {
        {"CREATE VIEW measurements AS", "CREATE VIEW measurement5 AS"},
        {"CREATE TABLE machine", "CREATE TABLE machinf"},
        {"SELECT RAISE(ABORT, 'a trial never changes')", "DELETE FROM trial;   SELECT    ('trial never changes')"},
        {"CONSTRAINT \"errors are not negative\"", "CONSTRAINT \"errors are not negativE\""},
    };
    for (const auto &c : cases) {
        std::string bytes = ours;
        const size_t at = bytes.find(c.written);
        ASSERT_NE(at, std::string::npos) << c.written;
        bytes.replace(at, std::string(c.forged).size(), c.forged);
        ScratchFolder::write(path, bytes);
        for (const OpenMode mode : all_modes) {
            const Result<TrialStore> store = TrialStore::open(path, mode);
            ASSERT_FALSE(store.ok()) << c.forged;
            EXPECT_EQ(store.error().code, ErrorCode::bad_input) << store.error().message;
        }
        EXPECT_EQ(ScratchFolder::read(path), bytes) << c.forged;
    }
}

TEST(SchemaCheck, ComparesWithTheVersionThatTheFileHas) {
    const std::vector<MigrationStep> steps = {{1, "CREATE TABLE a (x)"}, {2, "CREATE TABLE b (x)"}};
    const auto check = [&](const char *script) {
        const Result<Connection> connection = Connection::open(":memory:", OpenMode::create);
        EXPECT_TRUE(connection->run_script(script).ok());
        const Status status = check_schema(*connection, steps);
        return status ? std::string("ok") : status.error().message;
    };
    EXPECT_EQ(check("CREATE TABLE a (x); PRAGMA user_version = 1"), "ok");
    EXPECT_EQ(check("CREATE TABLE a (x); CREATE TABLE b (x); PRAGMA user_version = 2"), "ok");
    EXPECT_NE(check("CREATE TABLE a (x); PRAGMA user_version = 2").find("`b` is missing"), std::string::npos);
    EXPECT_NE(check("CREATE TABLE a (x); CREATE TABLE b (x); PRAGMA user_version = 1").find("`b` is not kiln's"),
              std::string::npos);
    EXPECT_NE(check("CREATE TABLE a (y); PRAGMA user_version = 1").find("`a` was changed"), std::string::npos);
}

}  // namespace
}  // namespace kiln
