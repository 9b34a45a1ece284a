// Every pass, and all of them in their order, on graphs drawn at random: the results stay, and a pass that ran changes
// nothing when it runs again.
#include "graph/passes/passes.h"
#include "tests/graph/passes/random_graphs.h"
#include "tests/graph/passes/sketch.h"
#include "tests/test_seed.h"

namespace kiln::graph {
namespace {

constexpr uint64_t graphs = 60;

// Passes that move elements and compute nothing else round nothing; sums may have another order. fuse_epilogues makes products with
// reciprocals of quotients, which f32 rounds.
Closeness closeness_of(const Pass &pass) {
    if (pass.run == merge_equal) return {.tolerance = 0};
    for (auto exact : {move_axes, convolve_products, fold_pads}) {
        if (pass.run == exact) return {.tolerance = 1e-10};
    }
    return {};
}

// What GoogleTest shows of a pass: it would show its bytes.
struct NamedPass : Pass {
    friend void PrintTo(const NamedPass &pass, std::ostream *stream) { *stream << pass.name; }
};

std::vector<NamedPass> named_passes() {
    std::vector<NamedPass> named;
    for (const Pass &pass : passes()) named.push_back({pass});
    return named;
}

class EachPass : public testing::TestWithParam<NamedPass> {};

TEST_P(EachPass, keeps_results) {
    for (uint64_t i = 0; i < graphs && !HasFailure(); i++) {
        const uint64_t seed = test_seed() * 1000000 + i;
        SCOPED_TRACE(seed);
        expect_same_results(random_graph(seed), GetParam().run, seed, closeness_of(GetParam()));
    }
}

INSTANTIATE_TEST_SUITE_P(Passes, EachPass, testing::ValuesIn(named_passes()),
                         [](const auto &row) { return std::string(row.param.name); });

TEST(AllPasses, keep_results) {
    for (uint64_t i = 0; i < 2 * graphs && !testing::Test::HasFailure(); i++) {
        const uint64_t seed = test_seed() * 1000000 + 500000 + i;
        SCOPED_TRACE(seed);
        Graph graph = random_graph(seed, {.nodes = 60});
        const Graph before = graph;
        for (const Pass &pass : passes()) {
            SCOPED_TRACE(pass.name);
            expect_same_results(graph, pass.run, seed, closeness_of(pass));
            graph = pass.run(graph);
        }
        expect_equal_outputs(before, graph, seed, {.tolerance = 5e-6});
    }
}

}  // namespace
}  // namespace kiln::graph
