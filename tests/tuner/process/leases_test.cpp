#include "tuner/process/leases.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <vector>

#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

using namespace std::chrono_literals;

class LeasesTest : public ::testing::Test {
protected:
    // As another process would open them: locks belong to what was opened, not to the process.
    Leases another() const {
        Result<Leases> leases = Leases::open(database_);
        EXPECT_TRUE(leases.ok()) << leases.error().message;
        return std::move(*leases);
    }

    ScratchFolder folder_;
    std::string database_ = folder_ / "k.db";
};

TEST_F(LeasesTest, OneOwnerAThing) {
    const Leases a = another(), b = another();
    std::optional<Lease> lease = a.try_take("layer", "candidate 1");
    ASSERT_TRUE(lease);
    EXPECT_FALSE(b.try_take("layer", "candidate 1"));
    EXPECT_TRUE(b.try_take("layer", "candidate 2"));
    EXPECT_TRUE(b.try_take("another layer", "candidate 1"));
    lease.reset();
    EXPECT_TRUE(b.try_take("layer", "candidate 1"));
}

TEST_F(LeasesTest, CountsWhatOthersHold) {
    const Leases a = another(), b = another(), c = another();
    EXPECT_EQ(a.held_by_others("layer"), 0);
    std::vector<std::optional<Lease>> leases;
    for (int i = 0; i < 5; i++) leases.push_back((i % 2 ? a : b).try_take("layer", std::to_string(i)));
    leases.push_back(a.try_take("another layer", "0"));
    EXPECT_EQ(a.held_by_others("layer"), 3);
    EXPECT_EQ(b.held_by_others("layer"), 2);
    EXPECT_EQ(c.held_by_others("layer"), 5);
    EXPECT_EQ(c.held_by_others("another layer"), 1);
    leases.clear();
    EXPECT_EQ(c.held_by_others("layer"), 0);
}

TEST_F(LeasesTest, OneChoosesAtATime) {
    const Leases a = another(), b = another();
    std::optional<Lease> turn = a.turn("layer");
    ASSERT_TRUE(turn);
    EXPECT_FALSE(b.turn("layer", 20ms)) << "whoever has it hangs";
    EXPECT_TRUE(b.turn("another layer", 20ms));
    EXPECT_EQ(b.held_by_others("layer"), 0) << "a turn is no item";
    turn.reset();
    EXPECT_TRUE(b.turn("layer", 0ms));
}

TEST_F(LeasesTest, AreFreeTheMomentTheirOwnerIsKilled) {
    const Leases mine = another();
    for (int round = 0; round < 20; round++) {
        int ready[2];
        ASSERT_EQ(pipe(ready), 0);
        const pid_t owner = fork();
        if (owner == 0) {
            const Result<Leases> leases = Leases::open(database_);
            const auto item = leases ? leases->try_take("layer", "candidate") : std::nullopt;
            const auto turn = leases ? leases->turn("layer") : std::nullopt;
            // Something that the owner started and that outlives it: has no part in the lease.
            if (fork() == 0) {
                execl("/bin/sleep", "sleep", "2", nullptr);
                _exit(1);
            }
            const char answer = item && turn ? 'y' : 'n';
            usleep(20'000);  // the child is executing by then
            [[maybe_unused]] const auto written = write(ready[1], &answer, 1);
            for (;;) pause();
        }
        char answer = 0;
        ASSERT_EQ(read(ready[0], &answer, 1), 1);
        close(ready[0]);
        close(ready[1]);
        ASSERT_EQ(answer, 'y');
        ASSERT_FALSE(mine.try_take("layer", "candidate"));
        ASSERT_EQ(mine.held_by_others("layer"), 1);
        kill(owner, SIGKILL);
        int status = 0;
        waitpid(owner, &status, 0);
        EXPECT_EQ(mine.held_by_others("layer"), 0);
        EXPECT_TRUE(mine.try_take("layer", "candidate"));
        EXPECT_TRUE(mine.turn("layer", 0ms));
    }
}

TEST_F(LeasesTest, MeetThroughLinks) {
    ScratchFolder::write(database_, "");
    std::filesystem::create_symlink(database_, folder_ / "link.db");
    const Leases a = another();
    const Result<Leases> b = Leases::open(folder_ / "link.db");
    ASSERT_TRUE(b.ok());
    const auto lease = a.try_take("layer", "candidate");
    EXPECT_FALSE(b->try_take("layer", "candidate"));
    EXPECT_EQ(ScratchFolder::read(folder_ / "k.db-leases"), "") << "locks leave nothing in the file";
}

TEST_F(LeasesTest, SayWhereTheyCannotBe) {
    const Result<Leases> leases = Leases::open("/proc/k.db");
    ASSERT_FALSE(leases.ok());
    EXPECT_EQ(leases.error().code, ErrorCode::environment);
    EXPECT_NE(leases.error().message.find("/proc/k.db-leases: cannot be opened"), std::string::npos)
        << leases.error().message;
}

TEST_F(LeasesTest, WhatSomebodyElsePutThereIsNotLocked) {
    const std::string path = database_ + "-leases";
    ASSERT_EQ(mkfifo(path.c_str(), 0666), 0);
    EXPECT_NE(Leases::open(database_).error().message.find("is no regular file"), std::string::npos);
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
    EXPECT_FALSE(Leases::open(database_).ok());
    std::filesystem::remove(path);
    std::filesystem::create_symlink(folder_ / "elsewhere", path);
    EXPECT_FALSE(Leases::open(database_).ok());
    EXPECT_FALSE(std::filesystem::exists(folder_ / "elsewhere"));
}

}  // namespace
}  // namespace kiln
