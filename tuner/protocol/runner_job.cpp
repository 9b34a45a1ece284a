#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>

#include "json/json_fields.h"
#include "tuner/protocol/job_fields.h"

namespace kiln {

namespace {

constexpr std::array<std::string_view, std::variant_size_v<RunnerJob>> kinds = {"judge",   "heat", "execute",
                                                                                "prepare", "pack", "network"};
constexpr int deepest_level = 8;

template<typename T>
constexpr bool is_optional = false;
template<typename T>
constexpr bool is_optional<std::optional<T>> = true;
template<typename T>
constexpr bool is_vector = false;
template<typename T>
constexpr bool is_vector<std::vector<T>> = true;
template<typename T>
constexpr bool has_fields = std::is_class_v<T> && !std::is_same_v<T, std::string>;

template<typename T>
Json json_of(const T &value) {
    if constexpr (std::is_same_v<T, CacheMode>) {
        return name(value);
    } else if constexpr (is_optional<T>) {
        return value ? json_of(*value) : Json();
    } else if constexpr (is_vector<T>) {
        Json list = Json::array();
        for (const auto &entry : value) list.push_back(json_of(entry));
        return list;
    } else if constexpr (has_fields<T>) {
        Json object = Json::object();
        const auto write = [&](std::string_view name, const auto &field) {
            object[std::string(name)] = json_of(field);
        };
        visit_fields(write, value);
        return object;
    } else {
        return value;
    }
}

template<typename T>
FieldProblem read_part(const Json &json, T *value) {
    if constexpr (std::is_same_v<T, CacheMode>) {
        return read_name(json, parse_cache_mode, "warm or cold", value);
    } else if constexpr (std::is_same_v<T, uint64_t>) {
        if (!json.is_number_unsigned()) return expected("a whole number", json);
        *value = json.get<uint64_t>();
        return {};
    } else if constexpr (is_optional<T>) {
        return json.is_null() ? FieldProblem() : read_part(json, &value->emplace());
    } else if constexpr (is_vector<T>) {
        if (!json.is_array()) return expected("a list", json);
        for (const Json &entry : json) {
            if (FieldProblem problem = read_part(entry, &value->emplace_back())) return problem;
        }
        return {};
    } else if constexpr (has_fields<T>) {
        FieldProblem problem;
        JsonFields fields(json, "", &problem);
        const auto read = [&]<typename Field>(std::string_view name, Field &field) {
            field = fields.get<Field>(name, read_part<Field>);
        };
        visit_fields(read, *value);
        return problem;
    } else {
        return read_value(json, value);
    }
}

const char *what_is_wrong(const RunnerJob &job) {
    if (call_of(job).threads < 1) return "less than one thread";
    const auto *heat = std::get_if<HeatJob>(&job);
    if (heat && (heat->kernels.empty() || heat->rounds < 1)) return "a heat without a kernel or a round";
    const auto *network = std::get_if<NetworkJob>(&job);
    if (network && network->repeats < 1) return "a network without a call";
    if (network && network->step_calls < 0) return "a negative number of calls";
    return nullptr;
}

template<size_t kind = 0>
Result<RunnerJob> parse_kind(const Json &json) {
    if constexpr (kind < kinds.size()) {
        const auto found = json.find(kinds[kind]);
        if (found == json.end()) return parse_kind<kind + 1>(json);
        std::variant_alternative_t<kind, RunnerJob> job;
        if (FieldProblem problem = read_part(*found, &job)) return bad_input(*problem);
        if (const char *wrong = what_is_wrong(job)) return bad_input(wrong);
        return RunnerJob(std::move(job));
    }
    return bad_input(fmt::format("neither of `{}`", fmt::join(kinds, "`, `")));
}

}  // namespace

const RunnerCall &call_of(const RunnerJob &job) {
    return std::visit([](const auto &kind) -> const RunnerCall & { return kind.call; }, job);
}

std::string to_json(const RunnerJob &job) {
    Json json = Json::object();
    json[std::string(kinds[job.index()])] = std::visit([](const auto &kind) { return json_of(kind); }, job);
    return json.dump();
}

Result<RunnerJob> parse_runner_job(const std::string &text) {
    const Result<Json> json = parse_json(text, deepest_level);
    Result<RunnerJob> job = json ? parse_kind(*json) : Result<RunnerJob>(json.error());
    if (!job) return bad_input("job of the measuring process: " + job.error().message);
    return job;
}

}  // namespace kiln
