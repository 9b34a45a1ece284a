// Candidates of a workload, judged by the reference: the default and drawn ones.
#pragma once

#include <string>
#include <vector>

#include "tests/generators/built_kernels.h"

namespace kiln {

class JudgedCandidates : public BuiltKernels {
protected:
    void expect_right(const Workload &workload, const Target &target, const Candidate &candidate) {
        EXPECT_EQ(problem(workload, target, candidate), "")
            << key(workload) << " " << to_text(target) << " " << to_text(candidate);
    }

    // The default candidate and `draws` random ones of the algorithm that would be used untuned; one candidate of one
    // of the others that apply, if there are draws.
    void expect_candidates_right(const std::string &workload_key, const Target &target, int draws) {
        const auto workload = parse_workload_key(workload_key);
        ASSERT_TRUE(workload) << workload.error().message;
        const auto untuned = default_candidate(*workload, target, core_of(machine_, target), default_error_budget);
        ASSERT_TRUE(untuned) << workload_key;
        expect_right(*workload, target, *untuned);
        if (draws == 0) return;
        std::vector<const Algorithm *> others;
        for (const Algorithm &algorithm : catalog()) {
            if (!algorithm.applies(*workload, target)) continue;
            // Winograd convolutions have shapes and error bounds of their own: winograd_kernels_test.cpp.
            if (algorithm.reassociates && is_convolution(workload->op)) continue;
            if (algorithm.name != untuned->algorithm) others.push_back(&algorithm);
        }
        for (int i = 0; i < draws; i++) expect_draw_right(*workload, target, *find_algorithm(untuned->algorithm));
        if (!others.empty()) expect_draw_right(*workload, target, *others[rng_() % others.size()]);
    }

    void expect_draw_right(const Workload &workload, const Target &target, const Algorithm &algorithm) {
        const auto candidate = algorithm.space(workload, target, core_of(machine_, target)).sample(rng_);
        ASSERT_TRUE(candidate) << key(workload) << " " << algorithm.name;
        expect_right(workload, target, *candidate);
    }

    Rng rng_{test_seed()};
};

}  // namespace kiln
