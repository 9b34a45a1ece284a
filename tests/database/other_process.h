// What another process does to a database, for tests: it answers something, or it is killed.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

#include "database/sqlite.h"

namespace kiln {

// The answer of `action` in a process of its own, as an ordinary user when we are root, whom no permission stops.
inline std::string in_child(const std::function<std::string()> &action) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        if (::geteuid() == 0 && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(2);
        const std::string answer = action();
        const bool written = ::write(ends[1], answer.data(), answer.size()) == static_cast<ssize_t>(answer.size());
        ::_exit(written ? 0 : 1);
    }
    ::close(ends[1]);
    std::string answer;
    char buffer[4096];
    for (ssize_t n; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;) answer.append(buffer, static_cast<size_t>(n));
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    return answer;
}

// Leaves a journal behind that must be rolled back: a writer is killed after SQLite spilled half a transaction to the
// file.
inline void kill_in_transaction(const std::string &path, const std::string &statement) {
    const pid_t child = ::fork();
    if (child == 0) {
        Result<Connection> connection = Connection::open(path, OpenMode::write);
        if (!connection || !connection->run_script("PRAGMA cache_size = 5; BEGIN IMMEDIATE; " + statement)) ::_exit(1);
        ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    ASSERT_GT(std::filesystem::file_size(path + "-journal"), 0u);
}

}  // namespace kiln
