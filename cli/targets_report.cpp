#include "cli/targets_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "cli/answers/answer.h"
#include "cli/answers/output.h"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

Json peak_json(const std::optional<FmaPeak> &peak, const char *speed, const char *of_cycle) {
    if (!peak) return nullptr;
    return {{"instructions", peak->instructions},
            {speed, peak->gflops},
            {"frequency_ghz", peak->frequency_ghz},
            {of_cycle, peak->flop_per_cycle}};
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

}  // namespace

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

void print_target_tables(const MachineFacts &facts, int threads, bool wide) {
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

}  // namespace kiln
