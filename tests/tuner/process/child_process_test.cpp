#include "tuner/process/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/database/scratch_folder.h"
#include "tuner/process/descriptor.h"
#include "tuner/process/executables.h"
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

// For what belongs to a process and cannot be taken back. Exit status 0 is success.
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
    EXPECT_EQ(describe({.end = ChildResult::End::timed_out, .wall_ns = 9, .spent_cpu_ns = 2'000'000'000}),
              "no end after 2.0 s of CPU time");
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

TEST(RunChildTest, CpuTimeIsNotWallTime) {
    ChildRequest request = shell("while :; do :; done");
    request.time_limit_ns = 200'000'000'000;
    request.cpu_limit_ns = 300'000'000;
    const ChildResult spun = run(request);
    EXPECT_EQ(spun.end, ChildResult::End::timed_out);
    ASSERT_TRUE(spun.spent_cpu_ns);
    EXPECT_GE(*spun.spent_cpu_ns, 300'000'000);
    EXPECT_LT(*spun.spent_cpu_ns, 5'000'000'000);
    EXPECT_NE(describe(spun).find(" s of CPU time"), std::string::npos) << describe(spun);

    request.arguments[2] = "sleep 1; exit 5";
    const ChildResult slept = run(request);
    EXPECT_EQ(slept.end, ChildResult::End::exited) << describe(slept);
    EXPECT_EQ(slept.code, 5);

    request.arguments[2] = "sleep 1000";
    request.time_limit_ns = 500'000'000;
    const ChildResult hung = run(request);
    EXPECT_EQ(hung.end, ChildResult::End::timed_out);
    EXPECT_FALSE(hung.spent_cpu_ns);
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

TEST(RunChildTest, AMemoryLimitIsAtMostThisProcesssOwn) {
    expect_success_in_fork([] {
        const rlimit hard = {rlim_t(1) << 30, rlim_t(1) << 30};
        setrlimit(RLIMIT_AS, &hard);
        ChildRequest request = shell("ulimit -v");
        request.memory_limit_bytes = int64_t(6) << 30;
        const auto result = run_child(request);
        return result.ok() && result->output == "1048576\n" ? 0 : 1;
    });
}

TEST(RunChildTest, VariablesThatChangeWhatIsBuiltDoNotReachAChild) {
    expect_success_in_fork([] {
        for (const char *name : {"HL_LLVM_ARGS", "LD_PRELOAD", "LD_AUDIT", "LDEMULATION", "MALLOC_ARENA_MAX", "LC_ALL",
                                 "LANGUAGE", "LD_LIBRARY_PATH", "KILN_TEST_KEPT"}) {
            setenv(name, "outside", 1);
        }
        const auto result = run_child(shell("env | grep outside | sort; echo $LC_ALL"));
        return result.ok() && result->output == "KILN_TEST_KEPT=outside\nLD_LIBRARY_PATH=outside\nC.UTF-8\n" ? 0 : 1;
    });
}

TEST(RunChildTest, TimeThatThisProcessWasStoppedIsNotTheChilds) {
    expect_success_in_fork([] {
        const pid_t runner = fork();
        if (runner == 0) {
            ChildRequest request = shell("sleep 2.5");
            request.time_limit_ns = 2'000'000'000;
            const auto result = run_child(request);
            _exit(result.ok() && result->end == ChildResult::End::exited ? 0 : 1);
        }
        std::this_thread::sleep_for(300ms);
        kill(runner, SIGSTOP);
        std::this_thread::sleep_for(2s);
        kill(runner, SIGCONT);
        int status = 0;
        waitpid(runner, &status, 0);
        return status;
    });
}

TEST(RunChildTest, EndsWhenNobodyWantsItAnyMore) {
    ChildRequest request = shell("sleep 1000");
    const auto start = std::chrono::steady_clock::now();
    request.is_over = [&] { return std::chrono::steady_clock::now() - start > 200ms; };
    const auto result = run_child(request);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::interrupted);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
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

TEST(FindExecutable, PassesOverFoldersThatAreRelative) {
    const ScratchFolder folder;
    for (const char *name : {"found", "passed_over"}) {
        std::filesystem::create_directory(folder / name);
        ScratchFolder::write((folder / name) + "/tool", "#!/bin/sh\n");
        std::filesystem::permissions((folder / name) + "/tool", std::filesystem::perms(0755));
    }
    std::filesystem::create_directories(folder / "folders/tool");
    const std::string before = getenv("PATH");
    const auto here = std::filesystem::current_path();
    std::filesystem::current_path(folder / "passed_over");
    for (const std::string path : {".:", ":", "", "../passed_over:", "folders:"}) {
        setenv("PATH", (path + ":" + (folder / "folders") + ":" + (folder / "found")).c_str(), 1);
        EXPECT_EQ(find_executable("tool"), folder / "found/tool") << path;
    }
    setenv("PATH", ".::", 1);
    EXPECT_EQ(find_executable("tool"), "");
    setenv("PATH", before.c_str(), 1);
    std::filesystem::current_path(here);
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
