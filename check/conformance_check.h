// Puts the cases of a conformance suite through built kernels: it chooses candidates, builds them, runs them on the
// case's operands and judges. It owns no process: builder and runner are arguments, so that tests feed it fakes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "check/conformance_suite.h"
#include "tuner/build/builder.h"
#include "tuner/job/candidate_choice.h"
#include "tuner/measure/runner.h"

namespace kiln {

enum class CaseStatus {
    passed,
    failed,
    unsupported,     // nothing in the catalog computes it
    recorded,        // ran, but the case is a record and no requirement
    not_applicable,  // something computes it, but nothing that --algorithm allows
};
std::string_view name(CaseStatus status);

struct CaseResult {
    std::string id;
    CaseStatus status = CaseStatus::failed;
    std::string algorithm, candidate;  // with several candidates, the one that did worst
    std::optional<double> max_error;   // largest |got - expected| / max(1, |expected|)
    std::string reason;                // of everything but `passed`
    bool untuned = false;              // the default candidate, for want of a row
};

struct CheckOptions {
    int64_t random_candidates = 0;  // 0: the one that `build` would choose
    uint64_t seed = 1;
};

// The tolerance of an algorithm in a case with a workload. The direct sum of small integers is exact in any order; the
// sum of a transform is not.
Tolerance required_tolerance(const ConformanceCase &c, std::string_view algorithm_name);

// One call of a kernel answers its output, which nobody has judged yet.
using ExecuteKernel = std::function<Result<Attempt<Tensor>>(const ExecuteRequest &, const Operands &)>;

class ConformanceChecker {
public:
    // `context` and `builder` outlive the checker.
    ConformanceChecker(const ChoiceContext &context, CheckOptions options, Builder &builder, ExecuteKernel execute);

    // Errors: a file of the case cannot be read, or the environment failed.
    Result<CaseResult> check(const ConformanceCase &c);

private:
    struct Chosen {
        std::vector<Candidate> candidates;
        bool untuned = false;
    };
    Result<Chosen> choose(const Workload &workload, const std::vector<const Algorithm *> &usable) const;
    Result<const BuildResult *> build(const Workload &workload, const Candidate &candidate);
    Result<CaseResult> run(const ConformanceCase &c, const Candidate &candidate, const Operands &operands,
                           const Tensor &expected);

    const ChoiceContext &context_;
    CheckOptions options_;
    Builder &builder_;
    ExecuteKernel execute_;
    std::map<std::string, BuildResult> built_;  // by workload key and candidate: cases share kernels
};

}  // namespace kiln
