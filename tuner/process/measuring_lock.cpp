#include "tuner/process/measuring_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "tuner/process/interrupt.h"
#include "tuner/process/started_child.h"

namespace kiln {
namespace {

// To read, which is all that flock() needs: the file may be another user's, and in a folder like /tmp the system
// refuses to open such a one in order to create it.
int open_or_create(const std::string &path) {
    constexpr int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW;
    for (int attempt = 0; attempt < 3; attempt++) {
        int file = open(path.c_str(), flags);
        if (file >= 0 || errno != ENOENT) return file;
        file = open(path.c_str(), flags | O_CREAT | O_EXCL, 0666);
        if (file >= 0) {
            fchmod(file, 0666);  // whatever the umask: others have to open it
            return file;
        }
        if (errno != EEXIST) return file;  // else another process was quicker
    }
    return -1;
}

}  // namespace

Result<MeasuringLock> MeasuringLock::acquire(const std::string &path, const std::function<void()> &on_wait) {
    using Clock = std::chrono::steady_clock;
    constexpr auto pause = std::chrono::milliseconds(3);
    constexpr auto patience = std::chrono::seconds(2);
    Descriptor file = above_stdio(Descriptor(open_or_create(path)));
    if (!file.valid()) {
        return environment_error(
            fmt::format("{}: cannot be opened: {}; kiln processes on one machine take turns measuring by locking it",
                        path, strerror(errno)));
    }
    const auto start = Clock::now();
    bool told = false;
    while (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return environment_error(fmt::format("{}: cannot be locked: {}", path, strerror(errno)));
        }
        if (interrupted()) return Error{ErrorCode::interrupted, "interrupted"};
        if (!told && Clock::now() - start > patience) {
            told = true;
            if (on_wait) on_wait();
        }
        std::this_thread::sleep_for(pause);
    }
    return MeasuringLock(std::move(file));
}

}  // namespace kiln
