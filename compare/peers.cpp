#include "compare/peers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view known[] = {"onednn", "onnxruntime", "openvino"};

std::optional<fs::path> upwards(fs::path folder) {
    std::error_code ignored;
    for (;; folder = folder.parent_path()) {
        if (fs::is_directory(folder / "bench/peers", ignored)) return folder;
        if (!folder.has_relative_path()) return std::nullopt;
    }
}

Result<fs::path> find_repository(const std::string &given, const std::string &executables) {
    std::error_code error;
    if (!given.empty()) return fs::absolute(given, error);
    if (auto found = upwards(executables)) return *found;
    const fs::path current = fs::current_path(error);
    if (auto found = error ? std::nullopt : upwards(current)) return *found;
    return environment_error(
        "--against: bench/peers is not found above this executable or the current folder; name kiln's repository with "
        "--peers DIR");
}

}  // namespace

Result<std::vector<std::string>> parse_peers(const std::string &against) {
    std::vector<std::string> names;
    for (size_t begin = 0; !against.empty() && begin <= against.size();) {
        const size_t end = std::min(against.find(',', begin), against.size());
        const std::string peer = against.substr(begin, end - begin);
        begin = end + 1;
        if (std::find(std::begin(known), std::end(known), peer) == std::end(known)) {
            return Error{ErrorCode::usage,
                         fmt::format("--against: unknown peer `{}`; known are {}", peer, fmt::join(known, ", "))};
        }
        if (std::find(names.begin(), names.end(), peer) != names.end()) {
            return Error{ErrorCode::usage, fmt::format("--against: {} is given twice", peer)};
        }
        names.push_back(peer);
    }
    return names;
}

Result<std::vector<PeerProgram>> find_peers(const std::vector<std::string> &names, const std::string &repository,
                                            const std::string &executables) {
    std::vector<PeerProgram> programs;
    if (names.empty()) return programs;
    const Result<fs::path> root = find_repository(repository, executables);
    if (!root) return root.error();
    const std::string python = (*root / ".peers/bin/python").string();
    for (const std::string &name : names) {
        const std::string program = (*root / "bench/peers" / (name + "_peer.py")).string();
        if (access(program.c_str(), R_OK) != 0) {
            return environment_error(fmt::format("--against: {} is missing; --peers names kiln's repository", program));
        }
        if (access(python.c_str(), X_OK) != 0) {
            return environment_error(
                fmt::format("--against: peers are not installed ({} is missing); run bench/peers/setup", python));
        }
        programs.push_back({.name = name, .arguments = {python, program}});
    }
    return programs;
}

}  // namespace kiln
