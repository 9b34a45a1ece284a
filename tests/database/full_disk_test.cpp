// A disk that is full, a real one: a small tmpfs in a mount namespace of the test's own.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "database/trial_store.h"
#include "tests/database/sample_records.h"
#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

constexpr int cannot_mount = 77;

// In a process of its own, which sees `folder` as an empty disk of so many bytes; exit status of `test`.
int on_small_disk(const std::string &folder, int bytes, int (*test)(const std::string &)) {
    const pid_t child = ::fork();
    if (child == 0) {
        const int spaces = CLONE_NEWNS | (::geteuid() == 0 ? 0 : CLONE_NEWUSER);
        const std::string size = "size=" + std::to_string(bytes);
        if (::unshare(spaces) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount("tmpfs", folder.c_str(), "tmpfs", 0, size.c_str()) != 0) {
            ::_exit(cannot_mount);
        }
        ::_exit(test(folder));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Trial large_trial(int number) {
    Trial t = sample_failure();
    t.stderr_text = std::string(3000, 'e') + std::to_string(number);
    return t;
}

// Appends until the disk is full, then makes room and goes on: what was acknowledged is there at every step.
int fill_and_go_on(const std::string &folder) {
    const std::string path = folder + "/k.db", filler = folder + "/filler";
    ScratchFolder::write(filler, std::string(100 << 10, 'x'));
    Result<TrialStore> store = TrialStore::open(path, OpenMode::create);
    EXPECT_TRUE(store.ok()) << store.error().message;
    std::set<std::string> acknowledged;
    std::string message;
    for (int i = 0; i < 1000 && message.empty(); ++i) {
        const Result<std::string> id = store->append(large_trial(i), std::nullopt);
        if (id) {
            acknowledged.insert(*id);
            continue;
        }
        message = id.error().message;
        EXPECT_EQ(id.error().code, ErrorCode::environment) << message;
    }
    EXPECT_NE(message.find("k.db"), std::string::npos) << message;
    EXPECT_NE(message.find("full"), std::string::npos) << message;
    EXPECT_NE(message.find("make room"), std::string::npos) << message;
    EXPECT_GT(acknowledged.size(), 3u);

    const auto expect_whole = [&](size_t trials) {
        const Result<TrialStore> reader = TrialStore::open(path, OpenMode::read_only);
        EXPECT_TRUE(reader.ok()) << reader.error().message;
        if (!reader) return;
        const Status status = reader->verify();
        EXPECT_TRUE(status.ok()) << status.error().message;
        EXPECT_EQ(reader->trials({})->size(), trials);
        for (const std::string &id : acknowledged) EXPECT_TRUE(reader->trial(id)->has_value()) << id;
    };
    expect_whole(acknowledged.size());  // while the disk is still full
    ::unlink(filler.c_str());
    EXPECT_TRUE(store->append(large_trial(2000), std::nullopt).ok()) << "the same store goes on";
    expect_whole(acknowledged.size() + 1);
    return ::testing::Test::HasFailure() ? 1 : 0;
}

// No room even to begin: a message, and a file that can be used once there is room.
int begin_without_room(const std::string &folder) {
    const std::string path = folder + "/k.db", filler = folder + "/filler";
    ScratchFolder::write(filler, std::string(300 << 10, 'x'));
    const Result<TrialStore> none = TrialStore::open(path, OpenMode::create);
    EXPECT_TRUE(!none && none.error().message.find("make room") != std::string::npos);
    ::unlink(filler.c_str());
    Result<TrialStore> store = TrialStore::open(path, OpenMode::create);
    EXPECT_TRUE(store.ok()) << store.error().message;
    EXPECT_TRUE(store.ok() && store->append(sample_failure(), std::nullopt).ok());
    return ::testing::Test::HasFailure() ? 1 : 0;
}

TEST(FullDisk, LosesNothingAcknowledged) {
    for (const auto test : {fill_and_go_on, begin_without_room}) {
        const ScratchFolder folder;
        const int status = on_small_disk(folder / ".", 300 << 10, test);
        if (status == cannot_mount) GTEST_SKIP() << "a file system cannot be mounted here";
        EXPECT_EQ(status, 0);
    }
}

}  // namespace
}  // namespace kiln
