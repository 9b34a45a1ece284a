#include "cli/measuring/measuring_turn.h"

#include <fmt/format.h>
#include <unistd.h>

#include <set>
#include <string>
#include <utility>

#include "cli/answers/output.h"
#include "cli/answers/terminal_text.h"
#include "cli/clock.h"
#include "text/quoted_text.h"

namespace kiln {
namespace {

// Who measures meanwhile: said once, and once more for each process that is stopped and lets nobody on.
class WaitTeller {
public:
    void operator()(const std::optional<LockHolder> &holder) {
        const bool is_new = !std::exchange(told_, true);
        if (holder && holder->is_stopped && stopped_.insert(holder->process).second) {
            say(fmt::format(
                "waits for process {}, which is stopped while it measures: {}; `kill -CONT {}` lets it go on, "
                "Ctrl-C ends the wait",
                holder->process, command(*holder), holder->process));
        } else if (is_new && holder) {
            say(fmt::format("process {} is measuring on this machine: {}; taking turns with it", holder->process,
                            command(*holder)));
        } else if (is_new) {
            say(fmt::format("another process is measuring on this machine; taking turns with it ({})",
                            machine_lock_path()));
        }
    }

private:
    static std::string command(const LockHolder &holder) {
        constexpr int width = 100;
        return holder.command.empty() ? "unknown" : shortened(quoted_line(holder.command), width);
    }

    static void say(const std::string &message) {
        if (isatty(STDERR_FILENO) == 1) write_text(stderr, "\n");  // the line of the layer in work stands there
        tell(message);
    }

    bool told_ = false;
    std::set<pid_t> stopped_;
};

}  // namespace

void tell_wait(const std::optional<LockHolder> &holder) {
    static WaitTeller teller;
    teller(holder);
}

std::optional<MeasuringLock> take_machine(int64_t patience_ns) {
    const auto is_over = [patience_ns, start_ns = now_ns()] { return now_ns() - start_ns >= patience_ns; };
    Result<MeasuringLock> lock = MeasuringLock::acquire(machine_lock_path(), {tell_wait, is_over});
    return lock ? std::optional(std::move(*lock)) : std::nullopt;
}

}  // namespace kiln
