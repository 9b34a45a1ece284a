#include "tuner/job/tune.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <tuple>

#include "records/record_values.h"
#include "tuner/job/budget.h"
#include "tuner/job/workload_tuning.h"

namespace kiln {
namespace {

// People look up a layer by its name. One list may use a name for several equal entries; then their counts add.
Status record_names(const std::vector<NamedWorkload> &workloads, TrialStore &store) {
    std::map<std::tuple<std::string, std::string, std::string>, int64_t> counts;
    for (const NamedWorkload &w : workloads) {
        int64_t &count = counts[{key(w.workload), w.list, w.name}];
        count = std::min(count + w.count, largest_count);
    }
    for (const auto &[names, count] : counts) {
        const auto &[workload, list, name] = names;
        if (Status s = store.name_workload(workload, list, name, count); !s) return s;
    }
    return {};
}

// At most this much of a job's time is kept for races.
constexpr double race_share = 0.15;
// How often a job asks what is worth tuning: times of kernels in other layouts ask for those between them, and not for more.
constexpr int most_askings = 4;
// Trials before another workload may have its turn: changing costs little, but not nothing.
constexpr int64_t turn_trials = 8;

class Job {
public:
    Job(const TuneJob &job, const TuneListener &listener)
        : job_(job), listener_(listener), start_ns_(job.environment.now_ns()) {}

    Result<TuneReport> run(const std::vector<NamedWorkload> &workloads);

private:
    using End = WorkloadTuning::End;

    Status add(const std::vector<NamedWorkload> &workloads);
    Result<bool> add_wanted();
    Status tune_in_turn();
    Status tune_by_worth();
    Status finish(size_t index, End end);
    Result<End> make_trials(size_t index, int64_t trials);
    int64_t now() const { return job_.environment.now_ns(); }
    std::optional<int64_t> end_ns() const;  // of the job
    int64_t races_left() const;             // of workloads that are worth one
    int64_t race_reserve_ns() const;        // for all races to come
    std::optional<double> seconds_left(const TuneProgress &progress) const;
    void tell(size_t index, const TuneProgress &progress);

    const TuneJob &job_;
    const TuneListener &listener_;
    int64_t start_ns_;
    int askings_ = 0;
    std::deque<TuneListener> listeners_;  // of the workloads, which keep references
    std::vector<std::unique_ptr<WorkloadTuning>> tunings_;
    std::vector<bool> is_finished_;
    int64_t new_trials_ = 0;
    TuneReport report_;
};

std::optional<int64_t> Job::end_ns() const {
    if (!job_.options.time_limit_ns) return std::nullopt;
    return start_ns_ + *job_.options.time_limit_ns;
}

int64_t Job::races_left() const {
    int64_t left = 0;
    for (size_t i = 0; i < tunings_.size(); i++) left += !is_finished_[i] && tunings_[i]->layer().odds > 0;
    return left;
}

int64_t Job::race_reserve_ns() const {
    const auto most = static_cast<int64_t>(race_share * static_cast<double>(job_.options.time_limit_ns.value_or(0)));
    return std::min(most, races_left() * job_.options.race_time_ns);
}

std::optional<double> Job::seconds_left(const TuneProgress &progress) const {
    const double elapsed = static_cast<double>(now() - start_ns_) * 1e-9;
    std::optional<double> left;
    if (const auto end = end_ns()) left = std::max(0.0, static_cast<double>(*end - now()) * 1e-9);
    if (job_.options.trials != unlimited_trials && new_trials_ > 0) {
        double trials = static_cast<double>(std::max<int64_t>(0, job_.options.trials - progress.trials_done));
        if (left) {
            trials = 0;  // workloads take turns
            for (const auto &tuning : tunings_) {
                if (tuning->layer().finished) continue;
                trials += static_cast<double>(std::max<int64_t>(0, job_.options.trials - tuning->tuned().trials));
            }
        } else {
            trials += static_cast<double>(tunings_.size() - progress.workload_index - 1) *
                      static_cast<double>(job_.options.trials);
        }
        const double by_trials = elapsed / static_cast<double>(new_trials_) * trials;
        left = left ? std::min(*left, by_trials) : by_trials;
    }
    return left;
}

void Job::tell(size_t index, const TuneProgress &workload_progress) {
    if (workload_progress.event == TuneProgress::Event::trial_recorded) new_trials_++;
    if (!listener_) return;
    TuneProgress progress = workload_progress;
    progress.workload_index = index;
    progress.workload_count = tunings_.size();
    progress.seconds_left = seconds_left(progress);
    if (job_.options.time_limit_ns) {
        const double spent = static_cast<double>(now() - start_ns_) /
                             static_cast<double>(std::max<int64_t>(1, *job_.options.time_limit_ns));
        progress.fraction = std::clamp(std::max(progress.fraction, spent), 0.0, 1.0);
    }
    listener_(progress);
}

Result<WorkloadTuning::End> Job::make_trials(size_t index, int64_t trials) {
    std::optional<int64_t> end = end_ns();
    if (end) *end -= race_reserve_ns();
    return tunings_[index]->make_trials(trials, end);
}

Status Job::finish(size_t index, End end) {
    const bool is_unused = tunings_[index]->layer().odds == 0;
    int64_t race_time_ns = is_unused ? 0 : job_.options.race_time_ns;
    if (const auto job_end = end_ns(); job_end && !is_unused) {
        race_time_ns = std::min(race_time_ns, std::max<int64_t>(0, *job_end - now()) / races_left());
    }
    Result<End> ended = tunings_[index]->finish(race_time_ns, end);
    if (!ended) return ended.error();
    is_finished_[index] = true;
    report_.interrupted |= *ended == End::interrupted;
    report_.out_of_time |= *ended == End::out_of_time;
    return {};
}

Status Job::add(const std::vector<NamedWorkload> &workloads) {
    if (Status s = record_names(workloads, job_.environment.store); !s) return s;
    for (const NamedWorkload &workload : merge_equal(workloads)) {
        const auto is_same = [&](const auto &tuning) { return tuning->tuned().workload.workload == workload.workload; };
        if (const auto known = std::ranges::find_if(tunings_, is_same); known != tunings_.end()) {
            (*known)->weigh(workload.count, workload.odds);
            continue;
        }
        const size_t index = tunings_.size();
        listeners_.push_back([this, index](const TuneProgress &progress) { tell(index, progress); });
        tunings_.push_back(std::make_unique<WorkloadTuning>(job_, workload, listeners_.back()));
        is_finished_.push_back(false);
        if (Status s = tunings_.back()->begin(); !s) return s;
    }
    return {};
}

// Whether there is anything new.
Result<bool> Job::add_wanted() {
    if (!job_.environment.wanted || askings_ == most_askings) return false;
    askings_++;
    const Result<std::vector<NamedWorkload>> wanted = job_.environment.wanted();
    if (!wanted) return wanted.error();
    const size_t before = tunings_.size();
    for (const auto &tuning : tunings_) tuning->weigh(tuning->tuned().workload.count, 0);
    if (Status s = add(*wanted); !s) return s.error();
    return tunings_.size() > before;
}

Status Job::tune_in_turn() {
    size_t next = 0;
    while (true) {
        for (; next < tunings_.size() && !report_.interrupted; next++) {
            Result<End> end = make_trials(next, unlimited_trials);
            if (!end) return end.error();
            if (Status s = finish(next, *end); !s) return s;
        }
        if (report_.interrupted) return {};
        const Result<bool> has_more = add_wanted();
        if (!has_more) return has_more.error();
        if (!*has_more) return {};
    }
}

Status Job::tune_by_worth() {
    const BudgetRules rules;
    End end = End::finished;
    bool has_asked = false;  // for more than there is
    while (end != End::interrupted && end != End::out_of_time) {
        const auto was_tried = [](const auto &tuning) {
            return tuning->layer().finished || tuning->layer().trials > 0;
        };
        if (!has_asked && std::ranges::all_of(tunings_, was_tried)) {
            const Result<bool> has_more = add_wanted();
            if (!has_more) return has_more.error();
            has_asked = !*has_more;
        }
        std::vector<LayerProgress> layers;
        for (const auto &tuning : tunings_) layers.push_back(tuning->layer());
        const auto next = next_layer(layers, rules);
        if (!next) {
            report_.at_rest = std::any_of(layers.begin(), layers.end(), [&](const LayerProgress &l) {
                return !l.finished && !l.best_ns.empty() && is_at_rest(l, rules);
            });
            break;
        }
        // First a trial each, so that every workload has one however short the time is.
        const LayerProgress &layer = layers[*next];
        const bool below_floor = layer.trials < floors(layers, rules)[*next];
        Result<End> made = make_trials(*next, layer.best_ns.empty() ? 1 : below_floor ? 2 : turn_trials);
        if (!made) return made.error();
        end = *made;
    }
    for (size_t i = 0; i < tunings_.size(); i++) {
        const LayerProgress &layer = tunings_[i]->layer();
        if (end == End::interrupted && layer.trials == 0 && !layer.finished) continue;  // it was not begun
        if (Status s = finish(i, layer.finished && end == End::out_of_time ? End::finished : end); !s) return s;
        if (report_.interrupted) end = End::interrupted;
    }
    return {};
}

Result<TuneReport> Job::run(const std::vector<NamedWorkload> &workloads) {
    if (Status s = add(workloads); !s) return s.error();
    if (Status s = job_.options.time_limit_ns ? tune_by_worth() : tune_in_turn(); !s) return s.error();
    for (size_t i = 0; i < tunings_.size(); i++) {
        if (is_finished_[i]) report_.workloads.push_back(tunings_[i]->tuned());
    }
    return report_;
}

}  // namespace

Result<TuneReport> tune(const std::vector<NamedWorkload> &workloads, const Target &target, const TuneOptions &options,
                        TuneEnvironment environment, const TuneListener &listener) {
    const TuneJob job{target, options, environment};
    return Job(job, listener).run(workloads);
}

}  // namespace kiln
