#include "tuner/process/measuring_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "tuner/process/interrupt.h"
#include "tuner/process/started_child.h"

namespace kiln {
namespace {

using Clock = std::chrono::steady_clock;

// To read, which is all that flock() needs. A FIFO would be waited for, a device may act on being opened.
Result<Descriptor> open_lock(const std::string &path) {
    Descriptor file =
        above_stdio(Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)));
    struct stat status = {};
    if (!file.valid() || fstat(file.get(), &status) != 0) {
        return environment_error(
            fmt::format("{}: cannot be opened: {}; kiln processes on one machine take turns measuring by locking it",
                        path, strerror(errno)));
    }
    if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) {
        return environment_error(fmt::format("{}: is no file or folder that could be locked", path));
    }
    return file;
}

// Tells who is waited for, now and then.
class Patience {
public:
    Patience(const LockWait &wait, int file) : wait_(wait), file_(file) {}

    // False: nobody waits any more.
    bool pause() {
        if (interrupted() || (wait_.is_over && wait_.is_over())) return false;
        if (wait_.on_wait && Clock::now() >= next_) {
            wait_.on_wait(holder_of_lock(file_));
            next_ = Clock::now() + std::chrono::seconds(1);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        return true;
    }

private:
    const LockWait &wait_;
    int file_;
    Clock::time_point next_ = Clock::now() + std::chrono::seconds(2);
};

}  // namespace

std::string machine_lock_path() {
    constexpr std::array paths = {"/sys/devices/system/cpu", "/dev/null"};
    for (const char *path : paths) {
        const Result<Descriptor> file = open_lock(path);
        if (file && (flock(file->get(), LOCK_SH | LOCK_NB) == 0 || errno == EWOULDBLOCK)) return path;
    }
    return paths.front();
}

Result<MeasuringLock> MeasuringLock::acquire(const std::string &path, const LockWait &wait) {
    Result<Descriptor> file = open_lock(path);
    if (!file) return file.error();
    Patience patience(wait, file->get());
    while (flock(file->get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return environment_error(fmt::format("{}: cannot be locked: {}", path, strerror(errno)));
        }
        if (!patience.pause()) return Error{ErrorCode::interrupted, "interrupted while another process measures"};
    }
    return MeasuringLock(std::move(*file));
}

}  // namespace kiln
