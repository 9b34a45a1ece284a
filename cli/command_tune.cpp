#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "cli/answers/answer_options.h"
#include "cli/answers/output.h"
#include "cli/clock.h"
#include "cli/command.h"
#include "cli/judge_options.h"
#include "cli/layer_options.h"
#include "cli/measuring/peak_keeper.h"
#include "cli/network/network_program.h"
#include "cli/network/network_race.h"
#include "cli/progress.h"
#include "cli/tune/tune_results.h"
#include "text/shell_word.h"
#include "tuner/job/tune.h"
#include "tuner/process/interrupt.h"
#include "tuner/search/search.h"

namespace kiln {
namespace {

struct TuneArguments {
    LayerOptions layers;
    TargetOptions target;
    std::string db, cache;  // empty: warm for layers, cold for a network
    std::optional<std::string> time;
    std::optional<int64_t> trials;
    JudgeOptions judge;
    AlgorithmFilter algorithms;
    TuneOptions options;
    AnswerOptions answer;
};

// --trials, --time: the first reached ends the job; with neither, 64 trials a workload.
Result<TuneOptions> read_options(const TuneArguments &arguments) {
    TuneOptions options = arguments.options;
    options.algorithm = arguments.algorithms.algorithm;
    options.without = arguments.algorithms.without;
    if (arguments.trials && *arguments.trials < 1) {
        return usage_error(fmt::format("--trials {}: needs at least 1", *arguments.trials));
    }
    if (arguments.time) {
        Result<int64_t> time = parse_duration_ns(*arguments.time);
        if (!time) return usage_error("--time: " + time.error().message);
        options.time_limit_ns = *time;
        options.trials = unlimited_trials;
    }
    if (arguments.trials) options.trials = *arguments.trials;
    const auto strategies = search_names();
    if (std::find(strategies.begin(), strategies.end(), options.strategy) == strategies.end()) {
        return usage_error(
            fmt::format("--strategy {}: is unknown; known are {}", options.strategy, fmt::join(strategies, ", ")));
    }
    if (Status s = check_names(arguments.algorithms, arguments.layers.network); !s) return s.error();
    if (Status s = check_error_budget(options.error_budget); !s) return s.error();
    const CacheOrder &caches = arguments.layers.of_network() ? caches_of_networks : caches_of_layers;
    const auto cache = arguments.cache.empty() ? caches.front() : parse_cache_mode(arguments.cache);
    if (!cache) return usage_error(fmt::format("--cache {}: needs warm or cold", arguments.cache));
    options.cache = *cache;
    return options;
}

// Whether so many of the new trials failed that something is wrong with more than candidates.
bool most_failed(const TuneReport &report) {
    constexpr int64_t fewest = 4;  // fewer say nothing
    int64_t trials = 0, failures = 0;
    for (const TunedWorkload &tuned : report.workloads) {
        trials += tuned.new_trials;
        failures += tuned.new_failures;
    }
    return trials >= fewest && 2 * failures > trials;
}

// The options by which `kiln build` chooses among the same trials.
std::string build_options(const TuneArguments &arguments) {
    std::string text = command_text(arguments.layers);
    const TargetOptions &target = arguments.target;
    if (target.target != TargetOptions().target) text += " --target " + shell_word(target.target);
    if (!target.core.empty()) text += " --core " + shell_word(target.core);
    if (target.threads != 1) text += fmt::format(" --threads {}", target.threads);
    const AlgorithmFilter &algorithms = arguments.algorithms;
    if (algorithms.algorithm != "*") text += " --algorithm " + shell_word(algorithms.algorithm);
    if (!algorithms.without.empty()) text += " --without " + shell_word(algorithms.without);
    const double error_budget = arguments.options.error_budget;
    if (error_budget != default_error_budget) text += fmt::format(" --max-error {}", error_budget);
    return text;
}

// What happened beyond the numbers, and what can be done next.
int conclude(const TuneReport &report, const TuneArguments &arguments) {
    const LayersWithoutKernel without = layers_without_kernel(report);
    for (const std::string &line : without.lines) tell(line);
    if (without.unused > 0) {
        tell(fmt::format("without a trial, and not needed: {} of the kernels in layouts that the network does not use",
                         without.unused));
    }
    if (report.interrupted) {
        tell(fmt::format("interrupted; finished trials are in {}, the same command goes on from there", arguments.db));
        return exit_interrupted;
    }
    if (report.at_rest) {
        tell("ended before its time: no layer gained 1 % any more");
    }
    const bool alarming = most_failed(report);
    if (alarming) {
        tell(
            fmt::format("WARNING: most trials failed; something may be wrong with this machine, its compiler or its "
                        "memory. `kiln query failures --db {}` shows what",
                        shell_word(arguments.db)));
    }
    if (without.lines.size() + without.unused + without.empty < report.workloads.size()) {
        tell_line(
            fmt::format("Next: `kiln query best --db {0}` shows the winners, `kiln build {1} --db {0} -o "
                        "DIR` makes a library of them.",
                        shell_word(arguments.db), build_options(arguments)));
    }
    return !without.lines.empty() || alarming ? exit_failed : exit_done;
}

// A model's count does not change what the Verilog decided.
Status tell_of_finals(const TuneReport &report, const TuneArguments &arguments, const ChoiceContext &context) {
    for (const TunedWorkload &tuned : report.workloads) {
        if (!tuned.best_ns || (tuned.race && tuned.race->entries > 0)) continue;
        const auto best = context.store->best({.workload = key(tuned.workload.workload),
                                               .target = context.target.halide,
                                               .machine = key(context.machine),
                                               .toolchain = context.toolchain,
                                               .threads = context.target.threads,
                                               .cache = context.caches.front(),
                                               .error_budget = context.error_budget});
        if (!best) return best.error();
        if (!*best || (*best)->evidence != "race" || (*best)->measurement.median <= *tuned.best_ns) continue;
        tell(fmt::format(
            "{}/{}: `build` takes the winner of the last `--judge rtl`, and trials since then count fewer cycles; "
            "`kiln tune {} --target {} --db {} --judge rtl` compares them",
            tuned.workload.list, tuned.workload.name, command_text(arguments.layers),
            shell_word(arguments.target.target), shell_word(arguments.db)));
    }
    return {};
}

// A file that exists must be a database of kiln before anything starts. A new file is made once everything else is well.
Result<TrialStore> open_store(const TuneArguments &arguments, const SimulatedCore &core,
                              std::optional<Workshop> *workshop) {
    const std::string &path = arguments.db;
    const Result<std::string> judge = core_judge(arguments.judge, core);
    if (!judge) return judge.error();
    std::error_code ignored;
    std::optional<TrialStore> store;
    if (std::filesystem::exists(path, ignored)) {
        // An empty one is what a full disk or a kill in the first moment leaves behind.
        Result<TrialStore> opened = TrialStore::open(path, OpenMode::create);
        if (!opened) return opened;
        store = std::move(*opened);
    }
    Result<Workshop> made = make_workshop(core, *judge);
    if (!made) return made.error();
    workshop->emplace(std::move(*made));
    if (store) return std::move(*store);
    return TrialStore::open(path, OpenMode::create);
}

// A tenth of a job's time, and at most three minutes, are for the race in the network.
constexpr double network_race_share = 0.1;
constexpr int64_t longest_network_race_ns = 180'000'000'000;

// Where all layers are tuned, all algorithms may win, and cold times choose the kernels of networks.
bool races_in_network(const TuneArguments &arguments, const TuneOptions &options, const Place &place) {
    const bool is_whole = arguments.layers.of_network() && arguments.layers.workloads.filter == "*";
    const bool may_all_win = options.algorithm == "*" && options.without.empty();
    return is_whole && may_all_win && !place.core && options.cache == caches_of_networks.front();
}

// A line now and then: a network race has tens of steps.
class NetworkRaceProgress {
public:
    explicit NetworkRaceProgress(std::string network) : network_(std::move(network)), latest_ns_(0) {}

    void say(const std::string &text) {
        constexpr int64_t between_ns = 10'000'000'000;
        if (latest_ns_ > 0 && now_ns() < latest_ns_ + between_ns) return;
        latest_ns_ = now_ns();
        tell_line(fmt::format("{}: {}", network_, text));
    }

private:
    std::string network_;
    int64_t latest_ns_;
};

// The kernels that win in the network take the places of those that are fastest alone, in the report, too. Answers what to say.
Result<std::string> race_in_network(const TuneArguments &arguments, const ChoiceContext &context, TrialStore &store,
                                    Workshop &workshop, std::optional<int64_t> end_ns, TuneReport *report) {
    const Result<NetworkPrograms> programs = read_programs(arguments.layers.network, context);
    if (!programs) return programs.error();
    const Result<PackageParts> parts = package_parts(workshop);
    if (!parts) return parts.error();
    NetworkRaceProgress progress(programs->network.name);
    const Result<NetworkRaceReport> race = race_kernels({.program = programs->network,
                                                         .context = context,
                                                         .store = store,
                                                         .workshop = workshop,
                                                         .parts = *parts,
                                                         .time = {now_ns, interrupted, end_ns, {}},
                                                         .timestamp = utc_timestamp,
                                                         .say = [&](const std::string &text) { progress.say(text); }});
    if (!race && race.error().code == ErrorCode::interrupted) {
        report->interrupted = true;
        return std::string();
    }
    if (!race) return race.error();
    for (const NetworkKernel &kernel : race->changes) {
        const auto measurement = store.measurement_of(kernel.trial.id);
        if (!measurement) return measurement.error();
        for (TunedWorkload &tuned : report->workloads) {
            if (key(tuned.workload.workload) != kernel.trial.workload || !*measurement) continue;
            tuned.best_candidate = kernel.trial.candidate;
            tuned.best_ns = (*measurement)->median;
        }
    }
    return race->text;
}

double speed_of(const TuneProgress &progress) {
    return static_cast<double>(flop_count(progress.workload->workload)) / *progress.best_ns;
}

int run(const TuneArguments &arguments) {
    Result<TuneOptions> options = read_options(arguments);
    if (!options) return fail(options.error());
    const Result<Place> place = read_place(arguments.target);
    if (!place) return fail(place.error());
    if (Status s = check_columns(arguments.answer, place->core ? count_columns : result_columns); !s)
        return fail(s.error());
    const Target &target = place->target;
    const Machine &machine = place->machine;
    Result<std::vector<NamedWorkload>> workloads = read(arguments.layers);
    if (!workloads) return fail(arguments.layers, workloads.error());
    install_interrupt_handler();
    std::optional<Workshop> workshop;
    Result<TrialStore> store = open_store(arguments, place->core, &workshop);
    if (!store) return fail(store.error());
    tell_notes(*store);
    const ChoiceContext context{.target = target,
                                .machine = machine,
                                .store = &*store,
                                .toolchain = workshop->builder->toolchain(),
                                .algorithms = arguments.algorithms,
                                .error_budget = options->error_budget,
                                .caches = {options->cache}};
    const auto read_wanted = [&] { return read_to_tune(arguments.layers, context); };
    if (arguments.layers.of_network()) {
        workloads = read_wanted();
        if (!workloads) return fail(arguments.layers, workloads.error());
    }
    store->stop_when(interrupted);
    const Result<Leases> leases = Leases::open(arguments.db);
    if (!leases) tell(fmt::format("note: {}", leases.error().message));

    std::optional<PeakKeeper> keeper;
    if (!place->core) keeper.emplace(machine, target);
    PeakGauge *gauge = keeper ? &keeper->gauge() : nullptr;
    std::optional<PeakKeeper> int8_keeper;
    const bool any_quantized = std::any_of(workloads->begin(), workloads->end(),
                                           [](const NamedWorkload &w) { return is_quantized(w.workload); });
    if (keeper && any_quantized) int8_keeper.emplace(machine, target, PeakOf::int8);
    const NamedWorkload *at = nullptr;  // the workload that progress is shown of
    const auto gauge_of = [&](const NamedWorkload *w) {
        return int8_keeper && w && is_quantized(w->workload) ? &int8_keeper->gauge() : gauge;
    };
    tell_line(gauge ? fmt::format("{} on {}: peak {:.1f} GFLOP/s ({})", to_text(target), machine.cpu_model,
                                  gauge->peak().gflops, gauge->peak().instructions)
                    : fmt::format("{} simulated: {}", to_text(target), machine.cpu_model));
    TuneEnvironment environment{*workshop->builder,
                                *workshop->runner,
                                *store,
                                machine,
                                now_ns,
                                utc_timestamp,
                                interrupted,
                                place->core || machine.cores > target.threads,  // simulating disturbs nobody
                                leases ? *leases : Leases()};
    if (arguments.layers.of_network()) environment.wanted = read_wanted;
    const bool has_network_race = races_in_network(arguments, *options, *place);
    std::optional<int64_t> job_end_ns;
    if (options->time_limit_ns) job_end_ns = now_ns() + *options->time_limit_ns;
    if (options->time_limit_ns && has_network_race) {
        const auto share = static_cast<int64_t>(network_race_share * static_cast<double>(*options->time_limit_ns));
        *options->time_limit_ns -= std::min(share, longest_network_race_ns);
    }
    Result<TuneReport> report = [&] {
        ProgressPrinter printer(
            stderr, [] { return progress_style(STDERR_FILENO); }, now_ns,
            [&] { return gauge ? gauge_of(at)->peak().gflops : 0; });
        return tune(*workloads, target, *options, environment, [&](const TuneProgress &progress) {
            const bool is_finished = progress.event == TuneProgress::Event::workload_finished && progress.best_ns;
            at = progress.workload;
            const auto message = gauge && is_finished ? gauge_of(at)->see(speed_of(progress)) : std::nullopt;
            if (message) printer.say("kiln: " + *message);
            printer.show(progress);
        });
    }();
    if (!report) return fail(report.error());
    std::string in_network;
    if (has_network_race && !report->interrupted) {
        Result<std::string> raced = race_in_network(arguments, context, *store, *workshop, job_end_ns, &*report);
        // What was tuned before is worth its table.
        in_network = raced ? std::move(*raced) : "no race in the network: " + raced.error().message;
    }
    JobPeaks peaks;
    if (gauge) peaks.f32 = gauge->peak();
    if (int8_keeper) peaks.int8 = int8_keeper->gauge().peak();
    print_results(*report, peaks, {.target = target, .machine = machine, .toolchain = "", .algorithms = {}},
                  arguments.answer);
    const bool has_all = arguments.layers.of_network() && !report->interrupted;
    const auto summary = has_all ? network_summary(*report) : std::nullopt;
    if (summary && arguments.answer.format == TableFormat::table) {
        print_line("");
        print_line(*summary);
    }
    if (!in_network.empty()) {
        if (arguments.answer.format == TableFormat::table) {
            print_line(in_network);
        } else {
            tell(in_network);
        }
    }
    if (place->core) {
        ChoiceContext of_all = context;
        of_all.algorithms = {};
        if (const Status told = tell_of_finals(*report, arguments, of_all); !told) return fail(told.error());
    }
    return conclude(*report, arguments);
}

}  // namespace

void add_tune_command(CLI::App &app, Action &action) {
    auto arguments = std::make_shared<TuneArguments>();
    CLI::App *command = app.add_subcommand("tune", "Search for fast kernels and record every trial in a database");
    TuneOptions &options = arguments->options;
    add_options(*command, arguments->layers);
    add_prepare_option(*command, arguments->layers.network);
    command->add_option("--db", arguments->db, "Database file; made if it does not exist, continued if it does")
        ->required()
        ->type_name("FILE");
    add_options(*command, arguments->target);
    add_core_option(*command, arguments->target);
    add_options(
        *command, arguments->judge,
        "the three best kernels of each layer run on the core's hardware description and the fewest cycles there win");
    command->add_option("--trials", arguments->trials, "Trials for each workload, recorded ones counted [64]")
        ->check(whole_number())
        ->type_name("N");
    command->add_option("--time", arguments->time, "Time for the whole job, such as 90s, 10m or 1h30m")
        ->type_name("TIME");
    command->add_option("--strategy", options.strategy, "How to search: evolutionary or random [evolutionary]")
        ->type_name("S");
    command->add_option("--seed", options.seed, "Seed of the search [1]")->check(whole_number())->type_name("N");
    add_algorithm_options(*command, arguments->algorithms);
    add_max_error_option(*command, options.error_budget,
                         "Largest error of a valid kernel, relative to sum |x||k| [1e-05]");
    command->add_option("--cache", arguments->cache, "Measure with warm or cold weights [warm; of a network cold]")
        ->type_name("warm|cold");
    add_options(*command, arguments->answer, {TableFormat::table, TableFormat::json, TableFormat::csv});
    command->footer(
        "Examples:\n"
        "  kiln tune --workloads workloads/resnet50.json --db kiln.db --trials 60\n"
        "  kiln tune --workloads workloads/*.json --filter 'resnet50/res2*' --db kiln.db --time 10m\n"
        "  kiln tune --workloads workloads/person_detect.json --target rv32im --db kiln.db --trials 40\n"
        "  kiln tune --network m.onnx --shape x=1x3x480x480 --db kiln.db --time 20m\n"
        "Ctrl-C ends cleanly; the same command goes on where it stopped.");
    command->callback([&action, arguments] {
        arguments->layers.network.without = arguments->algorithms.without;
        action = [arguments] { return run(*arguments); };
    });
}

}  // namespace kiln
