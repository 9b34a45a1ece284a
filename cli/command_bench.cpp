#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <random>

#include "cli/bench_report.h"
#include "cli/command.h"
#include "cli/peers.h"
#include "compare/peer_process.h"
#include "records/measurement.h"
#include "tuner/job/candidate_choice.h"
#include "tuner/measure/hardware_probe.h"
#include "tuner/process/host_machine.h"
#include "tuner/process/interrupt.h"
#include "workload/signature.h"

namespace kiln {
namespace {

constexpr int default_rounds = 3, fewest_rounds_with_peers = 5;

struct BenchArguments {
    WorkloadOptions workloads;
    TargetOptions target;
    std::string db, against, peers_folder, svg;
    AlgorithmFilter algorithms;
    double error_budget = default_error_budget;
    int rounds = 0;  // 0: not given
    TableFormat format = TableFormat::table;
};

// A peer's process, started again where it was lost.
struct Peer {
    PeerProgram program;
    std::string version;
    std::optional<PeerProcess> process;
};

class Bench {
public:
    Bench(const ChoiceContext &context, Workshop &workshop, int rounds)
        : context_(context), workshop_(workshop), rounds_(rounds) {}

    // Errors: it does not start.
    Status add(const PeerProgram &program);

    // Errors: the environment failed, or the user stopped. What is wrong with a layer is in it.
    Result<Layer> measure(const Workload &workload);

private:
    struct Kernel {
        RunRequest request;
        Timing timing;
    };
    Result<std::optional<Kernel>> build(const Workload &workload, const Candidate &candidate, Layer *layer);
    Status measure_once(Kernel *kernel, Layer *layer);
    Result<PeerTiming> prepare(Peer *peer, const Workload &workload);
    Status measure_once(Peer *peer, PeerTiming *timing);
    void measure_copy(const Workload &workload, Layer *layer);
    Status measure_rounds(const Workload &workload, std::vector<Kernel> *kernels, Layer *layer);

    const ChoiceContext &context_;
    Workshop &workshop_;
    int rounds_;
    std::vector<Peer> peers_;
    std::mt19937 order_{1};
};

Result<std::optional<Bench::Kernel>> Bench::build(const Workload &workload, const Candidate &candidate, Layer *layer) {
    const Result<BuildResult> built = workshop_.builder->build({workload, context_.target, candidate});
    if (!built) return built.error();
    if (!built->ok()) {
        const Failure &failure = built->failure();
        layer->problem = fmt::format("{}: {} ({})", name(failure.status), failure.message, to_text(candidate));
        return std::optional<Kernel>();
    }
    return std::optional<Kernel>(
        {RunRequest{workload, context_.target, built->value(), context_.error_budget}, {to_text(candidate), {}, 0}});
}

Status Bench::measure_once(Kernel *kernel, Layer *layer) {
    // A busy moment of the machine is no fault of the kernel: it gets another turn.
    constexpr int attempts = 3;
    Result<RunResult> run = workshop_.runner->run(kernel->request);
    for (int i = 1; i < attempts && run && !run->ok() && run->failure().status == TrialStatus::unstable; i++) {
        run = workshop_.runner->run(kernel->request);
    }
    if (!run) return run.error();
    if (!run->ok()) {
        const Failure &failure = run->failure();
        layer->problem = fmt::format("{}: {} ({})", name(failure.status), failure.message, kernel->timing.candidate);
        return {};
    }
    const Summary summary = summarize(run->value().samples);
    kernel->timing.add(summary.median, summary.min);
    return {};
}

Status Bench::add(const PeerProgram &program) {
    Peer peer{program, "", {}};
    if (context_.target.threads == 1) peer.program.cpu = workshop_.cpu;
    Result<PeerProcess> process = PeerProcess::start(peer.program);
    if (!process) return process.error();
    peer.version = process->version();
    peer.process = std::move(*process);
    peers_.push_back(std::move(peer));
    return {};
}

Result<PeerTiming> Bench::prepare(Peer *peer, const Workload &workload) {
    PeerTiming timing{.name = peer->program.name, .version = peer->version};
    if (!peer->process) {
        Result<PeerProcess> process = PeerProcess::start(peer->program);
        if (!process) return process.error();
        peer->process = std::move(*process);
    }
    const Result<PeerLayer> layer = peer->process->prepare(workload, context_.target.threads);
    if (!layer) {
        peer->process.reset();
        if (layer.error().code == ErrorCode::interrupted) return layer.error();
        timing.problem = layer.error().message;
        timing.is_failure = true;
        return timing;
    }
    using Refusal = PeerLayer::Refusal;
    timing.is_failure = layer->refusal == Refusal::wrong_numbers || layer->refusal == Refusal::failed;
    switch (layer->refusal) {
        case Refusal::none:
            timing.timing = Timing{layer->about, {}, 0};
            break;
        case Refusal::unsupported:
            timing.problem = "unsupported: " + layer->reason;
            break;
        case Refusal::wrong_numbers:
            timing.problem = "computes wrong numbers, not timed: " + layer->reason;
            break;
        case Refusal::failed:
            timing.problem = "failed: " + layer->reason;
            break;
    }
    return timing;
}

Status Bench::measure_once(Peer *peer, PeerTiming *timing) {
    if (!timing->timing) return {};
    constexpr int64_t budget_ns = 50'000'000;
    const Result<PeerRound> round = peer->process->round(budget_ns);
    if (!round) {
        peer->process.reset();
        if (round.error().code == ErrorCode::interrupted) return round.error();
        timing->timing.reset();
        timing->problem = round.error().message;
        timing->is_failure = true;
        return {};
    }
    const Summary summary = summarize(round->samples_ns);
    const double overhead_ns = round->call_overhead_ns;
    if (summary.min <= overhead_ns) {
        timing->timing.reset();
        timing->problem = fmt::format("too short to be told from its call ({:.1f} us)", overhead_ns * 1e-3);
        return {};
    }
    timing->timing->add(summary.median - overhead_ns, summary.min - overhead_ns);
    const double rounds = double(timing->timing->round_medians_ns.size());
    timing->call_overhead_ns += (overhead_ns - timing->call_overhead_ns) / rounds;
    return {};
}

// In turns, so that a slow phase of the machine meets all, and in another order each time, so that none profits from
// what the one before leaves behind.
// Half of what is read and written is what a copy reads.
void Bench::measure_copy(const Workload &workload, Layer *layer) {
    constexpr int64_t budget_ns = 50'000'000;
    const Signature tensors = signature(workload);
    const int64_t both = elements(tensors.operands[0].shape()) + elements(tensors.result.shape());
    const std::vector<double> samples = copy_samples_ns(context_.target, both * size_of(workload.dtype) / 2, budget_ns);
    if (samples.empty()) return;
    const Summary summary = summarize(samples);
    if (!layer->copy) layer->copy.emplace();
    layer->copy->add(summary.median, summary.min);
}

Status Bench::measure_rounds(const Workload &workload, std::vector<Kernel> *kernels, Layer *layer) {
    std::vector<std::function<Status()>> turns;
    if (is_data_movement(workload.op) && context_.target.threads == 1) {
        turns.push_back([this, &workload, layer] { return measure_copy(workload, layer), Status(); });
    }
    for (Kernel &kernel : *kernels) turns.push_back([this, &kernel, layer] { return measure_once(&kernel, layer); });
    for (size_t i = 0; i < peers_.size(); i++) {
        turns.push_back([this, i, layer] { return measure_once(&peers_[i], &layer->peers[i]); });
    }
    for (int round = 0; round < rounds_; round++) {
        std::shuffle(turns.begin(), turns.end(), order_);
        for (const auto &turn : turns) {
            if (Status s = turn(); !s) return s;
            if (!layer->problem.empty()) return {};
        }
    }
    return {};
}

Result<Layer> Bench::measure(const Workload &workload) {
    Layer layer;
    const auto usable = usable_algorithms(workload, context_);
    if (!usable) {
        layer.problem = usable.error().message;
        return layer;
    }
    if (usable->empty()) {
        layer.problem = fmt::format("no algorithm that matches `{}` applies", context_.algorithms.algorithm);
        return layer;
    }
    const auto choice = choose_candidate(workload, *usable, context_);
    if (!choice) return choice.error();
    const Candidate standard = usable->front()->space(workload, context_.target, core_of(context_)).default_candidate();
    layer.algorithm = choice->candidate.algorithm;
    layer.untuned = !choice->best;

    std::vector<Kernel> kernels;  // the chosen one, then the default where that is another
    for (const Candidate &candidate : {choice->candidate, standard}) {
        if (!kernels.empty() && candidate == choice->candidate) continue;
        auto kernel = build(workload, candidate, &layer);
        if (!kernel) return kernel.error();
        if (!*kernel) return layer;
        kernels.push_back(std::move(**kernel));
    }
    for (Peer &peer : peers_) {
        Result<PeerTiming> prepared = prepare(&peer, workload);
        if (!prepared) return prepared.error();
        layer.peers.push_back(std::move(*prepared));
    }
    if (Status s = measure_rounds(workload, &kernels, &layer); !s) return s.error();
    if (!layer.problem.empty()) {
        layer.peers.clear();
        return layer;
    }
    layer.chosen = kernels.front().timing;
    layer.standard = kernels.back().timing;
    return layer;
}

// Whether everything asked for has a time. That a peer has no way to compute a layer is an answer too.
bool is_complete(const Layer &layer) {
    return layer.chosen &&
           std::none_of(layer.peers.begin(), layer.peers.end(), [](const PeerTiming &peer) { return peer.is_failure; });
}

Result<int> rounds(const BenchArguments &arguments, bool has_peers) {
    const int fewest = has_peers ? fewest_rounds_with_peers : 1;
    if (arguments.rounds == 0) return std::max(default_rounds, fewest);
    if (arguments.rounds >= fewest) return arguments.rounds;
    return Error{ErrorCode::usage, fmt::format("--rounds {}: a comparison with peers needs at least {}",
                                               arguments.rounds, fewest_rounds_with_peers)};
}

Status write_chart(const BenchReport &report, const std::string &path) {
    std::ofstream file(path, std::ios::trunc);
    file << bench_chart(report);
    if (!file.flush()) return environment_error(path + ": cannot be written");
    return {};
}

int run(const BenchArguments &arguments) {
    if (Status s = check_error_budget(arguments.error_budget); !s) return fail(s.error());
    Result<std::vector<std::string>> peers = parse_peers(arguments.against);
    if (!peers) return fail(peers.error());
    const Result<int> round_count = rounds(arguments, !peers->empty());
    if (!round_count) return fail(round_count.error());
    const Machine machine = read_machine();
    Result<Target> target = read_runnable(arguments.target, machine);
    if (!target) return fail(target.error());
    Result<std::vector<NamedWorkload>> workloads = read(arguments.workloads);
    if (!workloads) return fail(workloads.error());
    const Result<std::vector<PeerProgram>> programs = find_peers(*peers, arguments.peers_folder);
    if (!programs) return fail(programs.error());
    std::optional<TrialStore> store;
    if (!arguments.db.empty()) {
        Result<TrialStore> opened = TrialStore::open(arguments.db, OpenMode::read_only);
        if (!opened) return fail(opened.error());
        store = std::move(*opened);
    }
    install_interrupt_handler();
    Result<Workshop> workshop = make_workshop();
    if (!workshop) return fail(workshop.error());

    const ChoiceContext context{.target = *target,
                                .machine = machine,
                                .store = store ? &*store : nullptr,
                                .toolchain = workshop->builder->toolchain(),
                                .algorithms = arguments.algorithms,
                                .error_budget = arguments.error_budget};
    Bench bench(context, *workshop, *round_count);
    for (const PeerProgram &program : *programs) {
        if (Status s = bench.add(program); !s) return fail(s.error());
    }
    BenchReport report{.workloads = std::move(*workloads),
                       .layers = {},
                       .target = *target,
                       .peak = measure_fma_peak(*target),
                       .bandwidths = measure_bandwidths(machine, target->threads),
                       .peers = std::move(*peers)};
    std::map<std::string, Layer> measured;  // by key: equal layers are measured once
    bool complete = true;
    for (const NamedWorkload &w : report.workloads) {
        if (interrupted()) return fail({ErrorCode::interrupted, "interrupted"});
        auto found = measured.find(key(w.workload));
        if (found == measured.end()) {
            fmt::print(stderr, "[{}/{}] {}/{}\n", report.layers.size() + 1, report.workloads.size(), w.list, w.name);
            Result<Layer> layer = bench.measure(w.workload);
            if (!layer) return fail(layer.error());
            found = measured.emplace(key(w.workload), std::move(*layer)).first;
        }
        complete &= is_complete(found->second);
        report.layers.push_back(found->second);
    }
    if (!arguments.svg.empty()) {
        if (Status s = write_chart(report, arguments.svg); !s) return fail(s.error());
    }
    arguments.format == TableFormat::json ? print_json(report) : print_table(report);
    return complete ? exit_done : exit_failed;
}

}  // namespace

void add_bench_command(CLI::App &app, Action &action) {
    auto arguments = std::make_shared<BenchArguments>();
    CLI::App *command =
        app.add_subcommand("bench", "Measure tuned and default kernels in turns, and their share of peak");
    add_options(*command, arguments->workloads);
    command->add_option("--db", arguments->db, "Database with recorded trials; without it everything is untuned")
        ->type_name("FILE");
    command->add_option("--against", arguments->against, "Peers to measure beside kiln's kernels")
        ->type_name("onednn,onnxruntime,openvino");
    command
        ->add_option("--peers", arguments->peers_folder, "kiln's repository with bench/peers and .peers, if elsewhere")
        ->type_name("DIR");
    add_algorithm_options(*command, arguments->algorithms);
    add_max_error_option(*command, arguments->error_budget, "Use no recorded kernel with a larger error");
    command->add_option("--svg", arguments->svg, "Also write a bar chart of GFLOP/s")->type_name("FILE");
    command->add_option("--rounds", arguments->rounds, "How often each kernel gets its turn; 3, with peers 5")
        ->check(CLI::Range(1, 100))
        ->type_name("N");
    add_options(*command, arguments->target);
    add_format_option(*command, arguments->format, {TableFormat::table, TableFormat::json});
    command->footer("Example:\n  kiln bench --workloads workloads/resnet50.json --db kiln.db --against onednn");
    command->callback([&action, arguments] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace kiln
