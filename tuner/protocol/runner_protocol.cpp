#include "tuner/protocol/runner_protocol.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

namespace kiln {

namespace {

using Json = nlohmann::json;

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

std::string to_json(const RunnerJob &job) {
    Json data = Json::array();
    for (const RunnerData &d : job.data) {
        data.push_back({{"operands", d.operands}, {"expected", d.expected}, {"magnitude", d.magnitude}});
    }
    Json kernels = Json::array();
    for (const RunnerKernel &k : job.kernels) {
        kernels.push_back({{"shared_object", k.shared_object},
                           {"packed_bytes", k.packed_bytes},
                           {"prepared_bytes", k.prepared_bytes}});
    }
    return Json{{"workload", job.workload},
                {"kernels", std::move(kernels)},
                {"threads", job.threads},
                {"error_budget", job.error_budget},
                {"cache", name(job.cache)},
                {"measure", job.measure},
                {"sampling",
                 {{"min_samples", job.sampling.min_samples},
                  {"max_samples", job.sampling.max_samples},
                  {"min_total_ns", job.sampling.min_total_ns},
                  {"max_total_ns", job.sampling.max_total_ns},
                  {"relative_precision", job.sampling.relative_precision},
                  {"unstable_spread", job.sampling.unstable_spread}}},
                {"cutoffs_ns", job.cutoffs_ns},
                {"memory_limit_bytes", job.memory_limit_bytes},
                {"heat",
                 {{"rounds", job.heat.rounds},
                  {"seed", job.heat.seed},
                  {"workspace_bytes", job.heat.workspace_bytes},
                  {"workspace_bytes_per_thread", job.heat.workspace_bytes_per_thread}}},
                {"data", std::move(data)},
                {"output", job.output}}
        .dump();
}

Result<RunnerJob> parse_runner_job(const std::string &text) {
    try {
        const Json json = Json::parse(text);
        RunnerJob job;
        json.at("workload").get_to(job.workload);
        for (const Json &k : json.at("kernels")) {
            job.kernels.push_back({k.at("shared_object").get<std::string>(), k.at("packed_bytes").get<int64_t>(),
                                   k.at("prepared_bytes").get<int64_t>()});
        }
        json.at("threads").get_to(job.threads);
        json.at("error_budget").get_to(job.error_budget);
        json.at("measure").get_to(job.measure);
        json.at("memory_limit_bytes").get_to(job.memory_limit_bytes);
        json.at("output").get_to(job.output);
        json.at("cutoffs_ns").get_to(job.cutoffs_ns);
        const Json &heat = json.at("heat");
        heat.at("rounds").get_to(job.heat.rounds);
        heat.at("seed").get_to(job.heat.seed);
        heat.at("workspace_bytes").get_to(job.heat.workspace_bytes);
        heat.at("workspace_bytes_per_thread").get_to(job.heat.workspace_bytes_per_thread);
        const auto cache = parse_cache_mode(json.at("cache").get<std::string>());
        if (!cache || job.threads < 1 || job.kernels.empty()) {
            return bad_input("job of the measuring process: bad cache mode or number of threads, or no kernel");
        }
        job.cache = *cache;
        const Json &sampling = json.at("sampling");
        sampling.at("min_samples").get_to(job.sampling.min_samples);
        sampling.at("max_samples").get_to(job.sampling.max_samples);
        sampling.at("min_total_ns").get_to(job.sampling.min_total_ns);
        sampling.at("max_total_ns").get_to(job.sampling.max_total_ns);
        sampling.at("relative_precision").get_to(job.sampling.relative_precision);
        sampling.at("unstable_spread").get_to(job.sampling.unstable_spread);
        for (const Json &d : json.at("data")) {
            job.data.push_back({d.at("operands").get<std::vector<std::string>>(), d.at("expected").get<std::string>(),
                                d.at("magnitude").get<std::string>()});
        }
        return job;
    } catch (const Json::exception &e) {
        return bad_input(fmt::format("job of the measuring process: {}", e.what()));
    }
}

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
