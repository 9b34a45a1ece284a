// Convolutions and both gradients with attributes drawn over the whole range, built by the real generator and judged by
// the real runner against the reference loops.
//
// Draw number i of seed s is drawn from s + i alone, so a failing one is repeated by its own seed; the message says
// how. KILN_TEST_DRAWS draws are made, beginning with number KILN_TEST_FIRST.
#include <algorithm>
#include <array>
#include <string>

#include "tests/build_paths.h"
#include "tests/drawn_workloads.h"
#include "tests/generators/built_kernels.h"
#include "workload/signature.h"

namespace kiln {
namespace {

struct Draw {
    Workload workload;
    Target target;
};

class Drawer {
public:
    explicit Drawer(uint64_t seed) : convolutions_(seed) {}

    // With a result to compute.
    Draw next(const std::string &host) {
        for (;;) {
            const Workload w = convolutions_.next();
            if (elements(signature(w).result.logical) > 0) return {w, target(host)};
        }
    }
    Rng &rng() { return convolutions_.rng(); }

private:
    Target target(const std::string &host) {
        const char *name = std::array{"host", "host", "avx2", "baseline"}[convolutions_.draw(0, 3)];
        const Target drawn = *parse_target(name, convolutions_.rarely() ? 3 : 1, host);
        return missing_features(drawn, host).empty() ? drawn : *parse_target("host", 1, host);
    }

    ConvolutionDrawer convolutions_;
};

class RandomConvolutions : public BuiltKernels {
protected:
    // The default candidate, and one of any algorithm that keeps to the definition.
    void expect_right(uint64_t seed) {
        Drawer drawer(seed);
        const Draw draw = drawer.next(machine_.halide_target);
        const std::string again = "KILN_TEST_SEED=" + std::to_string(seed) + " KILN_TEST_FIRST=0 KILN_TEST_DRAWS=1 " +
                                  binary_dir() + "/convolutions_test --gtest_filter=RandomConvolutions.*  # " +
                                  key(draw.workload) + " " + to_text(draw.target) + " ";
        std::vector<Space> spaces;
        for (const Algorithm &algorithm : catalog()) {
            if (algorithm.reassociates || !algorithm.applies(draw.workload, draw.target)) continue;
            spaces.push_back(algorithm.space(draw.workload, draw.target, core_of(machine_, draw.target)));
        }
        ASSERT_FALSE(spaces.empty()) << again;
        const auto sample = spaces[drawer.rng()() % spaces.size()].sample(drawer.rng());
        ASSERT_TRUE(sample) << again;
        for (const Candidate &candidate : {spaces[0].default_candidate(), *sample}) {
            EXPECT_EQ(problem(draw.workload, draw.target, candidate), "") << again << to_text(candidate);
        }
    }
};

TEST_F(RandomConvolutions, AgreeWithTheReference) {
    const uint64_t first = test_seed() + from_environment("KILN_TEST_FIRST", 0);
    const uint64_t draws = from_environment("KILN_TEST_DRAWS", 8);
    for (uint64_t i = 0; i < draws; i++) expect_right(first + i);
}

// What is drawn covers the range: nothing of it is too rare to be met in 200 draws.
TEST(RandomConvolution, CoversTheRange) {
    int gradients = 0, holes = 0, batch_groups = 0, halves = 0, blocks = 0, sides_of_13 = 0, volumes = 0, crops = 0;
    int long_sums = 0, single_planes = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        const Workload w = Drawer(seed).next("x86-64-linux").workload;
        gradients += w.op != Operation::conv;
        holes += *std::max_element(w.lhs_dilation.begin(), w.lhs_dilation.end()) > 1;
        batch_groups += w.batch_group_count > 1;
        halves += w.dtype == DType::f16;
        blocks += w.input_layout.kind == ActivationLayout::Kind::nchwc;
        sides_of_13 += *std::max_element(w.kernel.begin(), w.kernel.begin() + w.spatial_rank) == 13;
        volumes += w.spatial_rank == 3;
        single_planes += w.spatial_rank == 3 && w.input[1] == 1;
        long_sums += w.kernel[w.spatial_rank] >= 128;
        for (const Padding &p : w.padding) crops += p.lo < 0 || p.hi < 0;
    }
    for (int seen :
         {gradients, holes, batch_groups, halves, blocks, sides_of_13, volumes, crops, long_sums, single_planes})
        EXPECT_GE(seen, 4);
}

}  // namespace
}  // namespace kiln
