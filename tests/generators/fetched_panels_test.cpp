// While tiles use one panel of weights they fetch the next: each line of it at least once, few of them often.
#include "generators/passes/fetched_panels.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace kiln {
namespace {

using namespace Halide;

std::vector<uint64_t> *asked_for = nullptr;

extern "C" int32_t kiln_test_record_fetch(uint64_t address) {
    asked_for->push_back(address);
    return 0;
}

// Calls the function above in place of fetches.
class RecordFetches : public Internal::IRMutator {
    using IRMutator::visit;

    Expr visit(const Internal::Call *op) override {
        if (op->name != "llvm.prefetch.p0") return IRMutator::visit(op);
        return Internal::Call::make(Int(32), "kiln_test_record_fetch", {reinterpret<uint64_t>(op->args[0])},
                                    Internal::Call::Extern);
    }
};

struct Sum {
    const char *what;
    int lanes, channels, panels, tiles, rows;  // tiles of a row, and rows of them, that read a panel in turn
    int unroll;                                // channels
    bool fetches = true;
    bool unrolls_tiles = false;
};

// output(lane, tile, row, panel) = sum of weights(lane, channel, panel) * input(channel, tile, row) over channels: answers the lines of
// `weights` that were fetched, from the first on, and how often each.
std::map<int64_t, int> fetched_lines(const Sum &of) {
    Buffer<float> weights(of.lanes, of.channels, of.panels), input(of.channels, of.tiles, of.rows);
    weights.fill(1), input.fill(1);
    ImageParam w(Float(32), 3, "weights"), in(Float(32), 3, "input");
    w.dim(0).set_bounds(0, of.lanes);
    w.dim(1).set_bounds(0, of.channels).set_stride(of.lanes);
    w.dim(2).set_bounds(0, of.panels).set_stride(of.lanes * of.channels);
    const Var lane("lane"), tile("tile"), row("row"), panel("panel");
    const RDom channel(0, of.channels, "channel");
    const RVar inner("inner");
    Func sum("sum"), output("output");
    sum(lane, tile, row, panel) += w(lane, channel, panel) * in(channel, tile, row);
    output(lane, tile, row, panel) = sum(lane, tile, row, panel);
    output.bound(lane, 0, of.lanes).bound(tile, 0, of.tiles).bound(row, 0, of.rows).bound(panel, 0, of.panels);
    output.vectorize(lane, 8).unroll(lane);
    if (of.unrolls_tiles) output.unroll(tile);
    sum.compute_at(output, tile).vectorize(lane, 8).unroll(lane);
    sum.update()
        .split(channel, channel, inner, of.unroll)
        .reorder(lane, inner, channel)
        .vectorize(lane, 8)
        .unroll(lane)
        .unroll(inner);
    Pipeline pipeline(output);
    fetch_next_panel(pipeline, "weights");
    pipeline.add_custom_lowering_pass(new RecordFetches);
    pipeline.set_jit_externs({{"kiln_test_record_fetch", JITExtern(kiln_test_record_fetch)}});
    std::vector<uint64_t> addresses;
    asked_for = &addresses;
    w.set(weights), in.set(input);
    const Buffer<float> result = pipeline.realize({of.lanes, of.tiles, of.rows, of.panels});
    EXPECT_EQ(result(of.lanes - 1, of.tiles - 1, of.rows - 1, of.panels - 1), float(of.channels)) << of.what;
    std::map<int64_t, int> lines;
    for (uint64_t address : addresses) {
        lines[(static_cast<int64_t>(address) - reinterpret_cast<int64_t>(weights.data())) / 64]++;
    }
    return lines;
}

TEST(FetchedPanels, EachLineOfTheNextIsFetched) {
    const Sum sums[] = {
        {"as many tiles as lines a step", 16, 64, 4, 4, 1, 4},
        {"more tiles", 16, 64, 4, 8, 1, 4},
        {"fewer tiles", 16, 64, 4, 2, 1, 4},
        {"tiles that do not divide", 16, 60, 5, 3, 1, 4},
        {"one line a step", 16, 31, 3, 5, 1, 1},
        {"half lines", 8, 64, 4, 3, 1, 2},
        {"two lines a vector", 32, 16, 4, 3, 1, 2},
        {"tiles in two loops", 16, 64, 4, 2, 3, 4},
        {"one tile", 16, 64, 4, 1, 1, 4, false},
        {"one panel", 16, 64, 1, 4, 1, 4, false},
        {"tiles without a loop", 16, 64, 4, 4, 1, 4, false, true},
    };
    for (const Sum &of : sums) {
        const std::map<int64_t, int> lines = fetched_lines(of);
        if (!of.fetches) {
            EXPECT_TRUE(lines.empty()) << of.what;
            continue;
        }
        const int64_t of_panel = int64_t{of.lanes} * of.channels / 16;
        int often = 0;
        for (int64_t line = of_panel; line < of_panel * of.panels; line++) {
            EXPECT_TRUE(lines.contains(line)) << of.what << ", line " << line << " of panels of " << of_panel;
        }
        for (const auto &[line, times] : lines) {
            EXPECT_GE(line, of_panel) << of.what << ": the first panel is being read";
            EXPECT_LE(line, of_panel * (of.panels + 1) + 1) << of.what << ": far behind the last panel";
            often = std::max(often, times);
        }
        EXPECT_LE(often, 2 * std::max(1, of.tiles * of.rows)) << of.what;
    }
}

}  // namespace
}  // namespace kiln
