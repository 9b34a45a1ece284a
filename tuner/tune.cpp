#include "tuner/tune.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "tuner/workload_tuning.h"

namespace kiln {
namespace {

// For people who look up a layer by its name. One list may use a name for equal entries: their counts add.
Status record_names(const std::vector<NamedWorkload> &workloads, TrialStore &store) {
    std::map<std::tuple<std::string, std::string, std::string>, int64_t> counts;
    for (const NamedWorkload &w : workloads) counts[{key(w.workload), w.list, w.name}] += w.count;
    for (const auto &[names, count] : counts) {
        const auto &[workload, list, name] = names;
        if (Status s = store.name_workload(workload, list, name, count); !s) return s;
    }
    return {};
}

// The job's clock: an even share of what is left for each workload still to come, so that time which one does not use
// goes to those after it; and an estimate of what is left, from the trials made so far.
class JobTime {
public:
    JobTime(const TuneOptions &options, const TuneEnvironment &environment)
        : options_(options), environment_(environment), start_ns_(environment.now_ns()) {}

    std::optional<TimeShare> share(size_t workloads_left) const {
        if (!options_.time_limit_ns) return std::nullopt;
        const int64_t now = environment_.now_ns();
        const int64_t left = std::max<int64_t>(0, start_ns_ + *options_.time_limit_ns - now);
        return TimeShare{now, now + left / static_cast<int64_t>(workloads_left)};
    }

    std::optional<double> seconds_left(const TuneProgress &progress) const {
        const double elapsed = static_cast<double>(environment_.now_ns() - start_ns_) * 1e-9;
        std::optional<double> left;
        if (options_.time_limit_ns) {
            left = std::max(0.0, static_cast<double>(*options_.time_limit_ns) * 1e-9 - elapsed);
        }
        if (options_.trials != unlimited_trials && new_trials_ > 0) {
            const size_t workloads_after = progress.workload_count - progress.workload_index - 1;
            const double trials = static_cast<double>(std::max<int64_t>(0, options_.trials - progress.trials_done)) +
                                  static_cast<double>(workloads_after) * static_cast<double>(options_.trials);
            const double by_trials = elapsed / static_cast<double>(new_trials_) * trials;
            left = left ? std::min(*left, by_trials) : by_trials;
        }
        return left;
    }

    void count_trial() { new_trials_++; }

private:
    const TuneOptions &options_;
    const TuneEnvironment &environment_;
    int64_t start_ns_;
    int64_t new_trials_ = 0;
};

}  // namespace

Result<TuneReport> tune(const std::vector<NamedWorkload> &workloads, const Target &target, const TuneOptions &options,
                        TuneEnvironment environment, const TuneListener &listener) {
    if (Status s = record_names(workloads, environment.store); !s) return s.error();
    const std::vector<NamedWorkload> distinct = merge_equal(workloads);
    const TuneJob job{target, options, environment};
    JobTime time(options, environment);
    TuneReport report;
    for (size_t i = 0; i < distinct.size() && !report.interrupted; i++) {
        const auto tell = [&](const TuneProgress &workload_progress) {
            if (workload_progress.event == TuneProgress::Event::trial_recorded) time.count_trial();
            if (!listener) return;
            TuneProgress progress = workload_progress;
            progress.workload_index = i;
            progress.workload_count = distinct.size();
            progress.seconds_left = time.seconds_left(progress);
            listener(progress);
        };
        Result<WorkloadOutcome> outcome = tune_workload(job, distinct[i], time.share(distinct.size() - i), tell);
        if (!outcome) return outcome.error();
        report.interrupted |= outcome->end == WorkloadOutcome::End::interrupted;
        report.out_of_time |= outcome->end == WorkloadOutcome::End::out_of_time;
        report.workloads.push_back(std::move(outcome->tuned));
    }
    return report;
}

}  // namespace kiln
