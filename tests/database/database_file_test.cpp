#include "database/database_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include "database/trial_store.h"
#include "tests/database/other_process.h"
#include "tests/database/sample_records.h"
#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

std::string outcome(const std::string &path, OpenMode mode) {
    const Result<TrialStore> store = TrialStore::open(path, mode);
    if (store) return "ok";
    const char *kind = store.error().code == ErrorCode::environment ? "environment: " : "bad input: ";
    return kind + store.error().message;
}

constexpr OpenMode all_modes[] = {OpenMode::create, OpenMode::write, OpenMode::read_only};

// One database of ours with a trial in it, as bytes.
std::string our_database(const ScratchFolder &folder) {
    const std::string path = folder / "ours.db";
    Result<TrialStore> store = TrialStore::open(path, OpenMode::create);
    EXPECT_TRUE(store.ok());
    EXPECT_TRUE(store->append(sample_trial(), sample_measurement()).ok());
    return ScratchFolder::read(path);
}

std::string other_database(const ScratchFolder &folder, const std::string &script) {
    const std::string path = folder / "other.db";
    Result<Connection> connection = Connection::open(path, OpenMode::create);
    EXPECT_TRUE(connection->run_script(script).ok());
    return ScratchFolder::read(path);
}

TEST(DatabaseFile, IsRefusedUnlessOursAndLeftAsItIs) {
    const ScratchFolder folder;
    const std::string ours = our_database(folder);
    const struct {
        const char *what;
        std::string bytes;
        const char *message;
    } cases[] = {
        {"text", "{\"format\": \"workloads/1\", \"workloads\": []}\n" + std::string(200, ' '),
         "not an SQLite database"},
        {"short text", "hello", "not an SQLite database"},
        {"zeros", std::string(8192, '\0'), "not an SQLite database"},
        {"another program's", other_database(folder, "CREATE TABLE t (a); PRAGMA application_id = 7"),
         "not kiln's (application_id 0x7"},
        {"nobody's", other_database(folder, "CREATE TABLE u (a); PRAGMA application_id = 0"), "not kiln's"},
        {"newer", other_database(folder, "PRAGMA application_id = 0x6b696c6e; PRAGMA user_version = 99"),
         "newer kiln (schema version 99"},
        {"cut in the header", ours.substr(0, 60), "cut off after 60 bytes"},
        {"cut in the magic", ours.substr(0, 7), "cut off after 7 bytes"},
        {"cut after a page", ours.substr(0, 4096), "malformed"},
        {"cut in a page", ours.substr(0, ours.size() - 100), "cut off after"},
    };
    for (const auto &c : cases) {
        const std::string path = folder / "case.db";
        ScratchFolder::write(path, c.bytes);
        const auto written_at = std::filesystem::last_write_time(path);
        for (const OpenMode mode : all_modes) {
            const std::string result = outcome(path, mode);
            EXPECT_TRUE(result.starts_with("bad input: " + path + ": ")) << c.what << ": " << result;
            EXPECT_NE(result.find(c.message), std::string::npos) << c.what << ": " << result;
        }
        EXPECT_EQ(ScratchFolder::read(path), c.bytes) << c.what;
        EXPECT_EQ(std::filesystem::last_write_time(path), written_at) << c.what;
        EXPECT_FALSE(std::filesystem::exists(path + "-journal")) << c.what;
    }
}

TEST(DatabaseFile, PathsThatCannotBeOne) {
    const ScratchFolder folder;
    std::filesystem::create_directory(folder / "folder");
    const struct {
        std::string path;
        const char *message;
    } cases[] = {
        {"", "needs a file name"},
        {folder / "folder", "a folder"},
        {folder / "missing/x.db", "no such file|the folder "},
        {"/dev/null", "not a regular file"},
        {":memory:", "is no file"},
    };
    for (const auto &c : cases) {
        for (const OpenMode mode : all_modes) {
            const std::string result = outcome(c.path, mode), message = c.message;
            EXPECT_TRUE(result.starts_with("bad input: ")) << result;
            const size_t bar = message.find('|');
            const std::string wanted = bar == message.npos        ? message
                                       : mode == OpenMode::create ? message.substr(bar + 1)
                                                                  : message.substr(0, bar);
            EXPECT_NE(result.find(wanted), std::string::npos) << result;
        }
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "missing"));
}

TEST(DatabaseFile, OnlyCreateMakesOne) {
    const ScratchFolder folder;
    const std::string missing = folder / "missing.db", empty = folder / "empty.db";
    ScratchFolder::write(empty, "");
    for (const OpenMode mode : {OpenMode::write, OpenMode::read_only}) {
        EXPECT_NE(outcome(missing, mode).find("no such file"), std::string::npos);
        EXPECT_NE(outcome(empty, mode).find("empty, no database yet"), std::string::npos);
    }
    EXPECT_FALSE(std::filesystem::exists(missing));
    EXPECT_EQ(std::filesystem::file_size(empty), 0u);
    for (const std::string &path : {missing, empty}) {
        EXPECT_EQ(outcome(path, OpenMode::create), "ok");
        EXPECT_EQ(outcome(path, OpenMode::create), "ok");
        EXPECT_EQ(outcome(path, OpenMode::write), "ok");
        EXPECT_EQ(outcome(path, OpenMode::read_only), "ok");
    }
}

TEST(DatabaseFile, OfAnOlderVersionIsMigratedByWritersOnly) {
    const ScratchFolder folder;
    const std::string path = folder / "older.db";
    ScratchFolder::write(path, other_database(folder, "PRAGMA application_id = 0x6b696c6e"));  // before step 1
    EXPECT_NE(outcome(path, OpenMode::read_only).find("open it once for writing"), std::string::npos);
    EXPECT_EQ(outcome(path, OpenMode::write), "ok");
    EXPECT_EQ(outcome(path, OpenMode::read_only), "ok");
}

TEST(DatabaseFile, ReadOnlyFilesCanBeRead) {
    const ScratchFolder folder;
    our_database(folder);
    const std::string path = folder / "ours.db";
    std::filesystem::permissions(path, std::filesystem::perms(0444));
    EXPECT_EQ(in_child([&] {
                  Result<TrialStore> store = TrialStore::open(path, OpenMode::read_only);
                  if (!store) return store.error().message;
                  const Result<Report> best = store->report({ReportKind::best});
                  return best ? std::to_string(best->table.rows.size()) : best.error().message;
              }),
              "1");
    const std::string refused = in_child([&] { return outcome(path, OpenMode::write); });
    EXPECT_TRUE(refused.starts_with("environment: ")) << refused;
    EXPECT_NE(refused.find("cannot be written"), std::string::npos) << refused;
}

TEST(DatabaseFile, FoldersWithoutPermission) {
    const ScratchFolder folder;
    std::filesystem::create_directory(folder / "closed");
    std::filesystem::permissions(folder / "closed", std::filesystem::perms(0555));
    const std::string refused = in_child([&] { return outcome(folder / "closed/new.db", OpenMode::create); });
    EXPECT_TRUE(refused.starts_with("environment: ")) << refused;
    EXPECT_NE(refused.find("Permission denied"), std::string::npos) << refused;

    // A file in it that could be written itself: the journal beside it cannot be made.
    std::filesystem::rename((our_database(folder), folder / "ours.db"), folder / "closed/ours.db");
    std::filesystem::permissions(folder / "closed/ours.db", std::filesystem::perms(0666));
    EXPECT_EQ(in_child([&] { return outcome(folder / "closed/ours.db", OpenMode::read_only); }), "ok");
    const std::string unwritten = in_child([&]() -> std::string {
        Result<TrialStore> store = TrialStore::open(folder / "closed/ours.db", OpenMode::write);
        if (!store) return store.error().message;
        const Result<std::string> id = store->append(sample_failure(), std::nullopt);
        return id ? "ok" : id.error().code == ErrorCode::environment ? id.error().message : "?";
    });
    EXPECT_NE(unwritten.find("make the file and its folder writable"), std::string::npos) << unwritten;
}

TEST(DatabaseFile, ReadOnlyStoresRefuseToWrite) {
    const ScratchFolder folder;
    const std::string before = our_database(folder);
    Result<TrialStore> store = TrialStore::open(folder / "ours.db", OpenMode::read_only);
    ASSERT_TRUE(store.ok());
    EXPECT_FALSE(store->append(sample_failure(), std::nullopt).ok());
    EXPECT_FALSE(store->name_workload("conv2d/x", "list", "name", 1).ok());
    EXPECT_EQ(ScratchFolder::read(folder / "ours.db"), before);
}

TEST(DatabaseFile, AHalfWrittenTransactionIsRolledBackByReadersToo) {
    const ScratchFolder folder;
    our_database(folder);
    const std::string path = folder / "ours.db";
    kill_in_transaction(path,
                        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
                        "INSERT INTO workload (key, op) SELECT 'conv2d/' || i, 'conv2d' FROM n");
    Result<TrialStore> store = TrialStore::open(path, OpenMode::read_only);
    ASSERT_TRUE(store.ok()) << store.error().message;
    EXPECT_EQ(store->trials({})->size(), 1u);
    EXPECT_EQ(store->report({ReportKind::workloads})->table.rows.size(), 1u);
    EXPECT_TRUE(store->verify().ok());
}

TEST(DatabaseFile, SomebodyElsesJournalIsLeftAlone) {
    const ScratchFolder folder;
    other_database(folder, "CREATE TABLE t (a)");
    const std::string path = folder / "other.db";
    kill_in_transaction(path,
                        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
                        "INSERT INTO t SELECT randomblob(20) FROM n");
    const std::string database = ScratchFolder::read(path), journal = ScratchFolder::read(path + "-journal");
    for (const OpenMode mode : all_modes) EXPECT_NE(outcome(path, mode).find("not kiln's"), std::string::npos);
    EXPECT_EQ(ScratchFolder::read(path), database);
    EXPECT_EQ(ScratchFolder::read(path + "-journal"), journal);
}

TEST(DatabaseFile, AFileThatCannotGrowLosesNothing) {
    const ScratchFolder folder;
    const std::string path = folder / "ours.db";
    const size_t size = our_database(folder).size();
    std::filesystem::permissions(folder / "", std::filesystem::perms(0777));
    std::filesystem::permissions(path, std::filesystem::perms(0666));
    const std::string answer = in_child([&]() -> std::string {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{size + 20000, size + 20000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        Result<TrialStore> store = TrialStore::open(path, OpenMode::write);
        if (!store) return store.error().message;
        std::string ids;
        for (int i = 0; i < 1000; ++i) {
            Trial t = sample_failure();
            t.stderr_text = std::string(5000, 'e') + std::to_string(i);
            const Result<std::string> id = store->append(t, std::nullopt);
            if (!id) return (id.error().code == ErrorCode::environment ? "environment " : "? ") + ids;
            ids += *id + " ";
        }
        return "never failed";
    });
    ASSERT_TRUE(answer.starts_with("environment ")) << answer;
    Result<TrialStore> store = TrialStore::open(path, OpenMode::read_only);
    ASSERT_TRUE(store.ok()) << store.error().message;
    EXPECT_TRUE(store->verify().ok());
    size_t acknowledged = 1;
    for (size_t i = answer.find(' ') + 1; i < answer.size(); i += 33) {
        EXPECT_TRUE(store->trial(answer.substr(i, 32))->has_value());
        ++acknowledged;
    }
    EXPECT_EQ(store->trials({})->size(), acknowledged);
}

TEST(DatabaseFile, AStoreSeesThatANewerKilnMigratedTheFile) {
    const ScratchFolder folder;
    our_database(folder);
    Result<TrialStore> store = TrialStore::open(folder / "ours.db", OpenMode::write);
    ASSERT_TRUE(store.ok());
    ASSERT_TRUE(Connection::open(folder / "ours.db", OpenMode::write)->run("PRAGMA user_version = 99").ok());
    const Result<std::string> id = store->append(sample_failure(), std::nullopt);
    ASSERT_FALSE(id.ok());
    EXPECT_NE(id.error().message.find("newer kiln migrated it to schema version 99"), std::string::npos);
}

TEST(DatabaseFile, CommitsAreDurable) {
    const ScratchFolder folder;
    const Result<OpenedDatabase> opened = open_database(folder / "new.db", OpenMode::create);
    ASSERT_TRUE(opened.ok());
    const Connection &connection = opened->connection;
    EXPECT_EQ(*connection.query_value("PRAGMA journal_mode"), Cell("truncate"));
    EXPECT_EQ(*connection.query_value("PRAGMA synchronous"), Cell(int64_t{2}));  // FULL
    EXPECT_EQ(*connection.query_value("PRAGMA foreign_keys"), Cell(int64_t{1}));
    EXPECT_TRUE(opened->notes.empty()) << opened->notes.front();
}

TEST(DatabaseFile, LeavesWalModeAndSaysSo) {
    const ScratchFolder folder;
    const std::string path = folder / "wal.db";
    ASSERT_TRUE(TrialStore::open(path, OpenMode::create)->append(sample_failure(), std::nullopt).ok());
    ASSERT_TRUE(Connection::open(path, OpenMode::write)->run("PRAGMA journal_mode = WAL").ok());
    for (const OpenMode mode : {OpenMode::read_only, OpenMode::write}) {
        const Result<TrialStore> store = TrialStore::open(path, mode);
        ASSERT_TRUE(store.ok()) << store.error().message;
        ASSERT_EQ(store->notes().size(), 1u);
        EXPECT_NE(store->notes()[0].find(mode == OpenMode::write ? "was in WAL mode" : "is in WAL mode"),
                  std::string::npos)
            << store->notes()[0];
        EXPECT_EQ(store->info()->rows.back()[0], Cell("note"));
        EXPECT_EQ(store->trials({})->size(), 1u);
    }
    EXPECT_TRUE(TrialStore::open(path, OpenMode::read_only)->notes().empty());
}

}  // namespace
}  // namespace kiln
