#include "compare/peak_memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "json/json_value.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;
constexpr const char *format = "peaks/1";

// Has no rows if there is no such file, or it is not one of ours.
Json read(const std::string &path) {
    std::ifstream file(path);
    Json document = Json::parse(file, nullptr, false);
    const bool is_ours = document.is_object() && document.value("format", Json()) == format &&
                         document.value("peaks", Json()).is_array();
    return is_ours ? document : Json{{"format", format}, {"peaks", Json::array()}};
}

bool is_of(const Json &row, const std::string &machine, const std::string &instructions, int threads) {
    return row.is_object() && row.value("machine", Json()) == machine &&
           row.value("instructions", Json()) == instructions && row.value("threads", Json()) == threads;
}

double number(const Json &row, const char *field) {
    const Json value = row.value(field, Json());
    return value.is_number() ? value.get<double>() : 0;
}

// Writes the whole file or nothing, whoever else writes at the same time.
void write(const Json &document, const std::string &path) {
    std::error_code error;
    fs::create_directories(fs::path(path).parent_path(), error);
    const std::string fresh = fmt::format("{}.{}", path, getpid());
    std::ofstream file(fresh, std::ios::trunc);
    file << document.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
    file.close();
    if (file) fs::rename(fresh, path, error);
    if (!file || error) fs::remove(fresh, error);
}

}  // namespace

std::string peak_memory_path() {
    const auto below = [](const char *variable, const char *rest) -> std::string {
        const char *folder = std::getenv(variable);
        return folder && *folder == '/' ? std::string(folder) + rest : "";
    };
    const std::string path = below("XDG_CACHE_HOME", "/kiln/peaks.json");
    return path.empty() ? below("HOME", "/.cache/kiln/peaks.json") : path;
}

std::optional<FmaPeak> PeakMemory::earlier(const std::string &instructions, int threads) const {
    if (path_.empty()) return std::nullopt;
    const Json document = read(path_);
    for (const Json &row : document["peaks"]) {
        if (!is_of(row, machine_, instructions, threads)) continue;
        const FmaPeak peak{.instructions = instructions,
                           .gflops = number(row, "gflops"),
                           .frequency_ghz = number(row, "frequency_ghz"),
                           .flop_per_cycle = number(row, "flop_per_cycle")};
        if (peak.gflops > 0) return peak;
    }
    return std::nullopt;
}

void PeakMemory::remember(const FmaPeak &peak, int threads) const {
    if (path_.empty()) return;
    const std::optional<FmaPeak> before = earlier(peak.instructions, threads);
    if (before && before->gflops >= peak.gflops) return;
    Json document = read(path_), kept = Json::array();
    for (Json &row : document["peaks"]) {
        if (!is_of(row, machine_, peak.instructions, threads)) kept.push_back(std::move(row));
    }
    kept.push_back({{"machine", machine_},
                    {"instructions", peak.instructions},
                    {"threads", threads},
                    {"gflops", peak.gflops},
                    {"frequency_ghz", peak.frequency_ghz},
                    {"flop_per_cycle", peak.flop_per_cycle}});
    document["peaks"] = std::move(kept);
    write(document, path_);
}

}  // namespace kiln
