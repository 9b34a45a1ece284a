#include "tuner/process/measuring_lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

TEST(MeasuringLock, OneHolderAtATime) {
    const ScratchFolder folder;
    const std::string path = folder / "";
    std::atomic<int> holders = 0, most = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([&] {
            for (int i = 0; i < 20; i++) {
                const auto lock = MeasuringLock::acquire(path);
                ASSERT_TRUE(lock.ok());
                most = std::max(most.load(), ++holders);
                std::this_thread::yield();
                holders--;
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(most, 1);
}

TEST(MeasuringLock, TellsWhoIsWaitedFor) {
    const ScratchFolder folder;
    const std::string path = folder / "";
    Result<MeasuringLock> first = MeasuringLock::acquire(path);
    ASSERT_TRUE(first.ok());
    std::optional<LockHolder> holder;
    std::atomic<bool> is_told = false;
    const LockWait wait{.on_wait =
                            [&](const std::optional<LockHolder> &h) {
                                if (!is_told) holder = h;
                                is_told = true;
                            },
                        .is_over = {}};
    std::thread second([&] { EXPECT_TRUE(MeasuringLock::acquire(path, wait).ok()); });
    while (!is_told) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    first = Error{};
    second.join();
    ASSERT_TRUE(holder) << "/proc/locks names it";
    EXPECT_EQ(holder->process, getpid());
    EXPECT_NE(holder->command.find("process_tests"), std::string::npos) << holder->command;
    EXPECT_FALSE(holder->is_stopped);
}

TEST(MeasuringLock, TellsThatItsHolderIsStopped) {
    const ScratchFolder folder;
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t process = fork();
    if (process == 0) {
        const auto lock = MeasuringLock::acquire(folder / "");
        [[maybe_unused]] const auto written = write(ready[1], "x", 1);
        for (;;) pause();
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    kill(process, SIGSTOP);
    int status = 0;
    ASSERT_EQ(waitpid(process, &status, WUNTRACED), process);
    std::optional<LockHolder> holder;
    const auto lock = MeasuringLock::acquire(
        folder / "", {.on_wait = [&](const auto &h) { holder = h; }, .is_over = [&] { return holder.has_value(); }});
    kill(process, SIGKILL);
    waitpid(process, &status, 0);
    close(ready[0]);
    close(ready[1]);
    ASSERT_FALSE(lock.ok());
    EXPECT_EQ(lock.error().code, ErrorCode::interrupted);
    ASSERT_TRUE(holder);
    EXPECT_EQ(holder->process, process);
    EXPECT_TRUE(holder->is_stopped);
}

TEST(MeasuringLock, TheMachinesOneIsNobodysToReplace) {
    const std::string path = machine_lock_path();
    struct stat status {};
    ASSERT_EQ(lstat(path.c_str(), &status), 0) << path;
    EXPECT_FALSE(path.starts_with("/tmp") || path.starts_with("/dev/shm")) << path;
    if (getuid() != status.st_uid) {
        EXPECT_NE(access(path.substr(0, path.rfind('/')).c_str(), W_OK), 0);
    }
}

TEST(MeasuringLock, WhatCannotBeLockedIsAnError) {
    const ScratchFolder folder;
    const std::string fifo = folder / "fifo", link = folder / "link";
    ASSERT_EQ(mkfifo(fifo.c_str(), 0666), 0);
    ASSERT_EQ(symlink("/dev/null", link.c_str()), 0);
    const std::pair<std::string, std::string> table[] = {
        {"/nonexistent/folder/lock", ": cannot be opened: No such file or directory"},
        {fifo, ": is no file or folder that could be locked"},
        {link, ": cannot be opened: Too many levels of symbolic links"},
    };
    for (const auto &[path, says] : table) {
        const auto lock = MeasuringLock::acquire(path);
        ASSERT_FALSE(lock.ok()) << path;
        EXPECT_EQ(lock.error().code, ErrorCode::environment);
        EXPECT_NE(lock.error().message.find(path + says), std::string::npos) << lock.error().message;
    }
}

}  // namespace
}  // namespace kiln
