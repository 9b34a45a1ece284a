#include "tuner/process/standard_streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "tuner/process/interrupt.h"

namespace kiln {
namespace {

using Clock = std::chrono::steady_clock;

// What a stream has for the C library to call. The streams belong to the process, and so do these.
struct Sink {
    int descriptor;
    bool patient;      // waits for a reader that is slow
    size_t piece = 0;  // bytes that a write takes without waiting, where poll() says that there is room
    int problem = 0;   // errno of the first text that was lost
};
Sink answer{STDOUT_FILENO, true}, messages{STDERR_FILENO, false};

constexpr auto moment = std::chrono::seconds(2);
constexpr int look_up_ms = 100;  // an interrupt that comes just before poll() does not end it

// Until there is room or nobody waits for it any more. A stream that has lost a text has used up its patience.
bool wait_for_room(const Sink &sink, Clock::time_point start) {
    for (;;) {
        pollfd polled = {sink.descriptor, POLLOUT, 0};
        const bool waits_on =
            (sink.patient && !interrupted()) || (sink.problem != EAGAIN && Clock::now() - start < moment);
        // A descriptor that is broken is said to be ready: write() tells what is wrong.
        if (poll(&polled, 1, waits_on ? look_up_ms : 0) > 0) return true;
        if (!waits_on) return false;
    }
}

// Answers errno, 0 for success.
int write_all(const Sink &sink, const char *text, size_t size) {
    const Clock::time_point start = Clock::now();
    while (size > 0) {
        if (!wait_for_room(sink, start)) return EAGAIN;
        const ssize_t written = write(sink.descriptor, text, std::min(size, sink.piece));
        if (written > 0) {
            text += written;
            size -= static_cast<size_t>(written);
        } else if (written == 0 || (errno != EINTR && errno != EAGAIN)) {
            return written == 0 ? EIO : errno;
        }
    }
    return 0;
}

// Says that all was written, also where it was lost: the C library would keep it and try again.
ssize_t write_text(void *cookie, const char *text, size_t size) {
    Sink &sink = *static_cast<Sink *>(cookie);
    // An answer with a hole in it is worse than one that ends.
    if (sink.patient && sink.problem != 0) return static_cast<ssize_t>(size);
    const int saved_errno = errno;
    const int problem = write_all(sink, text, size);
    if (!sink.patient || problem != 0) sink.problem = problem;
    errno = saved_errno;
    return static_cast<ssize_t>(size);
}

// Pipes take a page where poll() says that there is room, terminals little.
std::FILE *stream_over(Sink *sink) {
    const bool is_terminal = isatty(sink->descriptor) == 1;
    struct stat status = {};
    const bool is_file = fstat(sink->descriptor, &status) == 0 && S_ISREG(status.st_mode);
    sink->piece = is_terminal ? 256 : is_file ? size_t(1) << 20 : 4096;
    std::FILE *stream =
        fopencookie(sink, "w", {.read = nullptr, .write = write_text, .seek = nullptr, .close = nullptr});
    if (stream == nullptr) return nullptr;
    std::setvbuf(stream, nullptr, !sink->patient ? _IONBF : is_terminal ? _IOLBF : _IOFBF, BUFSIZ);
    return stream;
}

// open() takes the lowest number that is free, and those below this one are taken.
void take_if_closed(int descriptor) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) return;
    if (open("/dev/null", O_RDWR) < 0) [[maybe_unused]]
        const int folder = open("/", O_RDONLY | O_DIRECTORY);
}

}  // namespace

void take_over_standard_streams() {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) take_if_closed(descriptor);
    signal(SIGPIPE, SIG_IGN);  // then write() says EPIPE
    signal(SIGXFSZ, SIG_IGN);  // and EFBIG
    if (std::FILE *stream = stream_over(&answer)) stdout = stream;
    if (std::FILE *stream = stream_over(&messages)) stderr = stream;
}

Status finish_answer() {
    const bool flushed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (flushed && answer.problem == 0) return {};
    return environment_error(
        fmt::format("standard output cannot be written: {}", std::strerror(answer.problem ? answer.problem : EIO)));
}

bool answer_was_cut_off() { return answer.problem == EPIPE; }

}  // namespace kiln
