#include "tuner/process/temporary_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace kiln {
namespace {

namespace fs = std::filesystem;

TEST(TemporaryFolderTest, IsRemovedWithItsContents) {
    std::string path;
    {
        auto folder = TemporaryFolder::create();
        ASSERT_TRUE(folder.ok()) << folder.error().message;
        path = folder->path();
        EXPECT_TRUE(fs::is_directory(path));
        fs::create_directory(path + "/inner");
        std::ofstream(path + "/inner/file") << "content";
        const TemporaryFolder moved = std::move(*folder);
        EXPECT_EQ(moved.path(), path);
        EXPECT_TRUE(fs::exists(path));
    }
    EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFolderTest, RemovesWhatAKilledJobLeft) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        const auto folder = TemporaryFolder::create();
        std::ofstream(folder->path() + "/file") << "content";
        [[maybe_unused]] const auto written = write(ends[1], folder->path().data(), folder->path().size());
        pause();
    }
    char text[256] = {};
    ASSERT_GT(read(ends[0], text, sizeof(text) - 1), 0);
    close(ends[0]);
    close(ends[1]);
    EXPECT_TRUE(TemporaryFolder::create().ok());
    EXPECT_TRUE(fs::exists(text)) << "its job is alive";
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    EXPECT_TRUE(fs::exists(text));
    EXPECT_TRUE(TemporaryFolder::create().ok());
    EXPECT_FALSE(fs::exists(text));
}

TEST(TemporaryFolderTest, AnUnusablePlaceIsAnErrorThatNamesIt) {
    const pid_t pid = fork();  // the environment is the process's
    if (pid == 0) {
        setenv("TMPDIR", "/nowhere", 1);
        const auto folder = TemporaryFolder::create();
        _exit(!folder.ok() && folder.error().code == ErrorCode::environment &&
                      folder.error().message.starts_with("/nowhere: cannot make a temporary folder")
                  ? 0
                  : 1);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace kiln
