// A child process as long as it runs. It dies with this object and with this process (also at kill -9), together with
// its process group.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "tuner/process/descriptor.h"
#include "workload/result.h"

namespace kiln {

struct ChildStart {
    std::vector<std::string> arguments;  // [0] is the path of the executable
    int input, output, error_output;     // descriptors that become its stdin, stdout and stderr
    int64_t memory_limit_bytes = 0;      // of address space (RLIMIT_AS), or this process's limit; 0: none
    std::optional<int> cpu;              // pin the child to this one
    std::optional<int> avoid_cpu;        // keep it off this one, where there are others
};

class StartedChild {
public:
    StartedChild(StartedChild &&other) noexcept;
    StartedChild &operator=(StartedChild &&) = delete;
    ~StartedChild();

    int handle() const { return handle_.get(); }  // pidfd: readable when the child has ended

    // The CPU time of all its threads so far, without its own children; 0 where it has ended.
    int64_t cpu_ns() const;

    // Kills what is left of the group and waits for the child itself.
    void reap(int &status, rusage &usage);

private:
    friend Result<StartedChild> start_child(const ChildStart &request);
    StartedChild(pid_t pid, Descriptor handle);

    pid_t pid_;
    Descriptor handle_;
};

// Errors (environment): the executable cannot be started.
Result<StartedChild> start_child(const ChildStart &request);

// Where this process was started without stdin or stdout, new descriptors would take their numbers.
Descriptor above_stdio(Descriptor descriptor);

struct Pipe {
    Descriptor read, write;
};
Result<Pipe> make_pipe();  // close-on-exec

}  // namespace kiln
