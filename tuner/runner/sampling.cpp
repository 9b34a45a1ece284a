#include "tuner/runner/sampling.h"

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

// A neighbour on the machine may go meanwhile.
Attempt sample_until_stable(const SamplingRequest &request, Conditions::Notes *notes) {
    Attempt attempt = sample(request, notes->calls_per_sample);
    notes->preempted_calls += attempt.preempted;
    for (int i = 1; i < unstable_attempts && is_unstable(attempt, request); i++) {
        notes->retried = true;
        attempt = sample(request, notes->calls_per_sample);
        notes->preempted_calls += attempt.preempted;
    }
    return attempt;
}

}  // namespace

Sampling take_samples(const SamplingRequest &request) {
    Sampling result;
    const Conditions conditions;
    Conditions::Notes notes;
    notes.sentinel_ns.push_back(sentinel_ns());
    if (request.memory) notes.memory.before = request.memory();
    notes.calls_per_sample = calls_per_sample(request.timed, warm_up(request.timed), {});
    Attempt attempt = sample_until_stable(request, &notes);
    if (request.memory) notes.memory.after = request.memory();
    while (!attempt.cut_off && is_worth_repeating(notes.memory, notes.memory_repeats)) {
        notes.memory_repeats++;
        notes.memory.before = notes.memory.after;
        warm_up(request.timed);
        attempt = sample_until_stable(request, &notes);
        notes.memory.after = request.memory();
    }
    result.is_unstable = is_unstable(attempt, request);
    notes.cut_off = attempt.cut_off;
    notes.sentinel_ns.push_back(sentinel_ns());
    result.samples = std::move(attempt.samples);
    result.sentinel_ns = notes.sentinel_ns;
    result.conditions = conditions.to_json(notes);
    return result;
}

}  // namespace kiln
