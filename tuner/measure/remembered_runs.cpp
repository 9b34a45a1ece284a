#include "tuner/measure/remembered_runs.h"

#include <fmt/format.h>

#include <utility>

namespace kiln {

Result<RunResult> RememberedRuns::run(const RunRequest &request) {
    if (request.measure) return runner_.run(request);
    const std::string name = fmt::format("{} {} {} {}", key(request.workload), to_text(request.target),
                                         request.artifact.shared_object_path, request.error_budget);
    const auto known = judged_.find(name);
    if (known != judged_.end()) return known->second;
    Result<RunResult> result = runner_.run(request);
    if (result) judged_.emplace(name, *result);
    return result;
}

}  // namespace kiln
