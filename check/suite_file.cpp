#include "check/suite_file.h"

#include <algorithm>
#include <filesystem>
#include <limits>

namespace kiln {
namespace fs = std::filesystem;

FieldProblem read_shape(const Json &value, std::vector<int64_t> *shape) {
    if (FieldProblem problem = read_value(value, shape)) return problem;
    for (const int64_t extent : *shape) {
        if (extent < 0 || extent > std::numeric_limits<int32_t>::max()) {
            return expected("extents from 0 to 2147483647", value);
        }
    }
    return {};
}

const char *problem_of_file(const std::string &folder, const std::string &path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return "does not exist, or is no regular file";
    const fs::path own = fs::canonical(folder, error), file = fs::canonical(path, error);
    if (error) return "cannot be found";
    const auto [end, ignored] = std::mismatch(own.begin(), own.end(), file.begin(), file.end());
    return end == own.end() ? nullptr : "lies outside of the suite's folder; copy it there";
}

}  // namespace kiln
