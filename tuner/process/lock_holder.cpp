#include "tuner/process/lock_holder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace kiln {
namespace {

std::string content(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

// A line is "1: FLOCK  ADVISORY  WRITE 1234 00:16:3562 0 EOF"; one of a process that waits has "->" after its number.
std::optional<pid_t> owner(const std::string &line, const std::string &place) {
    std::istringstream words(line);
    std::string number, kind, advice, mode, where;
    pid_t process = 0;
    words >> number >> kind >> advice >> mode >> process >> where;
    if (words.fail() || kind != "FLOCK" || where != place || process <= 0) return std::nullopt;
    return process;
}

// The state stands behind the name, which may hold blanks and brackets.
bool is_stopped(pid_t process) {
    const std::string text = content(fmt::format("/proc/{}/stat", process));
    const size_t name_end = text.rfind(") ");
    if (name_end == std::string::npos || name_end + 2 >= text.size()) return false;
    return text[name_end + 2] == 'T' || text[name_end + 2] == 't';
}

}  // namespace

std::optional<LockHolder> holder_of_lock(int descriptor) {
    struct stat status = {};
    if (fstat(descriptor, &status) != 0) return std::nullopt;
    const std::string place =
        fmt::format("{:02x}:{:02x}:{}", major(status.st_dev), minor(status.st_dev), status.st_ino);
    std::ifstream locks("/proc/locks");
    for (std::string line; std::getline(locks, line);) {
        const std::optional<pid_t> process = owner(line, place);
        if (!process) continue;
        LockHolder holder{.process = *process, .command = content(fmt::format("/proc/{}/cmdline", *process))};
        while (!holder.command.empty() && holder.command.back() == '\0') holder.command.pop_back();
        std::replace(holder.command.begin(), holder.command.end(), '\0', ' ');
        holder.is_stopped = is_stopped(*process);
        return holder;
    }
    return std::nullopt;
}

}  // namespace kiln
