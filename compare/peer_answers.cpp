#include "compare/peer_answers.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "json/json_value.h"
#include "text/excerpt.h"

namespace kiln {
namespace {

constexpr int deepest_level = 16;

Result<Json> parse_object(std::string_view line) {
    Result<Json> answer = parse_json(line, deepest_level);
    if (answer && answer->is_object()) return answer;
    return environment_error("its answer is no JSON object: " + excerpt(line));
}

Error unexpected(std::string_view what, std::string_view line) {
    return environment_error("its " + std::string(what) + " is " + excerpt(line));
}

// Empty where there is none.
std::string text_of(const Json &object, const char *field) {
    const auto found = object.find(field);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool is_time(const Json &value) { return value.is_number() && value.get<double>() >= 0; }

}  // namespace

Result<std::string> parse_peer_greeting(std::string_view line, std::string_view name) {
    const Result<Json> greeting = parse_object(line);
    if (!greeting) return greeting.error();
    if (const std::string problem = text_of(*greeting, "error"); !problem.empty()) {
        return environment_error("does not start: " + problem);
    }
    const bool has_version = greeting->contains("version") && (*greeting)["version"].is_string();
    if (text_of(*greeting, "peer") != name || !has_version) return unexpected("greeting", line);
    return text_of(*greeting, "version");
}

Result<PeerLayer> parse_peer_layer(std::string_view line) {
    using Refusal = PeerLayer::Refusal;
    constexpr std::pair<const char *, Refusal> kinds[] = {{"about", Refusal::none},
                                                          {"unsupported", Refusal::unsupported},
                                                          {"wrong", Refusal::wrong_numbers},
                                                          {"error", Refusal::failed}};
    const Result<Json> answer = parse_object(line);
    if (!answer) return answer.error();
    for (const auto &[field, refusal] : kinds) {
        if (!answer->contains(field) || !(*answer)[field].is_string()) continue;
        const std::string text = text_of(*answer, field);
        return refusal == Refusal::none ? PeerLayer{text, refusal, ""} : PeerLayer{"", refusal, text};
    }
    return unexpected("answer to prepare", line);
}

Result<PeerRound> parse_peer_round(std::string_view line) {
    const Result<Json> answer = parse_object(line);
    if (!answer) return answer.error();
    const auto samples = answer->find("samples_ns"), overhead = answer->find("call_overhead_ns");
    const bool has_samples = samples != answer->end() && samples->is_array() && !samples->empty() &&
                             std::all_of(samples->begin(), samples->end(), is_time);
    const bool has_overhead = overhead != answer->end() && is_time(*overhead);
    if (!has_samples || !has_overhead) return unexpected("answer to round", line);
    return PeerRound{samples->get<Samples>(), overhead->get<double>()};
}

Result<PeerProfile> parse_peer_profile(std::string_view line) {
    const Result<Json> answer = parse_object(line);
    if (!answer) return answer.error();
    const auto nodes = answer->find("nodes");
    if (nodes == answer->end() || !nodes->is_array()) return unexpected("answer to profile", line);
    const auto is_text = [](const Json &value) { return value.is_string(); };
    PeerProfile profile;
    for (const Json &node : *nodes) {
        const bool is_whole = node.is_object() && node.contains("names") && node.contains("ns");
        if (!is_whole || !is_time(node["ns"]) || !node["names"].is_array() ||
            !std::ranges::all_of(node["names"], is_text))
            return unexpected("answer to profile", line);
        profile.push_back({node["names"].get<std::vector<std::string>>(), node["ns"].get<double>()});
    }
    return profile;
}

}  // namespace kiln
