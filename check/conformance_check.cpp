#include "check/conformance_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "workload/lists/workload_list.h"

namespace kiln {
namespace {

// Whether `a` says more against the kernels than `b`.
bool worse(const CaseResult &a, const CaseResult &b) {
    const bool a_failed = a.status == CaseStatus::failed, b_failed = b.status == CaseStatus::failed;
    if (a_failed != b_failed) return a_failed;
    if (a.max_error.has_value() != b.max_error.has_value()) return !a.max_error;  // no number is the largest error
    return a.max_error && *a.max_error > *b.max_error;
}

// A workload gets the same candidates whatever else the run checks.
Rng seeded(uint64_t seed, const std::string &text) {
    std::vector<uint32_t> words(text.begin(), text.end());
    words.push_back(static_cast<uint32_t>(seed));
    words.push_back(static_cast<uint32_t>(seed >> 32));
    std::seed_seq sequence(words.begin(), words.end());
    return Rng(sequence);
}

// "--algorithm `direct`", "--without `winograd*`", or both.
std::string text_of(const AlgorithmFilter &filter) {
    const bool has_without = !filter.without.empty();
    std::string text;
    if (!has_without || filter.algorithm != "*") text = fmt::format("--algorithm `{}`", filter.algorithm);
    if (has_without) text += fmt::format("{}--without `{}`", text.empty() ? "" : " and ", filter.without);
    return text;
}

}  // namespace

Tolerance required_tolerance(const ConformanceCase &c, std::string_view algorithm_name) {
    const Algorithm *algorithm = find_algorithm(algorithm_name);
    const bool reassociates = algorithm && algorithm->reassociates;
    const bool exact = c.tolerance.value == 0 && is_convolution(c.workload->op);
    return reassociates && exact ? convolution_tolerance(*c.workload) : c.tolerance;
}

std::string_view name(CaseStatus status) {
    switch (status) {
        case CaseStatus::passed:
            return "passed";
        case CaseStatus::failed:
            return "failed";
        case CaseStatus::unsupported:
            return "unsupported";
        case CaseStatus::recorded:
            return "recorded";
        case CaseStatus::not_applicable:
            return "not_applicable";
    }
    return "?";
}

ConformanceChecker::ConformanceChecker(const ChoiceContext &context, CheckOptions options, Builder &builder,
                                       ExecuteKernel execute)
    : context_(context), options_(options), builder_(builder), execute_(std::move(execute)) {}

Result<ConformanceChecker::Chosen> ConformanceChecker::choose(const Workload &workload,
                                                              const std::vector<const Algorithm *> &usable) const {
    Chosen chosen;
    if (options_.random_candidates == 0) {
        const auto choice = choose_candidate(workload, usable, context_);
        if (!choice) return choice.error();
        chosen.candidates.push_back(choice->candidate);
        chosen.untuned = !choice->best;
        return chosen;
    }
    std::vector<Space> spaces;
    for (const Algorithm *algorithm : usable) {
        spaces.push_back(algorithm->space(workload, context_.target, core_of(context_)));
    }
    Rng rng = seeded(options_.seed, key(workload));
    for (int64_t i = 0; i < options_.random_candidates; i++) {
        const auto candidate = spaces[i % spaces.size()].sample(rng);
        auto &known = chosen.candidates;
        if (candidate && std::find(known.begin(), known.end(), *candidate) == known.end()) known.push_back(*candidate);
    }
    if (chosen.candidates.empty()) return unsupported("no valid candidate was found in the spaces");
    return chosen;
}

Result<const BuildResult *> ConformanceChecker::build(const Workload &workload, const Candidate &candidate) {
    const std::string name = key(workload) + " " + to_text(candidate);
    auto found = built_.find(name);
    if (found == built_.end()) {
        auto result = builder_.build({workload, context_.target, candidate});
        if (!result) return result.error();
        found = built_.emplace(name, std::move(*result)).first;
    }
    return &found->second;
}

Result<CaseResult> ConformanceChecker::run(const ConformanceCase &c, const Candidate &candidate,
                                           const Operands &operands, const Tensor &expected) {
    CaseResult result{.id = c.id, .algorithm = candidate.algorithm, .candidate = to_text(candidate)};
    const auto failed = [&](const Failure &failure) {
        result.reason = fmt::format("{}: {}", name(failure.status), failure.message);
        return result;
    };
    const auto built = build(*c.workload, candidate);
    if (!built) return built.error();
    if (!(*built)->ok()) return failed((*built)->failure());
    const ExecuteRequest request{.workload = *c.workload, .target = context_.target, .artifact = (*built)->value()};
    auto output = execute_(request, operands);
    if (!output) return output.error();
    if (!output->ok()) return failed(output->failure());

    const Verdict verdict = judge(output->value(), expected, required_tolerance(c, candidate.algorithm));
    result.max_error = verdict.max_error;
    result.reason = verdict.reason;
    result.status = !c.judged ? CaseStatus::recorded : verdict.passed ? CaseStatus::passed : CaseStatus::failed;
    if (!c.judged) result.reason = verdict.passed ? "agrees; not judged" : "not judged; " + verdict.reason;
    return result;
}

Result<CaseResult> ConformanceChecker::check(const ConformanceCase &c) {
    CaseResult result{.id = c.id, .status = CaseStatus::unsupported, .reason = c.reason};
    if (!c.workload) return result;
    if (elements(c.expected.shape) == 0) {
        result.status = CaseStatus::passed;
        result.max_error = 0;
        result.reason = "the result is empty: nothing is computed";
        return result;
    }
    const auto usable = usable_algorithms(*c.workload, context_);
    if (!usable) {
        result.reason = usable.error().message;
        return result;
    }
    if (usable->empty()) {
        result.status = CaseStatus::not_applicable;
        Refusals refusals;
        for (const Algorithm &algorithm : catalog()) {
            if (!context_.algorithms.allows(algorithm)) continue;
            if (Status s = algorithm.applies(*c.workload, context_.target); !s) {
                refusals.add(algorithm.name, s.error().message);
            }
        }
        const std::string why = refusals.text();
        result.reason = fmt::format("no algorithm applies with {}{}", text_of(context_.algorithms),
                                    why.empty() ? "" : fmt::format(" ({})", why));
        return result;
    }
    const auto chosen = choose(*c.workload, *usable);
    if (!chosen) return chosen.error();
    const auto operands = read_operands(c);
    if (!operands) return operands.error();
    const auto expected = read_expected(c);
    if (!expected) return expected.error();

    std::optional<CaseResult> worst;
    size_t failures = 0;
    for (const Candidate &candidate : chosen->candidates) {
        auto one = run(c, candidate, *operands, *expected);
        if (!one) return one.error();
        failures += one->status == CaseStatus::failed;
        if (!worst || worse(*one, *worst)) worst = std::move(*one);
    }
    if (failures > 0 && chosen->candidates.size() > 1) {
        worst->reason =
            fmt::format("{} of {} candidates failed; {}", failures, chosen->candidates.size(), worst->reason);
    }
    worst->untuned = chosen->untuned;
    return *worst;
}

}  // namespace kiln
