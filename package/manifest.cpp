#include "package/manifest.h"

#include <nlohmann/json.hpp>

#include "json/json_value.h"
#include "records/measurement.h"
#include "runtime/arena.h"
#include "runtime/kiln.h"
#include "text/quoted_text.h"

namespace kiln {
namespace {

constexpr size_t fewest_for_interval = 6;  // of median_interval()

template<typename T>
Json or_null(const std::optional<T> &value) {
    return value ? Json(*value) : Json();
}

Json trial(const std::optional<Best> &best) {
    if (!best) return {};
    const Trial &t = best->trial;
    return {{"id", t.id},
            {"origin", t.origin},
            {"machine", t.machine},
            {"toolchain", t.toolchain},
            {"error_budget", t.error_budget},
            {"created_at", t.created_at}};
}

Json measurement(const PackagedKernel &kernel) {
    const Measurement *m = kernel.measurement();
    if (!m) return {};
    Json json = {{"machine", m->machine},        {"threads", m->threads},
                 {"cache", name(m->cache)},      {"metric", name(m->metric)},
                 {"median", m->median},          {"spread", m->spread},
                 {"samples", m->samples.size()}, {"evidence", kernel.best->evidence},
                 {"created_at", m->created_at}};
    const bool has_interval = m->samples.size() >= fewest_for_interval;
    const Interval interval = has_interval ? median_interval(m->samples) : Interval();
    json["median_lo"] = has_interval ? Json(interval.lo) : Json();
    json["median_hi"] = has_interval ? Json(interval.hi) : Json();
    return json;
}

// The race that the winner won, and the runner-up.
Json race(const PackagedKernel &kernel) {
    if (!kernel.race || kernel.stale) return {};
    const Race &r = *kernel.race;
    Json json = {{"id", r.id},
                 {"entries", r.entries.size()},
                 {"rounds", r.entries.front().samples.size()},
                 {"confidence", r.confidence},
                 {"created_at", r.created_at},
                 {"runner_up", Json()}};
    if (r.entries.size() < 2) return json;
    const RaceEntry &second = r.entries[1];
    json["runner_up"] = {
        {"trial", second.trial}, {"ratio", second.ratio}, {"ratio_lo", second.ratio_lo}, {"ratio_hi", second.ratio_hi}};
    return json;
}

// What is known of a kernel in C.
Json soft_core(const PackagedKernel &kernel) {
    const SoftCoreKernel &soft = *kernel.soft_core;
    const auto *sources = std::get_if<CSources>(&kernel.artifact.code);
    return {{"core", soft.core},
            {"function", soft.function},
            {"shared_code", soft.shared.empty() ? Json() : Json(soft.shared)},
            {"source", "src/" + soft.function + ".c"},
            {"flags", sources ? Json(sources->flags) : Json()},
            {"cycles", soft.cycles},
            {"packed_bytes", soft.packed_bytes},
            {"text_bytes", soft.text_bytes},
            {"rodata_bytes", soft.rodata_bytes},
            {"stack_bytes", soft.stack_bytes},
            {"workspace_bytes", kernel.workspace_bytes},
            {"counts", Json::parse(soft.conditions, nullptr, false)}};
}

Json shared_code(const std::vector<SharedSoftCoreCode> &codes) {
    Json list = Json::array();
    for (const SharedSoftCoreCode &code : codes) {
        list.push_back({{"function", code.function},
                        {"source", code.source},
                        {"layers", code.layers},
                        {"flags", code.flags},
                        {"text_bytes", code.text_bytes},
                        {"rodata_bytes", code.rodata_bytes}});
    }
    return list;
}

Json entry(const PackagedKernel &kernel) {
    const NamedWorkload &w = kernel.workload;
    Json json;
    json["key"] = key(w.workload);
    json["list"] = w.list;
    json["name"] = w.name;
    json["count"] = w.count;
    json["target"] = kernel.target.halide;
    json["threads"] = kernel.target.threads;
    json["tuned"] = kernel.best.has_value();
    json["candidate"] = kernel.candidate;
    json["object_hash"] = kernel.artifact.object_hash;
    json["packed_bytes"] = kernel.artifact.packed_bytes;
    json["prepared_bytes"] = kernel.artifact.prepared_bytes;
    json["workspace_bytes"] = align_up(kernel.workspace_bytes);
    json["workspace_bytes_per_thread"] = align_up(kernel.workspace_bytes_per_thread);
    json["max_error"] = or_null(kernel.errors.max);
    json["wide_error"] = or_null(kernel.errors.wide);
    json["judged"] = {{"machine", kernel.judgement.machine}, {"error_budget", kernel.judgement.error_budget}};
    json["trial"] = trial(kernel.best);
    json["stale"] = kernel.stale;
    json["measurement"] = measurement(kernel);
    json["race"] = race(kernel);
    json["place"] = kernel.place;
    json["why_place"] = kernel.why_place;
    json["object_bytes"] = kernel.artifact.object_bytes;
    if (kernel.soft_core) json["soft_core"] = soft_core(kernel);
    return json;
}

Json ports_json(const std::vector<network::Port> &ports) {
    Json list = Json::array();
    for (const network::Port &port : ports) {
        list.push_back({{"name", port.name},
                        {"dtype", graph::name(port.form.type)},
                        {"shape", port.form.shape},
                        {"bytes", bytes_of(port.form)}});
    }
    return list;
}

// Steps with the numbers of their kernels in `kernels`; a copy has none.
Json variant(const DescribedVariant &described, const network::Program &program) {
    const NetworkMemory &memory = described.memory;
    Json steps = Json::array();
    for (size_t i = 0; i < program.steps.size(); i++) {
        steps.push_back({{"name", program.steps[i].name},
                         {"origins", program.steps[i].origins},
                         {"kernel", described.rows[i] < 0 ? Json() : Json(described.rows[i])}});
    }
    return {{"target", described.variant->target.halide},
            {"why_place", described.variant->why_place},
            {"workspace_bytes", memory.fixed_bytes()},
            {"workspace_bytes_per_thread", memory.bytes_per_thread()},
            {"steps", std::move(steps)}};
}

Json network_json(const DescribedNetwork &described, const std::string &package) {
    const PackagedNetwork &network = *described.network;
    Json json = {{"name", network.program.name},
                 {"plan", network.plan},
                 {"inputs", ports_json(network.program.inputs)},
                 {"outputs", ports_json(network.program.outputs)},
                 {"weights",
                  {{"file", network.embeds_weights ? Json() : Json(package + ".weights")},
                   {"bytes", network.weights_bytes},
                   {"digest", network.weights_digest},
                   {"sections", network.sections.size()}}},
                 {"plan_bytes", network.program.workspace},
                 {"plan_lower_bound", network.program.workspace_lower_bound},
                 {"variants", Json::array()}};
    for (const DescribedVariant &of : described.variants) json["variants"].push_back(variant(of, network.program));
    return json;
}

// Parameters are called as in package/c/c_network.h.
Json soft_ports(const std::vector<network::Port> &ports, const std::vector<std::string> &parameters, size_t first) {
    Json list = ports_json(ports);
    for (size_t i = 0; i < ports.size(); i++) {
        list[i]["parameter"] = parameters[first + i];
        if (!ports[i].quantization) continue;
        list[i]["scale"] = ports[i].quantization->scale;
        list[i]["zero_point"] = ports[i].quantization->zero_point;
    }
    return list;
}

Json soft_network_json(const SoftCoreNetwork &network) {
    const network::Program &program = network.program;
    Json steps = Json::array();
    for (size_t i = 0; i < program.steps.size(); i++) {
        const network::Step &step = program.steps[i];
        Json json = {{"name", step.name},
                     {"origins", step.origins},
                     {"kernel", network.kernels[i] < 0 ? Json() : Json(network.kernels[i])}};
        if (!step.why.empty()) json["why"] = step.why;
        steps.push_back(std::move(json));
    }
    return {{"name", program.name},
            {"function", network.function},
            {"core", network.core},
            {"inputs", soft_ports(program.inputs, network.parameters, 0)},
            {"outputs", soft_ports(program.outputs, network.parameters, program.inputs.size())},
            {"steps", std::move(steps)},
            {"cycles", network.cycles},
            {"text_bytes", network.text_bytes},
            {"constant_bytes", network.constant_bytes},
            {"arena_bytes", network.arena_bytes},
            {"stack_bytes", network.stack_bytes},
            {"counts", Json::parse(network.conditions, nullptr, false)}};
}

}  // namespace

std::string manifest_text(const Package &package, const DescribedNetworks &networks) {
    Json json;
    json["format"] = manifest_format;
    json["name"] = package.name;
    json["interface_version"] = KILN_INTERFACE_VERSION;
    json["toolchain"] = package.toolchain;
    json["database"] = package.database.empty() ? Json() : Json(package.database);
    json["database_digest"] = package.database_digest.empty() ? Json() : Json(package.database_digest);
    json["fallback"] = package.fallback;
    if (!package.files.empty()) json["files"] = package.files;
    if (!package.shared_code.empty()) json["shared_code"] = shared_code(package.shared_code);
    json["kernels"] = Json::array();
    for (const PackagedKernel &kernel : package.kernels) json["kernels"].push_back(entry(kernel));
    if (package.soft_core_network) json["soft_core_network"] = soft_network_json(*package.soft_core_network);
    for (const DescribedNetwork &network : networks) {
        json[network.network->prepares_inputs ? "preparation" : "network"] = network_json(network, package.name);
    }
    // Names may hold any bytes; a manifest is always valid UTF-8, and plain where somebody looks at it.
    return quoted_json(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace kiln
