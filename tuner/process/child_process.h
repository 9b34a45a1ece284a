// Runs one child process to its end: builders and measuring processes. A child never outlives its parent (it dies with
// it, also at kill -9), its process group, or its limits; what it prints is collected.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "workload/result.h"

namespace kiln {

struct ChildRequest {
    std::vector<std::string> arguments;      // [0] is the path of the executable
    std::string input;                       // for its stdin
    int64_t time_limit_ns = 60'000'000'000;  // while this process runs, too; then the process group is killed
    std::optional<int64_t> cpu_limit_ns;     // likewise, of the time that CPUs spend in the child's own threads
    int64_t memory_limit_bytes = 0;          // of address space; 0: none, see ChildStart
    std::optional<int> cpu;                  // pin the child to this one
    std::optional<int> avoid_cpu;            // keep it off this one, where there are others
    int cancelled = -1;                      // a descriptor; readable: the child is no longer wanted
    std::function<bool()> is_over;           // asked now and then; true: it is no longer wanted either
    size_t output_limit_bytes = 1 << 20;     // of stdout and of stderr each; the rest is read and dropped
};

struct ChildResult {
    enum class End { exited, signalled, timed_out } end = End::exited;
    int code = 0;  // exit status or signal number
    std::string output, error_output;
    int64_t peak_resident_bytes = 0;
    int64_t wall_ns = 0;
    std::optional<int64_t> spent_cpu_ns;  // where it timed out by the limit of CPU time
};

// Errors: the executable cannot be started (environment), or the user interrupted or the request was
// cancelled (interrupted; the child is killed).
Result<ChildResult> run_child(const ChildRequest &request);

// "signal 11 (SIGSEGV)", "exit status 3", "no end after 10.0 s", "no end after 10.0 s of CPU time".
std::string describe(const ChildResult &result);

}  // namespace kiln
