#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/command.h"
#include "tuner/candidate_choice.h"
#include "tuner/hardware_probe.h"
#include "tuner/interrupt.h"
#include "tuner/measurement.h"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

// Whose kernels `--against` will compare with.
constexpr std::string_view peers[] = {"onednn", "onnxruntime", "openvino", "xnnpack"};

struct BenchArguments {
    WorkloadOptions workloads;
    TargetOptions target;
    std::string db, against;
    int rounds = 3;
    TableFormat format = TableFormat::table;
};

// One kernel over all rounds.
struct Timing {
    std::string candidate;
    std::vector<double> round_medians_ns;
    double min_ns = 0;

    double median_ns() const { return summarize(round_medians_ns).median; }
};

struct Layer {
    std::string algorithm;
    std::optional<Timing> chosen, standard;  // tuned (or else default), and default
    bool untuned = false;
    std::string problem;  // why there is no time
};

class Bench {
public:
    Bench(const ChoiceContext &context, Workshop &workshop, int rounds)
        : context_(context), workshop_(workshop), rounds_(rounds) {}

    // Errors: the environment failed, or the user stopped. What is wrong with a layer is in it.
    Result<Layer> measure(const Workload &workload);

private:
    struct Kernel {
        RunRequest request;
        Timing timing;
    };
    Result<std::optional<Kernel>> build(const Workload &workload, const Candidate &candidate, Layer *layer);
    Status measure_once(Kernel *kernel, Layer *layer);

    const ChoiceContext &context_;
    Workshop &workshop_;
    int rounds_;
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
        {RunRequest{workload, context_.target, built->artifact()}, {to_text(candidate), {}, 0}});
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
    const Summary summary = summarize(run->report().samples);
    Timing &timing = kernel->timing;
    timing.min_ns = timing.round_medians_ns.empty() ? summary.min : std::min(timing.min_ns, summary.min);
    timing.round_medians_ns.push_back(summary.median);
    return {};
}

Result<Layer> Bench::measure(const Workload &workload) {
    Layer layer;
    const auto usable = usable_algorithms(workload, context_);
    if (!usable) {
        layer.problem = usable.error().message;
        return layer;
    }
    const auto choice = choose_candidate(workload, *usable, context_);
    if (!choice) return choice.error();
    const Candidate standard = usable->front()->space(workload, context_.target, context_.machine).default_candidate();
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
    // In turns, so that a slow phase of the machine meets both.
    for (int round = 0; round < rounds_; round++) {
        for (Kernel &kernel : kernels) {
            if (Status s = measure_once(&kernel, &layer); !s) return s.error();
            if (!layer.problem.empty()) return layer;
        }
    }
    layer.chosen = kernels.front().timing;
    layer.standard = kernels.back().timing;
    return layer;
}

double gflops(const Workload &workload, const Timing &timing) {
    return static_cast<double>(flop_count(workload)) / timing.median_ns();
}

Json microseconds(const std::vector<double> &ns) {
    Json values = Json::array();
    for (double value : ns) values.push_back(value * 1e-3);
    return values;
}

struct BenchReport {
    std::vector<NamedWorkload> workloads;
    std::vector<Layer> layers;  // one each
    Target target;
    FmaPeak peak;
};

void print_json(const BenchReport &report) {
    Json document = {{"format", "bench/1"},
                     {"peak_gflops", report.peak.gflops},
                     {"target", to_text(report.target)},
                     {"layers", Json::array()}};
    for (size_t i = 0; i < report.layers.size(); i++) {
        const NamedWorkload &w = report.workloads[i];
        const Layer &layer = report.layers[i];
        Json row = {{"name", w.name}, {"list", w.list}, {"key", key(w.workload)}};
        row["algorithm"] = layer.algorithm.empty() ? Json() : Json(layer.algorithm);
        row["median_us"] = row["min_us"] = row["gflops"] = row["default_us"] = nullptr;
        if (layer.chosen) {
            row["median_us"] = layer.chosen->median_ns() * 1e-3;
            row["min_us"] = layer.chosen->min_ns * 1e-3;
            row["gflops"] = gflops(w.workload, *layer.chosen);
            row["default_us"] = layer.standard->median_ns() * 1e-3;
            row["candidate"] = layer.chosen->candidate;
            row["default_candidate"] = layer.standard->candidate;
            row["round_medians_us"] = microseconds(layer.chosen->round_medians_ns);
            row["default_round_medians_us"] = microseconds(layer.standard->round_medians_ns);
        }
        row["untuned"] = layer.untuned;
        row["reason"] = layer.problem.empty() ? Json() : Json(layer.problem);
        row["peers"] = Json::object();
        document["layers"].push_back(std::move(row));
    }
    fmt::print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
}

void print_table(const BenchReport &report) {
    fmt::print("target {}\npeak {:.1f} GFLOP/s ({})\n\n", to_text(report.target), report.peak.gflops,
               report.peak.instructions);
    Table table{.columns = {"layer", "algorithm", "median us", "min us", "GFLOP/s", "% of peak", "default us",
                            "default % of peak", "note"}};
    for (size_t i = 0; i < report.layers.size(); i++) {
        const NamedWorkload &w = report.workloads[i];
        const Layer &layer = report.layers[i];
        std::vector<Cell> row = {w.list + "/" + w.name, layer.algorithm};
        if (layer.chosen) {
            const double rate = gflops(w.workload, *layer.chosen), plain = gflops(w.workload, *layer.standard);
            for (double value :
                 {layer.chosen->median_ns() * 1e-3, layer.chosen->min_ns * 1e-3, rate, 100 * rate / report.peak.gflops,
                  layer.standard->median_ns() * 1e-3, 100 * plain / report.peak.gflops}) {
                row.push_back(fmt::format("{:.1f}", value));
            }
            row.push_back(layer.untuned ? "untuned" : "");
        } else {
            row.resize(table.columns.size() - 1);
            row.push_back(layer.problem);
        }
        table.rows.push_back(std::move(row));
    }
    print(table, TableFormat::table);
}

// Peers are built beside kiln, not into it; which names there are is checked already.
Status check_peers(const std::string &against) {
    std::istringstream names(against);
    for (std::string peer; std::getline(names, peer, ',');) {
        if (std::find(std::begin(peers), std::end(peers), peer) == std::end(peers)) {
            return Error{ErrorCode::usage,
                         fmt::format("--against: unknown peer `{}`; known are {}", peer, fmt::join(peers, ", "))};
        }
    }
    if (against.empty()) return {};
    return Error{ErrorCode::usage,
                 fmt::format("--against {}: peers come with a later version; leave the option out", against)};
}

int run(const BenchArguments &arguments) {
    if (Status s = check_peers(arguments.against); !s) return fail(s.error());
    const Machine machine = read_machine();
    Result<Target> target = read_runnable(arguments.target, machine);
    if (!target) return fail(target.error());
    Result<std::vector<NamedWorkload>> workloads = read(arguments.workloads);
    if (!workloads) return fail(workloads.error());
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
                                .toolchain = workshop->builder->toolchain()};
    BenchReport report{.workloads = std::move(*workloads), .target = *target, .peak = measure_fma_peak(*target)};
    Bench bench(context, *workshop, arguments.rounds);
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
        complete &= found->second.chosen.has_value();
        report.layers.push_back(found->second);
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
        ->type_name("PEER,...");
    command->add_option("--rounds", arguments->rounds, "How often each kernel gets its turn")
        ->check(CLI::Range(1, 100))
        ->type_name("N");
    add_options(*command, arguments->target);
    add_format_option(*command, arguments->format, {TableFormat::table, TableFormat::json});
    command->footer("Example:\n  kiln bench --workloads workloads/resnet50.json --db kiln.db");
    command->callback([&action, arguments] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace kiln
