#include "records/memory_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace kiln {
namespace {

bool is_like_speed(double a, double b) { return a <= 0 || b <= 0 || std::max(a / b, b / a) <= like_speeds; }

double mean(double a, double b) { return a > 0 && b > 0 ? std::sqrt(a * b) : std::max(a, b); }

// Two speeds, or none. What somebody else wrote there is no speed.
bool take_level(const nlohmann::json &speeds, const char *level, double *before, double *after) {
    const auto found = speeds.find(level);
    if (found == speeds.end()) return true;
    if (!found->is_array() || found->size() != 2) return false;
    for (const auto &[from, to] : {std::pair{&(*found)[0], before}, std::pair{&(*found)[1], after}}) {
        if (!from->is_number()) return false;
        *to = from->get<double>();
        if (!std::isfinite(*to) || *to < 0) return false;
    }
    return true;
}

}  // namespace

bool is_like(const MemorySpeed &a, const MemorySpeed &b) {
    return is_like_speed(a.l3, b.l3) && is_like_speed(a.dram, b.dram);
}

bool is_like(const MemoryState &a, const MemoryState &b) { return is_like(a.mean(), b.mean()); }

MemorySpeed MemoryState::mean() const { return {kiln::mean(before.l3, after.l3), kiln::mean(before.dram, after.dram)}; }

bool is_worth_repeating(const MemoryState &state, int repeats) {
    return state.moved() && repeats < most_memory_repeats;
}

std::optional<MemoryState> memory_state_of(const std::string &conditions) {
    const nlohmann::json json = nlohmann::json::parse(conditions, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    const auto speeds = json.find("memory_gb_s");
    MemoryState state;
    if (speeds == json.end() || !speeds->is_object() || !take_level(*speeds, "l3", &state.before.l3, &state.after.l3) ||
        !take_level(*speeds, "dram", &state.before.dram, &state.after.dram) || state == MemoryState()) {
        return std::nullopt;
    }
    return state;
}

std::string text(const MemoryState &state) {
    const MemorySpeed speed = state.mean();
    std::string text;
    if (speed.l3 > 0) text = fmt::format("L3 {:.1f} GB/s", speed.l3);
    if (speed.dram > 0) text += fmt::format("{}DRAM {:.1f} GB/s", text.empty() ? "" : ", ", speed.dram);
    return text;
}

}  // namespace kiln
