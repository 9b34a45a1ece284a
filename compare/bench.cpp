#include "compare/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "records/measurement.h"
#include "records/time_agreement.h"
#include "workload/signature.h"

namespace kiln {
namespace {

constexpr int64_t turn_ns = 50'000'000;  // of a peer or a copy

std::string text_of(const Failure &failure, const std::string &candidate) {
    return fmt::format("{}: {} ({})", name(failure.status), failure.message, candidate);
}

// The reason why a peer does not compute a layer; empty if it does.
std::string problem_of(const PeerLayer &layer) {
    switch (layer.refusal) {
        case PeerLayer::Refusal::none:
            return "";
        case PeerLayer::Refusal::unsupported:
            return "unsupported: " + layer.reason;
        case PeerLayer::Refusal::wrong_numbers:
            return "computes wrong numbers, not timed: " + layer.reason;
        case PeerLayer::Refusal::failed:
            break;
    }
    return "failed: " + layer.reason;
}

}  // namespace

double PeerTiming::call_overhead_ns() const { return summarize(call_overheads_ns).median; }

bool Layer::is_complete() const {
    return is_empty ||
           (chosen && std::none_of(peers.begin(), peers.end(), [](const PeerTiming &peer) { return peer.is_failure; }));
}

Status Bench::add(PeerSource source) {
    Result<std::unique_ptr<Peer>> peer = source.start();
    if (!peer) return peer.error();
    peers_.push_back({std::move(source), std::move(*peer)});
    return {};
}

Result<Layer> Bench::measure(const Workload &workload) {
    Layer layer;
    layer.is_empty = has_empty_result(workload);
    if (layer.is_empty) {
        layer.problem = empty_result_text;
        return layer;
    }
    Result<std::vector<Kernel>> kernels = build_kernels(workload, &layer);
    if (!kernels) return kernels.error();
    if (!layer.problem.empty()) return layer;
    const auto prepared = [&](Peer &peer) { return peer.prepare(workload, context_.target.threads); };
    if (Status s = prepare_peers(prepared, &layer); !s) return s.error();
    if (Status s = take_turns(turns(workload, &*kernels, &layer), &layer); !s) return s.error();
    if (!layer.problem.empty()) return layer;
    layer.difference = difference_of(kernels->front());
    layer.chosen = kernels->front().timing;
    layer.standard = kernels->back().timing;
    return layer;
}

Result<Layer> Bench::measure(const BenchedNetwork &network, NetworkRunner &runner) {
    Layer layer;
    layer.algorithm = network.about;
    layer.untuned = network.untuned;
    const auto prepared = [&](Peer &peer) { return peer.prepare(network.for_peers, context_.target.threads); };
    if (Status s = prepare_peers(prepared, &layer); !s) return s.error();
    Timing chosen{.candidate = network.about}, standard{.candidate = "default kernels"};
    std::vector<Turn> all;
    all.push_back([&] { return measure_once(network.chosen, runner, &chosen, &layer); });
    if (network.standard) all.push_back([&] { return measure_once(*network.standard, runner, &standard, &layer); });
    add_peers(&all, &layer);
    if (Status s = take_turns(std::move(all), &layer); !s) return s.error();
    if (!layer.problem.empty()) return layer;
    if (Status s = network.profiles ? add_profiles(&layer) : Status(); !s) return s.error();
    layer.chosen = chosen;
    layer.standard = network.standard ? standard : chosen;
    return layer;
}

// Each turn once a round, in another order each time. A kernel without a time ends them, and peers' times with it.
Status Bench::take_turns(std::vector<Turn> turns, Layer *layer) {
    for (int round = 0; round < rounds_; round++) {
        std::shuffle(turns.begin(), turns.end(), order_);
        for (const Turn &turn : turns) {
            if (Status s = turn(); !s) return s;
            if (layer->problem.empty()) continue;
            layer->peers.clear();
            return {};
        }
    }
    return {};
}

// The chosen kernel, then the default one if that is another. If one cannot be built, the layer says why.
Result<std::vector<Bench::Kernel>> Bench::build_kernels(const Workload &workload, Layer *layer) {
    std::vector<Kernel> kernels;
    const auto usable = usable_algorithms(workload, context_);
    if (!usable || usable->empty()) {
        layer->problem = usable ? fmt::format("no algorithm that matches `{}` applies", context_.algorithms.algorithm)
                                : usable.error().message;
        return kernels;
    }
    const auto choice = choose_candidate(workload, *usable, context_);
    if (!choice) return choice.error();
    const Candidate standard = usable->front()->space(workload, context_.target, core_of(context_)).default_candidate();
    layer->algorithm = choice->candidate.algorithm;
    layer->untuned = !choice->best;
    for (const Candidate &candidate : {choice->candidate, standard}) {
        if (!kernels.empty() && candidate == choice->candidate) continue;
        auto kernel = build(workload, candidate, layer);
        if (!kernel) return kernel.error();
        if (!*kernel) return kernels;
        kernels.push_back(std::move(**kernel));
        if (kernels.size() == 1 && choice->best) kernels[0].recorded = choice->best->measurement;
    }
    return kernels;
}

Result<std::optional<Bench::Kernel>> Bench::build(const Workload &workload, const Candidate &candidate, Layer *layer) {
    const std::string text = to_text(candidate);
    const Result<BuildResult> built = tools_.builder.build({workload, context_.target, candidate});
    if (!built) return built.error();
    if (!built->ok()) {
        layer->problem = text_of(built->failure(), text);
        return std::optional<Kernel>();
    }
    const RunRequest request{workload, context_.target, built->value(), context_.error_budget};
    return std::optional<Kernel>({request, {text, {}, 0}, {}});
}

Status Bench::prepare_peers(const Preparation &preparation, Layer *layer) {
    for (RunningPeer &peer : peers_) {
        Result<PeerTiming> prepared = prepare(&peer, preparation);
        if (!prepared) return prepared.error();
        layer->peers.push_back(std::move(*prepared));
    }
    return {};
}

Result<PeerTiming> Bench::prepare(RunningPeer *peer, const Preparation &preparation) {
    if (!peer->peer) {
        Result<std::unique_ptr<Peer>> started = peer->source.start();
        if (!started) return started.error();
        peer->peer = std::move(*started);
    }
    PeerTiming timing{.name = peer->source.name,
                      .version = peer->peer->version(),
                      .timing = {},
                      .call_overheads_ns = {},
                      .profile = {},
                      .profile_problem = "",
                      .problem = "",
                      .is_failure = false};
    const Result<PeerLayer> layer = preparation(*peer->peer);
    if (!layer) {
        peer->peer.reset();
        if (layer.error().code == ErrorCode::interrupted) return layer.error();
        timing.problem = layer.error().message;
        timing.is_failure = true;
        return timing;
    }
    timing.problem = problem_of(*layer);
    timing.is_failure =
        layer->refusal == PeerLayer::Refusal::wrong_numbers || layer->refusal == PeerLayer::Refusal::failed;
    if (timing.problem.empty()) timing.timing = Timing{layer->about, {}, 0};
    return timing;
}

std::vector<Bench::Turn> Bench::turns(const Workload &workload, std::vector<Kernel> *kernels, Layer *layer) {
    std::vector<Turn> all;
    const bool beside_copy = tools_.is_beside_copy ? tools_.is_beside_copy(workload) : is_data_movement(workload.op);
    if (beside_copy && context_.target.threads == 1) {
        all.push_back([this, &workload, layer] { return measure_copy(workload, layer), Status(); });
    }
    for (Kernel &kernel : *kernels) all.push_back([this, &kernel, layer] { return measure_once(&kernel, layer); });
    add_peers(&all, layer);
    return all;
}

void Bench::add_peers(std::vector<Turn> *turns, Layer *layer) {
    for (size_t i = 0; i < peers_.size(); i++) {
        turns->push_back([this, i, layer] { return measure_once(&peers_[i], &layer->peers[i]); });
    }
}

// A busy moment of the machine is no fault of the kernel: it gets another turn.
Status Bench::measure_once(Kernel *kernel, Layer *layer) {
    constexpr int attempts = 3;
    constexpr int64_t patience_ns = 6'000'000'000;
    Result<RunResult> run = tools_.runner.run(kernel->request);
    RunRequest again = kernel->request;
    again.patience_ns = patience_ns;
    for (int i = 1; i < attempts && run && !run->ok() && run->failure().status == TrialStatus::unstable; i++) {
        run = tools_.runner.run(again);
    }
    if (!run) return run.error();
    if (!run->ok()) {
        layer->problem = text_of(run->failure(), kernel->timing.candidate);
        return {};
    }
    const Summary summary = summarize(run->value().samples);
    kernel->timing.add(summary.median, summary.min);
    kernel->timing.conditions = run->value().conditions;
    return {};
}

// The medians of the rounds spread as those of other processes may.
std::string Bench::difference_of(const Kernel &kernel) {
    // Weights that come from memory take longer than those in the caches.
    if (!kernel.recorded || kernel.recorded->cache != kernel.request.cache) return "";
    const Summary rounds = summarize(kernel.timing.round_medians_ns);
    Measurement now = *kernel.recorded;
    now.samples = kernel.timing.round_medians_ns;
    now.median = rounds.median, now.spread = rounds.spread, now.conditions = kernel.timing.conditions;
    return difference_text(*kernel.recorded, now);
}

Status Bench::measure_once(const NetworkRunRequest &request, NetworkRunner &runner, Timing *timing, Layer *layer) {
    constexpr int attempts = 3;
    Result<Attempt<NetworkRunReport>> run = runner.run(request);
    for (int i = 1; i < attempts && run && !run->ok() && run->failure().status == TrialStatus::unstable; i++) {
        run = runner.run(request);
    }
    if (!run) return run.error();
    if (!run->ok()) {
        layer->problem = text_of(run->failure(), timing->candidate);
        return {};
    }
    const Summary summary = summarize(run->value().samples);
    timing->add(summary.median, summary.min);
    return {};
}

// A call without work takes some tenths more or less from round to round, which would be most of a smaller difference.
constexpr double least_of_overhead = 1.5;

Status Bench::measure_once(RunningPeer *peer, PeerTiming *timing) {
    if (!timing->timing) return {};
    const Result<PeerRound> round = [&] {
        const auto alone = tools_.alone();
        return peer->peer->round(turn_ns);
    }();
    if (!round) {
        peer->peer.reset();
        if (round.error().code == ErrorCode::interrupted) return round.error();
        timing->timing.reset();
        timing->problem = round.error().message;
        timing->is_failure = true;
        return {};
    }
    const Summary summary = summarize(round->samples_ns);
    const double overhead_ns = round->call_overhead_ns;
    if (summary.min < least_of_overhead * overhead_ns) {
        timing->timing.reset();
        timing->problem = fmt::format("too short to be told from its call ({:.1f} us)", overhead_ns * 1e-3);
        return {};
    }
    timing->timing->add(summary.median - overhead_ns, summary.min - overhead_ns);
    timing->call_overheads_ns.push_back(overhead_ns);
    return {};
}

// A profile is more than was asked of a library: where it fails, times stay.
Status Bench::add_profiles(Layer *layer) {
    for (size_t i = 0; i < peers_.size(); i++) {
        if (!layer->peers[i].timing) continue;
        Result<PeerProfile> profile = peers_[i].peer->profile();
        if (profile) {
            layer->peers[i].profile = std::move(*profile);
            continue;
        }
        peers_[i].peer.reset();
        if (profile.error().code == ErrorCode::interrupted) return profile.error();
        layer->peers[i].profile_problem = profile.error().message;
    }
    return {};
}

// A copy reads half of what the layer reads and writes, and writes the other half.
void Bench::measure_copy(const Workload &workload, Layer *layer) {
    const Signature tensors = signature(workload);
    const int64_t both = elements(tensors.operands[0].shape()) + elements(tensors.result.shape());
    const std::vector<double> samples = [&] {
        const auto alone = tools_.alone();
        return tools_.copy(both * size_of(workload.dtype) / 2, turn_ns);
    }();
    if (samples.empty()) return;
    const Summary summary = summarize(samples);
    if (!layer->copy) layer->copy.emplace();
    layer->copy->add(summary.median, summary.min);
}

}  // namespace kiln
