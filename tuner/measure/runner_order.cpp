#include "tuner/measure/runner_order.h"

#include <fmt/format.h>
#include <signal.h>

#include <optional>
#include <string>
#include <utility>

#include "tuner/build/killed_build.h"
#include "tuner/process/measuring_lock.h"

namespace kiln {

namespace {

// Once more: whoever killed it may have meant something else. A kernel that takes all memory is killed again.
Result<ChildResult> run_again_if_killed(const ChildRequest &request) {
    auto result = run_child(request);
    return result && was_killed(*result) ? run_child(request) : result;
}

std::string last_part(const std::string &text, size_t limit) {
    return text.size() <= limit ? text : text.substr(text.size() - limit);
}

// The failure of a process that did not answer to the end.
Failure failure_without_answer(const ChildResult &child, const RunnerAnswer &answer, int64_t time_limit_ns) {
    Failure failure;
    const std::string where = answer.step.empty() ? "" : fmt::format(" (in: {})", answer.step);
    if (child.end == ChildResult::End::timed_out) {
        failure.status = TrialStatus::timeout;
        failure.message = fmt::format("the kernel did not end within {:.1f} s{}", double(time_limit_ns) * 1e-9, where);
    } else if (child.end == ChildResult::End::signalled && child.code == SIGKILL) {
        failure.status = TrialStatus::out_of_memory;
        failure.message =
            fmt::format("the measuring process was killed, probably because the machine ran out of memory{}", where);
    } else {
        failure.message = fmt::format("the measuring process ended with {}{}", describe(child), where);
    }
    return failure;
}

ChildRequest child_for(const RunnerOrder &order, const ProcessRunnerOptions &options) {
    ChildRequest child;
    child.arguments = {options.executable};
    child.input = to_json(order.job);
    child.time_limit_ns = options.time_limit_ns;
    child.memory_limit_bytes = order.address_space;
    if (call_of(order.job).threads == 1) {
        child.cpu = options.cpu;
    }
    return child;
}

}  // namespace

Result<Failure> failure_of(const ChildResult &child, const RunnerAnswer &answer, const ProcessRunnerOptions &options) {
    Failure failure;
    if (answer.status) {
        failure.status = *answer.status;
        failure.message = answer.message;
        // A wrong result says itself where it was found.
        if (failure.status == TrialStatus::crash || failure.status == TrialStatus::out_of_memory) {
            failure.message += fmt::format(" (in: {})", answer.step);
        }
    } else if (answer.step.empty() && child.end == ChildResult::End::exited) {
        return environment_error(fmt::format("{}: ended with {} before it did anything: {}", options.executable,
                                             describe(child), last_part(child.error_output, 400)));
    } else {
        failure = failure_without_answer(child, answer, options.time_limit_ns);
    }
    failure.stderr_text = last_part(child.error_output, 16 << 10);
    failure.errors = answer.errors;
    return failure;
}

Result<Attempt<RunnerAnswer>> ask(const RunnerOrder &order, const ProcessRunnerOptions &options) {
    std::optional<MeasuringLock> lock;
    if (order.measures && !options.lock.empty()) {
        auto acquired = MeasuringLock::acquire(options.lock, {options.on_wait, order.out_of_time});
        if (!acquired) {
            return acquired.error();
        }
        lock = std::move(*acquired);
    }
    const auto result = run_again_if_killed(child_for(order, options));
    if (!result) {
        return result.error();
    }
    RunnerAnswer answer = parse_runner_answer(result->output);
    if (!answer.environment.empty()) {
        return environment_error(fmt::format("{}: {}", options.executable, answer.environment));
    }
    if (answer.status == TrialStatus::ok) {
        return Attempt<RunnerAnswer>{std::move(answer), result->wall_ns};
    }
    auto failure = failure_of(*result, answer, options);
    if (!failure) {
        return failure.error();
    }
    return Attempt<RunnerAnswer>{std::move(*failure), result->wall_ns};
}

}  // namespace kiln
