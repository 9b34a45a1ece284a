#include "cli/bench/core_report.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/answers/output.h"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

// As the runner names them in the conditions of a measurement.
constexpr std::array<const char *, 7> counts = {"instructions", "fetch_misses", "load_misses",    "text_bytes",
                                                "rodata_bytes", "stack_bytes",  "workspace_bytes"};

std::optional<int64_t> count_of(const Timing &timing, const char *name) {
    const Json conditions = Json::parse(timing.conditions, nullptr, false);
    if (!conditions.is_object()) return {};
    const auto found = conditions.find(name);
    if (found == conditions.end() || !found->is_number_integer()) return {};
    return found->get<int64_t>();
}

int64_t cycles_of(const Timing &timing) { return static_cast<int64_t>(timing.median_ns()); }

Json json_of(const NamedWorkload &w, const Layer &layer) {
    Json row = {{"name", w.name}, {"list", w.list}, {"count", w.count}, {"key", key(w.workload)}};
    row["algorithm"] = layer.algorithm.empty() ? Json() : Json(layer.algorithm);
    row["cycles"] = layer.chosen ? Json(cycles_of(*layer.chosen)) : Json();
    row["default_cycles"] = layer.standard ? Json(cycles_of(*layer.standard)) : Json();
    for (const char *name : counts) {
        const auto count = layer.chosen ? count_of(*layer.chosen, name) : std::nullopt;
        row[name] = count ? Json(*count) : Json();
    }
    row["candidate"] = layer.chosen ? Json(layer.chosen->candidate) : Json();
    row["default_candidate"] = layer.standard ? Json(layer.standard->candidate) : Json();
    row["untuned"] = layer.untuned;
    row["reason"] = layer.problem.empty() ? Json() : Json(layer.problem);
    row["peers"] = Json::object();
    return row;
}

std::vector<Cell> row_of(const NamedWorkload &w, const Layer &layer) {
    std::vector<Cell> row = {w.list + "/" + w.name};
    if (layer.chosen) {
        const int64_t cycles = cycles_of(*layer.chosen), standard = cycles_of(*layer.standard);
        row.insert(row.end(), {cycles, standard, static_cast<double>(standard) / static_cast<double>(cycles)});
        for (const char *name : counts) {
            const auto count = count_of(*layer.chosen, name);
            row.push_back(count ? Cell(*count) : Cell());
        }
    } else {
        row.resize(4 + counts.size());
    }
    const std::string note = !layer.problem.empty() ? layer.problem : layer.untuned ? "untuned" : "";
    row.insert(row.end(), {w.count, layer.chosen ? Cell(layer.chosen->candidate) : Cell(), note});
    return row;
}

// Nothing where a layer has no count.
std::optional<std::vector<Cell>> total(const CoreReport &report) {
    int64_t cycles = 0, standard = 0, calls = 0;
    for (size_t i = 0; i < report.layers.size(); i++) {
        const Layer &layer = report.layers[i];
        const int64_t count = report.workloads[i].count;
        if (layer.is_empty) continue;
        if (!layer.chosen) return {};
        cycles += count * cycles_of(*layer.chosen), standard += count * cycles_of(*layer.standard), calls += count;
    }
    if (calls == 0) return {};
    std::vector<Cell> row = {std::string("total"), cycles, standard,
                             static_cast<double>(standard) / static_cast<double>(cycles)};
    row.resize(4 + counts.size());
    row.insert(row.end(), {calls, Cell(), Cell()});
    return row;
}

const TableForm form = {{.name = "name", .title = "layer"},
                        {.name = "cycles"},
                        {.name = "speed_up", .title = "speed-up", .digits = 2},
                        {.name = "instructions"},
                        {.name = "load_misses", .title = "load misses"},
                        {.name = "text_bytes", .title = "text"},
                        {.name = "note"},
                        {.name = "default_cycles", .title = "default cycles"},
                        {.name = "fetch_misses", .title = "fetch misses"},
                        {.name = "rodata_bytes", .title = "rodata"},
                        {.name = "stack_bytes", .title = "stack"},
                        {.name = "workspace_bytes", .title = "workspace"},
                        {.name = "count"},
                        {.name = "candidate"}};

}  // namespace

std::vector<std::string> core_columns() {
    std::vector<std::string> columns = {"name", "cycles", "default_cycles", "speed_up"};
    columns.insert(columns.end(), counts.begin(), counts.end());
    columns.insert(columns.end(), {"count", "candidate", "note"});
    return columns;
}

Table core_table(const CoreReport &report) {
    Table table{.columns = core_columns(), .rows = {}};
    for (size_t i = 0; i < report.layers.size(); i++) {
        table.rows.push_back(row_of(report.workloads[i], report.layers[i]));
    }
    if (table.rows.size() < 2) return table;
    if (auto row = total(report)) table.rows.push_back(std::move(*row));
    return table;
}

void print_table(const CoreReport &report, const AnswerOptions &options) {
    print_head("target " + report.target.halide, options);
    print_line("cycles of " + report.core);
    print_line("");
    print(core_table(report), form, options);
}

std::string json_text(const CoreReport &report) {
    Json document = {{"format", "bench/1"},
                     {"peak_gflops", nullptr},
                     {"target", to_text(report.target)},
                     {"core", report.core},
                     {"layers", Json::array()}};
    for (size_t i = 0; i < report.layers.size(); i++) {
        document["layers"].push_back(json_of(report.workloads[i], report.layers[i]));
    }
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kiln
