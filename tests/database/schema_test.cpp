#include "database/schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "database/rows/trial_rows.h"
#include "database/trial_store.h"
#include "records/content_id.h"
#include "tests/database/sample_records.h"
#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

Connection in_memory() {
    Result<Connection> connection = Connection::open(":memory:", OpenMode::create);
    EXPECT_TRUE(connection.ok());
    return std::move(*connection);
}

Cell value(const Connection &connection, const std::string &sql) {
    const Result<Cell> cell = connection.query_value(sql);
    EXPECT_TRUE(cell.ok()) << sql << ": " << cell.error().message;
    return cell.ok() ? *cell : Cell();
}

TEST(Migration, StepsCountUpFromOne) {
    int64_t expected = 1;
    for (const MigrationStep &step : migration_steps()) EXPECT_EQ(step.version, expected++);
}

TEST(Migration, BringsAnEmptyDatabaseToTheNewestVersion) {
    const Connection connection = in_memory();
    ASSERT_TRUE(migrate(connection, migration_steps()).ok());
    EXPECT_EQ(value(connection, "PRAGMA user_version"), Cell(migration_steps().back().version));
    EXPECT_EQ(value(connection, "PRAGMA application_id"), Cell(int64_t{1802071150}));  // "kiln", frozen
    EXPECT_EQ(value(connection, "PRAGMA integrity_check"), Cell("ok"));
    EXPECT_EQ(value(connection,
                    "SELECT count(*) FROM pragma_table_list WHERE type = 'table' AND schema = 'main' "
                    "AND NOT strict AND name NOT LIKE 'sqlite_%'"),
              Cell(int64_t{0}));
    EXPECT_TRUE(migrate(connection, migration_steps()).ok()) << "again: nothing to do";
}

const std::vector<MigrationStep> first = {{1, "CREATE TABLE a (x); INSERT INTO a VALUES (7)"}};
std::vector<MigrationStep> first_and(std::initializer_list<MigrationStep> more) {
    std::vector<MigrationStep> steps = first;
    steps.insert(steps.end(), more);
    return steps;
}

TEST(Migration, AppliesOnlyTheStepsThatAreMissing) {
    const Connection connection = in_memory();
    ASSERT_TRUE(migrate(connection, first).ok());
    const auto steps = first_and({{2, "ALTER TABLE a ADD COLUMN y"}, {3, "UPDATE a SET y = x + 1"}});
    ASSERT_TRUE(migrate(connection, steps).ok());
    EXPECT_EQ(value(connection, "PRAGMA user_version"), Cell(int64_t{3}));
    EXPECT_EQ(value(connection, "SELECT y FROM a"), Cell(int64_t{8}));
}

TEST(Migration, AFailureInAnyStepLeavesTheOldVersion) {
    const struct {
        const char *sql;
        const char *message;
    } cases[] = {
        {"UPDATE a SET x = 8; SELECT nonsense", "no such column"},
        {"CREATE TABLE b (x); CREATE TABLE b (x)", "already exists"},
        {"CREATE TABLE c (x REFERENCES a (x)); INSERT INTO c VALUES (1)", "foreign key mismatch"},
        {"CREATE TABLE p (x PRIMARY KEY); CREATE TABLE c (x REFERENCES p (x)); INSERT INTO c VALUES (1)", "missing"},
    };
    for (const auto &c : cases) {
        const Connection connection = in_memory();
        ASSERT_TRUE(migrate(connection, first).ok());
        const Status status = migrate(connection, first_and({{2, "CREATE TABLE kept (x)"}, {3, c.sql}}));
        ASSERT_FALSE(status.ok()) << c.sql;
        EXPECT_NE(status.error().message.find(c.message), std::string::npos) << status.error().message;
        EXPECT_EQ(value(connection, "PRAGMA user_version"), Cell(int64_t{1}));
        EXPECT_EQ(value(connection, "SELECT x FROM a"), Cell(int64_t{7}));
        EXPECT_EQ(value(connection, "SELECT count(*) FROM sqlite_schema"), Cell(int64_t{1}));
    }
}

TEST(Migration, ANewerFileIsRefused) {
    const ScratchFolder folder;
    const std::string path = folder / "newer.db";
    const auto steps = first_and({{2, "CREATE TABLE b (x)"}});
    Result<Connection> connection = Connection::open(path, OpenMode::create);
    ASSERT_TRUE(migrate(*connection, steps).ok());
    EXPECT_TRUE(inspect(*connection, steps).ok());
    const Result<DatabaseKind> kind = inspect(*connection, first);
    ASSERT_FALSE(kind.ok());
    EXPECT_EQ(kind.error().code, ErrorCode::bad_input);
    EXPECT_NE(kind.error().message.find("newer kiln (schema version 2, this one knows up to 1)"), std::string::npos);
    EXPECT_FALSE(migrate(*connection, first).ok());
}

// A file as the kiln of that version left it.
void write_file_of_version(int64_t version, const std::string &path, const std::vector<Sample> &samples, Trial failed) {
    std::vector<MigrationStep> steps = migration_steps();
    std::erase_if(steps, [&](const MigrationStep &step) { return step.version > version; });
    const Result<Connection> connection = Connection::open(path, OpenMode::create);
    ASSERT_TRUE(connection.ok() && migrate(*connection, steps).ok());
    for (Sample s : samples) {
        const std::string measurement = content_id(s.measurement);
        s.trial.id = content_id(s.trial, measurement);
        ASSERT_TRUE(insert_measurement(*connection, {measurement, s.measurement}).ok());
        ASSERT_TRUE(insert_trial(*connection, {s.trial, measurement}).ok());
    }
    failed.id = content_id(failed, "");
    ASSERT_TRUE(insert_trial(*connection, {failed, ""}).ok());
}

// Read as it is, and brought up to date by who writes.
TEST(Migration, AnOldFileIsReadAndMigrated) {
    const Sample fast = sample('a', 100), slow = sample('b', 300);
    Trial failed = fast.trial;
    failed.status = TrialStatus::wrong_result, failed.message = "off";
    Sample again = sample('a', 500);  // the same kernel: its time did not hold
    again.measurement.created_at = again.trial.created_at = "2026-08-15T00:00:00.000Z";
    const struct {
        int64_t version;
        std::vector<Sample> samples;
        Trial failed;
        size_t usable, usable_before;
        double best, best_before, least_us, least_us_before;
    } cases[] = {
        {1, {fast, slow}, failed, 1, 2, 300, 100, 0.1, 0.1},
        {2, {fast, slow}, failed, 1, 2, 300, 100, 0.1, 0.1},
        {3, {fast, slow}, failed, 1, 1, 300, 300, 0.1, 0.1},
        {3, {fast, slow, again}, sample_failure(), 3, 3, 300, 500, 0.3, 0.1},  // the best's own time, told as it is now
        {4, {fast, slow, again}, sample_failure(), 3, 3, 300, 300, 0.3, 0.3},
    };
    for (const auto &c : cases) {
        const ScratchFolder folder;
        const std::string path = folder / "old.db";
        ASSERT_NO_FATAL_FAILURE(write_file_of_version(c.version, path, c.samples, c.failed));
        for (const OpenMode mode : {OpenMode::read_only, OpenMode::write}) {
            const bool is_read = mode == OpenMode::read_only;
            const Result<TrialStore> store = TrialStore::open(path, mode);
            ASSERT_TRUE(store.ok()) << store.error().message;
            EXPECT_EQ(store->usable_trials({})->size(), is_read ? c.usable_before : c.usable) << c.version;
            EXPECT_EQ((*store->best({}))->measurement.median, is_read ? c.best_before : c.best) << c.version;
            EXPECT_EQ(store->sql("SELECT * FROM best")->rows.size(), 1u);
            const Table workloads = store->report({ReportKind::workloads})->table;
            const auto column = std::ranges::find(workloads.columns, "best_us") - workloads.columns.begin();
            EXPECT_EQ(workloads.rows.at(0).at(static_cast<size_t>(column)),
                      Cell(is_read ? c.least_us_before : c.least_us))
                << c.version;
            EXPECT_TRUE(store->report({ReportKind::networks}).ok());
            EXPECT_TRUE(store->verify().ok());
        }
    }
}

// The tables by hand, so that the checks are seen to be the database's own.
constexpr const char *rows = R"(
INSERT INTO workload (id, key, op) VALUES (1, 'conv2d/a', 'conv2d'), (2, 'conv2d/b', 'conv2d');
INSERT INTO target VALUES (1, 'x86-64-linux', 1), (2, 'x86-64-linux', 2);
INSERT INTO machine VALUES (1, 'm'), (2, 'n');
INSERT INTO toolchain VALUES (1, 'k');
INSERT INTO measurement (id, object_hash, machine_id, threads, cache, metric, samples, median, spread, conditions,
    created_at)
VALUES ('00000000000000000000000000000001', 'h', 1, 1, 'warm', 'ns', '[1.5]', 1.5, 0, '', '2026-01-01T00:00:00.000Z');
INSERT INTO trial (id, workload_id, target_id, machine_id, toolchain_id, candidate, origin, status, message, stderr_text,
    error_budget, max_error, object_hash, cache, measurement_id, created_at)
VALUES ('00000000000000000000000000000002', 1, 1, 1, 1, 'direct@1/tile@1/a:1', 'default', 'ok', '', '', 1e-5, 1e-6, 'h',
    'warm', '00000000000000000000000000000001', '2026-01-01T00:00:00.000Z');
INSERT INTO race (id, workload_id, target_id, machine_id, toolchain_id, cache, error_budget, metric, confidence,
    conditions, created_at)
VALUES ('00000000000000000000000000000003', 1, 1, 1, 1, 'warm', 1e-5, 'ns', 0.95, '', '2026-01-01T00:00:00.000Z');
)";

Connection with_rows() {
    Connection connection = in_memory();
    EXPECT_TRUE(migrate(connection, migration_steps()).ok());
    EXPECT_TRUE(connection.run("PRAGMA foreign_keys = ON").ok());
    const Status status = connection.run_script(rows);
    EXPECT_TRUE(status.ok()) << status.error().message;
    return connection;
}

// A copy of the valid row of `table` with a new id and some columns set to other values.
std::string changed_copy(const Connection &connection, const std::string &table, const std::string &column,
                         const std::string &replacement) {
    const Result<Table> columns =
        connection.query("SELECT name FROM pragma_table_info(?) WHERE name NOT IN ('seq', 'algorithm')", {table});
    std::string names, values;
    for (const auto &row : columns->rows) {
        const std::string &name = std::get<std::string>(row[0]);
        const std::string value = name == column ? replacement
                                  : name == "id" ? "'0000000000000000000000000000000f'"
                                                 : name;
        names += (names.empty() ? "" : ", ") + name;
        values += (values.empty() ? "" : ", ") + value;
    }
    return "INSERT INTO " + table + " (" + names + ") SELECT " + values + " FROM " + table;
}

TEST(Schema, RefusesBadRows) {
    const struct {
        const char *table, *column, *value, *message;
    } cases[] = {
        {"measurement", "id", "'0F'", "an id is 32 hex digits"},
        {"measurement", "id", "'0000000000000000000000000000000F'", "an id is 32 hex digits"},
        {"measurement", "id", "id", "UNIQUE"},
        {"measurement", "object_hash", "''", "a measurement is of an object"},
        {"measurement", "machine_id", "9", "FOREIGN KEY"},
        {"measurement", "threads", "0", "threads are at least 1"},
        {"measurement", "threads", "'one'", "cannot store TEXT"},
        {"measurement", "cache", "'hot'", "cache is warm or cold"},
        {"measurement", "metric", "'us'", "metric is"},
        {"measurement", "samples", "'1'", "JSON array"},
        {"measurement", "samples", "'[]'", "JSON array"},
        {"measurement", "samples", "'[1'", "JSON array"},
        {"measurement", "median", "0", "positive and finite"},
        {"measurement", "median", "-1", "positive and finite"},
        {"measurement", "median", "1e10000", "positive and finite"},
        {"measurement", "median", "NULL", "NOT NULL"},
        {"measurement", "spread", "-0.1", "a spread is not negative"},
        {"measurement", "conditions", "'load 1'", "conditions are JSON"},
        {"measurement", "created_at", "'yesterday'", "created_at"},
        {"measurement", "created_at", "'2026-01-01 00:00:00'", "created_at"},
        {"trial", "id", "'xyz'", "an id is 32 hex digits"},
        {"trial", "workload_id", "9", "FOREIGN KEY"},
        {"trial", "toolchain_id", "NULL", "NOT NULL"},
        {"trial", "candidate", "''", "a trial has a candidate"},
        {"trial", "status", "'fine'", "status is one of the known"},
        {"trial", "status", "'crash'", "a time exists exactly when the status is ok"},
        {"trial", "measurement_id", "NULL", "a time exists exactly when the status is ok"},
        {"trial", "measurement_id", "'0'", "same object, machine, threads and cache"},
        {"trial", "message", "'x'", "a message exists exactly when the status is not ok"},
        {"trial", "error_budget", "-1", "within its error budget"},
        {"trial", "error_budget", "1e10000", "errors are not negative"},
        {"trial", "max_error", "-1", "errors are not negative"},
        {"trial", "wide_error", "-1", "errors are not negative"},
        {"trial", "max_error", "1e-4", "within its error budget"},
        {"trial", "max_error", "'small'", "cannot store TEXT"},
        {"trial", "object_bytes", "-1", "sizes are not negative"},
        {"trial", "workspace_bytes_per_thread", "-1", "sizes are not negative"},
        {"trial", "build_ns", "-1", "wall times are not negative"},
        {"trial", "object_hash", "'g'", "same object, machine, threads and cache"},
        {"trial", "machine_id", "2", "same object, machine, threads and cache"},
        {"trial", "target_id", "2", "same object, machine, threads and cache"},
        {"trial", "cache", "'cold'", "same object, machine, threads and cache"},
        {"trial", "cache", "''", "cache is warm or cold"},
        {"trial", "created_at", "''", "created_at"},
        {"race", "id", "''", "an id is 32 hex digits"},
        {"race", "cache", "''", "cache is warm or cold"},
        {"race", "metric", "''", "metric is"},
        {"race", "confidence", "95", "confidence is between 0 and 1"},
        {"race", "error_budget", "-1", "errors are not negative"},
        {"race", "created_at", "''", "created_at"},
    };
    for (const auto &c : cases) {
        const Connection connection = with_rows();
        const std::string sql = changed_copy(connection, c.table, c.column, c.value);
        const Status status = connection.run(sql);
        ASSERT_FALSE(status.ok()) << sql;
        EXPECT_EQ(status.error().code, ErrorCode::bad_input) << sql;
        const bool expected = status.error().message.find(c.message) != std::string::npos ||
                              // a trigger speaks before the row's own checks
                              status.error().message.find("same object") != std::string::npos;
        EXPECT_TRUE(expected) << sql << ": " << status.error().message;
    }
}

TEST(Schema, RefusesBadNamesAndReferences) {
    const std::pair<const char *, const char *> cases[] = {
        {"INSERT INTO workload (key, op) VALUES ('', 'conv2d')", "a workload has a key"},
        {"INSERT INTO workload (key, op) VALUES ('conv2d/a', 'conv2d')", "UNIQUE"},
        {"INSERT INTO workload (key, op, flops) VALUES ('k', 'o', -1)", "flops are not negative"},
        {"INSERT INTO workload_name VALUES (1, 'list', 'name', 0)", "a name occurs at least once"},
        {"INSERT INTO workload_name VALUES (9, 'list', 'name', 1)", "FOREIGN KEY"},
        {"INSERT INTO target (halide, threads) VALUES ('x86-64-linux', 1)", "UNIQUE"},
        {"INSERT INTO target (halide, threads) VALUES ('arm-64', 0)", "at least one thread"},
        {"INSERT INTO target (halide, threads) VALUES ('', 1)", "a target has a Halide target"},
        {"INSERT INTO machine (key) VALUES ('')", "a machine has a key"},
        {"INSERT INTO toolchain (text) VALUES ('')", "a toolchain has a text"},
        {"DELETE FROM machine", "FOREIGN KEY"},
        {"UPDATE trial SET status = 'ok'", "a trial never changes"},
        {"UPDATE measurement SET median = 1", "a measurement never changes"},
        {"UPDATE race SET confidence = 0.5", "a race never changes"},
    };
    const Connection connection = with_rows();
    for (const auto &[sql, message] : cases) {
        const Status status = connection.run(sql);
        ASSERT_FALSE(status.ok()) << sql;
        EXPECT_NE(status.error().message.find(message), std::string::npos) << sql << ": " << status.error().message;
    }
}

TEST(Schema, RacesAreBetweenTrialsOfTheirKind) {
    const Connection connection = with_rows();
    const std::string insert = "INSERT INTO race_entry VALUES ('00000000000000000000000000000003', ";
    const std::string trial = "'00000000000000000000000000000002'";
    const std::pair<std::string, const char *> cases[] = {
        {insert + "0, " + trial + ", 1, 1, 1, '[1]')", "places count from 1"},
        {insert + "1, " + trial + ", 1, 0.9, 1.1, '[1]')", "the winner's ratio is 1"},
        {insert + "2, " + trial + ", 1.2, 1.3, 1.4, '[1]')", "a ratio is positive and inside its interval"},
        {insert + "2, " + trial + ", 0, 0, 1.4, '[1]')", "a ratio is positive and inside its interval"},
        {insert + "1, " + trial + ", 1, 1, 1, '[]')", "JSON array"},
        {insert + "1, '00000000000000000000000000000009', 1, 1, 1, '[1]')", "a race is between ok trials"},
    };
    for (const auto &[sql, message] : cases) {
        const Status status = connection.run(sql);
        ASSERT_FALSE(status.ok()) << sql;
        EXPECT_NE(status.error().message.find(message), std::string::npos) << sql << ": " << status.error().message;
    }
    EXPECT_TRUE(connection.run(insert + "1, " + trial + ", 1, 1, 1, '[1]')").ok());
    EXPECT_FALSE(connection.run("UPDATE race_entry SET place = 2").ok());
    EXPECT_FALSE(connection.run("DELETE FROM trial").ok()) << "a race refers to it";

    // A race of another kind than the trial's.
    for (const auto &[column, value] :
         {std::pair("workload_id", "2"), std::pair("target_id", "2"), std::pair("machine_id", "2"),
          std::pair("cache", "'cold'"), std::pair("error_budget", "1e-4"), std::pair("metric", "'cycles'")}) {
        const Connection other = with_rows();
        ASSERT_TRUE(other.run(changed_copy(other, "race", column, value)).ok()) << column;
        const Status status = other.run("INSERT INTO race_entry VALUES ('0000000000000000000000000000000f', 1, " +
                                        trial + ", 1, 1, 1, '[1]')");
        ASSERT_FALSE(status.ok()) << column;
        EXPECT_NE(status.error().message.find("a race is between ok trials"), std::string::npos);
    }
}

TEST(Schema, KnowsTheAlgorithmOfACandidate) {
    const Connection connection = with_rows();
    EXPECT_EQ(value(connection, "SELECT algorithm FROM trial"), Cell("direct@1"));
    ASSERT_TRUE(connection.run(changed_copy(connection, "trial", "candidate", "'bare'")).ok());
    EXPECT_EQ(value(connection, "SELECT algorithm FROM trial WHERE candidate = 'bare'"), Cell("bare"));
}

}  // namespace
}  // namespace kiln
