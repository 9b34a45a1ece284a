#include "tuner/runner/jobs/network_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>
#include <set>

#include "tuner/runner/cache.h"
#include "tuner/runner/jobs/network_call.h"
#include "tuner/runner/loaded_package.h"
#include "tuner/runner/sampling.h"
#include "tuner/runner/timing.h"

namespace kiln {
namespace {

using End = std::optional<RunnerAnswer>;  // nothing: go on

std::string threads_text(int threads) { return threads == 1 ? "1 thread" : fmt::format("{} threads", threads); }

class NetworkRuns {
public:
    NetworkRuns(const NetworkJob &job, const SendLine &send) : job_(job), send_(send) {}
    ~NetworkRuns() { kiln_unmap_weights(network(), &weights_); }

    RunnerAnswer run();

private:
    const kiln_network *network() const { return package_ ? package_->network() : nullptr; }
    End load();
    End bind();
    End make_call(int threads, NetworkMemoryPlace place, std::unique_ptr<NetworkCall> *call) const;
    End run_once(NetworkCall &call, const std::string &what, std::byte workspace);
    End compare(const NetworkCall &call, const std::string &what) const;
    End run_repeats();
    End compare_threads();
    End write_outputs() const;
    End measure();
    End time_steps();

    const NetworkJob &job_;
    const SendLine &send_;
    std::optional<LoadedPackage> package_;
    kiln_weights weights_ = {};
    kiln_bound_network bound_ = {};
    std::vector<std::vector<std::byte>> first_;  // outputs of the first call
    RunnerAnswer answer_;
};

End NetworkRuns::load() {
    send_(step_line("loading the package"));
    Result<LoadedPackage> loaded = LoadedPackage::load(job_.library);
    if (!loaded) return failed(TrialStatus::refused, loaded.error().message);
    package_ = std::move(*loaded);
    if (network() == nullptr) return failed(TrialStatus::refused, job_.library + ": is a package without a network");
    return {};
}

End NetworkRuns::bind() {
    send_(step_line("binding the weights"));
    if (!job_.weights.empty()) {
        const kiln_status mapped = kiln_map_weights(network(), job_.weights.c_str(), &weights_);
        if (mapped.code != KILN_OK)
            return failed(TrialStatus::refused, fmt::format("{}: {}", job_.weights, mapped.detail));
    }
    const kiln_status status = kiln_bind_network(network(), weights_.data, weights_.bytes, &bound_);
    const std::string &whose = job_.weights.empty() ? job_.library : job_.weights;
    if (status.code != KILN_OK) return failed(TrialStatus::refused, fmt::format("{}: {}", whose, status.detail));
    return {};
}

End NetworkRuns::make_call(int threads, NetworkMemoryPlace place, std::unique_ptr<NetworkCall> *call) const {
    auto made = NetworkCall::create(network(), threads, job_.inputs, place);
    if (!made) return environment_failed(made.error());
    *call = std::move(*made);
    return {};
}

// What a run finds in its workspace must not change its results, so calls find different bytes there.
End NetworkRuns::run_once(NetworkCall &call, const std::string &what, std::byte workspace) {
    send_(step_line(what));
    call.poison_outputs();
    call.fill_workspace(workspace);
    const kiln_status status = call.run(bound_);
    if (status.code != KILN_OK) return failed(TrialStatus::refused, fmt::format("{} ({})", status.detail, what));
    return compare(call, what);
}

End NetworkRuns::compare(const NetworkCall &call, const std::string &what) const {
    for (size_t i = 0; i < first_.size(); i++) {
        const auto output = call.output(i);
        const auto [here, there] = std::ranges::mismatch(output, first_[i]);
        if (here == output.end()) continue;
        return failed(TrialStatus::wrong_result,
                      fmt::format("{} is not what the first call answered, from byte {} on ({})",
                                  kiln_describe_network(network())->outputs[i].name, here - output.begin(), what));
    }
    return {};
}

End NetworkRuns::run_repeats() {
    std::unique_ptr<NetworkCall> call;
    if (End end = make_call(job_.call.threads, NetworkMemoryPlace::end_at_guard, &call)) return end;
    answer_.workspace_bytes = int64_t(call->workspace_bytes());
    for (int i = 0; i < job_.repeats; i++) {
        const std::string what = fmt::format("call {} of {}, {}", i + 1, job_.repeats, threads_text(job_.call.threads));
        if (End end = run_once(*call, what, i % 2 == 0 ? std::byte(0xff) : std::byte(0x3c))) return end;
        if (i > 0) continue;
        for (size_t o = 0; o < call->output_count(); o++) {
            first_.emplace_back(call->output(o).begin(), call->output(o).end());
        }
    }
    return {};
}

End NetworkRuns::compare_threads() {
    for (const int threads : {1, 2}) {
        if (threads == job_.call.threads) continue;
        std::unique_ptr<NetworkCall> call;
        if (End end = make_call(threads, NetworkMemoryPlace::end_at_guard, &call)) return end;
        if (End end = run_once(*call, "a call with " + threads_text(threads), std::byte(0x3c))) return end;
    }
    return {};
}

End NetworkRuns::write_outputs() const {
    if (job_.outputs.empty()) return {};
    if (job_.outputs.size() != first_.size()) {
        return environment_failed(
            environment_error(fmt::format("{} files for {} outputs", job_.outputs.size(), first_.size())));
    }
    for (size_t i = 0; i < first_.size(); i++) {
        std::ofstream file(job_.outputs[i], std::ios::binary);
        file.write(reinterpret_cast<const char *>(first_[i].data()), std::streamsize(first_[i].size()));
        if (!file.flush()) return environment_failed(environment_error(job_.outputs[i] + ": cannot be written"));
    }
    return {};
}

End NetworkRuns::measure() {
    const std::string step = "timing, " + threads_text(job_.call.threads);
    std::unique_ptr<NetworkCall> call;
    if (End end = make_call(job_.call.threads, NetworkMemoryPlace::scattered, &call)) return end;
    if (End end = run_once(*call, step, std::byte(0))) return end;
    const SamplingOrder &order = *job_.sampling;
    SamplingRequest request{{[&] { (void)call->run(bound_); }, {}}, order.limits, order.cutoffs_ns, order.patience_ns};
    if (order.cache == CacheMode::cold) {
        const kiln_network_info &info = *kiln_describe_network(network());
        const void *data = weights_.data != nullptr ? weights_.data : info.weights;
        const std::span<const std::byte> weights(static_cast<const std::byte *>(data), info.weights_bytes);
        request.timed.before_each = [=, activations = call->activations()] { make_cold(weights, activations); };
    }
    const Sampling sampling = take_samples(request);
    answer_.samples = sampling.samples;
    answer_.sentinel_ns = sampling.sentinel_ns;
    answer_.conditions = sampling.conditions;
    if (sampling.is_unstable) {
        const Summary summary = summarize(sampling.samples);
        return failed(TrialStatus::unstable,
                      fmt::format("the middle half of {} samples spreads over {:.0f} % of their median "
                                  "of {:.1f} us; is the machine busy?",
                                  sampling.samples.size(), 100 * summary.spread, summary.median / 1e3));
    }
    return compare(*call, step);
}

// When each step of a call began and ended.
struct StepClock {
    std::vector<Samples> *steps;
    double latest_ns;

    static void after_step(void *context, size_t step) {
        auto &clock = *static_cast<StepClock *>(context);
        const double now = now_ns();
        (*clock.steps)[step].push_back(now - clock.latest_ns);
        clock.latest_ns = now_ns();
    }
};

End NetworkRuns::time_steps() {
    const std::string step = "timing steps, " + threads_text(job_.call.threads);
    std::unique_ptr<NetworkCall> call;
    if (End end = make_call(job_.call.threads, NetworkMemoryPlace::scattered, &call)) return end;
    if (End end = run_once(*call, step, std::byte(0))) return end;
    answer_.steps.resize(kiln_bound_variant(&bound_)->step_count);
    StepClock clock{&answer_.steps, 0};
    const kiln_observer observer = {StepClock::after_step, &clock};
    call->observe(&observer);
    for (int i = 0; i < job_.step_calls; i++) {
        clock.latest_ns = now_ns();
        (void)call->run(bound_);
    }
    return compare(*call, step);
}

RunnerAnswer NetworkRuns::run() {
    if (End end = load()) return *end;
    if (End end = bind()) return *end;
    if (End end = run_repeats()) return *end;
    if (job_.compare_threads) {
        if (End end = compare_threads()) return *end;
    }
    if (End end = write_outputs()) return *end;
    if (job_.sampling) {
        if (End end = measure()) return *end;
    }
    if (job_.step_calls > 0) {
        if (End end = time_steps()) return *end;
    }
    answer_.status = TrialStatus::ok;
    return answer_;
}

}  // namespace

RunnerAnswer run_network_job(const NetworkJob &job, const SendLine &send) { return NetworkRuns(job, send).run(); }

}  // namespace kiln
