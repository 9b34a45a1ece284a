#include "records/trial.h"

#include <utility>

namespace kiln {
namespace {

template<typename Value, size_t count>
using Names = std::array<std::pair<Value, std::string_view>, count>;

// Frozen: these texts are in databases.
constexpr Names<TrialStatus, 9> status_names = {{
    {TrialStatus::ok, "ok"},
    {TrialStatus::compile_error, "compile_error"},
    {TrialStatus::compile_timeout, "compile_timeout"},
    {TrialStatus::crash, "crash"},
    {TrialStatus::timeout, "timeout"},
    {TrialStatus::out_of_memory, "out_of_memory"},
    {TrialStatus::wrong_result, "wrong_result"},
    {TrialStatus::unstable, "unstable"},
    {TrialStatus::refused, "refused"},
}};
constexpr Names<CacheMode, 2> cache_names = {{{CacheMode::warm, "warm"}, {CacheMode::cold, "cold"}}};
constexpr Names<Metric, 3> metric_names = {
    {{Metric::ns, "ns"}, {Metric::cycles, "cycles"}, {Metric::instructions, "instructions"}}};

template<typename Value, size_t count>
std::string_view name_in(const Names<Value, count> &names, Value value) {
    for (const auto &[candidate, text] : names) {
        if (candidate == value) return text;
    }
    return {};
}

template<typename Value, size_t count>
std::optional<Value> value_in(const Names<Value, count> &names, std::string_view text) {
    for (const auto &[value, candidate] : names) {
        if (candidate == text) return value;
    }
    return std::nullopt;
}

template<typename Value, size_t count>
bool set_from(const Names<Value, count> &names, std::string_view text, Value &value) {
    const auto known = value_in(names, text);
    if (known) value = *known;
    return known.has_value();
}

}  // namespace

std::string_view name(TrialStatus status) { return name_in(status_names, status); }
std::optional<TrialStatus> parse_trial_status(std::string_view text) { return value_in(status_names, text); }
std::string_view name(CacheMode mode) { return name_in(cache_names, mode); }
std::optional<CacheMode> parse_cache_mode(std::string_view text) { return value_in(cache_names, text); }
std::string_view name(Metric metric) { return name_in(metric_names, metric); }
std::optional<Metric> parse_metric(std::string_view text) { return value_in(metric_names, text); }
bool parse_name(std::string_view text, TrialStatus &value) { return set_from(status_names, text, value); }
bool parse_name(std::string_view text, CacheMode &value) { return set_from(cache_names, text, value); }
bool parse_name(std::string_view text, Metric &value) { return set_from(metric_names, text, value); }

}  // namespace kiln
