#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/answers/answer_options.h"
#include "cli/answers/output.h"
#include "cli/command.h"
#include "cli/measuring/measuring_turn.h"
#include "compare/peak.h"
#include "compare/peak_memory.h"
#include "tuner/measure/hardware_probe.h"
#include "tuner/process/host_machine.h"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

struct TargetFacts {
    std::string name, description;
    Target target;
    std::vector<std::string> missing;  // empty: this machine runs it
    std::optional<FmaPeak> peak, int8_peak;
};

struct MachineFacts {
    Machine machine;
    std::vector<TargetFacts> targets;  // host first
    std::vector<Bandwidth> bandwidths;
    std::vector<std::string> notes;  // of peaks that were odd
};

Result<MachineFacts> list_targets(const Machine &machine, int threads) {
    MachineFacts facts{.machine = machine, .targets = {}, .bandwidths = {}, .notes = {}};
    std::vector<TargetAlias> names = {{"host", "host", "everything this machine has"}};
    names.insert(names.end(), target_aliases().begin(), target_aliases().end());
    for (const TargetAlias &alias : names) {
        Result<Target> target = parse_target(alias.halide, 1, machine.halide_target);
        if (!target) return target.error();
        if (!is_soft_core(*target)) target->threads = threads;
        facts.targets.push_back({.name = std::string(alias.name),
                                 .description = std::string(alias.description),
                                 .target = *target,
                                 .missing = is_soft_core(*target) ? std::vector{architecture(*target)}
                                                                  : missing_features(*target, machine.halide_target),
                                 .peak = {},
                                 .int8_peak = {}});
    }
    return facts;
}

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

Json peak_json(const std::optional<FmaPeak> &peak, const char *speed, const char *of_cycle) {
    if (!peak) return nullptr;
    return {{"instructions", peak->instructions},
            {speed, peak->gflops},
            {"frequency_ghz", peak->frequency_ghz},
            {of_cycle, peak->flop_per_cycle}};
}

void print_targets_json(const MachineFacts &facts, int threads) {
    const Machine &m = facts.machine;
    Json document = {{"format", "targets/1"},
                     {"machine",
                      {{"key", key(m)},
                       {"cpu_model", m.cpu_model},
                       {"cpu_id", m.cpu_id},
                       {"cores", m.cores},
                       {"l1_bytes", m.l1_bytes},
                       {"l2_bytes", m.l2_bytes},
                       {"l3_bytes", m.l3_bytes}}},
                     {"threads", threads},
                     {"targets", Json::array()},
                     {"bandwidths", Json::array()}};
    for (const TargetFacts &t : facts.targets) {
        Json row = {{"name", t.name},
                    {"halide", t.target.halide},
                    {"description", t.description},
                    {"runs", t.missing.empty()},
                    {"missing", t.missing},
                    {"simulated", is_soft_core(t.target)},
                    {"peak", peak_json(t.peak, "gflops", "flop_per_cycle")},
                    {"int8_peak", peak_json(t.int8_peak, "gops", "op_per_cycle")}};
        document["targets"].push_back(std::move(row));
    }
    for (const Bandwidth &b : facts.bandwidths) {
        document["bandwidths"].push_back({{"level", b.level},
                                          {"working_set_bytes", b.working_set_bytes},
                                          {"read_gb_s", b.read_gb_s},
                                          {"copy_gb_s", b.copy_gb_s}});
    }
    print_document(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string size_text(int64_t bytes) {
    if (bytes >= int64_t(1) << 20) return fmt::format("{:g} MiB", bytes / double(1 << 20));
    return fmt::format("{:g} KiB", bytes / double(1 << 10));
}

std::string runs_text(const TargetFacts &t, bool wide) {
    if (is_soft_core(t.target)) return "simulated";
    if (t.missing.empty()) return "yes";
    if (wide || t.missing.size() == 1) return fmt::format("no: lacks {}", fmt::join(t.missing, ", "));
    return fmt::format("no: lacks {} and {} more", t.missing[0], t.missing.size() - 1);
}

void print_tables(const MachineFacts &facts, int threads, bool wide) {
    const AnswerOptions options{.wide = wide, .columns = {}, .sort = {}};
    const Machine &m = facts.machine;
    print_line(
        fmt::format("{} ({}), {} core{} for this process", m.cpu_model, m.cpu_id, m.cores, m.cores == 1 ? "" : "s"));
    print_line(fmt::format("caches: L1 {}, L2 {}{}", size_text(m.l1_bytes), size_text(m.l2_bytes),
                           m.l3_bytes ? ", L3 " + size_text(m.l3_bytes) : ""));
    print_line("");

    // Halide's names of targets are too wide for most terminals; JSON has them, too.
    Table targets{.columns = {"target", "runs here", "about"}, .rows = {}};
    if (wide) targets.columns.push_back("Halide target");
    for (const TargetFacts &t : facts.targets) {
        targets.rows.push_back({t.name, runs_text(t, wide), t.description});
        if (wide) targets.rows.back().push_back(t.target.halide);
    }
    print(std::move(targets), {}, options);
    if (!wide) print_line("--wide shows all that is lacked, and the targets as Halide names them");

    const auto print_peaks = [&](const char *what, std::vector<std::string> columns, auto TargetFacts::*peak) {
        print_line("");
        print_line(fmt::format("{} peak, {} thread{}", what, threads, threads == 1 ? "" : "s"));
        Table peaks{.columns = std::move(columns)};
        for (const TargetFacts &t : facts.targets) {
            const std::optional<FmaPeak> &p = t.*peak;
            if (!p) continue;
            peaks.rows.push_back({t.name, p->instructions, fmt::format("{:.1f}", p->gflops),
                                  fmt::format("{:.1f}", p->flop_per_cycle), fmt::format("{:.2f}", p->frequency_ghz)});
        }
        print(std::move(peaks), {}, options);
    };
    print_peaks("f32", {"target", "instructions", "GFLOP/s", "flop/cycle/core", "GHz"}, &TargetFacts::peak);
    print_peaks("int8", {"target", "instructions", "GOP/s", "op/cycle/core", "GHz"}, &TargetFacts::int8_peak);

    print_line("");
    print_line(fmt::format("memory bandwidth, {} thread{} (copy: bytes read and bytes written)", threads,
                           threads == 1 ? "" : "s"));
    Table bandwidths{.columns = {"level", "working set", "read GB/s", "copy GB/s"}};
    for (const Bandwidth &b : facts.bandwidths) {
        bandwidths.rows.push_back({b.level, size_text(b.working_set_bytes), fmt::format("{:.1f}", b.read_gb_s),
                                   fmt::format("{:.1f}", b.copy_gb_s)});
    }
    print(std::move(bandwidths), {}, options);
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
                                          : print_tables(*facts, arguments.threads, arguments.wide);
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
