#include "cli/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "records/measurement.h"
#include "workload/signature.h"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

// What a reader must know to believe the peers' columns.
constexpr std::string_view peers_note =
    "Peers run on the same core, in turns with kiln's kernels, each round in another order. Not counted: packing of\n"
    "weights, reorders of activations into and out of the layout the peer likes best (OpenVINO: the better of NHWC "
    "and\n"
    "NCHW, and what it reorders inside then), and the overhead of its call, measured in the same round. Counted:\n"
    "convolution, bias and relu. Ratio: peer's median / kiln's, above 1 kiln is faster; in brackets the quartiles "
    "over\n"
    "rounds. Peers' Winograd is not asked for.";

Json microseconds(const std::vector<double> &ns) {
    Json values = Json::array();
    for (double value : ns) values.push_back(value * 1e-3);
    return values;
}

Json peer_json(const PeerTiming &peer, const std::optional<Timing> &ours) {
    Json row = {{"median_us", nullptr}, {"min_us", nullptr}, {"version", peer.version}};
    if (!peer.timing) {
        row["reason"] = peer.problem;
        return row;
    }
    row["median_us"] = peer.timing->median_ns() * 1e-3;
    row["min_us"] = peer.timing->min_ns * 1e-3;
    row["implementation"] = peer.timing->candidate;
    row["call_overhead_us"] = peer.call_overhead_ns * 1e-3;
    row["round_medians_us"] = microseconds(peer.timing->round_medians_ns);
    if (ours) {
        const Ratio r = ratio(*peer.timing, *ours);
        row["ratio"] = r.value;
        row["ratio_lo"] = r.lo;
        row["ratio_hi"] = r.hi;
    }
    return row;
}

std::vector<Cell> peer_cells(const PeerTiming &peer, const std::optional<Timing> &ours) {
    if (!peer.timing) return {std::string("-"), std::string("-")};
    std::string compared = "-";
    if (ours) {
        const Ratio r = ratio(*peer.timing, *ours);
        compared = fmt::format("{:.2f} ({:.2f}..{:.2f})", r.value, r.lo, r.hi);
    }
    return {fmt::format("{:.1f}", peer.timing->median_ns() * 1e-3), compared};
}

}  // namespace

double Timing::median_ns() const { return summarize(round_medians_ns).median; }

void Timing::add(double round_median_ns, double round_min_ns) {
    min_ns = round_medians_ns.empty() ? round_min_ns : std::min(min_ns, round_min_ns);
    round_medians_ns.push_back(round_median_ns);
}

Ratio ratio(const Timing &peer, const Timing &ours) {
    std::vector<double> by_round;
    for (size_t i = 0; i < ours.round_medians_ns.size(); i++) {
        by_round.push_back(peer.round_medians_ns[i] / ours.round_medians_ns[i]);
    }
    std::sort(by_round.begin(), by_round.end());
    const size_t last = by_round.size() - 1;
    return {peer.median_ns() / ours.median_ns(), by_round[last / 4], by_round[last - last / 4]};
}

double gflops(const Workload &workload, const Timing &timing) {
    return static_cast<double>(flop_count(workload)) / timing.median_ns();
}

std::optional<double> roofline_gflops(const Workload &workload, const FmaPeak &peak,
                                      const std::vector<Bandwidth> &bandwidths, int threads) {
    const double flops = static_cast<double>(flop_count(workload));
    if (flops == 0) return std::nullopt;
    const Signature tensors = signature(workload);
    const auto size = [](const TensorForm &form) {
        return static_cast<double>(elements(form.shape()) * size_of(form.dtype));
    };
    const double written = size(tensors.result);
    double read = 0;
    for (const TensorForm &operand : tensors.operands) read += size(operand);
    const double copied = std::min(read, written);
    double limit = peak.gflops;
    for (const Bandwidth &level : bandwidths) {
        // Bandwidths are measured on half of what a level holds, for each thread.
        const bool holds = read + written <= 2.0 * static_cast<double>(level.working_set_bytes) * threads;
        if (!holds && &level != &bandwidths.back()) continue;
        const double ns = (2 * copied + 2 * (written - copied)) / level.copy_gb_s + (read - copied) / level.read_gb_s;
        limit = std::min(limit, flops / ns);
        break;
    }
    return limit;
}

void print_json(const BenchReport &report) {
    Json document = {{"format", "bench/1"},
                     {"peak_gflops", report.peak.gflops},
                     {"target", to_text(report.target)},
                     {"layers", Json::array()}};
    if (!report.peers.empty()) document["note"] = peers_note;
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
        if (layer.chosen && layer.copy) {
            const Ratio r = ratio(*layer.copy, *layer.chosen);
            row["copy_us"] = layer.copy->median_ns() * 1e-3;
            row["copy_round_medians_us"] = microseconds(layer.copy->round_medians_ns);
            row["of_copy"] = r.value, row["of_copy_lo"] = r.lo, row["of_copy_hi"] = r.hi;
        }
        const auto roofline = roofline_gflops(w.workload, report.peak, report.bandwidths, report.target.threads);
        row["roofline_gflops"] = roofline ? Json(*roofline) : Json();
        row["untuned"] = layer.untuned;
        row["reason"] = layer.problem.empty() ? Json() : Json(layer.problem);
        row["peers"] = Json::object();
        for (const PeerTiming &peer : layer.peers) row["peers"][peer.name] = peer_json(peer, layer.chosen);
        document["layers"].push_back(std::move(row));
    }
    fmt::print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
}

void print_table(const BenchReport &report) {
    fmt::print("target {}\npeak {:.1f} GFLOP/s ({})\n\n", to_text(report.target), report.peak.gflops,
               report.peak.instructions);
    Table table{.columns = {"layer", "algorithm", "median us", "min us", "GFLOP/s", "% of peak", "roofline GFLOP/s",
                            "default us", "default % of peak"}};
    for (const std::string &peer : report.peers) {
        table.columns.push_back(peer + " us");
        table.columns.push_back(peer + " / kiln");
    }
    table.columns.push_back("note");
    for (size_t i = 0; i < report.layers.size(); i++) {
        const NamedWorkload &w = report.workloads[i];
        const Layer &layer = report.layers[i];
        std::vector<Cell> row = {w.list + "/" + w.name, layer.algorithm};
        std::vector<std::string> notes;
        if (layer.chosen) {
            const double rate = gflops(w.workload, *layer.chosen), plain = gflops(w.workload, *layer.standard);
            const auto add = [&](double value, bool is_known = true) {
                Cell &cell = row.emplace_back();
                if (is_known) cell = fmt::format("{:.1f}", value);
            };
            const bool computes = flop_count(w.workload) > 0;  // a transform has times only
            add(layer.chosen->median_ns() * 1e-3);
            add(layer.chosen->min_ns * 1e-3);
            add(rate, computes);
            add(100 * rate / report.peak.gflops, computes);
            add(roofline_gflops(w.workload, report.peak, report.bandwidths, report.target.threads).value_or(0),
                computes);
            add(layer.standard->median_ns() * 1e-3);
            add(100 * plain / report.peak.gflops, computes);
            if (layer.untuned) notes.push_back("untuned");
            if (layer.copy) {
                const Ratio r = ratio(*layer.copy, *layer.chosen);
                notes.push_back(
                    fmt::format("{:.0f} % of a copy ({:.1f} us)", 100 * r.value, layer.copy->median_ns() * 1e-3));
            }
        } else {
            row.resize(9);
            notes.push_back(layer.problem);
        }
        for (const PeerTiming &peer : layer.peers) {
            for (Cell &cell : peer_cells(peer, layer.chosen)) row.push_back(std::move(cell));
            if (!peer.timing) notes.push_back(fmt::format("{}: {}", peer.name, peer.problem));
        }
        row.resize(table.columns.size() - 1);  // a layer without a kernel was not shown to peers
        row.push_back(fmt::format("{}", fmt::join(notes, "; ")));
        table.rows.push_back(std::move(row));
    }
    print(table, TableFormat::table);
    if (!report.peers.empty()) fmt::print("\n{}\n", peers_note);
}

}  // namespace kiln
