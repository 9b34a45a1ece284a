#include "tuner/build/killed_build.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "tuner/process/address_space.h"

namespace kiln {
namespace {

// A process sends these to itself, by what it does.
constexpr std::array crashes = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
constexpr std::array<std::string_view, 2> programs = {"kiln-generator", "ld"};
constexpr std::string_view killed = " was killed", starved = " was starved";

bool is_crash_signal(int signal) { return std::find(crashes.begin(), crashes.end(), signal) != crashes.end(); }

// "kiln-generator: signal 9 (SIGKILL)" is all of such a message.
bool tells_of_a_kill(std::string_view message, std::string_view program) {
    const std::string prefix = fmt::format("{}: signal ", program);
    if (!message.starts_with(prefix)) return false;
    int signal = 0;
    const auto [end, error] = std::from_chars(message.data() + prefix.size(), message.data() + message.size(), signal);
    return error == std::errc() && !is_crash_signal(signal);
}

}  // namespace

bool is_crash(const ChildResult &child) {
    return child.end == ChildResult::End::signalled && is_crash_signal(child.code);
}

bool was_killed(const ChildResult &child) {
    return child.end == ChildResult::End::signalled && !is_crash_signal(child.code);
}

Failure killed_failure(const std::string &program, const ChildResult &child) {
    const bool by_system = child.code == SIGKILL;
    return {by_system ? TrialStatus::out_of_memory : TrialStatus::compile_error,
            fmt::format("{}{}: {} in each of {} attempts{}; the next job tries this candidate again", program, killed,
                        describe(child), killed_attempts,
                        by_system ? ", probably because the machine ran out of memory" : ""),
            child.error_output,
            {}};
}

Failure starved_failure(const std::string &program, const ChildResult &child) {
    return {TrialStatus::out_of_memory,
            fmt::format("{}{}: {} MiB of address space are not enough (ulimit -v)", program, starved,
                        most_address_space() >> 20),
            child.error_output,
            {}};
}

bool is_killed_build(const Trial &trial) {
    return std::any_of(programs.begin(), programs.end(), [&](std::string_view program) {
        if (trial.status == TrialStatus::compile_error && tells_of_a_kill(trial.message, program)) return true;
        const auto tells = [&](std::string_view what) {
            return trial.message.starts_with(fmt::format("{}{}: ", program, what));
        };
        return trial.status != TrialStatus::ok && (tells(killed) || tells(starved));
    });
}

}  // namespace kiln
