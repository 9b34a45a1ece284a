#include "cli/pareto/pareto_answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "tuner/budget/kernel_choice.h"
#include "tuner/budget/recorded_option.h"

namespace kiln {
namespace {

struct CountedLayer {
    LayerKernels sizes;
    std::vector<std::string> trials;  // of the options
    int64_t count = 1;
};

// Counts compare where the same core ran what the same compilers made.
struct Group {
    std::string machine, toolchain, target;
    auto operator<=>(const Group &) const = default;
};
using Groups = std::map<Group, std::map<std::string, CountedLayer>>;  // layers by key

struct NamedLayer {
    std::string name, key;
    int64_t count = 1;
};

Result<std::vector<NamedLayer>> layers_of(const TrialStore &store,
                                          const std::optional<std::vector<std::string>> &workloads) {
    const Result<Report> report = store.report({.kind = ReportKind::workloads, .workloads = workloads});
    if (!report) return report.error();
    const auto &columns = report->table.columns;
    const auto column = [&](const char *name) { return size_t(std::ranges::find(columns, name) - columns.begin()); };
    std::vector<NamedLayer> layers;
    for (const std::vector<Cell> &row : report->table.rows) {
        const auto *key = std::get_if<std::string>(&row.at(column("workload")));
        const auto *name = std::get_if<std::string>(&row.at(column("name")));
        const auto *count = std::get_if<int64_t>(&row.at(column("count")));
        if (key) layers.push_back({name ? *name : *key, *key, count ? *count : 1});
    }
    return layers;
}

// Adds every kernel of a layer whose cycles were counted, once.
Status add_kernels(const TrialStore &store, const NamedLayer &layer, Groups *groups) {
    const auto trials = store.usable_trials({.workload = layer.key});
    if (!trials) return trials.error();
    std::set<std::pair<std::string, std::string>> seen;  // machine and object
    for (const Trial &trial : *trials) {
        if (!seen.insert({trial.machine, trial.object_hash}).second) continue;
        const auto measurement = store.measurement_of(trial.id);
        if (!measurement) return measurement.error();
        if (!*measurement || (*measurement)->metric != Metric::cycles) continue;
        CountedLayer &counted = (*groups)[{trial.machine, trial.toolchain, trial.target}][layer.key];
        counted.sizes.layer = layer.name;
        counted.trials.push_back(trial.id);
        counted.sizes.options.push_back(recorded_option(**measurement, layer.count));
    }
    return {};
}

Status add_rows(const Group &group, const std::map<std::string, CountedLayer> &layers, Table *table) {
    std::vector<LayerKernels> sizes;
    for (const auto &[key, layer] : layers) sizes.push_back(layer.sizes);
    const auto choices = pareto_choices(sizes, {});
    if (!choices) return choices.error();
    for (const KernelChoice &choice : *choices) {
        std::vector<std::string> trials;
        size_t i = 0;
        for (const auto &[key, layer] : layers) trials.push_back(layer.trials[choice.options[i++]]);
        table->rows.push_back({choice.text, choice.cycles, choice.stack, choice.workspace,
                               static_cast<int64_t>(layers.size()), group.target, group.machine, group.toolchain,
                               fmt::format("{}", fmt::join(trials, " "))});
    }
    return {};
}

}  // namespace

Result<Table> pareto_table(const TrialStore &store, const std::optional<std::vector<std::string>> &workloads,
                           size_t *without) {
    const auto layers = layers_of(store, workloads);
    if (!layers) return layers.error();
    const auto counted_keys = store.workloads_measured_in(Metric::cycles);
    if (!counted_keys) return counted_keys.error();
    Groups groups;
    for (const NamedLayer &layer : *layers) {
        if (!std::ranges::binary_search(*counted_keys, layer.key)) continue;
        if (Status s = add_kernels(store, layer, &groups); !s) return s.error();
    }
    if (groups.empty()) {
        return unsupported("query pareto: no cycles were counted; `kiln tune --target rv32im` counts them");
    }
    Table table{{"text_bytes", "cycles", "stack_bytes", "workspace_bytes", "layers", "target", "machine", "toolchain",
                 "trials"},
                {}};
    size_t most = 0;
    for (const auto &[group, counted] : groups) {
        most = std::max(most, counted.size());
        if (Status s = add_rows(group, counted, &table); !s) return s.error();
    }
    *without = layers->size() - most;
    return table;
}

void thin_pareto(Table *table) {
    constexpr double least_growth = 1.02;
    constexpr size_t text = 0;
    // Target, machine and toolchain: what choices of one core have in common.
    const auto is_of_same = [](const std::vector<Cell> &a, const std::vector<Cell> &b) {
        return std::equal(a.begin() + 5, a.begin() + 8, b.begin() + 5);
    };
    std::vector<std::vector<Cell>> rows;
    for (size_t i = 0; i < table->rows.size(); i++) {
        std::vector<Cell> &row = table->rows[i];
        const bool is_first = rows.empty() || !is_of_same(rows.back(), row);
        const bool is_last = i + 1 == table->rows.size() || !is_of_same(table->rows[i + 1], row);
        const auto bytes = static_cast<double>(std::get<int64_t>(row[text]));
        const bool grows =
            is_first || bytes >= least_growth * static_cast<double>(std::get<int64_t>(rows.back()[text]));
        if (grows || is_last) rows.push_back(std::move(row));
    }
    table->rows = std::move(rows);
}

const TableForm &pareto_form() {
    static const TableForm form = {
        {.name = "text_bytes", .title = "text"},   {.name = "cycles"},
        {.name = "stack_bytes", .title = "stack"}, {.name = "workspace_bytes", .title = "workspace"},
        {.name = "layers", .context = true},       {.name = "target", .context = true},
        {.name = "machine", .context = true},      {.name = "toolchain", .context = true}};
    return form;
}

}  // namespace kiln
