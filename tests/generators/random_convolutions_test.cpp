// Convolutions and both gradients with attributes drawn over the whole range, built by the real generator and judged by
// the real runner against the reference loops.
//
// Draw number i of seed s is drawn from s + i alone, so a failing one is repeated by its own seed; the message says
// how. KILN_TEST_DRAWS draws are made, beginning with number KILN_TEST_FIRST.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "runtime/signature.h"
#include "tests/generators/built_kernels.h"

namespace kiln {
namespace {

uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct Draw {
    Workload workload;
    Target target;
};

class Drawer {
public:
    explicit Drawer(uint64_t seed) : rng_(seed) {}

    // Valid, with a result to compute, and small enough for the reference loops.
    Draw next(const std::string &host) {
        for (;;) {
            const Workload w = workload();
            if (!validate(w) || elements(signature(w).result.logical) == 0 || flop_count(w) > 20'000'000) continue;
            if (w.op == Operation::conv && elements(output_shape(w)) > 200'000) continue;
            return {w, target(host)};
        }
    }
    Rng &rng() { return rng_; }

private:
    int64_t draw(int64_t lo, int64_t hi) { return lo + int64_t(rng_() % uint64_t(hi - lo + 1)); }
    bool rarely() { return draw(0, 3) == 0; }
    // The whole range, but small numbers and 1 more often: that is where algorithms differ.
    int64_t attribute() { return rarely() ? draw(1, 13) : rarely() ? draw(1, 3) : 1; }
    int64_t count(int64_t most) { return draw(0, 1) ? draw(1, 8) : draw(1, most); }

    Target target(const std::string &host) {
        const char *name = std::array{"host", "host", "avx2", "baseline"}[draw(0, 3)];
        const Target drawn = *parse_target(name, rarely() ? 3 : 1, host);
        return missing_features(drawn, host).empty() ? drawn : *parse_target("host", 1, host);
    }

    ActivationLayout layout() {
        const std::array layouts{ActivationLayout{}, ActivationLayout{},
                                 ActivationLayout{ActivationLayout::Kind::nchw, 0},
                                 ActivationLayout{ActivationLayout::Kind::nchwc, static_cast<int>(draw(2, 20))}};
        return layouts[draw(0, 3)];
    }

    Workload workload() {
        const int rank = rarely() ? (draw(0, 1) ? 1 : 3) : 2;
        const int64_t groups = rarely() ? count(32) : 1, batch_groups = groups == 1 && rarely() ? draw(2, 4) : 1;
        const int64_t group_inputs = count(40), outputs = groups * batch_groups * count(groups > 1 ? 12 : 40);
        Workload w;
        w.spatial_rank = rank;
        w.op = std::array{Operation::conv, Operation::conv_backprop_input, Operation::conv_backprop_kernel}[draw(0, 2)];
        w.input = {batch_groups * draw(1, 2)};
        for (int d = 0; d < rank; d++) {
            w.input.push_back(draw(1, rank == 3 ? 8 : 20));
            w.kernel.push_back(attribute());
            w.strides.push_back(attribute()), w.lhs_dilation.push_back(attribute()),
                w.rhs_dilation.push_back(attribute());
            const int64_t window = (w.kernel[d] - 1) * w.rhs_dilation[d];
            w.padding.push_back({draw(-2, window + 2), draw(-2, window + 2)});
        }
        w.input.push_back(groups * group_inputs);
        w.kernel.push_back(group_inputs), w.kernel.push_back(outputs);
        w.feature_group_count = groups, w.batch_group_count = batch_groups;
        w.input_layout = layout(), w.output_layout = layout();
        w.kernel_layout = draw(0, 1) ? KernelLayout::hwio : KernelLayout::hwoi;
        constexpr std::array dtypes{DType::f32, DType::f32, DType::f16, DType::bf16};
        w.dtype = dtypes[draw(0, 3)], w.output_dtype = dtypes[draw(0, 3)];
        if (rarely()) w.special_values = SpecialValues::exact;
        if (w.op == Operation::conv) {
            if (rarely()) w.epilogue.push_back({EpilogueStep::Kind::bias});
            if (rarely()) w.epilogue.push_back({EpilogueStep::Kind::add});
            if (rarely()) w.epilogue.push_back({EpilogueStep::Kind::relu});
        }
        fill_defaults(&w);
        return w;
    }

    Rng rng_;
};

class RandomConvolutions : public BuiltKernels {
protected:
    // The default candidate, and one of any algorithm that keeps to the definition.
    void expect_right(uint64_t seed) {
        Drawer drawer(seed);
        const Draw draw = drawer.next(machine_.halide_target);
        const std::string again = "KILN_TEST_SEED=" + std::to_string(seed) + " KILN_TEST_FIRST=0 KILN_TEST_DRAWS=1 " +
                                  KILN_BINARY_DIR + "/convolutions_test --gtest_filter=RandomConvolutions.*  # " +
                                  key(draw.workload) + " " + to_text(draw.target) + " ";
        std::vector<Space> spaces;
        for (const Algorithm &algorithm : catalog()) {
            if (algorithm.reassociates || !algorithm.applies(draw.workload, draw.target)) continue;
            spaces.push_back(algorithm.space(draw.workload, draw.target, machine_));
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
    const uint64_t first = from_environment("KILN_TEST_SEED", 1) + from_environment("KILN_TEST_FIRST", 0);
    const uint64_t draws = from_environment("KILN_TEST_DRAWS", 8);
    for (uint64_t i = 0; i < draws; i++) expect_right(first + i);
}

// What is drawn covers the range: nothing of it is too rare to be met in 200 draws.
TEST(RandomConvolution, CoversTheRange) {
    int gradients = 0, holes = 0, batch_groups = 0, halves = 0, blocks = 0, sides_of_13 = 0, volumes = 0, crops = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        const Workload w = Drawer(seed).next("x86-64-linux").workload;
        gradients += w.op != Operation::conv;
        holes += *std::max_element(w.lhs_dilation.begin(), w.lhs_dilation.end()) > 1;
        batch_groups += w.batch_group_count > 1;
        halves += w.dtype == DType::f16;
        blocks += w.input_layout.kind == ActivationLayout::Kind::nchwc;
        sides_of_13 += *std::max_element(w.kernel.begin(), w.kernel.begin() + w.spatial_rank) == 13;
        volumes += w.spatial_rank == 3;
        for (const Padding &p : w.padding) crops += p.lo < 0 || p.hi < 0;
    }
    for (int seen : {gradients, holes, batch_groups, halves, blocks, sides_of_13, volumes, crops}) EXPECT_GE(seen, 4);
}

}  // namespace
}  // namespace kiln
