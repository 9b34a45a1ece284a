// kill -9 at any moment loses no acknowledged trial, and many processes can write at once.

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <climits>
#include <functional>
#include <random>
#include <set>

#include "database/trial_store.h"
#include "tests/database/random_records.h"
#include "tests/database/sample_records.h"
#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

// ./test --full sets larger numbers.
int from_environment(const char *name, int otherwise) {
    const char *text = std::getenv(name);
    return text ? std::atoi(text) : otherwise;
}

// A process that appends trials and writes each id to a pipe once append() has acknowledged it.
class Writer {
public:
    using Clock = std::chrono::steady_clock;

    Writer(const std::string &path, const std::string &name, int trials)
        : Writer(path, name, trials, Clock::time_point::max()) {}
    Writer(const std::string &path, const std::string &name, Clock::time_point end)
        : Writer(path, name, INT_MAX, end) {}
    ~Writer() { ::close(pipe_); }

    void kill() { ::kill(pid_, SIGKILL); }

    // The ids acknowledged until the process ended; then its exit status.
    int collect(std::set<std::string> &ids) {
        std::string text;
        char buffer[4096];
        for (ssize_t n; (n = ::read(pipe_, buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
        for (size_t i = 0; i + 32 <= text.size(); i += 32) ids.insert(text.substr(i, 32));
        int status = 0;
        ::waitpid(pid_, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

private:
    Writer(const std::string &path, const std::string &name, int trials, Clock::time_point end) {
        int ends[2];
        EXPECT_EQ(::pipe(ends), 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            ::close(ends[0]);
            ::_exit(append_all(path, name, trials, end, ends[1]) ? 0 : 1);
        }
        ::close(ends[1]);
        pipe_ = ends[0];
    }

    static bool append_all(const std::string &path, const std::string &name, int trials, Clock::time_point end,
                           int pipe) {
        Result<TrialStore> store = TrialStore::open(path, OpenMode::create);
        if (!store) return false;
        for (int i = 0; i < trials && (i == 0 || Clock::now() < end); ++i) {
            Sample s = sample('a', 100 + i);
            s.trial.origin = name + std::to_string(i);
            s.trial.object_hash = s.measurement.object_hash = s.trial.origin;
            const Result<std::string> id = store->append(s.trial, s.measurement);
            if (!id || ::write(pipe, id->data(), 32) != 32) return false;
        }
        return true;
    }

    pid_t pid_ = -1;
    int pipe_ = -1;
};

void expect_all_there(const std::string &path, const std::set<std::string> &acknowledged) {
    Result<TrialStore> store = TrialStore::open(path, OpenMode::read_only);
    ASSERT_TRUE(store.ok()) << store.error().message;
    const Status status = store->verify();
    EXPECT_TRUE(status.ok()) << status.error().message;
    const Result<std::vector<Trial>> trials = store->trials({});
    ASSERT_TRUE(trials.ok()) << trials.error().message;
    std::set<std::string> stored;
    for (const Trial &trial : *trials) stored.insert(trial.id);
    for (const std::string &id : acknowledged) EXPECT_TRUE(stored.contains(id)) << id;
}

TEST(Crash, KilledWritersLoseNothingAcknowledged) {
    const ScratchFolder folder;
    const std::string path = folder / "killed.db";
    std::mt19937 random(test_seed());
    std::set<std::string> acknowledged;
    for (int round = 0; round < from_environment("KILN_TEST_KILLS", 20); ++round) {
        Writer writer(path, "round" + std::to_string(round) + "-", 1'000'000);
        // From the file's creation in the first rounds to a steady stream of commits.
        ::usleep(std::uniform_int_distribution<useconds_t>(0, round < 5 ? 20'000 : 150'000)(random));
        writer.kill();
        EXPECT_EQ(writer.collect(acknowledged), -1) << "it ran until it was killed";
        if (!acknowledged.empty()) expect_all_there(path, acknowledged);
    }
    EXPECT_FALSE(acknowledged.empty());
}

TEST(Crash, AFileKilledWhileItWasMadeCanBeMadeAgain) {
    const ScratchFolder folder;
    std::mt19937 random(test_seed() + 1);
    for (int round = 0; round < 30; ++round) {
        const std::string path = folder / ("new" + std::to_string(round) + ".db");
        Writer writer(path, "w", 1);
        ::usleep(std::uniform_int_distribution<useconds_t>(500, 12'000)(random));
        writer.kill();
        std::set<std::string> acknowledged;
        writer.collect(acknowledged);
        const Result<TrialStore> store = TrialStore::open(path, OpenMode::create);
        ASSERT_TRUE(store.ok()) << store.error().message;
        EXPECT_TRUE(store->verify().ok());
        EXPECT_GE(store->trials({})->size(), acknowledged.size());
    }
}

TEST(Crash, ManyWritersAndAReaderShareAFile) {
    const ScratchFolder folder;
    const std::string path = folder / "shared.db";
    constexpr int writers = 4, trials = 40;
    std::vector<std::unique_ptr<Writer>> processes;
    for (int i = 0; i < writers; ++i) {
        processes.push_back(std::make_unique<Writer>(path, "writer" + std::to_string(i) + "-", trials));
    }
    Result<TrialStore> reader = TrialStore::open(path, OpenMode::create);
    ASSERT_TRUE(reader.ok()) << reader.error().message;
    for (int i = 0; i < 20; ++i) {
        const Result<Report> table = reader->report({ReportKind::trials});
        ASSERT_TRUE(table.ok()) << table.error().message;
    }
    std::set<std::string> acknowledged;
    for (auto &process : processes) EXPECT_EQ(process->collect(acknowledged), 0);
    EXPECT_EQ(acknowledged.size(), static_cast<size_t>(writers * trials));
    expect_all_there(path, acknowledged);
}

// A process that does `step` until the time is over. Its exit status: 0, or 1 where a step failed.
pid_t repeat(const std::string &path, OpenMode mode, std::chrono::steady_clock::time_point end,
             const std::function<Status(TrialStore &)> &step) {
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    for (;;) {
        Result<TrialStore> store = TrialStore::open(path, mode);
        Status status = store ? step(*store) : Status(store.error());
        if (!status) {
            ::fprintf(stderr, "%s\n", status.error().message.c_str());
            ::_exit(1);
        }
        if (std::chrono::steady_clock::now() >= end) ::_exit(0);
    }
}

TEST(Crash, WritersReadersAndMergersShareAFile) {
    const ScratchFolder folder;
    const std::string path = folder / "shared.db", other = folder / "other.db";
    const int writers = from_environment("KILN_TEST_WRITERS", 8), readers = from_environment("KILN_TEST_READERS", 3);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(from_environment("KILN_TEST_SECONDS", 2));
    ASSERT_TRUE(TrialStore::open(other, OpenMode::create)->merge(RandomRecords(test_seed()).store(20)).ok());

    std::vector<std::unique_ptr<Writer>> processes;
    for (int i = 0; i < writers; ++i) {
        processes.push_back(std::make_unique<Writer>(path, "writer" + std::to_string(i) + "-", end));
    }
    std::vector<pid_t> others;
    for (int i = 0; i < readers; ++i) {
        others.push_back(repeat(path, OpenMode::create, end, [i](TrialStore &store) -> Status {
            if (i % 3 == 0) return store.verify();
            const Result<Report> table = store.report({i % 3 == 1 ? ReportKind::trials : ReportKind::best});
            if (!table) return table.error();
            const Result<std::string> text = store.export_text();
            return text ? Status() : text.error();
        }));
    }
    for (const auto &[into, from] : {std::pair(path, other), std::pair(other, path)}) {  // each waits for the other
        others.push_back(repeat(into, OpenMode::create, end, [from = from](TrialStore &store) -> Status {
            const Result<TrialStore> source = TrialStore::open(from, OpenMode::create);
            if (!source) return source.error();
            const Result<RecordCounts> added = store.merge(*source);
            return added ? Status() : added.error();
        }));
    }
    std::set<std::string> acknowledged;
    size_t fewest = SIZE_MAX;
    for (auto &process : processes) {
        const size_t before = acknowledged.size();
        EXPECT_EQ(process->collect(acknowledged), 0);
        fewest = std::min(fewest, acknowledged.size() - before);
    }
    for (const pid_t pid : others) {
        int status = -1;
        ::waitpid(pid, &status, 0);
        EXPECT_EQ(status, 0) << "its message is on stderr";
    }
    EXPECT_GT(fewest, 0u) << "everyone has a turn, however late";
    RecordProperty("acknowledged", static_cast<int>(acknowledged.size()));
    RecordProperty("fewest_of_a_writer", static_cast<int>(fewest));
    expect_all_there(path, acknowledged);
}

}  // namespace
}  // namespace kiln
