#include "tuner/process/temporary_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/database/scratch_folder.h"

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

// In a process of its own, since the environment is the process's. Exit status 0 is success.
void expect_success_with(const std::string &tmpdir, int (*test)()) {
    const pid_t pid = fork();
    if (pid == 0) {
        setenv("TMPDIR", tmpdir.c_str(), 1);
        _exit(test());
    }
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0) << tmpdir;
}

constexpr const char *marker = "A work folder of kiln, which the next kiln removes where this one was killed.\n";

TEST(TemporaryFolderTest, RemovesNothingElse) {
    const ScratchFolder scratch;
    const struct {
        const char *name;
        std::string marker_text;  // empty: no marker
        fs::perms mode;
        bool is_removed;
    } table[] = {
        {"kiln-work-abc123", marker, fs::perms(0700), true},
        {"kiln-work-abc124", "", fs::perms(0700), false},
        {"kiln-work-abc125", "another text", fs::perms(0700), false},
        {"kiln-work-abc126", std::string(marker) + "more", fs::perms(0700), false},
        {"kiln-work-abc127", marker, fs::perms(0755), false},
        {"kiln-work-results", marker, fs::perms(0700), false},
        {"kiln-work-abc12", marker, fs::perms(0700), false},
        {"kiln-work-abc.12", marker, fs::perms(0700), false},
        {"my-kiln-work-abc123", marker, fs::perms(0700), false},
    };
    for (const auto &row : table) {
        const fs::path folder = scratch / row.name;
        fs::create_directory(folder);
        ScratchFolder::write(folder / "results.txt", "of years");
        if (!row.marker_text.empty()) ScratchFolder::write(folder / ".kiln-work", row.marker_text);
        fs::permissions(folder, row.mode);
    }
    const fs::path elsewhere = scratch / "elsewhere";
    fs::create_directory(elsewhere);
    ScratchFolder::write(elsewhere / ".kiln-work", marker);
    fs::permissions(elsewhere, fs::perms(0700));
    fs::create_directory_symlink(elsewhere, scratch / "kiln-work-link01");
    ScratchFolder::write(scratch / "kiln-work-file01", "a file");
    expect_success_with(scratch / "", [] { return TemporaryFolder::create().ok() ? 0 : 1; });
    for (const auto &row : table) EXPECT_EQ(!fs::exists(scratch / row.name), row.is_removed) << row.name;
    EXPECT_TRUE(fs::exists(elsewhere / ".kiln-work"));
    EXPECT_TRUE(fs::is_symlink(scratch / "kiln-work-link01"));
    EXPECT_TRUE(fs::exists(scratch / "kiln-work-file01"));
}

TEST(TemporaryFolderTest, AnUnusablePlaceIsAnErrorThatNamesIt) {
    expect_success_with("/nowhere", [] {
        const auto folder = TemporaryFolder::create();
        return !folder.ok() && folder.error().code == ErrorCode::environment &&
                       folder.error().message.starts_with("/nowhere: cannot make a temporary folder")
                   ? 0
                   : 1;
    });
    expect_success_with("/dev/null", [] { return TemporaryFolder::create().ok() ? 1 : 0; });
}

TEST(TemporaryFolderTest, APlaceWhereEverybodyMayExchangeFilesIsRefused) {
    const ScratchFolder scratch;
    fs::create_directories(scratch / "open/own");
    for (const int mode : {0777, 0733, 0702}) {
        fs::permissions(scratch / "open", fs::perms(mode));
        for (const char *place : {"open", "open/own"}) {
            expect_success_with(scratch / place, [] {
                const auto folder = TemporaryFolder::create();
                return !folder.ok() &&
                               folder.error().message.find("/open: everybody may remove") != std::string::npos &&
                               folder.error().message.find("TMPDIR") != std::string::npos
                           ? 0
                           : 1;
            });
        }
    }
    for (const int mode : {01777, 0755, 0775, 0700}) {
        fs::permissions(scratch / "open", fs::perms(mode));
        for (const char *place : {"open", "open/own"}) {
            expect_success_with(scratch / place, [] { return TemporaryFolder::create().ok() ? 0 : 1; });
        }
    }
}

TEST(TemporaryFolderTest, APlaceMayBeRelativeAndHaveBlanks) {
    const ScratchFolder scratch;
    fs::create_directory(scratch / "with a blank");
    expect_success_with(scratch / "with a blank", [] { return TemporaryFolder::create().ok() ? 0 : 1; });
    const fs::path before = fs::current_path();
    fs::current_path(scratch / "");
    expect_success_with("with a blank", [] {
        const auto folder = TemporaryFolder::create();
        return folder.ok() && fs::path(folder->path()).is_absolute() && fs::exists(folder->path()) ? 0 : 1;
    });
    fs::remove_all(scratch / "");
    expect_success_with("with a blank", [] {
        const auto folder = TemporaryFolder::create();
        return !folder.ok() && folder.error().message.find("with a blank") != std::string::npos ? 0 : 1;
    });
    fs::current_path(before);
}

}  // namespace
}  // namespace kiln
