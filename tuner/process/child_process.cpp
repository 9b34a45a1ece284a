#include "tuner/process/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "tuner/process/descriptor.h"
#include "tuner/process/interrupt.h"
#include "tuner/process/started_child.h"

namespace kiln {

namespace {

int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

Error system_error(const std::string &what) { return environment_error(fmt::format("{}: {}", what, strerror(errno))); }

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

enum class Wake { ended, timed_out, used_up_cpu, interrupted };

// Collects output until the child ends, its time is over, the user interrupts or nobody wants it any more. Where this
// process was stopped meanwhile (Ctrl-Z), or all were, the child gets that time, too.
Wake wait_for(const StartedChild &child, std::array<Stream, 2> &streams, const ChildRequest &request,
              int64_t deadline_ns) {
    constexpr int64_t look_up_ns = 100'000'000, stopped_ns = 1'000'000'000;
    int64_t looked_up_ns = now_ns();
    for (;;) {
        std::array<pollfd, 5> polled = {{{child.handle(), POLLIN, 0},
                                         {request.cancelled, POLLIN, 0},
                                         {interrupt_descriptor(), POLLIN, 0},
                                         {streams[0].descriptor.get(), POLLIN, 0},
                                         {streams[1].descriptor.get(), POLLIN, 0}}};
        const timespec timeout = {0, std::clamp<int64_t>(deadline_ns - now_ns(), 0, look_up_ns)};
        const int ready = ppoll(polled.data(), polled.size(), &timeout, nullptr);
        if (interrupted() || (ready > 0 && polled[1].revents) || (request.is_over && request.is_over())) {
            return Wake::interrupted;
        }
        const int64_t away_ns = now_ns() - std::exchange(looked_up_ns, now_ns());
        if (away_ns > stopped_ns) deadline_ns += away_ns;
        for (Stream &stream : streams) {
            drain(stream);
        }
        if (ready > 0 && polled[0].revents) {
            return Wake::ended;
        }
        if (now_ns() >= deadline_ns) {
            return Wake::timed_out;
        }
        if (request.cpu_limit_ns && child.cpu_ns() >= *request.cpu_limit_ns) {
            return Wake::used_up_cpu;
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
    auto output = make_pipe(), error_output = make_pipe();
    for (const auto *result : {&output, &error_output}) {
        if (!result->ok()) {
            return result->error();
        }
    }
    if (!input) {
        return input.error();
    }
    const int64_t start_ns = now_ns();
    auto child = start_child({.arguments = request.arguments,
                              .input = input->get(),
                              .output = output->write.get(),
                              .error_output = error_output->write.get(),
                              .memory_limit_bytes = request.memory_limit_bytes,
                              .cpu = request.cpu,
                              .avoid_cpu = request.avoid_cpu});
    if (!child) {
        return child.error();
    }
    output->write.reset();
    error_output->write.reset();

    ChildResult result;
    std::array<Stream, 2> streams = {
        {{std::move(output->read), &result.output, request.output_limit_bytes},
         {std::move(error_output->read), &result.error_output, request.output_limit_bytes}}};
    for (Stream &stream : streams) {
        fcntl(stream.descriptor.get(), F_SETFL, O_NONBLOCK);
    }
    const Wake wake = wait_for(*child, streams, request, start_ns + request.time_limit_ns);
    const int64_t cpu_ns = wake == Wake::used_up_cpu ? child->cpu_ns() : 0;
    int status = 0;
    rusage usage = {};
    child->reap(status, usage);
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
    } else if (wake == Wake::used_up_cpu) {
        result.end = ChildResult::End::timed_out;
        result.spent_cpu_ns = cpu_ns;
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
            return fmt::format("no end after {:.1f} s{}", double(result.spent_cpu_ns.value_or(result.wall_ns)) * 1e-9,
                               result.spent_cpu_ns ? " of CPU time" : "");
        case ChildResult::End::signalled:
            break;
    }
    const char *name = sigabbrev_np(result.code);
    return name ? fmt::format("signal {} (SIG{})", result.code, name) : fmt::format("signal {}", result.code);
}

}  // namespace kiln
