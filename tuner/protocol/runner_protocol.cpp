#include "tuner/protocol/runner_protocol.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <utility>

#include "json/json_value.h"

namespace kiln {

namespace {

// Messages may quote a kernel's or the system's bytes, which need not be UTF-8.
std::string line(const Json &object) { return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

void put(Json &object, const char *field, const std::optional<double> &value) {
    if (value && std::isfinite(*value)) {
        object[field] = *value;
    }
}

// Fields may be missing. Answers false where one is not of its kind.
template<typename T>
bool take(const Json &object, const char *field, T *value) {
    const auto found = object.find(field);
    return found == object.end() || !read_value(*found, value);
}

bool take_bytes(const Json &object, const char *field, int64_t *bytes) {
    const auto found = object.find(field);
    return found == object.end() || !read_integer(*found, 0, std::numeric_limits<int64_t>::max(), bytes);
}

bool take_errors(const Json &object, ErrorMeasures *errors) {
    const auto found = object.find("errors");
    if (found == object.end()) return true;
    return found->is_object() && take(*found, "max", &errors->max) && take(*found, "rms", &errors->rms) &&
           take(*found, "wide", &errors->wide);
}

bool take_end(const Json &object, RunnerAnswer *answer) {
    std::string status;
    if (!object.contains("status")) return true;
    if (!take(object, "status", &status)) return false;
    answer->status = parse_trial_status(status);
    return answer->status && take(object, "message", &answer->message) && take(object, "samples", &answer->samples) &&
           take(object, "sentinel_ns", &answer->sentinel_ns) && take(object, "heat", &answer->heat) &&
           take(object, "steps", &answer->steps) && take(object, "conditions", &answer->conditions) &&
           take_bytes(object, "workspace_bytes", &answer->workspace_bytes) &&
           take_bytes(object, "workspace_bytes_per_thread", &answer->workspace_bytes_per_thread);
}

bool take_line(const Json &object, RunnerAnswer *answer) {
    return object.is_object() && take(object, "step", &answer->step) &&
           take(object, "environment", &answer->environment) && take_errors(object, &answer->errors) &&
           take_end(object, answer);
}

}  // namespace

RunnerAnswer parse_runner_answer(const std::string &lines) {
    RunnerAnswer answer;
    std::istringstream stream(lines);
    for (std::string text; std::getline(stream, text);) {
        RunnerAnswer next = answer;
        if (take_line(Json::parse(text, nullptr, false), &next)) answer = std::move(next);
    }
    return answer;
}

std::string step_line(std::string_view step) { return line({{"step", step}}); }

std::string errors_line(const ErrorMeasures &errors) {
    Json object = Json::object();
    put(object, "max", errors.max);
    put(object, "rms", errors.rms);
    put(object, "wide", errors.wide);
    return line({{"errors", object}});
}

std::string end_line(const RunnerAnswer &answer) {
    if (!answer.status) {
        return line({{"environment", answer.environment}});
    }
    return line({{"status", name(*answer.status)},
                 {"message", answer.message},
                 {"samples", answer.samples},
                 {"sentinel_ns", answer.sentinel_ns},
                 {"heat", answer.heat},
                 {"steps", answer.steps},
                 {"conditions", answer.conditions},
                 {"workspace_bytes", answer.workspace_bytes},
                 {"workspace_bytes_per_thread", answer.workspace_bytes_per_thread}});
}

}  // namespace kiln
