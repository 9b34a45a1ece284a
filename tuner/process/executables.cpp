#include "tuner/process/executables.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace kiln {
namespace {

constexpr std::array<std::string_view, 3> changing_groups = {"HL_", "LD_", "MALLOC_"};
constexpr std::array<std::string_view, 7> changing = {"GLIBC_TUNABLES", "GNUTARGET", "LDEMULATION", "GCONV_PATH",
                                                      "LANG",           "LANGUAGE",  "LC_ALL"};

bool is_kept(std::string_view variable) {
    const std::string_view name = variable.substr(0, variable.find('='));
    if (name == "LD_LIBRARY_PATH") return true;
    return std::find(changing.begin(), changing.end(), name) == changing.end() &&
           std::none_of(changing_groups.begin(), changing_groups.end(),
                        [&](std::string_view group) { return name.starts_with(group); });
}

bool is_executable_file(const std::string &path) {
    struct stat status = {};
    return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string find_executable(const std::string &name) {
    const char *path = std::getenv("PATH");
    std::istringstream folders(path ? path : "/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const std::string candidate = folder + "/" + name;
        if (folder.starts_with('/') && is_executable_file(candidate)) return candidate;
    }
    return "";
}

std::vector<std::string> environment_of_children() {
    std::vector<std::string> variables;
    for (char **variable = environ; variable && *variable; variable++) {
        if (is_kept(*variable)) variables.emplace_back(*variable);
    }
    variables.emplace_back("LC_ALL=C.UTF-8");
    return variables;
}

}  // namespace kiln
