#include "tuner/budget/recorded_option.h"

#include <nlohmann/json.hpp>

namespace kiln {
namespace {

int64_t size_of(const nlohmann::json &counts, const char *name) {
    const auto size = counts.is_object() ? counts.find(name) : counts.end();
    return size != counts.end() && size->is_number_integer() ? size->get<int64_t>() : 0;
}

}  // namespace

KernelOption recorded_option(const Measurement &measurement, int64_t count) {
    const auto counts = nlohmann::json::parse(measurement.conditions, nullptr, false);
    const auto shared = counts.is_object() ? counts.find("shared_code") : counts.end();
    const bool is_shared = shared != counts.end() && shared->is_string();
    return {.code = is_shared ? shared->get<std::string>() : std::string(),
            .cycles = count * static_cast<int64_t>(measurement.median),
            .text = size_of(counts, "text_bytes") + size_of(counts, "rodata_bytes"),
            .stack = size_of(counts, "stack_bytes"),
            .workspace = size_of(counts, "workspace_bytes")};
}

}  // namespace kiln
