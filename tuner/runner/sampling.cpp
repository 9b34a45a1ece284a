#include "tuner/runner/sampling.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <thread>

#include "tuner/protocol/halving.h"
#include "tuner/runner/conditions.h"
#include "tuner/runner/sentinel.h"

namespace kiln {

namespace {

struct Attempt {
    Samples samples;
    bool cut_off = false;
    int64_t preempted = 0;
};

Attempt sample(const SamplingRequest &request, int calls) {
    UndisturbedSamples undisturbed(request.timed, calls, 4 * request.limits.max_total_ns);
    Attempt attempt;
    Samples &samples = attempt.samples;
    do {
        // Deciding costs more than a short call: decide after every eighth more samples.
        for (size_t wanted = samples.size() + samples.size() / 8 + 1; samples.size() < wanted;) {
            samples.push_back(undisturbed.next_ns());
        }
        attempt.cut_off = is_cut_off(samples, request.cutoffs_ns);
    } while (!attempt.cut_off && !enough(samples, request.limits));
    attempt.preempted = undisturbed.preempted();
    return attempt;
}

bool is_unstable(const Attempt &attempt, const SamplingRequest &request) {
    return !attempt.cut_off && unstable(attempt.samples, request.limits);
}

// Takes samples until they are stable. A neighbour on the machine may go meanwhile.
class PatientSampler {
public:
    PatientSampler(const SamplingRequest &request, Conditions::Notes *notes)
        : request_(request), notes_(*notes), patience_ns_(request.patience_ns) {}

    Attempt sample_until_stable() {
        Attempt attempt = sample_once();
        for (int i = 1; is_unstable(attempt, request_) && (i < unstable_attempts || pause()); i++) {
            notes_.retried = true;
            attempt = sample_once();
            if (i >= unstable_attempts) patience_ns_ -= time_of(attempt);
        }
        return attempt;
    }

    int attempts() const { return attempts_; }

private:
    Attempt sample_once() {
        Attempt attempt = sample(request_, notes_.calls_per_sample);
        attempts_++;
        notes_.preempted_calls += attempt.preempted;
        return attempt;
    }

    int64_t time_of(const Attempt &attempt) const {
        const double ns = std::accumulate(attempt.samples.begin(), attempt.samples.end(), 0.0);
        return int64_t(ns * notes_.calls_per_sample);
    }

    // False: patience is at its end.
    bool pause() {
        if (patience_ns_ <= 0) return false;
        const int64_t ns = std::min(pause_ns_, patience_ns_);
        request_.pause_ns(ns);
        patience_ns_ -= ns;
        pause_ns_ *= 2;
        return true;
    }

    const SamplingRequest &request_;
    Conditions::Notes &notes_;
    int64_t patience_ns_;
    int64_t pause_ns_ = 250'000'000;
    int attempts_ = 0;
};

}  // namespace

void sleep_ns(int64_t ns) { std::this_thread::sleep_for(std::chrono::nanoseconds(ns)); }

Sampling take_samples(const SamplingRequest &request) {
    Sampling result;
    const Conditions conditions;
    Conditions::Notes notes;
    notes.sentinel_ns.push_back(sentinel_ns());
    if (request.memory) notes.memory.before = request.memory();
    notes.calls_per_sample = calls_per_sample(request.timed, warm_up(request.timed), {});
    PatientSampler sampler(request, &notes);
    Attempt attempt = sampler.sample_until_stable();
    if (request.memory) notes.memory.after = request.memory();
    while (!attempt.cut_off && is_worth_repeating(notes.memory, notes.memory_repeats)) {
        notes.memory_repeats++;
        notes.memory.before = notes.memory.after;
        warm_up(request.timed);
        attempt = sampler.sample_until_stable();
        notes.memory.after = request.memory();
    }
    result.is_unstable = is_unstable(attempt, request);
    result.attempts = sampler.attempts();
    notes.cut_off = attempt.cut_off;
    notes.sentinel_ns.push_back(sentinel_ns());
    result.samples = std::move(attempt.samples);
    result.sentinel_ns = notes.sentinel_ns;
    result.conditions = conditions.to_json(notes);
    return result;
}

}  // namespace kiln
