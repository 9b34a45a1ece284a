#include "tuner/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "tuner/descriptor.h"
#include "tuner/interrupt.h"

namespace kiln {

namespace {

int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

Error system_error(const std::string &what) { return environment_error(fmt::format("{}: {}", what, strerror(errno))); }

// Where this process was started without stdin or stdout, new descriptors would take their numbers.
Descriptor above_stdio(Descriptor descriptor) {
    if (descriptor.get() > 2 || !descriptor.valid()) {
        return descriptor;
    }
    return Descriptor(fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 3));
}

struct Pipe {
    Descriptor read, write;
};

Result<Pipe> make_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return system_error("cannot make a pipe");
    }
    return Pipe{above_stdio(Descriptor(ends[0])), above_stdio(Descriptor(ends[1]))};
}

// A memory file rather than a pipe: nothing to write while the child runs, and no SIGPIPE where it does not read.
Result<Descriptor> input_file(const std::string &input) {
    Descriptor file = above_stdio(Descriptor(memfd_create("kiln-stdin", MFD_CLOEXEC)));
    size_t written = 0;
    while (file.valid() && written < input.size()) {
        const ssize_t n = write(file.get(), input.data() + written, input.size() - written);
        if (n < 0 && errno != EINTR) {
            return system_error("cannot write a child's input");
        }
        written += size_t(std::max<ssize_t>(n, 0));
    }
    if (!file.valid() || lseek(file.get(), 0, SEEK_SET) != 0) {
        return system_error("cannot make a child's input");
    }
    return file;
}

struct Streams {
    int input, output, error_output;
    int exec_error;  // receives errno where exec fails; exec itself closes it
};

// Between fork and exec; only async-signal-safe calls. Does not return.
[[noreturn]] void become(const ChildRequest &request, char *const *argv, const Streams &streams, pid_t parent) {
    // The child dies with its parent. Where the parent died before this call, nobody would tell.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(127);
    }
    setpgid(0, 0);
    for (const int number : {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGQUIT}) {
        signal(number, SIG_DFL);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);

    // Ours close themselves at exec; others of this process may not.
    syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);

    const rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    bool ready = true;
    if (request.memory_limit_bytes > 0) {
        const rlimit limit = {rlim_t(request.memory_limit_bytes), rlim_t(request.memory_limit_bytes)};
        ready = setrlimit(RLIMIT_AS, &limit) == 0;
    }
    if (request.cpu) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(*request.cpu, &set);
        ready = ready && sched_setaffinity(0, sizeof(set), &set) == 0;
    }
    if (ready && dup2(streams.input, 0) >= 0 && dup2(streams.output, 1) >= 0 && dup2(streams.error_output, 2) >= 0) {
        execv(argv[0], argv);
    }
    const int error = errno;
    [[maybe_unused]] const auto written = write(streams.exec_error, &error, sizeof(error));
    _exit(127);
}

// A started child; its group is killed and it is reaped when this goes out of scope, whatever happened before.
class Child {
public:
    Child(pid_t pid, Descriptor handle) : pid_(pid), handle_(std::move(handle)) {}
    Child(const Child &) = delete;
    Child &operator=(const Child &) = delete;
    ~Child() {
        if (pid_ > 0) {
            int status;
            rusage usage;
            reap(status, usage);
        }
    }

    int handle() const { return handle_.get(); }

    // The child is not yet reaped here, so its number cannot have become somebody else's.
    void kill_group() const {
        kill(-pid_, SIGKILL);
        kill(pid_, SIGKILL);
    }

    // Kills what is left of the group and waits for the child itself.
    void reap(int &status, rusage &usage) {
        kill_group();
        while (wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
        }
        pid_ = -1;
    }

private:
    pid_t pid_;
    Descriptor handle_;  // pidfd: readable when the child has ended
};

struct Stream {
    Descriptor descriptor;
    std::string *text;
    size_t limit;
};

// Takes what is there without waiting. Closes at the end of the stream.
void drain(Stream &stream) {
    std::array<char, 65536> chunk;
    while (stream.descriptor.valid()) {
        const ssize_t n = read(stream.descriptor.get(), chunk.data(), chunk.size());
        if (n > 0) {
            stream.text->append(chunk.data(), std::min(size_t(n), stream.limit - stream.text->size()));
        } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
            stream.descriptor.reset();
        } else if (errno == EAGAIN) {
            return;
        }
    }
}

enum class Wake { ended, timed_out, interrupted };

// Collects output until the child ends, its time is over or the user interrupts.
Wake wait_for(const Child &child, std::array<Stream, 2> &streams, int64_t deadline_ns) {
    for (;;) {
        std::array<pollfd, 4> polled = {{{child.handle(), POLLIN, 0},
                                         {interrupt_descriptor(), POLLIN, 0},
                                         {streams[0].descriptor.get(), POLLIN, 0},
                                         {streams[1].descriptor.get(), POLLIN, 0}}};
        const int64_t left_ns = std::max<int64_t>(0, deadline_ns - now_ns());
        const timespec timeout = {left_ns / 1'000'000'000, left_ns % 1'000'000'000};
        const int ready = ppoll(polled.data(), polled.size(), &timeout, nullptr);
        if (interrupted()) {
            return Wake::interrupted;
        }
        for (Stream &stream : streams) {
            drain(stream);
        }
        if (ready > 0 && polled[0].revents) {
            return Wake::ended;
        }
        if (now_ns() >= deadline_ns) {
            return Wake::timed_out;
        }
    }
}

Error interrupted_error() { return {ErrorCode::interrupted, "interrupted"}; }

}  // namespace

Result<ChildResult> run_child(const ChildRequest &request) {
    if (interrupted()) {
        return interrupted_error();
    }
    auto input = input_file(request.input);
    auto output = make_pipe(), error_output = make_pipe(), exec_error = make_pipe();
    for (const auto *result : {&output, &error_output, &exec_error}) {
        if (!result->ok()) {
            return result->error();
        }
    }
    if (!input) {
        return input.error();
    }
    std::vector<char *> argv;
    for (const std::string &argument : request.arguments) {
        argv.push_back(const_cast<char *>(argument.c_str()));
    }
    argv.push_back(nullptr);

    const int64_t start_ns = now_ns();
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0) {
        return system_error("cannot start a process");
    }
    if (pid == 0) {
        become(request, argv.data(),
               {input->get(), output->write.get(), error_output->write.get(), exec_error->write.get()}, parent);
    }
    setpgid(pid, pid);  // here too: the group must exist before it may have to be killed
    // By number: the header of glibc 2.36 declares pidfd_open without C linkage.
    Child child(pid, Descriptor(int(syscall(SYS_pidfd_open, pid, 0))));
    if (child.handle() < 0) {
        return system_error("cannot watch a child process");
    }
    output->write.reset();
    error_output->write.reset();
    exec_error->write.reset();

    int exec_errno = 0;
    if (read(exec_error->read.get(), &exec_errno, sizeof(exec_errno)) == sizeof(exec_errno)) {
        return environment_error(fmt::format("{}: cannot be started: {}", request.arguments[0], strerror(exec_errno)));
    }

    ChildResult result;
    std::array<Stream, 2> streams = {
        {{std::move(output->read), &result.output, request.output_limit_bytes},
         {std::move(error_output->read), &result.error_output, request.output_limit_bytes}}};
    for (Stream &stream : streams) {
        fcntl(stream.descriptor.get(), F_SETFL, O_NONBLOCK);
    }
    const Wake wake = wait_for(child, streams, start_ns + request.time_limit_ns);
    int status = 0;
    rusage usage = {};
    child.reap(status, usage);
    if (wake == Wake::interrupted) {
        return interrupted_error();
    }
    for (Stream &stream : streams) {
        drain(stream);
    }
    result.wall_ns = now_ns() - start_ns;
    result.peak_resident_bytes = int64_t(usage.ru_maxrss) * 1024;
    if (wake == Wake::timed_out) {
        result.end = ChildResult::End::timed_out;
    } else if (WIFSIGNALED(status)) {
        result.end = ChildResult::End::signalled;
        result.code = WTERMSIG(status);
    } else {
        result.code = WEXITSTATUS(status);
    }
    return result;
}

std::string describe(const ChildResult &result) {
    switch (result.end) {
        case ChildResult::End::exited:
            return fmt::format("exit status {}", result.code);
        case ChildResult::End::timed_out:
            return fmt::format("no end after {:.1f} s", double(result.wall_ns) * 1e-9);
        case ChildResult::End::signalled:
            break;
    }
    const char *name = sigabbrev_np(result.code);
    return name ? fmt::format("signal {} (SIG{})", result.code, name) : fmt::format("signal {}", result.code);
}

}  // namespace kiln
