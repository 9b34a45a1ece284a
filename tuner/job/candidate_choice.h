// Which candidate stands for a workload: the best recorded one, else the default. One rule for every command that uses
// kernels instead of searching for them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "database/trial_store.h"
#include "workload/machine.h"
#include "workload/result.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

// Which algorithms may be used, by globs over their names; an empty `without` excludes none.
struct AlgorithmFilter {
    std::string algorithm = "*", without;
    bool allows(const Algorithm &algorithm) const;
};

// Whose times choose: rows of the first cache mode come before those of the second, and so on.
using CacheOrder = std::vector<CacheMode>;
// Layers on their own are measured with their weights in the caches. Cold times say more than none.
inline const CacheOrder caches_of_layers = {CacheMode::warm, CacheMode::cold};
// Between two calls of one layer a network reads the weights of all others. Warm times say more than none, too.
inline const CacheOrder caches_of_networks = {CacheMode::cold, CacheMode::warm};

struct ChoiceContext {
    const Target &target;
    const Machine &machine;
    const TrialStore *store = nullptr;  // none: everything is untuned
    std::string toolchain;              // its rows come before those of others
    AlgorithmFilter algorithms;
    double error_budget = default_error_budget;  // of recorded candidates, whatever they were judged against
    CacheOrder caches = caches_of_layers;
    std::set<std::string> passed_over;  // texts of recorded candidates that failed here
};

// The core that untuned candidates are for.
Core core_of(const ChoiceContext &context);

// See catalog/catalog.h; for the core and the errors of the context.
bool reads_planes_as_fast(const Workload &workload, const ChoiceContext &context);

// Whether a glob over names asks for an algorithm. `*` alone does not ask for those that need a prepared input.
bool is_asked_for(const Algorithm &algorithm, std::string_view pattern);

// Algorithms that apply and that the globs allow, the one to use untuned first. The error (unsupported) joins the
// reasons of those that do not apply; none of the allowed ones applying while others would is an empty list.
Result<std::vector<const Algorithm *>> usable_algorithms(const Workload &workload, const ChoiceContext &context);

struct CandidateChoice {
    Candidate candidate;
    std::optional<Best> best;  // nothing: untuned, the candidate is the default one
};

// Recorded candidates that cannot be built any more are passed over. Precondition: `usable` is not empty.
Result<CandidateChoice> choose_candidate(const Workload &workload, const std::vector<const Algorithm *> &usable,
                                         const ChoiceContext &context);

// Every recorded candidate that can be built and is within the error budget, for the first cache mode and toolchain of the
// context that has one; one for each object.
Result<std::vector<CandidateChoice>> recorded_candidates(const Workload &workload,
                                                         const std::vector<const Algorithm *> &usable,
                                                         const ChoiceContext &context);

}  // namespace kiln
