#include "cli/tune/tune_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "cli/answers/candidate_text.h"
#include "cli/answers/output.h"

namespace kiln {

const std::vector<std::string> result_columns = {"name",     "best_us", "gflops",   "share_of_peak", "default_us",
                                                 "speed_up", "trials",  "failures", "count",         "candidate"};

const std::vector<std::string> count_columns = {"name",     "cycles", "default_cycles", "speed_up",  "trials",
                                                "failures", "count",  "candidate",      "rtl_cycles"};

namespace {

const TableForm result_form = {{.name = "name", .title = "layer"},
                               {.name = "best_us", .title = "us", .digits = 1},
                               {.name = "gflops", .title = "GFLOP/s", .digits = 1},
                               {.name = "share_of_peak", .title = "% peak", .digits = 1, .scale = 100},
                               {.name = "speed_up", .title = "speed-up", .digits = 2},
                               {.name = "count"},
                               {.name = "trials"},
                               {.name = "failures"},
                               {.name = "candidate"},
                               {.name = "default_us", .title = "default us", .digits = 1}};

const TableForm count_form = {{.name = "name", .title = "layer"},
                              {.name = "cycles"},
                              {.name = "speed_up", .title = "speed-up", .digits = 2},
                              {.name = "count"},
                              {.name = "trials"},
                              {.name = "failures"},
                              {.name = "candidate"},
                              {.name = "default_cycles", .title = "default cycles"},
                              {.name = "rtl_cycles", .title = "rtl cycles"}};

// One layer, or all of them together.
struct ResultTimes {
    std::optional<double> best_ns, default_ns;
    double flops = 0, peak_gflops = 0;
    bool are_cycles = false;
};

// The columns from "best_us" to "speed_up"; NULL where there is nothing to say.
std::vector<Cell> time_cells(const ResultTimes &t) {
    const auto cell = [](bool known, double value) { return known ? Cell(value) : Cell(); };
    const double best = t.best_ns.value_or(1), standard = t.default_ns.value_or(0), speed = t.flops / best;
    const bool computes = t.best_ns && t.flops > 0;
    return {cell(t.best_ns.has_value(), best * 1e-3), cell(computes, speed),
            cell(computes && t.peak_gflops > 0, speed / t.peak_gflops), cell(t.default_ns.has_value(), standard * 1e-3),
            cell(t.best_ns && t.default_ns, standard / best)};
}

// The columns from "cycles" to "speed_up".
std::vector<Cell> count_cells(const ResultTimes &t) {
    const auto whole = [](std::optional<double> value) { return value ? Cell(static_cast<int64_t>(*value)) : Cell(); };
    return {whole(t.best_ns), whole(t.default_ns),
            t.best_ns && t.default_ns ? Cell(*t.default_ns / *t.best_ns) : Cell()};
}

// A network's kernels in layouts that it does not use have no part in its time.
bool is_used(const TunedWorkload &tuned) { return tuned.workload.odds == 1; }

std::vector<Cell> result_row(const TunedWorkload &tuned, const ResultTimes &times, const std::string &candidate) {
    std::vector<Cell> row = {tuned.workload.list + "/" + tuned.workload.name};
    for (Cell &cell : times.are_cycles ? count_cells(times) : time_cells(times)) row.push_back(std::move(cell));
    row.insert(row.end(), {tuned.trials, tuned.failures, is_used(tuned) ? tuned.workload.count : 0, candidate});
    const std::optional<double> judged = tuned.race ? tuned.race->judged : std::nullopt;
    if (times.are_cycles) row.push_back(judged ? Cell(static_cast<int64_t>(*judged)) : Cell());
    return row;
}

// The last row is weighted by count: what the network spends in these layers.
Table results(const TuneReport &report, const JobPeaks &peaks,
              const std::function<std::string(const TunedWorkload &)> &candidate) {
    const std::optional<FmaPeak> &peak = peaks.f32;
    Table table{.columns = peak ? result_columns : count_columns, .rows = {}};
    double at_peak_ns = 0;
    TunedWorkload total;
    total.workload.count = 0;
    ResultTimes all{.best_ns = 0, .default_ns = 0, .flops = 0, .peak_gflops = 0, .are_cycles = !peak};
    bool complete = true;
    for (const TunedWorkload &tuned : report.workloads) {
        const auto flops = static_cast<double>(flop_count(tuned.workload.workload));
        const double peak_gflops = peaks.gflops(tuned.workload.workload);
        table.rows.push_back(
            result_row(tuned, {tuned.best_ns, tuned.default_ns, flops, peak_gflops, !peak}, candidate(tuned)));
        total.trials += tuned.trials;
        total.failures += tuned.failures;
        if (!is_used(tuned)) continue;
        const auto occurrences = static_cast<double>(tuned.workload.count);
        total.workload.count += tuned.workload.count;
        all.flops += occurrences * flops;
        if (peak_gflops > 0) at_peak_ns += occurrences * flops / peak_gflops;
        *all.best_ns += occurrences * tuned.best_ns.value_or(0);
        *all.default_ns += occurrences * tuned.default_ns.value_or(0);
        complete = complete && (tuned.is_empty || (tuned.best_ns && tuned.default_ns));
    }
    if (complete && table.rows.size() > 1 && *all.best_ns > 0) {
        if (at_peak_ns > 0) all.peak_gflops = all.flops / at_peak_ns;
        table.rows.push_back(result_row(total, all, ""));
        table.rows.back().front() = std::string("total");
    }
    return table;
}

}  // namespace

void print_results(const TuneReport &report, const JobPeaks &peaks, const ChoiceContext &context,
                   const AnswerOptions &options) {
    const bool is_short = options.format == TableFormat::table && !options.wide;
    bool any = false;
    const auto candidate = [&](const TunedWorkload &tuned) {
        const Result<Candidate> parsed = parse_candidate(tuned.best_candidate);
        if (!is_short || !parsed) return tuned.best_candidate;
        std::string text = short_text(*parsed, {tuned.workload.workload, context.target, context.machine});
        any = any || text != tuned.best_candidate;
        return text;
    };
    const std::optional<FmaPeak> &peak = peaks.f32;
    Table table = results(report, peaks, candidate);
    if (options.format == TableFormat::table) {
        print_head("target " + context.target.halide, options);
        print_line(peak ? fmt::format("threads {}, peak {:.1f} GFLOP/s ({})", context.target.threads, peak->gflops,
                                      peak->instructions)
                        : "cycles of " + context.machine.cpu_model);
        if (peaks.int8) {
            print_line(
                fmt::format("quantized layers: peak {:.1f} GOP/s ({})", peaks.int8->gflops, peaks.int8->instructions));
        }
        print_line("");
    }
    const std::vector<std::string> hidden = print(std::move(table), peak ? result_form : count_form, options);
    if (any && is_shown("candidate", options, hidden)) tell(short_candidates_note);
    if (options.format != TableFormat::table) return;
    if (const auto unused = std::ranges::count_if(report.workloads, std::not_fn(is_used)); unused > 0) {
        tell(fmt::format("count 0: {} of the kernels are in layouts that the network does not use", unused));
    }
}

LayersWithoutKernel layers_without_kernel(const TuneReport &report) {
    LayersWithoutKernel without;
    for (const TunedWorkload &tuned : report.workloads) {
        if (tuned.best_ns) continue;
        if (tuned.is_empty) {
            without.empty++;
        } else if (is_used(tuned) || tuned.trials > 0) {
            without.lines.push_back(fmt::format("{}/{}: {}", tuned.workload.list, tuned.workload.name, tuned.problem));
        } else {
            without.unused++;
        }
    }
    return without;
}

std::optional<std::string> network_summary(const TuneReport &report) {
    double best = 0, standard = 0;
    for (const TunedWorkload &tuned : report.workloads) {
        if (!is_used(tuned)) continue;
        if (!tuned.best_ns || !tuned.default_ns) return std::nullopt;
        best += static_cast<double>(tuned.workload.count) * *tuned.best_ns;
        standard += static_cast<double>(tuned.workload.count) * *tuned.default_ns;
    }
    if (report.workloads.empty()) return std::nullopt;
    return fmt::format("{}: {:.3f} ms in its layers, {:.3f} ms with default kernels ({:.2f} times as long)",
                       report.workloads.front().workload.list, best * 1e-6, standard * 1e-6, standard / best);
}

}  // namespace kiln
