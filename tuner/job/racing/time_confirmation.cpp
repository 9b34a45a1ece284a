#include "tuner/job/racing/time_confirmation.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "records/time_agreement.h"

namespace kiln {
namespace {

constexpr size_t most_processes = 3;

std::string us(double ns) { return fmt::format("{:.1f} us", ns * 1e-3); }

std::string note_of(const Measurement &recorded, const std::vector<Measurement> &now, const Measurement &chosen) {
    std::string note = fmt::format("{} did not hold, ", us(recorded.median));
    if (now.size() < most_processes) {
        note += fmt::format("a fresh process takes {}", us(chosen.median));
    } else {
        const auto [lo, hi] = std::minmax_element(
            now.begin(), now.end(), [](const Measurement &a, const Measurement &b) { return a.median < b.median; });
        note += fmt::format("fresh processes take {} to {}", us(lo->median), us(hi->median));
    }
    const auto then = memory_state_of(recorded.conditions), state = memory_state_of(chosen.conditions);
    if (then && state && !is_like(*then, *state)) {
        note += fmt::format(" (memory then: {}; now: {})", text(*then), text(*state));
    }
    return note;
}

}  // namespace

Result<TimeConfirmation::Answer> TimeConfirmation::confirm(Contestant *contestant, const OutOfTime &out_of_time) const {
    const Trial &trial = contestant->trial;
    const Result<std::optional<Measurement>> recorded = job_.environment.store.measurement_of(trial.id);
    if (!recorded) return recorded.error();
    if (!*recorded) return Answer();
    std::vector<Measurement> now;
    const auto agrees_with_latest = [&](const Measurement &m) { return times_agree(m, now.back()); };
    while (now.size() < most_processes) {
        const Result<RunResult> ran = measure(*contestant, out_of_time);
        if (!ran) return ran.error();
        if (!ran->ok() && ran->failure().status == TrialStatus::unstable) return Answer();
        if (!ran->ok()) return Answer{false, {}, ran->failure()};
        now.push_back(measurement_of(ran->value(), trial, job_.environment.runner.traits().metric));
        now.back().created_at = job_.environment.timestamp();
        if (agrees_with_latest(**recorded)) return Answer();
        if (std::any_of(now.begin(), now.end() - 1, agrees_with_latest)) break;
    }
    // Where two agree, the later of them; else the one in the middle.
    std::vector<Measurement> sorted = now;
    std::sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) { return a.median < b.median; });
    const bool any_agree = std::any_of(now.begin(), now.end() - 1, agrees_with_latest);
    const Measurement &chosen = any_agree ? now.back() : sorted[sorted.size() / 2];
    const Answer answer{false, note_of(**recorded, now, chosen)};
    if (Status s = replace(chosen, contestant); !s) return s.error();
    return answer;
}

Result<RunResult> TimeConfirmation::measure(const Contestant &contestant, const OutOfTime &out_of_time) const {
    RunRequest request;
    request.workload = workload_;
    request.target = job_.target;
    request.artifact = *contestant.artifact;
    request.error_budget = job_.options.error_budget;
    request.cache = job_.options.cache;
    request.out_of_time = out_of_time;
    return job_.environment.runner.run(request);
}

Status TimeConfirmation::replace(const Measurement &measurement, Contestant *contestant) const {
    Trial later = contestant->trial;
    later.id.clear();
    later.created_at = job_.environment.timestamp();
    Result<std::string> id = job_.environment.store.append(later, measurement);
    if (!id) return id.error();
    later.id = *id;
    contestant->renew(later, recorded_time_of(measurement));
    return {};
}

}  // namespace kiln
