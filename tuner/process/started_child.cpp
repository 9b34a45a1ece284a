#include "tuner/process/started_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tuner/process/address_space.h"
#include "tuner/process/executables.h"

namespace kiln {

namespace {

// AddressSanitizer maps terabytes of address space in every process that is built with it.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool may_limit_address_space = false;
#else
constexpr bool may_limit_address_space = true;
#endif

Error system_error(const std::string &what) { return environment_error(fmt::format("{}: {}", what, strerror(errno))); }

// As exec takes them: pointers into texts that live longer, and null.
std::vector<char *> pointers(const std::vector<std::string> &texts) {
    std::vector<char *> result;
    for (const std::string &text : texts) {
        result.push_back(const_cast<char *>(text.c_str()));
    }
    result.push_back(nullptr);
    return result;
}

struct Program {
    std::vector<char *> argv, environment;
};

// Between fork and exec; only async-signal-safe calls. `exec_error` receives errno where exec fails; exec closes it.
[[noreturn]] void become(const ChildStart &request, const Program &program, int exec_error, pid_t parent) {
    // The child dies with its parent. Where the parent died before this call, nobody would tell.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(127);
    }
    setpgid(0, 0);
    // What this process handles is reset by exec. What it ignores stays ignored: SIGHUP under nohup, and SIGXFSZ, so that
    // a file that grows too large is an error and no crash.
    signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);

    // Ours close themselves at exec; others of this process may not.
    syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);

    const rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    bool ready = true;
    if (request.memory_limit_bytes > 0 && may_limit_address_space) {
        const rlim_t bytes = rlim_t(std::min(request.memory_limit_bytes, most_address_space()));
        const rlimit limit = {bytes, bytes};
        ready = setrlimit(RLIMIT_AS, &limit) == 0;
    }
    if (request.cpu) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(*request.cpu, &set);
        ready = ready && sched_setaffinity(0, sizeof(set), &set) == 0;
    }
    if (request.avoid_cpu) {
        cpu_set_t set;
        if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_ISSET(*request.avoid_cpu, &set) &&
            CPU_COUNT(&set) > 1) {
            CPU_CLR(*request.avoid_cpu, &set);
            ready = ready && sched_setaffinity(0, sizeof(set), &set) == 0;
        }
    }
    if (ready && dup2(request.input, 0) >= 0 && dup2(request.output, 1) >= 0 && dup2(request.error_output, 2) >= 0) {
        execve(program.argv[0], program.argv.data(), program.environment.data());
    }
    const int error = errno;
    [[maybe_unused]] const auto written = write(exec_error, &error, sizeof(error));
    _exit(127);
}

}  // namespace

Descriptor above_stdio(Descriptor descriptor) {
    if (descriptor.get() > 2 || !descriptor.valid()) {
        return descriptor;
    }
    return Descriptor(fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 3));
}

Result<Pipe> make_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return system_error("cannot make a pipe");
    }
    return Pipe{above_stdio(Descriptor(ends[0])), above_stdio(Descriptor(ends[1]))};
}

StartedChild::StartedChild(pid_t pid, Descriptor handle) : pid_(pid), handle_(std::move(handle)) {}

StartedChild::StartedChild(StartedChild &&other) noexcept
    : pid_(std::exchange(other.pid_, -1)), handle_(std::move(other.handle_)) {}

StartedChild::~StartedChild() {
    if (pid_ > 0) {
        int status;
        rusage usage;
        reap(status, usage);
    }
}

int64_t StartedChild::cpu_ns() const {
    clockid_t clock = 0;
    timespec spent = {};
    if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &spent) != 0) {
        return 0;
    }
    return int64_t(spent.tv_sec) * 1'000'000'000 + spent.tv_nsec;
}

void StartedChild::reap(int &status, rusage &usage) {
    // The child is not yet reaped here, so its number cannot have become somebody else's.
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);
    while (wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    pid_ = -1;
}

Result<StartedChild> start_child(const ChildStart &request) {
    auto exec_error = make_pipe();
    if (!exec_error) {
        return exec_error.error();
    }
    const std::vector<std::string> environment = environment_of_children();
    const Program program = {pointers(request.arguments), pointers(environment)};
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0) {
        return system_error("cannot start a process");
    }
    if (pid == 0) {
        become(request, program, exec_error->write.get(), parent);
    }
    setpgid(pid, pid);  // here too: the group must exist before it may have to be killed
    // By number: the header of glibc 2.36 declares pidfd_open without C linkage.
    StartedChild child(pid, Descriptor(int(syscall(SYS_pidfd_open, pid, 0))));
    if (child.handle() < 0) {
        return system_error("cannot watch a child process");
    }
    exec_error->write.reset();
    int exec_errno = 0;
    if (read(exec_error->read.get(), &exec_errno, sizeof(exec_errno)) == sizeof(exec_errno)) {
        return environment_error(fmt::format("{}: cannot be started: {}", request.arguments[0], strerror(exec_errno)));
    }
    return child;
}

}  // namespace kiln
