#include "cli/bench/bench_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/answers/formats.h"
#include "cli/answers/output.h"
#include "compare/roofline.h"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

// What a reader must know to believe the peers' columns.
constexpr std::string_view peers_note =
    R"(Peers run on the same core, in turns with kiln's kernels, each round in another order. Ratio: the
median over rounds of peer's time / kiln's, above 1 kiln is faster, and its quartiles. Counted:
convolution, bias and relu. Not counted: packing of weights, reorders of activations into and out
of the layout the peer likes best (OpenVINO: the better of NHWC and NCHW, and what it reorders
inside then), and the overhead of its call, measured in the same round. Peers' Winograd is not
asked for.)";

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
    row["call_overhead_us"] = peer.call_overhead_ns() * 1e-3;
    row["round_medians_us"] = microseconds(peer.timing->round_medians_ns);
    if (ours) {
        const Ratio r = ratio(*peer.timing, *ours);
        row["ratio"] = r.value;
        row["ratio_lo"] = r.lo;
        row["ratio_hi"] = r.hi;
    }
    return row;
}

Json milliseconds(double ns) { return ns * 1e-6; }

Json network_json(const NetworkRow &row, int threads) {
    const Layer &whole = row.layer;
    Json json = {{"name", row.name}, {"threads", threads}};
    json["median_ms"] = json["min_ms"] = json["default_ms"] = nullptr;
    if (whole.chosen) {
        json["median_ms"] = milliseconds(whole.chosen->median_ns());
        json["min_ms"] = milliseconds(whole.chosen->min_ns);
        json["default_ms"] = milliseconds(whole.standard->median_ns());
        json["round_medians_us"] = microseconds(whole.chosen->round_medians_ns);
    }
    json["untuned"] = whole.untuned;
    json["reason"] = whole.problem.empty() ? Json() : Json(whole.problem);
    json["peers"] = Json::object();
    for (const PeerTiming &peer : whole.peers) {
        Json &of_peer = json["peers"][peer.name] = peer_json(peer, whole.chosen);
        for (const char *field : {"median_us", "min_us"}) of_peer.erase(field);
        of_peer["median_ms"] = peer.timing ? milliseconds(peer.timing->median_ns()) : Json();
        of_peer["min_ms"] = peer.timing ? milliseconds(peer.timing->min_ns) : Json();
    }
    if (!row.steps.columns.empty()) json["steps"] = Json::parse(json_text(row.steps));
    return json;
}

std::vector<std::string> own_columns() {
    return {"name",   "median_us",  "gflops",        "share_of_peak",   "share_of_bandwidth",
            "level",  "default_us", "default_share", "roofline_gflops", "algorithm",
            "min_us", "untuned"};
}

// The cells of own_columns() from "median_us" to "untuned".
std::vector<Cell> own_cells(const NamedWorkload &w, const Layer &layer, const BenchReport &report) {
    if (!layer.chosen) return std::vector<Cell>(own_columns().size() - 1);
    const bool computes = flop_count(w.workload) > 0;  // a transform has times only
    const auto if_computes = [&](double value) { return computes ? Cell(value) : Cell(); };
    const double speed = gflops(w.workload, *layer.chosen), plain = gflops(w.workload, *layer.standard);
    const double peak = peak_of(report, w.workload).gflops;
    const auto roofline =
        roofline_gflops(w.workload, peak_of(report, w.workload), report.bandwidths, report.target.threads);
    const auto moved = traffic(w.workload, report.bandwidths, report.target.threads);
    return {layer.chosen->median_ns() * 1e-3,
            if_computes(speed),
            if_computes(speed / peak),
            moved ? Cell(moved->ns / layer.chosen->median_ns()) : Cell(),
            moved ? Cell(moved->level) : Cell(),
            layer.standard->median_ns() * 1e-3,
            if_computes(plain / peak),
            roofline ? Cell(*roofline) : Cell(),
            layer.algorithm,
            layer.chosen->min_ns * 1e-3,
            layer.untuned ? Cell("yes") : Cell()};
}

std::string ratio_text(const Ratio &r) { return fmt::format("{:.2f} ({:.2f}..{:.2f})", r.value, r.lo, r.hi); }

// Time and ratio; empty where there is none.
std::vector<Cell> peer_cells(const PeerTiming &peer, const std::optional<Timing> &ours) {
    if (!peer.timing) return {Cell(), Cell()};
    return {peer.timing->median_ns() * 1e-3, ours ? Cell(ratio_text(ratio(*peer.timing, *ours))) : Cell()};
}

// Why a time is missing: of the layer, or of a peer.
std::vector<std::string> reasons(const Layer &layer) {
    std::vector<std::string> reasons;
    if (!layer.problem.empty()) reasons.push_back(layer.problem);
    for (const PeerTiming &peer : layer.peers) {
        if (!peer.timing) reasons.push_back(fmt::format("{}: {}", peer.name, peer.problem));
    }
    return reasons;
}

std::string note(const Layer &layer) {
    std::vector<std::string> notes = reasons(layer);
    if (layer.chosen && layer.copy) {
        const Ratio r = ratio(*layer.copy, *layer.chosen);
        notes.insert(notes.begin(),
                     fmt::format("{:.0f} % of a copy ({:.1f} us)", 100 * r.value, layer.copy->median_ns() * 1e-3));
    }
    return fmt::format("{}", fmt::join(notes, "; "));
}

using NamedLayer = std::pair<std::string, const Layer *>;

// What the notes would say where a table has no room for them. Most layers share their reasons, so each is told once.
void tell_reasons(const std::vector<NamedLayer> &layers) {
    std::vector<std::string> order;
    std::map<std::string, std::vector<std::string>> names;  // by reason
    for (const auto &[name, layer] : layers) {
        for (const std::string &reason : reasons(*layer)) {
            std::vector<std::string> &with_it = names[reason];
            if (with_it.empty()) order.push_back(reason);
            with_it.push_back(name);
        }
    }
    for (const std::string &reason : order) {
        const std::vector<std::string> &with_it = names[reason];
        const std::string more = with_it.size() > 1 ? fmt::format(" and {} more", with_it.size() - 1) : "";
        tell_line(fmt::format("{}{}: {}", with_it.front(), more, reason));
    }
}

void print_with_notes(Table table, const TableForm &form, const AnswerOptions &options,
                      const std::vector<NamedLayer> &layers) {
    const std::vector<std::string> hidden = print(std::move(table), form, options);
    if (std::ranges::count(hidden, "note")) tell_reasons(layers);
}

// What a reader wants first: how peers compare, and why one does not. Columns that say nothing are not shown.
TableForm form_of(const Table &table, const std::vector<std::string> &peers) {
    TableForm form = {{.name = "name", .title = "layer"},
                      {.name = "median_us", .title = "us", .digits = 1},
                      {.name = "gflops", .title = "GFLOP/s", .digits = 1},
                      {.name = "share_of_peak", .title = "% peak", .digits = 1, .scale = 100}};
    for (const std::string &peer : peers)
        form.push_back({.name = peer + "_ratio", .title = peer + " / kiln", .whole = true});
    const TableForm memory = {{.name = "share_of_bandwidth", .title = "% of", .digits = 1, .scale = 100},
                              {.name = "level", .title = "memory"}};
    const ColumnForm note = {.name = "note"};
    if (!peers.empty()) form.push_back(note);
    form.insert(form.end(), memory.begin(), memory.end());
    for (const std::string &peer : peers) form.push_back({.name = peer + "_us", .title = peer + " us", .digits = 1});
    form.insert(form.end(), {{.name = "default_us", .title = "default us", .digits = 1}, {.name = "untuned"}});
    if (peers.empty()) form.push_back(note);
    const TableForm rest = {{.name = "algorithm"},
                            {.name = "roofline_gflops", .title = "roofline", .digits = 1},
                            {.name = "min_us", .title = "min us", .digits = 1},
                            {.name = "default_share", .title = "default % peak", .digits = 1, .scale = 100}};
    form.insert(form.end(), rest.begin(), rest.end());
    std::erase_if(form, [&](const ColumnForm &column) {
        if (column.name.ends_with("_ratio")) return false;  // a peer that was asked for; the note says why it has none
        const auto at = std::find(table.columns.begin(), table.columns.end(), column.name) - table.columns.begin();
        return std::all_of(table.rows.begin(), table.rows.end(),
                           [&](const auto &row) { return row[size_t(at)] == Cell() || row[size_t(at)] == Cell(""); });
    });
    return form;
}

}  // namespace

Table network_table(const BenchReport &report) {
    Table table{.columns = {"network", "ms", "default_ms", "min_ms", "untuned"}, .rows = {}};
    for (const std::string &peer : report.peers) {
        table.columns.insert(table.columns.end(), {peer + "_ms", peer + "_ratio"});
    }
    table.columns.push_back("note");
    for (const NetworkRow &network : report.networks) {
        const Layer &whole = network.layer;
        std::vector<Cell> row = {network.name};
        if (whole.chosen) {
            row.insert(row.end(), {whole.chosen->median_ns() * 1e-6, whole.standard->median_ns() * 1e-6,
                                   whole.chosen->min_ns * 1e-6, whole.untuned ? Cell("yes") : Cell()});
        }
        for (const PeerTiming &peer : whole.peers) {
            const bool has_time = peer.timing.has_value();
            row.push_back(has_time ? Cell(peer.timing->median_ns() * 1e-6) : Cell());
            row.push_back(has_time && whole.chosen ? Cell(ratio_text(ratio(*peer.timing, *whole.chosen))) : Cell());
        }
        row.resize(table.columns.size() - 1);  // a network without a time was not shown to peers
        row.push_back(note(whole));
        table.rows.push_back(std::move(row));
    }
    return table;
}

void print_json(const BenchReport &report) {
    Json document = {{"format", "bench/1"},
                     {"peak_gflops", report.peak.gflops},
                     {"target", to_text(report.target)},
                     {"layers", Json::array()}};
    if (report.int8_peak) document["int8_peak_gflops"] = report.int8_peak->gflops;
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
        const auto roofline =
            roofline_gflops(w.workload, peak_of(report, w.workload), report.bandwidths, report.target.threads);
        row["roofline_gflops"] = roofline ? Json(*roofline) : Json();
        row["share_of_peak"] = row["share_of_bandwidth"] = row["level"] = nullptr;
        if (layer.chosen && roofline)
            row["share_of_peak"] = gflops(w.workload, *layer.chosen) / peak_of(report, w.workload).gflops;
        if (const auto moved = traffic(w.workload, report.bandwidths, report.target.threads)) {
            row["level"] = moved->level;
            row["bytes"] = moved->bytes_read + moved->bytes_written;
            if (layer.chosen) row["share_of_bandwidth"] = moved->ns / layer.chosen->median_ns();
        }
        row["untuned"] = layer.untuned;
        row["reason"] = layer.problem.empty() ? Json() : Json(layer.problem);
        row["peers"] = Json::object();
        for (const PeerTiming &peer : layer.peers) row["peers"][peer.name] = peer_json(peer, layer.chosen);
        document["layers"].push_back(std::move(row));
    }
    for (const NetworkRow &network : report.networks) {
        document["networks"].push_back(network_json(network, report.target.threads));
    }
    print_document(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

const FmaPeak &peak_of(const BenchReport &report, const Workload &workload) {
    return report.int8_peak && is_quantized(workload) ? *report.int8_peak : report.peak;
}

std::vector<std::string> bench_columns(const std::vector<std::string> &peers) {
    std::vector<std::string> columns = own_columns();
    for (const std::string &peer : peers) {
        columns.push_back(peer + "_us");
        columns.push_back(peer + "_ratio");
    }
    columns.push_back("note");
    return columns;
}

Table bench_table(const BenchReport &report) {
    Table table{.columns = bench_columns(report.peers), .rows = {}};
    for (size_t i = 0; i < report.layers.size(); i++) {
        const NamedWorkload &w = report.workloads[i];
        const Layer &layer = report.layers[i];
        std::vector<Cell> &row = table.rows.emplace_back();
        row.push_back(w.list + "/" + w.name);
        for (Cell &cell : own_cells(w, layer, report)) row.push_back(std::move(cell));
        for (const PeerTiming &peer : layer.peers) {
            for (Cell &cell : peer_cells(peer, layer.chosen)) row.push_back(std::move(cell));
        }
        row.resize(table.columns.size() - 1);  // a layer without a kernel was not shown to peers
        row.push_back(note(layer));
    }
    return table;
}

void print_table(const BenchReport &report, const AnswerOptions &options) {
    print_head("target " + report.target.halide, options);
    print_line(fmt::format("threads {}, peak {:.1f} GFLOP/s ({})", report.target.threads, report.peak.gflops,
                           report.peak.instructions));
    if (report.int8_peak) {
        print_line(fmt::format("quantized layers: peak {:.1f} GOP/s ({})", report.int8_peak->gflops,
                               report.int8_peak->instructions));
    }
    print_line("");
    if (!report.networks.empty()) {
        Table networks = network_table(report);
        TableForm form = {{.name = "network"}, {.name = "ms", .digits = 3}};
        for (const std::string &peer : report.peers)
            form.push_back({.name = peer + "_ratio", .title = peer + " / kiln", .whole = true});
        if (!report.peers.empty()) form.push_back({.name = "note"});
        for (const std::string &peer : report.peers)
            form.push_back({.name = peer + "_ms", .title = peer + " ms", .digits = 3});
        form.insert(form.end(), {{.name = "default_ms", .title = "default ms", .digits = 3}, {.name = "untuned"}});
        if (report.peers.empty()) form.push_back({.name = "note"});
        form.push_back({.name = "min_ms", .title = "min ms", .digits = 3});
        const AnswerOptions whole{.format = options.format, .wide = options.wide};
        std::vector<NamedLayer> layers;
        for (const NetworkRow &network : report.networks) layers.emplace_back(network.name, &network.layer);
        print_with_notes(std::move(networks), form, whole, layers);
        print_line("");
    }
    for (const NetworkRow &network : report.networks) {
        if (!network.steps.columns.empty()) print(network.steps, network.steps_form, options);
    }
    if (!report.layers.empty()) {
        const Table table = bench_table(report);
        std::vector<NamedLayer> layers;
        for (size_t i = 0; i < report.layers.size(); i++) {
            layers.emplace_back(report.workloads[i].list + "/" + report.workloads[i].name, &report.layers[i]);
        }
        print_with_notes(table, form_of(table, report.peers), options, layers);
    }
    if (!report.peers.empty()) write_text(stdout, "\n" + std::string(peers_note) + "\n");
}

}  // namespace kiln
