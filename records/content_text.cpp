#include "records/content_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace kiln {
namespace {

constexpr auto measurement_order =
    std::to_array<std::string_view>({"object_hash", "machine", "threads", "cache", "metric", "samples", "median",
                                     "spread", "conditions", "created_at"});

constexpr auto trial_order = std::to_array<std::string_view>({"workload",
                                                              "target",
                                                              "threads",
                                                              "machine",
                                                              "toolchain",
                                                              "candidate",
                                                              "origin",
                                                              "status",
                                                              "message",
                                                              "stderr_text",
                                                              "error_budget",
                                                              "max_error",
                                                              "rms_error",
                                                              "wide_error",
                                                              "object_hash",
                                                              "object_bytes",
                                                              "packed_bytes",
                                                              "workspace_bytes",
                                                              "workspace_bytes_per_thread",
                                                              "build_ns",
                                                              "run_ns",
                                                              "cache",
                                                              "measurement",
                                                              "created_at"});

constexpr auto race_order =
    std::to_array<std::string_view>({"workload", "target", "threads", "machine", "toolchain", "cache", "error_budget",
                                     "metric", "confidence", "conditions", "created_at", "entries"});

}  // namespace

const ContentForm measurement_content{"kiln measurement 1", measurement_order};
const ContentForm trial_content{"kiln trial 1", trial_order};
const ContentForm race_content{"kiln race 1", race_order};

void ContentText::operator()(std::string_view name, const std::vector<RaceEntry> &entries, Presence) {
    std::string all;
    for (const RaceEntry &entry : entries) {
        ContentText fields;
        visit_fields(fields, entry);
        all += fields.in_order({});
    }
    fields_.emplace_back(name, all);
}

void ContentText::add(std::string_view name, const std::string &value) {
    const bool is_content = name != "id" && !value.empty();
    if (is_content) fields_.emplace_back(name, fmt::format("{}:{}:{}\n", name, value.size(), value));
}

std::string ContentText::in_order(std::span<const std::string_view> order) const {
    auto fields = fields_;
    std::ranges::stable_sort(fields, {}, [&](const auto &field) { return std::ranges::find(order, field.first); });
    std::string text;
    for (const auto &[name, field] : fields) text += field;
    return text;
}

std::string ContentText::text_of(int64_t value) { return fmt::to_string(value); }

// SQLite has no negative zero.
std::string ContentText::text_of(double value) { return fmt::format("{:016x}", std::bit_cast<uint64_t>(value + 0.0)); }

std::string ContentText::text_of(const std::vector<double> &values) {
    std::string all;
    for (const double value : values) all += text_of(value);
    return all;
}

}  // namespace kiln
