#include "cli/network/network_race.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/network/call_files.h"
#include "tuner/build/expected_builds.h"
#include "tuner/job/network_field.h"

namespace kiln {
namespace {

constexpr int calls_at_first = 3, fewest_calls = 5, most_calls = 25;
constexpr double run_ns = 0.6e9;                          // of a version in a heat, about
constexpr int64_t most_weights_bytes = int64_t(4) << 30;  // of all versions, in the temporary folder

std::vector<LayerSteps> layer_steps(const network::Program &program) {
    std::vector<LayerSteps> layers;
    std::map<std::string, size_t> known;
    for (size_t step = 0; step < program.steps.size(); step++) {
        const auto *call = std::get_if<network::KernelCall>(&program.steps[step].work);
        if (!call) continue;
        const auto [place, is_new] = known.try_emplace(key(call->workload), layers.size());
        if (is_new) layers.push_back({call->workload, {}});
        layers[place->second].steps.push_back(step);
    }
    return layers;
}

double median_call_ns(const Heats &heats) {
    Samples all;
    for (const Samples &heat : heats) all.insert(all.end(), heat.begin(), heat.end());
    return summarize(all).median;
}

std::string call_text(const VersionCalls &calls) {
    const double ns = median_call_ns(calls.heats);
    return ns < 1e6 ? fmt::format("{:.1f} us", ns * 1e-3) : fmt::format("{:.3f} ms", ns * 1e-6);
}

const VersionCalls &calls_of(const std::vector<VersionCalls> &versions, size_t version) {
    return *std::ranges::find(versions, version, &VersionCalls::version);
}

class KernelRace {
public:
    explicit KernelRace(const NetworkRaceJob &job)
        : job_(job),
          shop_(job.workshop, job.context, job.parts, "race"),
          files_(job.program, job.workshop.folder.path() + "/race-calls"),
          start_ns_(job.time.now_ns()) {}

    Result<NetworkRaceReport> run();

private:
    NetworkVersion version(size_t number, const std::vector<NetworkKernel> &kernels) const;
    std::vector<NetworkKernel> kernels_of(size_t number) const;
    Result<bool> build(size_t number, const std::vector<NetworkKernel> &kernels);
    Status build_versions();
    bool has_time() const;
    bool has_room_for_more() const;
    Result<Attempt<NetworkRunReport>> run_version(size_t number, int calls);
    Status settle(const NetworkRaceResult &result, NetworkRaceReport *report);
    Status record(const NetworkRaceResult &result);

    const NetworkRaceJob &job_;
    NetworkWorkshop shop_;
    CallFiles files_;
    int64_t start_ns_;
    std::vector<NetworkLayer> layers_;
    std::map<size_t, BuiltNetwork> built_;  // by version
    int calls_ = fewest_calls;
};

NetworkVersion KernelRace::version(size_t number, const std::vector<NetworkKernel> &kernels) const {
    NetworkVersion version{fmt::format("{}", number), {}};
    for (const NetworkKernel &kernel : kernels) version.kernels[kernel.trial.workload] = {kernel.candidate, {}};
    return version;
}

std::vector<NetworkKernel> KernelRace::kernels_of(size_t number) const {
    std::vector<NetworkKernel> kernels;
    for (const NetworkLayer &layer : layers_) kernels.push_back(kernel_of(layer, number));
    return kernels;
}

// Whether there is such a package. Kernels that are not the ones that were measured leave the race.
Result<bool> KernelRace::build(size_t number, const std::vector<NetworkKernel> &kernels) {
    Result<NetworkBuild> build = shop_.build(job_.program, version(number, kernels));
    if (!build) return build.error();
    if (std::holds_alternative<Unbuilt>(*build)) return false;
    const BuiltNetwork &built = built_[number] = std::move(std::get<BuiltNetwork>(*build));
    const auto is_as_measured = [&](const NetworkKernel &kernel) {
        const auto object = built.objects.find(kernel.trial.workload);
        return object != built.objects.end() && object->second == kernel.trial.object_hash;
    };
    for (NetworkLayer &layer : layers_) {
        if (number == 0 && !is_as_measured(layer.kernels.front())) layer.kernels.clear();
        std::erase_if(layer.kernels, [&](const NetworkKernel &k) { return k.version == number && !is_as_measured(k); });
    }
    std::erase_if(layers_, [](const NetworkLayer &layer) { return layer.kernels.size() < 2; });
    return true;
}

// Whether the first version, which has all kernels to build, could be there in time.
bool KernelRace::has_time() const {
    if (!job_.time.end_ns) return true;
    return job_.time.now_ns() + build_ns(layers_) / std::max(1, building_threads()) < *job_.time.end_ns;
}

// Weights are packed anew for each version, and half of the time is for the heats.
bool KernelRace::has_room_for_more() const {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(built_.at(0).files.weights, error);
    if (!error && int64_t(bytes) * int64_t(built_.size() + 2) > most_weights_bytes) return false;
    return !job_.time.end_ns || job_.time.now_ns() - start_ns_ < (*job_.time.end_ns - start_ns_) / 2;
}

Status KernelRace::build_versions() {
    const size_t versions = version_count(layers_);
    for (size_t number = 0; number < versions; number++)
        shop_.expect(job_.program, version(number, kernels_of(number)));
    for (size_t number = 0; number < versions && !layers_.empty(); number++) {
        if (number > 1 && !has_room_for_more()) {
            leave_out_version(number, &layers_);
            continue;
        }
        job_.say(fmt::format("version {} of {} is built", number + 1, versions));
        const Result<bool> is_built = build(number, kernels_of(number));
        if (!is_built) return is_built.error();
        if (*is_built) continue;
        if (number == 0) layers_.clear();
        leave_out_version(number, &layers_);
    }
    return {};
}

Result<Attempt<NetworkRunReport>> KernelRace::run_version(size_t number, int calls) {
    const NetworkRunRequest request{.files = built_.at(number).files,
                                    .threads = job_.context.target.threads,
                                    .inputs = files_.inputs(),
                                    .step_calls = calls};
    return shop_.runner().run(request);
}

Status KernelRace::record(const NetworkRaceResult &result) {
    for (const Race &race : races_of(result, job_.program.name, job_.timestamp())) {
        if (const Result<std::string> id = job_.store.append(race); !id) return id.error();
    }
    return {};
}

// Records the race where the network is not slower for it, and says what came out.
Status KernelRace::settle(const NetworkRaceResult &result, NetworkRaceReport *report) {
    const auto beside_defaults = [&](const std::vector<VersionCalls> &versions) -> std::string {
        const auto standard = std::ranges::find(versions, size_t(1), &VersionCalls::version);
        if (standard == versions.end() || standard->heats.empty()) return "";
        return fmt::format(", {} with default kernels", call_text(*standard));
    };
    std::vector<NetworkKernel> winners, changes;
    for (size_t l = 0; l < result.layers.size(); l++) {
        winners.push_back(result.winner(l));
        if (winners.back().version != 0) changes.push_back(winners.back());
    }
    const std::string name = job_.program.name;
    if (changes.empty()) {
        report->text = fmt::format("{}: {} in the network{}; the kernels that are fastest alone are fastest there",
                                   name, call_text(calls_of(result.versions, 0)), beside_defaults(result.versions));
        return record(result);
    }
    const size_t together = version_count(layers_);
    job_.say("the winners are built together");
    const Result<bool> is_built = build(together, winners);
    if (!is_built) return is_built.error();
    std::optional<std::vector<VersionCalls>> calls;
    if (*is_built) {
        const RunVersion run = [&](size_t number) { return run_version(number, calls_); };
        std::vector<size_t> compared = {0, together};
        if (built_.contains(1)) compared.push_back(1);
        NetworkRaceTime time = job_.time;
        time.end_ns.reset();  // a race that nobody checked would be lost, and three heats are short
        auto ran = compare_versions(compared, run, time);
        if (!ran) return ran.error();
        calls = std::move(*ran);
    }
    if (!calls) {
        report->text =
            fmt::format("{}: the kernels that win in the network do not run together; nothing changes", name);
        return {};
    }
    const VersionCalls &before = calls_of(*calls, 0), &after = calls_of(*calls, together);
    report->text =
        fmt::format("{}: {} in the network with the winners there, {} with the kernels that are fastest alone{}", name,
                    call_text(after), call_text(before), beside_defaults(*calls));
    if (call_ratio(after, before) > 1) {
        report->text += "; nothing changes";
        return {};
    }
    report->text += fmt::format("; {} of {} layers have another kernel for it", changes.size(), result.layers.size());
    report->changes = std::move(changes);
    return record(result);
}

Result<NetworkRaceReport> KernelRace::run() {
    NetworkRaceReport report;
    Result<std::vector<NetworkLayer>> layers =
        network_field(layer_steps(job_.program), job_.program.name, job_.context);
    if (!layers) return layers.error();
    if (layers->empty()) return report;
    layers_ = std::move(*layers);
    const std::string name = job_.program.name;
    if (!has_time()) {
        report.text = name + ": no race in the network: there was no time for it";
        return report;
    }
    job_.say(fmt::format("{} layers race in the network, in {} versions", layers_.size(), version_count(layers_)));
    if (Status s = files_.write_inputs(); !s) return s.error();
    if (Status s = build_versions(); !s) return s.error();
    if (layers_.empty()) return report;
    const Result<Attempt<NetworkRunReport>> first = run_version(0, calls_at_first);
    if (!first) return first.error();
    if (!first->ok()) {
        report.text = fmt::format("{}: no race in the network: {}", name, first->failure().message);
        return report;
    }
    if (first->value().steps.size() != job_.program.steps.size()) {
        report.text = name + ": no race in the network: its steps cannot be told apart";
        return report;
    }
    double call_ns = 0;
    for (const Samples &step : first->value().steps) call_ns += summarize(step).median;
    calls_ = std::clamp(int(run_ns / call_ns), fewest_calls, most_calls);
    const RunVersion run = [&](size_t number) { return run_version(number, calls_); };
    NetworkRaceTime time = job_.time;
    time.tell = [&](size_t heat) { job_.say(fmt::format("heat {}", heat + 1)); };
    const Result<NetworkRaceResult> result = race_in_network(layers_, run, time);
    if (!result) return result.error();
    if (!result->is_decided()) {
        report.text = fmt::format("{}: no race in the network: {}", name, result->problem);
        return report;
    }
    if (Status s = settle(*result, &report); !s) return s.error();
    return report;
}

}  // namespace

Result<NetworkRaceReport> race_kernels(const NetworkRaceJob &job) { return KernelRace(job).run(); }

}  // namespace kiln
