#include "tuner/job/searched_spaces.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "catalog/catalog.h"
#include "tuner/job/candidate_choice.h"
#include "workload/lists/glob.h"

namespace kiln {
namespace {

std::vector<const Algorithm *> without_last(const std::vector<const Algorithm *> &all) {
    std::vector<const Algorithm *> others;
    std::ranges::copy_if(all, std::back_inserter(others), [](const Algorithm *a) { return !a->last_on_soft_cores; });
    return others.empty() ? all : others;
}

}  // namespace

Result<std::vector<Space>> searched_spaces(const TuneJob &job, const Workload &workload) {
    const TuneOptions &options = job.options;
    const Core core = core_of(job.environment.machine, job.target);
    std::vector<const Algorithm *> searched;
    Refusals refusals;
    for (const Algorithm *algorithm : by_preference(workload, job.target, core, options.error_budget)) {
        std::string reason;
        if (!is_asked_for(*algorithm, options.algorithm)) {
            reason = "not asked for";
        } else if (!options.without.empty() && glob_match(options.without, algorithm->name)) {
            reason = "excluded";
        } else if (Status s = algorithm->applies(workload, job.target); !s) {
            reason = s.error().message;
        } else {
            searched.push_back(algorithm);
            continue;
        }
        refusals.add(algorithm->name, reason);
    }
    if (searched.empty()) return unsupported("no algorithm applies (" + refusals.text() + ")");
    if (is_soft_core(job.target) && options.algorithm == "*") searched = without_last(searched);
    std::vector<Space> spaces;
    for (const Algorithm *algorithm : searched) spaces.push_back(algorithm->space(workload, job.target, core));
    return spaces;
}

}  // namespace kiln
