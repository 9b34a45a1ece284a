#include "tuner/protocol/runner_protocol.h"

#include <cmath>
#include <sstream>

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

void take(const Json &object, const char *field, std::optional<double> *value) {
    if (object.contains(field) && object[field].is_number()) {
        *value = object[field].get<double>();
    }
}

void merge(const Json &object, RunnerAnswer *answer) {
    answer->step = object.value("step", answer->step);
    answer->environment = object.value("environment", answer->environment);
    if (object.contains("errors")) {
        take(object["errors"], "max", &answer->errors.max);
        take(object["errors"], "rms", &answer->errors.rms);
        take(object["errors"], "wide", &answer->errors.wide);
    }
    if (object.contains("status")) {
        answer->status = parse_trial_status(object["status"].get<std::string>());
        answer->message = object.value("message", std::string());
        answer->samples = object.value("samples", Samples());
        answer->sentinel_ns = object.value("sentinel_ns", std::vector<double>());
        answer->heat = object.value("heat", std::vector<Samples>());
        answer->conditions = object.value("conditions", std::string());
        answer->workspace_bytes = object.value("workspace_bytes", int64_t(0));
        answer->workspace_bytes_per_thread = object.value("workspace_bytes_per_thread", int64_t(0));
    }
}

}  // namespace

RunnerAnswer parse_runner_answer(const std::string &lines) {
    RunnerAnswer answer;
    std::istringstream stream(lines);
    for (std::string text; std::getline(stream, text);) {
        try {
            merge(Json::parse(text), &answer);
        } catch (const Json::exception &) {
        }
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
                 {"conditions", answer.conditions},
                 {"workspace_bytes", answer.workspace_bytes},
                 {"workspace_bytes_per_thread", answer.workspace_bytes_per_thread}});
}

}  // namespace kiln
