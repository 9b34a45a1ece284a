#include "database/sqlite.h"

#include <gtest/gtest.h>

#include "database/files/lock_wait.h"
#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

using namespace std::chrono_literals;

Connection in_memory() {
    Result<Connection> connection = Connection::open(":memory:", OpenMode::create);
    EXPECT_TRUE(connection.ok());
    return std::move(*connection);
}

int64_t count(const Connection &connection, const std::string &table) {
    return std::get<int64_t>(*connection.query_value("SELECT count(*) FROM " + table));
}

TEST(Connection, ReadsBackWhatWasBound) {
    const Connection connection = in_memory();
    ASSERT_TRUE(connection.run("CREATE TABLE t (a, b, c, d, e)").ok());
    const std::string with_nul("a\0b", 3);
    ASSERT_TRUE(
        connection.run("INSERT INTO t VALUES (?, ?, ?, ?, x'00ff')", {int64_t{1} << 62, 0.1, with_nul, {}}).ok());
    const Result<Table> table = connection.query("SELECT * FROM t");
    ASSERT_TRUE(table.ok());
    EXPECT_EQ(table->columns, (std::vector<std::string>{"a", "b", "c", "d", "e"}));
    ASSERT_EQ(table->rows.size(), 1u);
    EXPECT_EQ(table->rows[0],
              (std::vector<Cell>{int64_t{1} << 62, 0.1, with_nul, std::monostate(), std::string("00FF")}));
    EXPECT_EQ(*connection.query_value("SELECT a FROM t WHERE a = 0"), Cell());
}

TEST(Connection, ErrorsNameFileAndReason) {
    const Connection connection = in_memory();
    ASSERT_TRUE(
        connection.run_script("CREATE TABLE t (a CONSTRAINT positive CHECK (a > 0)); PRAGMA max_page_count = 3").ok());
    const struct {
        const char *sql;
        ErrorCode code;
        const char *message;
    } cases[] = {
        {"SELECT b FROM t", ErrorCode::bad_input, "no such column: b"},
        {"SELEC", ErrorCode::bad_input, "syntax error"},
        {"INSERT INTO t VALUES (0)", ErrorCode::bad_input, "CHECK constraint failed: positive"},
        {"INSERT INTO t VALUES (randomblob(100000))", ErrorCode::environment, "full"},
    };
    for (const auto &c : cases) {
        const Status status = connection.run(c.sql);
        ASSERT_FALSE(status.ok()) << c.sql;
        EXPECT_EQ(status.error().code, c.code) << c.sql;
        EXPECT_TRUE(status.error().message.starts_with(":memory:: ")) << status.error().message;
        EXPECT_NE(status.error().message.find(c.message), std::string::npos) << status.error().message;
    }
}

TEST(Transaction, RollsBackUnlessCommitted) {
    const Connection connection = in_memory();
    ASSERT_TRUE(connection.run("CREATE TABLE t (a)").ok());
    {
        Result<Transaction> transaction = Transaction::begin(connection);
        ASSERT_TRUE(transaction.ok());
        ASSERT_TRUE(connection.run("INSERT INTO t VALUES (1)").ok());
    }
    EXPECT_EQ(count(connection, "t"), 0);
    {
        Result<Transaction> transaction = Transaction::begin(connection);
        ASSERT_TRUE(transaction.ok());
        ASSERT_TRUE(connection.run("INSERT INTO t VALUES (1)").ok());
        ASSERT_TRUE(transaction->commit().ok());
    }
    EXPECT_EQ(count(connection, "t"), 1);
}

// A file that a connection of its own is writing.
struct LockedDatabase {
    ScratchFolder folder;
    std::string path = folder / "locked.db";
    Result<Connection> holder = Connection::open(path, OpenMode::create);
    Result<Transaction> transaction = Transaction::begin(*holder);
};

TEST(Connection, WaitsForALockAndInTheEndSaysWhoHeldIt) {
    LockedDatabase locked;
    ASSERT_TRUE(locked.transaction.ok());
    Result<Connection> other = Connection::open(locked.path, OpenMode::write, 100ms);
    ASSERT_TRUE(other.ok());
    const auto begin = std::chrono::steady_clock::now();
    const Result<Transaction> refused = Transaction::begin(*other);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 100ms);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::environment);
    EXPECT_NE(refused.error().message.find("another process held the lock"), std::string::npos);

    ASSERT_TRUE(locked.transaction->commit().ok());
    EXPECT_TRUE(Transaction::begin(*other).ok());
}

TEST(Connection, TellsOnceThatItWaitsAndEndsWhereTheUserStops) {
    LockedDatabase locked;
    ASSERT_TRUE(locked.transaction.ok());
    std::vector<std::string> told;
    set_lock_wait({.tell = [&](const std::string &file) { told.push_back(file); },
                   .interrupted = [&] { return !told.empty(); },
                   .silent = 20ms,
                   .when_interrupted = 60ms});
    Result<Connection> other = Connection::open(locked.path, OpenMode::write);
    set_lock_wait({});
    ASSERT_TRUE(other.ok());
    const Result<Transaction> refused = Transaction::begin(*other);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::interrupted);
    EXPECT_EQ(told, std::vector<std::string>{locked.path});
}

TEST(Connection, FileNamesAreNotUris) {
    const ScratchFolder folder;
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder / "");
    Result<Connection> connection = Connection::open("file:x.db?mode=memory", OpenMode::create);
    EXPECT_TRUE(connection.ok());
    EXPECT_TRUE(std::filesystem::exists("file:x.db?mode=memory"));
    std::filesystem::current_path(before);
}

TEST(UntrustedQuery, OneStatementThatReads) {
    const Connection connection = in_memory();
    ASSERT_TRUE(connection.run_script("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)").ok());
    for (const char *sql :
         {"SELECT a FROM t", "  SELECT a FROM t ;  ", "-- all\nSELECT a FROM t; -- done\n",
          "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 2) SELECT i FROM n",
          "SELECT a FROM t WHERE a IN (1, 2) ORDER BY a", "SELECT max(a) FROM t GROUP BY a"}) {
        const Result<Table> table = connection.query_untrusted(sql);
        ASSERT_TRUE(table.ok()) << sql << ": " << table.error().message;
        EXPECT_EQ(table->rows.size(), 2u) << sql;
    }
    EXPECT_TRUE(connection.query_untrusted("PRAGMA table_info(t)").ok());
    EXPECT_TRUE(connection.query_untrusted("SELECT name FROM pragma_table_info('t')").ok());
    EXPECT_TRUE(connection.query_untrusted("EXPLAIN QUERY PLAN SELECT * FROM t").ok());
    EXPECT_TRUE(connection.query_untrusted("SELECT sql FROM sqlite_schema").ok());
}

TEST(UntrustedQuery, AnythingElseIsRefused) {
    const ScratchFolder folder;
    const Connection connection = in_memory();
    ASSERT_TRUE(connection.run_script("CREATE TABLE t (a); INSERT INTO t VALUES (1)").ok());
    const std::string attach = "ATTACH '" + folder / "other.db" + "' AS other";
    const struct {
        std::string sql;
        const char *message;
    } cases[] = {
        {"", "empty"},
        {" ; -- nothing", "empty"},
        {"SELECT 1; SELECT 2", "more than one statement"},
        {"SELECT a FROM nowhere", "no such table"},
        {"SELECT nothing FROM t", "docs/database.md"},
        {"SELECT (", "incomplete input"},
        {std::string("SELECT 1\0; DELETE FROM t", 24), "NUL"},
        {"UPDATE sqlite_master SET sql = ''", "may not be modified"},
        {"CREATE VIRTUAL TABLE v USING fts5(a)", "only a query that reads"},
        {"SELECT load_extension('x')", "not authorized"},
        {"DELETE FROM t", "only a query that reads"},
        {"UPDATE t SET a = 2 RETURNING a", "only a query that reads"},
        {"INSERT INTO t VALUES (3)", "only a query that reads"},
        {"CREATE TABLE u (a)", "only a query that reads"},
        {"CREATE TEMP TABLE u (a)", "only a query that reads"},
        {"DROP TABLE t", "only a query that reads"},
        {"VACUUM", "only a query that reads"},
        {"VACUUM INTO '" + folder / "copy.db" + "'", "only a query that reads"},
        {"BEGIN", "only a query that reads"},
        {"PRAGMA query_only = OFF", "only a query that reads"},
        {"PRAGMA journal_mode = WAL", "only a query that reads"},
        {"PRAGMA user_version = 9", "only a query that reads"},
        {attach, "only a query that reads"},
    };
    for (const auto &c : cases) {
        const Result<Table> table = connection.query_untrusted(c.sql);
        ASSERT_FALSE(table.ok()) << c.sql;
        EXPECT_EQ(table.error().code, ErrorCode::bad_input) << c.sql;
        EXPECT_NE(table.error().message.find(c.message), std::string::npos) << c.sql << ": " << table.error().message;
    }
    EXPECT_EQ(count(connection, "t"), 1);
    EXPECT_TRUE(std::filesystem::is_empty(folder / ""));
    EXPECT_TRUE(connection.run("DELETE FROM t").ok()) << "the restriction ends with the query";
}

// A statement with parameters is kept for the next time. Nothing of the last time may be left.
TEST(Connection, AKeptStatementStartsAnew) {
    const Connection connection = std::move(*Connection::open(":memory:", OpenMode::create));
    ASSERT_TRUE(connection.run_script("CREATE TABLE t (a UNIQUE, b); INSERT INTO t VALUES (1, 10), (2, 20)").ok());
    const std::string select = "SELECT b FROM t WHERE a >= ? ORDER BY a", insert = "INSERT INTO t VALUES (?, ?)";
    {
        Result<Statement> outer = connection.prepare(select, {int64_t{1}});
        ASSERT_TRUE(*outer->step());
        Result<Statement> inner = connection.prepare(select, {int64_t{2}});
        ASSERT_TRUE(*inner->step());
        EXPECT_EQ(inner->integer(0), 20);
        EXPECT_EQ(outer->integer(0), 10);
        ASSERT_TRUE(*outer->step()) << "left in the middle of its rows by another one";
        EXPECT_EQ(outer->integer(0), 20);
    }
    EXPECT_EQ(*connection.query_value(select, {int64_t{1}}), Cell(int64_t{10})) << "one that was left before its end";
    EXPECT_EQ(*connection.query_value(select, {int64_t{3}}), Cell());
    EXPECT_FALSE(connection.run(insert, {int64_t{1}, int64_t{0}}).ok());
    EXPECT_TRUE(connection.run(insert, {int64_t{3}, Cell()}).ok()) << "after an error";
    ASSERT_TRUE(connection.run_script("ALTER TABLE t RENAME COLUMN b TO c; ALTER TABLE t ADD COLUMN b DEFAULT 7").ok());
    EXPECT_EQ(*connection.query_value(select, {int64_t{1}}), Cell(int64_t{7})) << "after a change of the schema";
    for (int i = 0; i < 200; i++) {  // more than are kept
        EXPECT_EQ(*connection.query_value("SELECT ? + " + std::to_string(i), {int64_t{1}}), Cell(int64_t{i + 1}));
    }
    EXPECT_EQ(*connection.query_value(select, {int64_t{1}}), Cell(int64_t{7}));
}

}  // namespace
}  // namespace kiln
