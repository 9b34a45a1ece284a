// Winograd on windows with strides, dilations and uneven padding, drawn at random: phases and blocks of pixels beside every
// layout, epilogue and type. Each algorithm that applies has its default candidate, one at random, and both with weights
// fetched in each of the possible ways.
//
// Draw number i of seed s is drawn from s + i alone, so a failing one is repeated by its own seed; the message says
// how. KILN_TEST_DRAWS draws are made, beginning with number KILN_TEST_FIRST.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "rewrites/conv_loops.h"
#include "schedules/spaces/winograd/winograd_knobs.h"
#include "tests/build_paths.h"
#include "tests/drawn_workloads.h"
#include "tests/generators/built_kernels.h"

namespace kiln {
namespace {

class RandomWinograd : public BuiltKernels {
protected:
    static int64_t products(const Workload &w) {
        const ConvLoops loops = conv_loops(w);
        return loops.taps() * loops.input_channels;
    }

    // A wrong tap or index is an error of some 1e-2 and more with so few channels; of sums of few products, about 1. Such sums may be
    // small beside what their tile reads, whose rounding counts: an error of 1.8e-7, of inputs up to 1, was 8.9e-4 of a sum of two.
    static double budget(const Workload &w, const Candidate &c) {
        if (decode_knobs<WinogradKnobs>(c.knobs)->demote) return 0.05;
        return products(w) < 8 ? 1e-2 : 5e-4;
    }

    Target target(ConvolutionDrawer *drawer) const {
        const char *name = std::array{"host", "host", "avx2", "baseline"}[drawer->draw(0, 3)];
        const Target drawn = *parse_target(name, drawer->rarely() ? 3 : 1, machine_.halide_target);
        return missing_features(drawn, machine_.halide_target).empty()
                   ? drawn
                   : *parse_target("host", 1, machine_.halide_target);
    }

    // Operands of fewer bits add an error that follows from all that a tile reads. It is judged by the products of one sum
    // alone: few of them are often all small, and then a right result counts as wrong.
    static bool may_demote(const Workload &w) { return products(w) >= 32; }

    // A default candidate, one at random, and both with another distance of fetches where the space has some.
    static std::vector<Candidate> candidates(const Space &space, Rng *rng) {
        std::vector<Candidate> all{space.default_candidate()};
        if (const auto sample = space.sample(*rng)) all.push_back(*sample);
        for (const Knob &knob : space.knobs()) {
            if (knob.name != "fetch_weights" || knob.values.size() < 2) continue;
            Candidate other = all[(*rng)() % all.size()];
            const int64_t kilobytes = knob.values[(*rng)() % knob.values.size()];
            other.knobs.erase(knob.name), other.knobs.erase("fetch_panels");
            if (kilobytes) other.knobs[knob.name] = kilobytes;
            all.push_back(other);
        }
        return all;
    }

    static std::vector<const Algorithm *> applying(const Workload &w, const Target &target) {
        std::vector<const Algorithm *> all;
        for (const Algorithm &algorithm : catalog()) {
            if (algorithm.reassociates && algorithm.applies(w, target)) all.push_back(&algorithm);
        }
        return all;
    }

    // The same layer with groups of channels that fill vectors, without strides.
    static Workload with_groups(Workload w, ConvolutionDrawer *drawer) {
        const int64_t groups = drawer->draw(2, 4), inputs = 8 * drawer->draw(1, 3), outputs = 8 * drawer->draw(1, 4);
        std::fill(w.strides.begin(), w.strides.end(), 1);
        w.feature_group_count = groups;
        w.input.back() = inputs * groups;
        w.kernel[w.kernel.size() - 2] = inputs, w.kernel.back() = outputs * groups;
        return w;
    }

    // The first workload that some algorithm applies to.
    void expect_right(uint64_t seed) {
        ConvolutionDrawer drawer(seed, {30, 60, 40'000'000, 200'000});
        const bool has_groups = drawer.rarely();
        const auto next = [&] {
            const Workload w = drawer.next_strided();
            return has_groups && w.op == Operation::conv ? with_groups(w, &drawer) : w;
        };
        Workload w = next();
        Target on = target(&drawer);
        constexpr int most_draws = 1000;
        for (int draws = 1; !validate(w) || applying(w, on).empty(); draws++) {
            ASSERT_LT(draws, most_draws) << "no algorithm applies to what is drawn";
            w = next(), on = target(&drawer);
        }
        const std::string again = "KILN_TEST_SEED=" + std::to_string(seed) + " KILN_TEST_FIRST=0 KILN_TEST_DRAWS=1 " +
                                  binary_dir() + "/convolutions_test --gtest_filter=RandomWinograd.*  # " + key(w) +
                                  " " + to_text(on) + " ";
        const std::vector<const Algorithm *> algorithms = applying(w, on);
        const Algorithm &algorithm = *algorithms[drawer.rng()() % algorithms.size()];
        const Space space = algorithm.space(w, on, core_of(machine_, on));
        for (Candidate candidate : candidates(space, &drawer.rng())) {
            const auto demote = candidate.knobs.find("demote");
            if (demote != candidate.knobs.end() && !may_demote(w)) demote->second = 0;
            EXPECT_EQ(problem(w, on, candidate, budget(w, candidate)), "") << again << to_text(candidate);
        }
    }
};

TEST_F(RandomWinograd, AgreesWithTheReference) {
    const uint64_t first = test_seed() + from_environment("KILN_TEST_FIRST", 0);
    const uint64_t draws = from_environment("KILN_TEST_DRAWS", 4);
    for (uint64_t i = 0; i < draws; i++) expect_right(first + i);
}

}  // namespace
}  // namespace kiln
