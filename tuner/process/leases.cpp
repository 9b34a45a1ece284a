#include "tuner/process/leases.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>

#include "tuner/process/interrupt.h"
#include "tuner/process/started_child.h"

namespace kiln {
namespace {

struct Range {
    off_t start, length;
};

// A group has 2^32 bytes for its items, all groups together 2^62; the turns of the groups lie behind them.
constexpr int item_bits = 32, group_bits = 30;
constexpr off_t turns_start = off_t(1) << (item_bits + group_bits);

off_t hash_bits(std::string_view text, int bits) {
    return static_cast<off_t>(XXH3_64bits(text.data(), text.size()) >> (64 - bits));
}

Range items_of(std::string_view group) { return {hash_bits(group, group_bits) << item_bits, off_t(1) << item_bits}; }

struct flock lock_request(short type, Range range) {
    struct flock request = {};  // l_pid has to be 0
    request.l_type = type;
    request.l_whence = SEEK_SET;
    request.l_start = range.start;
    request.l_len = range.length;
    return request;
}

// The kernel answers with any one of the locks in the range: so count it, and what lies before and behind it.
int count_locks(int file, Range range) {
    if (range.length <= 0) return 0;
    struct flock found = lock_request(F_WRLCK, range);
    if (fcntl(file, F_OFD_GETLK, &found) != 0 || found.l_type == F_UNLCK) return 0;
    const off_t end = range.start + range.length, found_end = found.l_start + found.l_len;
    return 1 + count_locks(file, {range.start, found.l_start - range.start}) +
           count_locks(file, {found_end, end - found_end});
}

}  // namespace

Lease::~Lease() {
    if (!file_) return;
    struct flock request = lock_request(F_UNLCK, {byte_, 1});
    fcntl(file_->get(), F_OFD_SETLK, &request);
}

Result<Leases> Leases::open(const std::string &database) {
    std::error_code ignored;
    const auto real = std::filesystem::weakly_canonical(database, ignored);
    const std::string path = (ignored ? database : real.string()) + "-leases";
    const auto problem = [&path](const std::string &what) {
        return environment_error(fmt::format(
            "{}: {}; tuning goes on, but several processes on this database may try the same candidate", path, what));
    };
    constexpr int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    Leases leases(above_stdio(Descriptor(::open(path.c_str(), flags, 0666))));
    struct stat status = {};
    if (!leases.file_->valid() || fstat(leases.file_->get(), &status) != 0) {
        return problem(fmt::format("cannot be opened: {}", strerror(errno)));
    }
    if (!S_ISREG(status.st_mode)) return problem("is no regular file");
    struct flock any = lock_request(F_WRLCK, {0, 0});
    if (fcntl(leases.file_->get(), F_OFD_GETLK, &any) != 0) {
        return problem(fmt::format("cannot be locked: {}", strerror(errno)));
    }
    return leases;
}

std::optional<Lease> Leases::try_lock(off_t byte) const {
    if (!file_) return Lease(nullptr, byte);
    struct flock request = lock_request(F_WRLCK, {byte, 1});
    if (fcntl(file_->get(), F_OFD_SETLK, &request) == 0) return Lease(file_, byte);
    // Another process holds it. Or the system has no more locks: then the byte is nobody's, and we go on without one.
    if (errno == EAGAIN || errno == EACCES) return std::nullopt;
    return Lease(nullptr, byte);
}

std::optional<Lease> Leases::try_take(std::string_view group, std::string_view item) const {
    return try_lock(items_of(group).start + hash_bits(item, item_bits));
}

int Leases::held_by_others(std::string_view group) const {
    return file_ ? count_locks(file_->get(), items_of(group)) : 0;
}

void Leases::wait() const { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

std::optional<Lease> Leases::turn(std::string_view group, std::chrono::milliseconds patience) const {
    const auto end = std::chrono::steady_clock::now() + patience;
    for (;;) {
        if (std::optional<Lease> lease = try_lock(turns_start + hash_bits(group, group_bits))) return lease;
        if (interrupted() || std::chrono::steady_clock::now() >= end) return std::nullopt;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

}  // namespace kiln
