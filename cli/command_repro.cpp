#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/answers/answer_options.h"
#include "cli/answers/output.h"
#include "cli/clock.h"
#include "cli/command.h"
#include "records/time_agreement.h"
#include "tuner/job/reproduction.h"
#include "tuner/process/host_machine.h"
#include "tuner/process/interrupt.h"

namespace kiln {
namespace {

struct ReproArguments {
    std::string trial, db, core;
    AnswerOptions answer;
};

Result<Trial> find_trial(const TrialStore &store, const ReproArguments &arguments) {
    Result<std::optional<Trial>> found = store.trial(arguments.trial);
    if (!found) return found.error();
    if (!*found) {
        return bad_input(
            fmt::format("{}: no trial's id begins with `{}`; `kiln query trials` and `kiln query failures` "
                        "show them in the column `trial`",
                        arguments.db, arguments.trial));
    }
    return std::move(**found);
}

Status check_runs_here(const Trial &trial, const Machine &machine) {
    const std::vector<std::string> missing = missing_features({trial.target, trial.threads}, machine.halide_target);
    if (!missing.empty()) {
        return bad_input(fmt::format("trial {}: its target {} does not run on this machine ({}), which lacks {}",
                                     trial.id, trial.target, machine.halide_target, fmt::join(missing, ", ")));
    }
    if (trial.threads > machine.cores) {
        return bad_input(fmt::format("trial {}: it used {} threads, this machine has {} cores for this process",
                                     trial.id, trial.threads, machine.cores));
    }
    return {};
}

// Who runs the trial's kernel again: this machine, or the core that counted it.
Result<Place> place_of(const Trial &trial, const ReproArguments &arguments) {
    const Target target{trial.target, trial.threads};
    if (!is_soft_core(target)) {
        if (!arguments.core.empty()) {
            return Error{ErrorCode::usage,
                         fmt::format("--core is for trials of soft cores; the target of trial {} is {}", trial.id,
                                     trial.target)};
        }
        Machine machine = read_machine();
        if (Status s = check_runs_here(trial, machine); !s) return s.error();
        return Place{target, std::move(machine), {}};
    }
    Result<Place> place = read_place({.target = trial.target, .threads = trial.threads, .core = arguments.core});
    if (!place || key(place->machine) == trial.machine) return place;
    return bad_input(fmt::format("trial {}: another core than {} counted it; name its file with --core FILE. It was {}",
                                 trial.id, arguments.core.empty() ? "the default one" : "that of " + arguments.core,
                                 trial.machine));
}

const std::vector<std::string> fact_columns = {"fact", "recorded", "now", "agrees"};
const TableForm fact_form = {{.name = "fact"}, {.name = "agrees"}, {.name = "recorded"}, {.name = "now"}};

Table table_of(const std::vector<ReproducedFact> &facts) {
    Table table{.columns = fact_columns, .rows = {}};
    const auto cell = [](const std::string &text) { return text.empty() ? Cell() : Cell(text); };
    for (const ReproducedFact &fact : facts) {
        const Cell agrees = fact.agrees ? Cell(*fact.agrees ? "yes" : "no") : Cell();
        table.rows.push_back({fact.what, cell(fact.recorded), cell(fact.now), agrees});
    }
    return table;
}

int run(const ReproArguments &arguments) {
    if (Status s = check_columns(arguments.answer, fact_columns); !s) return fail(s.error());
    Result<TrialStore> store = open_to_read(arguments.db);
    if (!store) return fail(store.error());
    const Result<Trial> trial = find_trial(*store, arguments);
    if (!trial) return fail(trial.error());
    Result<std::optional<Measurement>> measurement = std::optional<Measurement>();
    if (trial->status == TrialStatus::ok) measurement = store->measurement_of(trial->id);
    if (!measurement) return fail(measurement.error());
    Result<std::optional<Measurement>> latest = measurement;
    if (*measurement) {
        const Measurement &own = **measurement;
        latest = store->measurement(own.object_hash, own.machine, own.threads, own.cache, own.metric);
        if (!latest) return fail(latest.error());
    }
    const Result<Place> place = place_of(*trial, arguments);
    if (!place) return fail(place.error());
    const Machine &machine = place->machine;
    install_interrupt_handler();
    Result<Workshop> workshop = make_workshop(place->core);
    if (!workshop) return fail(workshop.error());

    tell_line(trial->workload);
    tell_line(trial->candidate);
    tell_line(fmt::format("{}/threads:{}, cache {}, error budget {}", trial->target, trial->threads, name(trial->cache),
                          trial->error_budget));
    if (*latest != *measurement && (*latest)->metric == Metric::ns) {
        tell_line(fmt::format("its kernel was measured again on {}: {:.1f} us, which counts; {:.1f} us before",
                              (*latest)->created_at, (*latest)->median * 1e-3, (*measurement)->median * 1e-3));
    }
    const auto memory = *latest ? memory_state_of((*latest)->conditions) : std::nullopt;
    const Result<Reproduction> now = reproduce(
        *trial, {*workshop->builder, *workshop->runner, *store, machine, now_ns, utc_timestamp, interrupted}, memory);
    if (!now) return fail(now.error());
    const std::vector<ReproducedFact> facts = compare(*trial, *latest, *now);
    print(table_of(facts), fact_form, arguments.answer);
    if (*latest && now->measurement) {
        const std::string difference = difference_text(**latest, *now->measurement);
        if (!difference.empty()) tell(difference);
    }
    if (!now->trial.stderr_text.empty()) tell_lines("It printed:\n" + now->trial.stderr_text);
    if (is_reproduced(facts)) return exit_done;
    tell(fmt::format("trial {} was not reproduced{}", trial->id,
                     trial->toolchain == now->trial.toolchain ? "" : ": another toolchain built it"));
    return exit_failed;
}

}  // namespace

void add_repro_command(CLI::App &app, Action &action) {
    auto arguments = std::make_shared<ReproArguments>();
    CLI::App *command = app.add_subcommand("repro", "Build and run one recorded trial again, and compare");
    command->add_option("TRIAL", arguments->trial, "Its id; the first 4 or more digits are enough")
        ->required()
        ->type_name("TRIAL");
    command->add_option("--db", arguments->db, "Database file; nothing is written to it")
        ->required()
        ->type_name("FILE");
    command
        ->add_option("--core", arguments->core,
                     "The core that counted it (format core/1), where that is not the default one")
        ->type_name("FILE");
    add_options(*command, arguments->answer, {TableFormat::table, TableFormat::json, TableFormat::csv});
    command->footer(
        "Examples:\n"
        "  kiln query failures --db kiln.db\n"
        "  kiln repro 3f2a --db kiln.db\n"
        "Status 1: status, object, errors or counts differ. Times are compared, and decide nothing.");
    command->callback([&action, arguments] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace kiln
