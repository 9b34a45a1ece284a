#include "database/rows/record_columns.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace kiln {
namespace {

// Fields that a table keeps as a reference. In `value`, {0} is the number of the field's parameter and {1} that of
// `threads`, which is part of what a target is.
struct Reference {
    std::string_view field, column, value;
};
constexpr Reference references[] = {
    {"workload", "workload_id", "(SELECT id FROM workload WHERE key = ?{0})"},
    {"target", "target_id", "(SELECT id FROM target WHERE halide = ?{0} AND threads = ?{1})"},
    {"machine", "machine_id", "(SELECT id FROM machine WHERE key = ?{0})"},
    {"toolchain", "toolchain_id", "(SELECT id FROM toolchain WHERE text = ?{0})"},
    {"measurement", "measurement_id", "?{0}"},
    {"trial", "trial_id", "?{0}"},
};

const Reference *find_reference(std::string_view field) {
    const auto found = std::ranges::find(references, field, &Reference::field);
    return found == std::end(references) ? nullptr : found;
}

// From 1; 0 where there is no such field.
size_t number_of(std::string_view field, const std::vector<std::string_view> &fields) {
    const auto found = std::ranges::find(fields, field);
    return found == fields.end() ? 0 : static_cast<size_t>(found - fields.begin()) + 1;
}

}  // namespace

std::string shortened(std::string text) {
    constexpr size_t longest = 60;
    if (text.size() > longest) text = text.substr(0, longest) + "...";
    return text;
}

std::string columns_of(const RecordTable &table, const std::vector<std::string_view> &fields) {
    std::vector<std::string> columns;
    for (const std::string_view field : fields) {
        const Reference *reference = find_reference(field);
        const bool has_texts = table.view != table.table;
        const std::string_view column = field == "id" ? table.id : reference && !has_texts ? reference->column : field;
        columns.push_back(fmt::format("{}.{}", table.view, column));
    }
    return fmt::format("{}", fmt::join(columns, ", "));
}

std::string insertion_into(const RecordTable &table, const std::vector<std::string_view> &fields) {
    const size_t threads = number_of("threads", fields);
    const bool has_target = number_of("target", fields) > 0;
    std::vector<std::string> columns, values;
    for (size_t i = 0; i < fields.size(); ++i) {
        if (fields[i] == "threads" && has_target) continue;
        const Reference *reference = find_reference(fields[i]);
        columns.emplace_back(reference ? reference->column : fields[i]);
        values.push_back(fmt::format(fmt::runtime(reference ? reference->value : "?{0}"), i + 1, threads));
    }
    return fmt::format("INSERT INTO {} ({}) VALUES ({})", table.table, fmt::join(columns, ", "),
                       fmt::join(values, ", "));
}

}  // namespace kiln
