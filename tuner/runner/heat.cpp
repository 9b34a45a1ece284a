#include "tuner/runner/heat.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>

#include "tuner/runner/cache.h"
#include "tuner/runner/call.h"
#include "tuner/runner/conditions.h"
#include "tuner/runner/sentinel.h"
#include "tuner/runner/timing.h"

namespace kiln {

namespace {

constexpr SampleLength heat_sample{100e3, 100e3};
constexpr double may_lose_ns = 2e9;

struct Turn {
    std::unique_ptr<Call> call;
    int code = 0;  // the first of the kernel's own that is not success
    TimedCall timed;
    std::unique_ptr<UndisturbedSamples> samples;
};

// The sizes come from records, which somebody else may have written. No kernel had more than this when it was judged.
WorkspaceSize workspace_of(const HeatJob &job) {
    const int64_t most = job.call.memory_limit_bytes / 2, most_per_thread = most / 2 / job.call.threads;
    return {size_t(std::clamp<int64_t>(job.workspace_bytes, 0, most)),
            size_t(std::clamp<int64_t>(job.workspace_bytes_per_thread, 0, most_per_thread))};
}

void shuffle(std::vector<size_t> &order, std::mt19937_64 &rng) {
    for (size_t i = order.size(); i > 1; i--) {
        std::swap(order[i - 1], order[rng() % i]);
    }
}

}  // namespace

RunnerAnswer run_heat(const HeatJob &job, const Workload &workload, const std::vector<LoadedKernel> &kernels,
                      const SendLine &send) {
    RunnerAnswer answer;
    auto context = CallContext::create(job.call.threads, workspace_of(job));
    if (!context) {
        return environment_failed(context.error());
    }
    std::vector<Turn> turns(kernels.size());
    const auto error_of = [&](size_t kernel, const char *function, int code) {
        answer.status = TrialStatus::crash;
        answer.message = fmt::format("kernel {}'s {} returned the error code {}", kernel, function, code);
        return answer;
    };
    Conditions::Notes notes;
    const Conditions conditions;
    notes.sentinel_ns.push_back(sentinel_ns());
    for (size_t i = 0; i < kernels.size(); i++) {
        send(step_line(fmt::format("warming up kernel {} of {}", i + 1, kernels.size())));
        Turn &turn = turns[i];
        auto call = Call::create(job.kernels[i], workload, job.operands, Call::Place::scattered);
        if (!call) {
            return environment_failed(call.error());
        }
        turn.call = std::move(*call);
        KernelContext &kernel_context = (*context)->context();
        const LoadedKernel &kernel = kernels[i];
        if (const int code = turn.call->prepare(kernel, kernel_context)) {
            return error_of(i, "pack or prepare function", code);
        }
        turn.timed.call = [&kernel, &kernel_context, &turn] {
            const int code = turn.call->compute(kernel, kernel_context);
            if (turn.code == 0) turn.code = code;
        };
        if (job.cache == CacheMode::cold) {
            turn.timed.before_each = [c = turn.call.get()] { make_cold(c->weights(), c->activations()); };
        }
        const int calls = calls_per_sample(turn.timed, warm_up(turn.timed), heat_sample);
        turn.samples = std::make_unique<UndisturbedSamples>(turn.timed, calls, may_lose_ns / double(kernels.size()));
    }
    const MemorySentinel memory(turns.front().call->activations(), size_t(job.memory_bytes));
    if (job.memory_bytes > 0) notes.memory.before = memory.measure();
    send(step_line(fmt::format("{} rounds of {} kernels", job.rounds, kernels.size())));
    answer.heat.resize(kernels.size());
    std::vector<size_t> order(kernels.size());
    for (size_t i = 0; i < order.size(); i++) {
        order[i] = i;
    }
    std::mt19937_64 rng(job.seed);
    for (int round = 0; round < job.rounds; round++) {
        shuffle(order, rng);
        for (const size_t i : order) {
            time_calls(turns[i].timed, 1);  // the one before left its own data in the caches
            answer.heat[i].push_back(turns[i].samples->next_ns());
        }
    }
    if (job.memory_bytes > 0) notes.memory.after = memory.measure();
    notes.sentinel_ns.push_back(sentinel_ns());
    for (size_t i = 0; i < turns.size(); i++) {
        // A call that ends early takes no time worth knowing.
        if (turns[i].code != 0) return error_of(i, "compute function", turns[i].code);
        notes.preempted_calls += turns[i].samples->preempted();
    }
    answer.sentinel_ns = notes.sentinel_ns;
    answer.conditions = conditions.to_json(notes);
    answer.status = TrialStatus::ok;
    return answer;
}

}  // namespace kiln
