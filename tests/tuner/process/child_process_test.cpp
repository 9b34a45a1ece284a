#include "tuner/process/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tuner/process/descriptor.h"
#include "tuner/process/interrupt.h"

namespace kiln {
namespace {

using namespace std::chrono_literals;

ChildRequest shell(const std::string &script) {
    ChildRequest request;
    request.arguments = {"/bin/sh", "-c", script};
    request.time_limit_ns = 20'000'000'000;
    return request;
}

ChildResult run(const ChildRequest &request) {
    const auto result = run_child(request);
    EXPECT_TRUE(result.ok()) << result.error().message;
    return result.ok() ? *result : ChildResult();
}

// A process that ended but was not reaped yet (by init, in some containers late or never) is gone too.
bool is_alive(pid_t pid) {
    std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
    std::string text;
    std::getline(stat, text);
    const size_t name_end = text.rfind(')');
    return name_end != std::string::npos && name_end + 2 < text.size() && text[name_end + 2] != 'Z' &&
           text[name_end + 2] != 'X';
}

bool ends_soon(pid_t pid) {
    for (int i = 0; i < 500; i++) {
        if (!is_alive(pid)) {
            return true;
        }
        std::this_thread::sleep_for(10ms);
    }
    return false;
}

TEST(RunChildTest, HowItEnded) {
    struct Row {
        const char *script;
        ChildResult::End end;
        int code;
        const char *description;
    };
    const Row table[] = {
        {"exit 0", ChildResult::End::exited, 0, "exit status 0"},
        {"exit 3", ChildResult::End::exited, 3, "exit status 3"},
        {"kill -SEGV $$", ChildResult::End::signalled, SIGSEGV, "signal 11 (SIGSEGV)"},
        {"kill -KILL $$", ChildResult::End::signalled, SIGKILL, "signal 9 (SIGKILL)"},
    };
    for (const Row &row : table) {
        const ChildResult result = run(shell(row.script));
        EXPECT_EQ(result.end, row.end) << row.script;
        EXPECT_EQ(result.code, row.code) << row.script;
        EXPECT_EQ(describe(result), row.description);
    }
    EXPECT_EQ(describe({.end = ChildResult::End::timed_out, .wall_ns = 10'040'000'000}), "no end after 10.0 s");
}

TEST(RunChildTest, InputAndOutputs) {
    ChildRequest request = shell("cat; echo problem >&2");
    request.input = std::string(3 << 20, 'x');  // more than a pipe holds
    request.output_limit_bytes = 8 << 20;
    const ChildResult result = run(request);
    EXPECT_EQ(result.output, request.input);
    EXPECT_EQ(result.error_output, "problem\n");
    EXPECT_GT(result.wall_ns, 0);
    EXPECT_GT(result.peak_resident_bytes, 0);
}

TEST(RunChildTest, OutputBeyondTheLimitIsDropped) {
    ChildRequest request = shell("head -c 5000000 /dev/zero; head -c 5000000 /dev/zero >&2; exit 7");
    request.output_limit_bytes = 1000;
    const ChildResult result = run(request);
    EXPECT_EQ(result.code, 7);
    EXPECT_EQ(result.output.size(), 1000u);
    EXPECT_EQ(result.error_output.size(), 1000u);
}

TEST(RunChildTest, InputThatNobodyReads) {
    ChildRequest request = shell("exit 0");
    request.input = std::string(1 << 20, 'x');
    EXPECT_EQ(run(request).code, 0);
}

TEST(RunChildTest, TimeLimitKillsTheWholeGroup) {
    ChildRequest request = shell("sleep 1000 & echo $!; sleep 1000");
    request.time_limit_ns = 300'000'000;
    const ChildResult result = run(request);
    EXPECT_EQ(result.end, ChildResult::End::timed_out);
    EXPECT_LT(result.wall_ns, 5'000'000'000);
    EXPECT_TRUE(ends_soon(std::stoi(result.output)));
}

TEST(RunChildTest, WhatAChildLeavesBehindIsKilled) {
    // The background process keeps the pipe open: waiting for its end would take forever.
    const ChildResult result = run(shell("sleep 1000 & echo $!"));
    EXPECT_EQ(result.end, ChildResult::End::exited);
    EXPECT_LT(result.wall_ns, 5'000'000'000);
    EXPECT_TRUE(ends_soon(std::stoi(result.output)));
}

TEST(RunChildTest, MemoryLimit) {
    ChildRequest request = shell("ulimit -v; ulimit -c");
    request.memory_limit_bytes = 512 << 20;
    EXPECT_EQ(run(request).output, "524288\n0\n");
}

TEST(RunChildTest, PinsToOneCpu) {
    ChildRequest request = shell("grep Cpus_allowed_list /proc/self/status");
    request.cpu = 0;
    EXPECT_EQ(run(request).output, "Cpus_allowed_list:\t0\n");
    request.cpu = 1000;
    EXPECT_FALSE(run_child(request).ok());
}

TEST(RunChildTest, NoDescriptorsLeakIntoTheChild) {
    // ls itself opens one for the folder that it lists.
    EXPECT_EQ(run(shell("ls /proc/self/fd | wc -l")).output, "4\n");
}

TEST(RunChildTest, NoDescriptorsLeakHere) {
    const auto open_descriptors = [] {
        const std::filesystem::directory_iterator begin("/proc/self/fd");
        return std::distance(begin, std::filesystem::directory_iterator());
    };
    const auto before = open_descriptors();
    run(shell("exit 0"));
    (void)run_child({.arguments = {"/nowhere/at-all"}});
    EXPECT_EQ(open_descriptors(), before);
}

TEST(RunChildTest, WhatCannotBeStartedIsAnError) {
    for (const char *path : {"/nowhere/at-all", "/etc/passwd", "/tmp"}) {
        const auto result = run_child({.arguments = {path}});
        ASSERT_FALSE(result.ok()) << path;
        EXPECT_EQ(result.error().code, ErrorCode::environment);
        EXPECT_NE(result.error().message.find(std::string(path) + ": cannot be started: "), std::string::npos)
            << result.error().message;
    }
}

// The flag is the process's and cannot be taken back, so these tests fork. Exit status 0 is success.
void expect_success_in_fork(int (*test)()) {
    const pid_t pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
        _exit(test());
    }
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFEXITED(status)) << "status " << status;
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(InterruptTest, EndsTheWaitForAChild) {
    expect_success_in_fork([] {
        install_interrupt_handler();
        std::thread later([] {
            std::this_thread::sleep_for(200ms);
            kill(getpid(), SIGINT);
        });
        const auto result = run_child(shell("sleep 1000"));
        later.join();
        if (result.ok() || result.error().code != ErrorCode::interrupted || !interrupted()) {
            return 1;
        }
        return waitpid(-1, nullptr, WNOHANG) == -1 ? 0 : 2;  // and no child is left
    });
}

TEST(InterruptTest, NothingStartsAfterwards) {
    expect_success_in_fork([] {
        install_interrupt_handler();
        if (interrupted() || interrupt_descriptor() < 0) {
            return 1;
        }
        raise(SIGTERM);
        const auto result = run_child(shell("exit 0"));
        return !result.ok() && result.error().code == ErrorCode::interrupted ? 0 : 2;
    });
}

TEST(InterruptTest, ASecondSignalEndsTheProcess) {
    const pid_t pid = fork();
    if (pid == 0) {
        install_interrupt_handler();
        raise(SIGINT);
        raise(SIGINT);  // timeout(1) sends two at once
        if (!interrupted()) _exit(1);
        std::this_thread::sleep_for(200ms);
        raise(SIGINT);
        _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), SIGINT);
}

TEST(InterruptTest, AClosedTerminalIsAWishUnlessItIsIgnored) {
    expect_success_in_fork([] {
        signal(SIGHUP, SIG_IGN);
        install_interrupt_handler();
        raise(SIGHUP);
        if (interrupted()) {
            return 1;
        }
        signal(SIGHUP, SIG_DFL);
        install_interrupt_handler();
        raise(SIGHUP);
        std::this_thread::sleep_for(200ms);
        raise(SIGHUP);
        return interrupted() ? 0 : 2;
    });
}

TEST(ParentDeathTest, AChildDiesWithItsParent) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const Descriptor read_end(ends[0]);
    Descriptor write_end(ends[1]);
    const pid_t parent = fork();
    ASSERT_GE(parent, 0);
    if (parent == 0) {
        // The child tells its number through a file descriptor of this process.
        const std::string pipe_path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(write_end.get());
        (void)run_child(shell("echo $$ > " + pipe_path + "; exec sleep 1000"));
        _exit(0);
    }
    write_end.reset();
    char text[32] = {};
    ASSERT_GT(read(read_end.get(), text, sizeof(text) - 1), 0);
    const pid_t child = std::stoi(text);
    EXPECT_TRUE(is_alive(child));
    kill(parent, SIGKILL);
    waitpid(parent, nullptr, 0);
    EXPECT_TRUE(ends_soon(child));
}

}  // namespace
}  // namespace kiln
