#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "cli/answers/answer_options.h"
#include "cli/answers/output.h"
#include "cli/answers/svg.h"
#include "cli/bench/bench_chart.h"
#include "cli/bench/bench_report.h"
#include "cli/bench/core_report.h"
#include "cli/clock.h"
#include "cli/command.h"
#include "cli/layer_options.h"
#include "cli/measuring/measuring_turn.h"
#include "cli/measuring/peak_keeper.h"
#include "cli/network/network_bench.h"
#include "cli/network/network_plan.h"
#include "cli/network/network_program.h"
#include "cli/network/network_workshop.h"
#include "compare/bench.h"
#include "compare/peer_process.h"
#include "compare/peers.h"
#include "compare/roofline.h"
#include "package/output/output_places.h"
#include "package/package.h"
#include "tuner/process/host_machine.h"
#include "tuner/process/interrupt.h"

namespace kiln {
namespace {

constexpr int default_rounds = 3, fewest_rounds_with_peers = 5;

struct BenchArguments {
    LayerOptions layers;
    TargetOptions target;
    std::string db, against, peers_folder, svg;
    AlgorithmFilter algorithms;
    double error_budget = default_error_budget;
    int rounds = 0;  // 0: not given
    bool steps = false;
    AnswerOptions answer;
};

Result<int> rounds(const BenchArguments &arguments, bool has_peers) {
    const int fewest = has_peers ? fewest_rounds_with_peers : 1;
    if (arguments.rounds == 0) return std::max(default_rounds, fewest);
    if (arguments.rounds >= fewest) return arguments.rounds;
    return Error{ErrorCode::usage, fmt::format("--rounds {}: a comparison with peers needs at least {}",
                                               arguments.rounds, fewest_rounds_with_peers)};
}

// All that is measured with; stays until the end.
struct BenchJob {
    Machine machine = read_machine();
    Target target;
    std::vector<NamedWorkload> workloads;
    std::optional<network::Program> network;  // whose kernels the workloads are
    std::vector<std::string> peers;
    std::vector<PeerProgram> programs;
    int rounds = default_rounds;
    std::optional<TrialStore> store;
};

ChoiceContext context_of(const BenchArguments &arguments, const BenchJob &job) {
    return {.target = job.target,
            .machine = job.machine,
            .store = job.store ? &*job.store : nullptr,
            .toolchain = "",
            .algorithms = arguments.algorithms,
            .error_budget = arguments.error_budget,
            .caches = arguments.layers.of_network() ? caches_of_networks : caches_of_layers};
}

// Layers of lists, or a network and its layers.
Status read_what_is_measured(const BenchArguments &arguments, BenchJob *job) {
    if (Status s = check(arguments.layers); !s) return s;
    Result<std::vector<NamedWorkload>> workloads = [&]() -> Result<std::vector<NamedWorkload>> {
        if (!arguments.layers.of_network()) return read(arguments.layers);
        Result<network::Program> program = read_program(arguments.layers.network, context_of(arguments, *job));
        if (!program) return program.error();
        job->network = std::move(*program);
        return filtered(arguments.layers, layers_of(*job->network));
    }();
    if (!workloads) return workloads.error();
    job->workloads = std::move(*workloads);
    return {};
}

// Everything that can be refused before something is measured.
Result<BenchJob> read_job(const BenchArguments &arguments) {
    BenchJob job;
    if (Status s = check_error_budget(arguments.error_budget); !s) return s.error();
    Result<std::vector<std::string>> peers = parse_peers(arguments.against);
    if (!peers) return peers.error();
    job.peers = std::move(*peers);
    if (arguments.steps && !arguments.layers.of_network()) {
        return Error{ErrorCode::usage, "--steps: needs --network, whose steps they are"};
    }
    if (arguments.layers.network.batch != 1 && !job.peers.empty()) {
        return Error{
            ErrorCode::usage,
            "--against: other libraries run the model as it is, with one image; leave out --batch, or --against"};
    }
    const std::vector<std::string> columns = arguments.steps ? timed_plan_columns(job.peers) : bench_columns(job.peers);
    if (Status s = check_columns(arguments.answer, columns); !s) return s.error();
    if (!arguments.svg.empty()) {
        if (Status s = check_output_file(arguments.svg); !s) return s.error();
    }
    const Result<int> round_count = rounds(arguments, !job.peers.empty());
    if (!round_count) return round_count.error();
    job.rounds = *round_count;
    const Result<Target> target = read_runnable(arguments.target, job.machine);
    if (!target) return target.error();
    job.target = *target;
    Result<std::optional<TrialStore>> store = open_if_named(arguments.db);
    if (!store) return store.error();
    job.store = std::move(*store);
    if (Status s = read_what_is_measured(arguments, &job); !s) return s.error();
    if (job.network) {
        if (Status s = check_package_tools(); !s) return s.error();
    }
    const Result<std::string> folder = own_folder();
    if (!folder) return folder.error();
    Result<std::vector<PeerProgram>> programs = find_peers(job.peers, arguments.peers_folder, *folder);
    if (!programs) return programs.error();
    job.programs = std::move(*programs);
    return job;
}

template<typename Report>
Status measure_each_layer(Bench *bench, Report *report) {
    std::map<std::string, Layer> measured;  // by key
    for (const NamedWorkload &w : report->workloads) {
        if (interrupted()) return Error{ErrorCode::interrupted, "interrupted"};
        auto found = measured.find(key(w.workload));
        if (found == measured.end()) {
            tell_line(
                fmt::format("[{}/{}] {}/{}", report->layers.size() + 1, report->workloads.size(), w.list, w.name));
            Result<Layer> layer = bench->measure(w.workload);
            if (!layer) return layer.error();
            found = measured.emplace(key(w.workload), std::move(*layer)).first;
            const std::string &difference = found->second.difference;
            if (!difference.empty()) tell(fmt::format("{}/{}: {}", w.list, w.name, difference));
        }
        report->layers.push_back(found->second);
    }
    return {};
}

// Equal layers are measured once. `Report`: BenchReport or CoreReport. What ends it early leaves the report to those before it.
template<typename Report>
Status measure_layers(Bench *bench, Report *report) {
    const size_t asked = report->workloads.size();
    const Status ended = measure_each_layer(bench, report);
    report->workloads.resize(report->layers.size());
    if (!ended && !report->layers.empty())
        tell(fmt::format("{} of {} layers were measured; the answer has them", report->layers.size(), asked));
    return ended;
}

// The package with the database's kernels and, where they may be others, the one with default kernels.
Result<NetworkRow> measure_network(const BenchJob &job, const BenchArguments &arguments, const ChoiceContext &context,
                                   Workshop &workshop, Bench &bench) {
    const Result<PackageParts> parts = package_parts(workshop);
    if (!parts) return parts.error();
    ChoiceContext defaults = context;
    defaults.store = nullptr;
    NetworkWorkshop chosen(workshop, context, *parts, "chosen"), standard(workshop, defaults, *parts, "standard");
    tell_line(fmt::format("{}: the whole network", job.network->name));
    const network::Program &program = *job.network;
    Result<std::vector<graph::ConstantInput>> constants = read_constants(arguments.layers.network);
    if (!constants) return constants.error();
    Result<BenchedSteps> benched = bench_network(program, arguments.layers.network.file, job.target.threads,
                                                 {.chosen = chosen,
                                                  .standard = context.store ? &standard : nullptr,
                                                  .steps = arguments.steps,
                                                  .constants = std::move(*constants)},
                                                 bench);
    if (!benched) return benched.error();
    NetworkRow row{.name = program.name, .layer = std::move(benched->whole)};
    if (benched->step_ns.size() != program.steps.size()) return row;
    StepTimes times{.ns = std::move(benched->step_ns), .peers = {}};
    std::vector<std::string> peers;
    for (const PeerTiming &peer : row.layer.peers) {
        times.peers.push_back(peer_steps(peer.name, peer.profile, program));
        peers.push_back(peer.name);
        if (!peer.profile_problem.empty()) tell("no profile: " + peer.profile_problem);
        const PeerSteps &steps = times.peers.back();
        if (steps.elsewhere_ns == 0) continue;
        tell(fmt::format("{}: {:.2f} of {:.2f} ms are spent on what no step computes, such as changes of layout",
                         peer.name, steps.elsewhere_ns * 1e-6, steps.all_ns * 1e-6));
    }
    row.steps = timed_plan_table(program, context, times);
    row.steps_form = timed_plan_form(peers);
    return row;
}

// What `kiln query networks` tells.
NetworkTimes times_of(const NetworkRow &row, const BenchJob &job, int64_t batch) {
    NetworkTimes times{.network = batch == 1 ? row.name : fmt::format("{}, batch {}", row.name, batch),
                       .target = job.target.halide,
                       .threads = job.target.threads,
                       .machine = key(job.machine),
                       .created_at = utc_timestamp(),
                       .times = {}};
    const auto add = [&](const std::string &who, const std::string &version, const std::optional<Timing> &timing,
                         bool untuned) {
        if (!timing || timing->round_medians_ns.empty()) return;
        times.times.push_back({who, version, timing->median_ns(), timing->min_ns,
                               static_cast<int>(timing->round_medians_ns.size()), untuned});
    };
    add("kiln", KILN_VERSION, row.layer.chosen, row.layer.untuned);
    if (job.store) add("default", KILN_VERSION, row.layer.standard, true);
    for (const PeerTiming &peer : row.layer.peers) add(peer.name, peer.version, peer.timing, false);
    return times;
}

// A database that cannot be written is no reason to lose what was measured.
void record_networks(const BenchReport &report, const BenchArguments &arguments, const BenchJob &job) {
    if (arguments.db.empty()) return;
    for (const NetworkRow &row : report.networks) {
        if (!row.layer.chosen) continue;
        Result<TrialStore> store = TrialStore::open(arguments.db, OpenMode::write);
        const Status recorded =
            store ? store->append(times_of(row, job, arguments.layers.network.batch)) : Status(store.error());
        if (!recorded) {
            tell(fmt::format("note: times of {} are not recorded: {}", row.name, recorded.error().message));
        }
    }
}

// Shares are of a peak that no busy moment has lowered: measured at the start, and again where a kernel exceeds it.
FmaPeak settled_peak(const BenchReport &report, PeakOf what, PeakGauge *gauge) {
    for (size_t i = 0; i < report.layers.size(); i++) {
        const Layer &layer = report.layers[i];
        if (!layer.chosen || is_quantized(report.workloads[i].workload) != (what == PeakOf::int8)) continue;
        if (const auto message = gauge->see(gflops(report.workloads[i].workload, *layer.chosen))) {
            tell(*message);
        }
    }
    return gauge->peak();
}

// What means something for times only, or needs another machine.
Status check_for_core(const BenchArguments &arguments) {
    const auto refused = [](const char *option, const char *why) {
        return Error{ErrorCode::usage, fmt::format("{}: {}", option, why)};
    };
    if (!arguments.against.empty()) {
        return refused("--against",
                       "none of these libraries runs on a soft core; bench/rtl/beside.py has plain loops, and the "
                       "recorded counts of TFLite Micro and CMSIS-NN");
    }
    if (arguments.layers.of_network()) {
        return refused("--network",
                       "`bench` counts layers of a soft core; `kiln build --network` tells what a network takes in "
                       "README.md and manifest.json of its package");
    }
    if (!arguments.svg.empty())
        return refused("--svg", "is of times; `kiln query pareto --svg` draws cycles of a soft core");
    if (arguments.rounds != 0) return refused("--rounds", "a soft core's counts are the same each time");
    if (arguments.steps) return refused("--steps", "needs --network, which `bench` does not take for a soft core");
    return {};
}

// Kernels for a soft core: counted once in simulation.
int run_for_core(const BenchArguments &arguments) {
    if (Status s = check_for_core(arguments); !s) return fail(s.error());
    if (Status s = check_error_budget(arguments.error_budget); !s) return fail(s.error());
    if (Status s = check_columns(arguments.answer, core_columns()); !s) return fail(s.error());
    const Result<Place> place = read_place(arguments.target);
    if (!place) return fail(place.error());
    const Result<std::optional<TrialStore>> store = open_if_named(arguments.db);
    if (!store) return fail(store.error());
    Result<std::vector<NamedWorkload>> workloads = read(arguments.layers);
    if (!workloads) return fail(arguments.layers, workloads.error());
    install_interrupt_handler();
    Result<Workshop> workshop = make_workshop(place->core);
    if (!workshop) return fail(workshop.error());
    const ChoiceContext context{.target = place->target,
                                .machine = place->machine,
                                .store = *store ? &**store : nullptr,
                                .toolchain = workshop->builder->toolchain(),
                                .algorithms = arguments.algorithms,
                                .error_budget = arguments.error_budget};
    const auto no_copy = [](int64_t, int64_t) { return std::vector<double>(); };
    Bench bench(context, {*workshop->builder, *workshop->runner, no_copy}, 1);
    CoreReport report{std::move(*workloads), {}, place->target, place->machine.cpu_model};
    const Status measured = measure_layers(&bench, &report);
    if (!measured && report.layers.empty()) return fail(measured.error());
    if (arguments.answer.format == TableFormat::json) {
        print_document(json_text(report));
    } else {
        print_table(report, arguments.answer);
    }
    if (!measured) return fail(measured.error());
    const bool complete = std::ranges::all_of(report.layers, [](const Layer &l) { return l.is_complete(); });
    return complete ? exit_done : exit_failed;
}

int run(const BenchArguments &arguments) {
    const Result<Target> asked = read(arguments.target, read_machine());
    if (!asked) return fail(asked.error());
    if (Status s = check_names(arguments.algorithms, arguments.layers.network); !s) return fail(s.error());
    if (is_soft_core(*asked)) return run_for_core(arguments);
    if (!arguments.target.core.empty()) {
        return fail({ErrorCode::usage, "--core is for soft cores, such as --target rv32im"});
    }
    Result<BenchJob> job = read_job(arguments);
    if (!job) return fail(arguments.layers, job.error());
    install_interrupt_handler();
    Result<Workshop> workshop = make_workshop();
    if (!workshop) return fail(workshop.error());
    ChoiceContext context = context_of(arguments, *job);
    context.toolchain = workshop->builder->toolchain();
    const auto copy = [&](int64_t bytes, int64_t budget_ns) { return copy_samples_ns(job->target, bytes, budget_ns); };
    PeakKeeper peak(job->machine, job->target);
    std::optional<PeakKeeper> int8_peak;
    const bool any_quantized = std::any_of(job->workloads.begin(), job->workloads.end(),
                                           [](const NamedWorkload &w) { return is_quantized(w.workload); });
    if (any_quantized) int8_peak.emplace(job->machine, job->target, PeakOf::int8);
    const std::vector<Bandwidth> bandwidths = [&] {
        const auto alone = take_machine(patience_of_peaks_ns);
        return measure_bandwidths(job->machine, job->target.threads);
    }();
    const auto is_beside_copy = [&](const Workload &workload) {
        PeakKeeper &of_it = int8_peak && is_quantized(workload) ? *int8_peak : peak;
        return bytes_decide(workload, of_it.gauge().peak(), bandwidths, job->machine.l2_bytes);
    };
    const auto alone = [] { return take_machine(endless_patience_ns); };
    Bench bench(context, {*workshop->builder, *workshop->runner, copy, is_beside_copy, alone}, job->rounds);
    for (PeerProgram &program : job->programs) {
        if (job->target.threads == 1) program.cpu = workshop->cpu;
        if (Status s = bench.add(source_of(program)); !s) return fail(s.error());
    }
    BenchReport report{.workloads = std::move(job->workloads),
                       .layers = {},
                       .target = job->target,
                       .peak = {},
                       .bandwidths = bandwidths,
                       .peers = std::move(job->peers)};
    if (job->network) {
        Result<NetworkRow> row = measure_network(*job, arguments, context, *workshop, bench);
        if (!row) return fail(row.error());
        report.networks.push_back(std::move(*row));
    }
    if (arguments.steps) report.workloads.clear();
    const Status measured = measure_layers(&bench, &report);
    if (!measured && report.layers.empty() && report.networks.empty()) return fail(measured.error());
    report.peak = settled_peak(report, PeakOf::f32, &peak.gauge());
    if (int8_peak) report.int8_peak = settled_peak(report, PeakOf::int8, &int8_peak->gauge());
    record_networks(report, arguments, *job);
    arguments.answer.format == TableFormat::json ? print_json(report) : print_table(report, arguments.answer);
    if (!arguments.svg.empty()) {
        if (Status s = write_svg(bench_chart(report), arguments.svg); !s) return fail(s.error());
    }
    if (!measured) return fail(measured.error());
    const bool complete =
        std::all_of(report.layers.begin(), report.layers.end(), [](const Layer &l) { return l.is_complete(); }) &&
        std::all_of(report.networks.begin(), report.networks.end(),
                    [](const auto &n) { return n.layer.is_complete(); });
    return complete ? exit_done : exit_failed;
}

}  // namespace

void add_bench_command(CLI::App &app, Action &action) {
    auto arguments = std::make_shared<BenchArguments>();
    CLI::App *command =
        app.add_subcommand("bench", "Measure tuned and default kernels in turns, and their share of peak");
    add_options(*command, arguments->layers);
    command->add_option("--db", arguments->db, "Database with recorded trials; without it everything is untuned")
        ->type_name("FILE");
    command->add_option("--against", arguments->against, "Peers to measure beside kiln's kernels")
        ->type_name("onednn,onnxruntime,openvino,litert");
    command
        ->add_option("--peers", arguments->peers_folder, "kiln's repository with bench/peers and .peers, if elsewhere")
        ->type_name("DIR");
    add_algorithm_options(*command, arguments->algorithms);
    add_max_error_option(*command, arguments->error_budget, "Use no kernel with a larger error [1e-05]");
    command->add_option("--svg", arguments->svg, "Also write a bar chart of GFLOP/s")->type_name("FILE");
    command->add_option("--rounds", arguments->rounds, "How often each kernel gets its turn; 3, with peers 5")
        ->check(CLI::Range(1, 100))
        ->type_name("N");
    command->add_flag("--steps", arguments->steps, "Time each step of the network, in place of each layer on its own");
    add_options(*command, arguments->target);
    add_core_option(*command, arguments->target);
    add_options(*command, arguments->answer, {TableFormat::table, TableFormat::json});
    command->footer(
        "Examples:\n"
        "  kiln bench --workloads workloads/resnet50.json --db kiln.db --against onednn\n"
        "  kiln bench --network resnet50.onnx --db kiln.db --against onnxruntime,openvino\n"
        "  kiln bench --network resnet50.onnx --db kiln.db --steps --sort -us --top 20\n"
        "  kiln bench --workloads workloads/person_detect.json --target rv32im --db kiln.db");
    command->callback([&action, arguments] {
        arguments->layers.network.without = arguments->algorithms.without;
        action = [arguments] { return run(*arguments); };
    });
}

}  // namespace kiln
