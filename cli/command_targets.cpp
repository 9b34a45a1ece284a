#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "cli/answers/answer_options.h"
#include "cli/answers/output.h"
#include "cli/command.h"
#include "cli/measuring/measuring_turn.h"
#include "cli/targets_report.h"
#include "compare/peak.h"
#include "compare/peak_memory.h"
#include "tuner/measure/hardware_probe.h"
#include "tuner/process/host_machine.h"

namespace kiln {
namespace {

// Targets with the same instructions have the same peak, so each is measured once; again where it disagrees with what
// was measured here before, or with the others.
void measure_peaks(MachineFacts *facts) {
    const PeakMemory memory(peak_memory_path(), key(facts->machine));
    std::vector<Target> targets;  // one for each kind of instructions that this machine has
    for (const TargetFacts &t : facts->targets) {
        const bool is_new = std::none_of(targets.begin(), targets.end(), [&](const Target &other) {
            return fma_instructions(other) == fma_instructions(t.target);
        });
        if (t.missing.empty() && is_new && !is_soft_core(t.target)) targets.push_back(t.target);
    }
    TargetPeaks peaks;
    std::vector<std::optional<FmaPeak>> earlier;
    for (const Target &target : targets) {
        earlier.push_back(memory.earlier(fma_instructions(target), target.threads));
        peaks.readings.push_back(
            read_peak([&] { return measure_fma_peak(target); }, earlier.back() ? earlier.back()->gflops : 0));
        peaks.runs.emplace_back();
        for (const Target &other : targets) peaks.runs.back().push_back(missing_features(other, target.halide).empty());
    }
    for (const Disagreement &d : disagreements(peaks)) {
        const Target &target = targets[d.target];
        peaks.readings[d.target].merge(read_peak([&] { return measure_fma_peak(target); }, d.expected_gflops));
    }
    for (size_t i = 0; i < targets.size(); i++) {
        const FmaPeak &peak = peaks.readings[i].peak;
        memory.remember(peak, targets[i].threads);
        const std::string odd = note(peaks.readings[i], earlier[i], read_load());
        if (!odd.empty()) facts->notes.push_back(peak.instructions + ": " + odd);
        for (TargetFacts &t : facts->targets) {
            const bool runs = t.missing.empty() && !is_soft_core(t.target);
            if (runs && fma_instructions(t.target) == peak.instructions) t.peak = peak;
        }
    }
}

// The peaks of products of small integers, measured again only where they disagree with what was measured here before.
void measure_int8_peaks(MachineFacts *facts) {
    const PeakMemory memory(peak_memory_path(), key(facts->machine));
    std::map<std::string, FmaPeak> peaks;  // by instructions
    for (TargetFacts &t : facts->targets) {
        if (!t.missing.empty() || is_soft_core(t.target)) continue;
        const std::string instructions = int8_instructions(t.target);
        if (!peaks.contains(instructions)) {
            const auto earlier = memory.earlier(instructions, t.target.threads);
            const PeakReading reading =
                read_peak([&] { return measure_int8_peak(t.target); }, earlier ? earlier->gflops : 0);
            memory.remember(reading.peak, t.target.threads);
            const std::string odd = note(reading, earlier, read_load());
            if (!odd.empty()) facts->notes.push_back(instructions + ": " + odd);
            peaks.emplace(instructions, reading.peak);
        }
        t.int8_peak = peaks.at(instructions);
    }
}

struct TargetsArguments {
    int threads = 1;
    TableFormat format = TableFormat::table;
    bool wide = false;
};

int run(const TargetsArguments &arguments) {
    const Machine machine = read_machine();
    if (arguments.threads > machine.cores) {
        return fail({ErrorCode::usage, fmt::format("--threads {}: this machine has {} core{} for this process",
                                                   arguments.threads, machine.cores, machine.cores == 1 ? "" : "s")});
    }
    Result<MachineFacts> facts = list_targets(machine, arguments.threads);
    if (!facts) return fail(facts.error());
    {
        const auto alone = take_machine(patience_of_peaks_ns);
        measure_peaks(&*facts);
        measure_int8_peaks(&*facts);
        facts->bandwidths = measure_bandwidths(machine, arguments.threads);
    }
    for (const std::string &odd : facts->notes) tell(odd);
    arguments.format == TableFormat::json ? print_targets_json(*facts, arguments.threads)
                                          : print_target_tables(*facts, arguments.threads, arguments.wide);
    return exit_done;
}

}  // namespace

void add_targets_command(CLI::App &app, Action &action) {
    auto arguments = std::make_shared<TargetsArguments>();
    CLI::App *command = app.add_subcommand("targets", "List targets, and measure what this machine can do at most");
    command->add_option("--threads", arguments->threads, "Measure this many cores at once")
        ->check(CLI::Range(1, 1024))
        ->type_name("N");
    add_format_option(*command, arguments->format, {TableFormat::table, TableFormat::json});
    command->add_flag("--wide", arguments->wide, "Whole texts, wider than the terminal if need be");
    command->callback([&action, arguments] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace kiln
