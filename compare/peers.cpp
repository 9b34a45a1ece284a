#include "compare/peers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "compare/trusted_path.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view known[] = {"onednn", "onnxruntime", "openvino", "litert"};

// Programs are run from here, so no folder is searched that somebody else may have made.
Result<fs::path> find_repository(const std::string &given, const std::string &executables) {
    std::error_code error;
    if (!given.empty()) return fs::absolute(given, error);
    const fs::path built = fs::path(executables).parent_path().parent_path();
    if (fs::is_directory(built / "bench/peers", error)) return built;
    return environment_error(fmt::format("--against: {} is not there; name kiln's repository with --peers DIR",
                                         (built / "bench/peers").string()));
}

// All that decides which code runs: the interpreter, its environment, and the programs, which import each other.
Status check_trusted_peers(const fs::path &root) {
    std::vector<fs::path> paths = {root / ".peers/bin", root / ".peers/bin/python", root / "bench/peers"};
    const fs::path settings = root / ".peers/pyvenv.cfg";
    std::error_code error;
    if (fs::exists(settings, error)) paths.push_back(settings);
    for (fs::directory_iterator it(root / "bench/peers", error), end; !error && it != end; it.increment(error)) {
        if (it->path().extension() == ".py") paths.push_back(it->path());
    }
    for (const fs::path &path : paths) {
        if (Status s = check_trusted(path); !s) return Error{s.error().code, "--against: " + s.error().message};
    }
    return {};
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
    if (Status s = check_trusted_peers(*root); !s) return s.error();
    return programs;
}

}  // namespace kiln
