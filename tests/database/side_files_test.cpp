// Files beside a database that were left by a killed writer, or put there by somebody else.
#include "database/files/side_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>
#include <set>

#include "database/trial_store.h"
#include "tests/database/other_process.h"
#include "tests/database/sample_records.h"
#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr OpenMode all_modes[] = {OpenMode::create, OpenMode::write, OpenMode::read_only};
constexpr const char *magic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
constexpr const char *half_a_transaction =
    "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
    "INSERT INTO workload (key, op) SELECT 'conv2d/' || i, 'conv2d' FROM n";

std::string big_endian(uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
    return bytes;
}

// The end of a journal that names a super-journal.
std::string super_journal(const std::string &file) {
    uint32_t sum = 0;
    for (const char c : file) sum += static_cast<uint32_t>(static_cast<int>(c));
    const auto length = static_cast<uint32_t>(file.size());
    return big_endian(0x40000001) + file + big_endian(length) + big_endian(sum) + magic;
}

// Where temporary files are made, until the end of the scope.
class TemporaryFolder {
public:
    explicit TemporaryFolder(const std::string &path) { ::setenv("TMPDIR", path.c_str(), 1); }
    ~TemporaryFolder() { earlier_ ? ::setenv("TMPDIR", earlier_->c_str(), 1) : ::unsetenv("TMPDIR"); }

private:
    std::optional<std::string> earlier_ =
        std::getenv("TMPDIR") ? std::optional<std::string>(std::getenv("TMPDIR")) : std::nullopt;
};

class SideFiles : public testing::Test {
protected:
    void SetUp() override {
        Result<TrialStore> store = TrialStore::open(path_, OpenMode::create);
        ASSERT_TRUE(store->append(sample_trial(), sample_measurement()).ok());
    }

    std::string hot_journal() {
        kill_in_transaction(path_, half_a_transaction);
        return ScratchFolder::read(journal_);
    }

    // Every file of the folder with its bytes; what is no regular file, with its type.
    std::map<std::string, std::string> all_files() const {
        std::map<std::string, std::string> files;
        for (const auto &entry : fs::directory_iterator(folder_ / "")) {
            const bool is_regular = entry.is_regular_file() && !entry.is_symlink();
            files[entry.path().filename()] = is_regular
                                                 ? ScratchFolder::read(entry.path())
                                                 : std::to_string(static_cast<int>(entry.symlink_status().type()));
        }
        return files;
    }

    std::string outcome(OpenMode mode) const {
        const Result<TrialStore> store = TrialStore::open(path_, mode);
        return store ? "ok" : store.error().message;
    }

    void expect_refused(const std::string &message, const std::string &what) const {
        const auto before = all_files();
        for (const OpenMode mode : all_modes) {
            EXPECT_NE(outcome(mode).find(message), std::string::npos) << what << ": " << outcome(mode);
        }
        EXPECT_EQ(all_files(), before) << what;
    }

    ScratchFolder folder_;
    const std::string path_ = folder_ / "ours.db", journal_ = path_ + "-journal", log_ = path_ + "-wal";
};

TEST_F(SideFiles, AJournalThatNamesASuperJournalIsRefused) {
    const std::string victim = folder_ / "precious";
    const std::string hot = hot_journal();
    const std::string unused = std::string(512, '\0') + hot.substr(512);
    const struct {
        const char *what;
        std::string journal;
    } cases[] = {
        {"at the end", hot + super_journal(victim)},
        {"behind a journal that is not in use", unused + super_journal(victim)},
        {"alone", magic + std::string(504, '\0') + super_journal(victim)},
        {"without a name", hot + super_journal("")},
        {"with a wrong sum", hot + big_endian(0x40000001) + victim + big_endian(3) + big_endian(7) + magic},
        {"behind a second header", hot + hot.substr(0, 512) + super_journal(victim)},
        {"that does not exist", hot + super_journal(folder_ / "missing")},
        {"another database's journal", hot + super_journal(folder_ / "other.db-journal")},
    };
    ScratchFolder::write(victim, "x");
    ScratchFolder::write(folder_ / "other.db-journal", "x");
    const std::string database = ScratchFolder::read(path_);
    for (const auto &c : cases) {
        // SQLite deletes the victim only where it names the journal.
        ScratchFolder::write(victim, journal_ + '\0');
        ScratchFolder::write(path_, database);
        ScratchFolder::write(journal_, c.journal);
        const bool unused_by_readers = c.journal[0] == '\0';
        if (unused_by_readers) {
            Result<TrialStore> store = TrialStore::open(path_, OpenMode::write);
            EXPECT_FALSE(store.ok() && store->append(sample_failure(), std::nullopt).ok()) << c.what;
        } else {
            expect_refused("names a super-journal", c.what);
        }
        EXPECT_TRUE(fs::exists(victim)) << c.what;
        EXPECT_TRUE(fs::exists(folder_ / "other.db-journal")) << c.what;
    }
}

TEST_F(SideFiles, OnlyAJournalOfOursIsUsed) {
    const std::string hot = hot_journal();
    ScratchFolder::write(folder_ / "elsewhere", hot);
    const struct {
        const char *what, *message;
        std::function<void()> make;
    } cases[] = {
        {"symbolic link", "is no regular file", [&] { fs::create_symlink(folder_ / "elsewhere", journal_); }},
        {"queue", "is no regular file", [&] { ASSERT_EQ(::mkfifo(journal_.c_str(), 0600), 0); }},
        {"folder", "is no regular file", [&] { fs::create_directory(journal_); }},
        {"text", "is no journal", [&] { ScratchFolder::write(journal_, "my notes of yesterday\n"); }},
        {"another user's", "belongs to another user",
         [&] {
             ScratchFolder::write(journal_, hot);
             ASSERT_EQ(::chown(journal_.c_str(), 65534, 65534), 0);
         }},
    };
    for (const auto &c : cases) {
        if (::geteuid() != 0 && std::string(c.message).starts_with("belongs")) continue;
        fs::remove_all(journal_);
        c.make();
        expect_refused(c.message, c.what);
    }
}

TEST_F(SideFiles, NothingIsDeletedBesideADatabaseThatIsMadeAnew) {
    const std::string made = folder_ / "new.db";
    for (const char *ending : {"-journal", "-wal"}) {
        ScratchFolder::write(made + ending, "my notes of yesterday\n");
        const auto before = all_files();
        EXPECT_FALSE(TrialStore::open(made, OpenMode::create).ok());
        EXPECT_TRUE(fs::exists(made + ending));
        EXPECT_EQ(ScratchFolder::read(made + ending), before.at("new.db" + std::string(ending)));
        fs::remove(made + ending);
    }
    EXPECT_TRUE(TrialStore::open(made, OpenMode::create).ok());
}

TEST_F(SideFiles, RootGivesJournalsToTheOwnerOfTheDatabase) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
    ASSERT_EQ(::chown(path_.c_str(), 65534, 65534), 0);
    fs::remove(journal_);
    hot_journal();
    struct stat status {};
    ASSERT_EQ(::stat(journal_.c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, 65534u);
    EXPECT_EQ(outcome(OpenMode::read_only), "ok");
    EXPECT_EQ(outcome(OpenMode::write), "ok");
}

TEST_F(SideFiles, EmptyJournalsOfOthersInASharedFolder) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
    ScratchFolder::write(journal_, "");
    ASSERT_EQ(::chown(journal_.c_str(), 65534, 65534), 0);
    EXPECT_TRUE(TrialStore::open(path_, OpenMode::write)->append(sample_failure(), std::nullopt).ok());
    ASSERT_EQ(::chown(journal_.c_str(), 65534, 65534), 0);  // SQLite gave it to the database's owner
    fs::permissions(folder_ / "", fs::perms(01777));
    EXPECT_EQ(outcome(OpenMode::read_only), "ok");
    Result<TrialStore> store = TrialStore::open(path_, OpenMode::write);
    Trial other = sample_failure();
    other.origin = "other";
    EXPECT_FALSE(store.ok() && store->append(other, std::nullopt).ok()) << "its owner could change it at any time";
}

TEST_F(SideFiles, ReadersChangeNothingWhereAWriterWasKilled) {
    hot_journal();
    const ScratchFolder temporary;
    const auto before = all_files();
    {
        const TemporaryFolder set(temporary / "");
        const Result<TrialStore> store = TrialStore::open(path_, OpenMode::read_only);
        ASSERT_TRUE(store.ok()) << store.error().message;
        EXPECT_EQ(store->trials({})->size(), 1u);
        EXPECT_TRUE(store->verify().ok());
        EXPECT_EQ(store->info()->rows[0][1], Cell(path_)) << "its own name, not the copy's";
        TrialStore into = std::move(*TrialStore::in_memory());
        EXPECT_EQ(into.merge(*store)->trials, 1);
        EXPECT_TRUE(fs::is_empty(temporary / "")) << "the copy is gone while it is used";
    }
    EXPECT_EQ(all_files(), before);
    EXPECT_EQ(outcome(OpenMode::write), "ok");
    EXPECT_FALSE(fs::exists(journal_)) << "a writer finishes the rollback";
    EXPECT_EQ(TrialStore::open(path_, OpenMode::read_only)->trials({})->size(), 1u);

    hot_journal();
    const TemporaryFolder set(folder_ / "missing");
    EXPECT_NE(outcome(OpenMode::read_only).find("set TMPDIR"), std::string::npos) << outcome(OpenMode::read_only);
}

TEST_F(SideFiles, ReadersChangeNothingWhereThereIsAWriteAheadLog) {
    const pid_t child = ::fork();
    if (child == 0) {
        Result<Connection> connection = Connection::open(path_, OpenMode::write);
        const bool done = connection->run("PRAGMA journal_mode = WAL") &&
                          connection->run("INSERT INTO workload (key, op) VALUES ('conv2d/logged', 'conv2d')");
        ::_exit(done ? 0 : 1);  // without closing: the log stays
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_EQ(status, 0);
    ASSERT_GT(fs::file_size(log_), 0u);
    fs::remove(path_ + "-shm");  // as in a copy from elsewhere
    const auto before = all_files();
    for (int i = 0; i < 2; ++i) {
        const Result<TrialStore> store = TrialStore::open(path_, OpenMode::read_only);
        ASSERT_TRUE(store.ok()) << store.error().message;
        EXPECT_EQ(store->workload_names()->size(), 2u);
    }
    EXPECT_EQ(all_files(), before);
    fs::remove(log_);
    EXPECT_EQ(TrialStore::open(path_, OpenMode::read_only)->workload_names()->size(), 1u);
    EXPECT_EQ(all_files().size(), before.size() - 1);
    ScratchFolder::write(log_, before.at("ours.db-wal"));
    EXPECT_EQ(outcome(OpenMode::write), "ok");
    EXPECT_EQ(TrialStore::open(path_, OpenMode::read_only)->workload_names()->size(), 2u);

    // Now the database has none, and one is put beside it.
    ScratchFolder::write(log_, before.at("ours.db-wal"));
    expect_refused("is a database without one", "log");
}

TEST_F(SideFiles, OfASymbolicLinkLieBesideTheDatabase) {
    const std::string link = folder_ / "link.db";
    fs::create_symlink("ours.db", link);
    ScratchFolder::write(journal_, hot_journal() + super_journal(folder_ / "precious"));
    for (const OpenMode mode : all_modes) {
        const Result<TrialStore> store = TrialStore::open(link, mode);
        ASSERT_FALSE(store.ok());
        EXPECT_NE(store.error().message.find("names a super-journal"), std::string::npos) << store.error().message;
    }
}

}  // namespace
}  // namespace kiln
