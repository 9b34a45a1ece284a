#include "records/race_conditions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

namespace kiln {

std::string to_json(const RaceConditions &conditions) {
    std::string text = "{";
    if (!conditions.network.empty()) text += fmt::format("\"network\":{},", nlohmann::json(conditions.network).dump());
    text += fmt::format("\"heats\":[{}]", fmt::join(conditions.heats, ","));
    if (!conditions.qualifying.empty()) {
        nlohmann::ordered_json turns = nlohmann::ordered_json::array();
        for (const QualifyingTurn &turn : conditions.qualifying)
            turns.push_back({{"trial", turn.trial}, {"ns", turn.ns}});
        text += ",\"qualifying\":" + turns.dump();
    }
    if (!conditions.notes.empty()) text += ",\"notes\":" + nlohmann::ordered_json(conditions.notes).dump();
    return text + "}";
}

std::vector<std::string> qualified_trials(const std::string &conditions) {
    std::vector<std::string> trials;
    const nlohmann::json json = nlohmann::json::parse(conditions, nullptr, false);
    const auto turns = json.is_object() ? json.find("qualifying") : json.end();
    if (turns == json.end() || !turns->is_array()) return trials;
    for (const nlohmann::json &turn : *turns) {
        const auto trial = turn.is_object() ? turn.find("trial") : turn.end();
        if (trial != turn.end() && trial->is_string()) trials.push_back(trial->get<std::string>());
    }
    return trials;
}

std::string raced_network(const std::string &conditions) {
    const nlohmann::json json = nlohmann::json::parse(conditions, nullptr, false);
    const auto network = json.is_object() ? json.find("network") : json.end();
    return network != json.end() && network->is_string() ? network->get<std::string>() : std::string();
}

}  // namespace kiln
