// While tiles use one panel of weights, or panels one block of the input, they fetch the next: each line of it at least once, few of
// them often.
#include "generators/passes/fetched_parts.h"

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

enum class Part { panel_of_weights, row_of_input };

// output(lane, tile, row, panel) = sum of weights(lane, channel, panel) * input(channel, tile, row) over channels: answers the lines of
// one of them that were fetched, from the first on, and how often each. Panels are the outermost loop, or rows.
std::map<int64_t, int> fetched_lines(const Sum &of, Part part) {
    Buffer<float> weights(of.lanes, of.channels, of.panels), input(of.channels, of.tiles, of.rows);
    weights.fill(1), input.fill(1);
    ImageParam w(Float(32), 3, "weights"), in(Float(32), 3, "input");
    w.dim(0).set_bounds(0, of.lanes);
    w.dim(1).set_bounds(0, of.channels).set_stride(of.lanes);
    w.dim(2).set_bounds(0, of.panels).set_stride(of.lanes * of.channels);
    in.dim(0).set_bounds(0, of.channels);
    in.dim(1).set_bounds(0, of.tiles).set_stride(of.channels);
    in.dim(2).set_bounds(0, of.rows).set_stride(of.channels * of.tiles);
    const Var lane("lane"), tile("tile"), row("row"), panel("panel");
    const RDom channel(0, of.channels, "channel");
    const RVar inner("inner");
    Func sum("sum"), output("output");
    sum(lane, tile, row, panel) += w(lane, channel, panel) * in(channel, tile, row);
    output(lane, tile, row, panel) = sum(lane, tile, row, panel);
    output.bound(lane, 0, of.lanes).bound(tile, 0, of.tiles).bound(row, 0, of.rows).bound(panel, 0, of.panels);
    output.vectorize(lane, 8).unroll(lane);
    if (of.unrolls_tiles) output.unroll(tile);
    if (part == Part::row_of_input) output.reorder(lane, tile, panel, row);
    sum.compute_at(output, tile).vectorize(lane, 8).unroll(lane);
    sum.update()
        .split(channel, channel, inner, of.unroll)
        .reorder(lane, inner, channel)
        .vectorize(lane, 8)
        .unroll(lane)
        .unroll(inner);
    Pipeline pipeline(output);
    const bool is_input = part == Part::row_of_input;
    fetch_next_part(pipeline, is_input ? "input" : "weights");
    pipeline.add_custom_lowering_pass(new RecordFetches);
    pipeline.set_jit_externs({{"kiln_test_record_fetch", JITExtern(kiln_test_record_fetch)}});
    std::vector<uint64_t> addresses;
    asked_for = &addresses;
    w.set(weights), in.set(input);
    const Buffer<float> result = pipeline.realize({of.lanes, of.tiles, of.rows, of.panels});
    EXPECT_EQ(result(of.lanes - 1, of.tiles - 1, of.rows - 1, of.panels - 1), float(of.channels)) << of.what;
    std::map<int64_t, int> lines;
    for (uint64_t address : addresses) {
        const float *first = is_input ? input.data() : weights.data();
        lines[(static_cast<int64_t>(address) - reinterpret_cast<int64_t>(first)) / 64]++;
    }
    return lines;
}

// `readers` share a part of `of_part` lines, of which there are `parts`.
void expect_next_part(const std::map<int64_t, int> &lines, const char *what, int64_t of_part, int64_t parts,
                      int readers) {
    int often = 0;
    for (int64_t line = of_part; line < of_part * parts; line++) {
        EXPECT_TRUE(lines.contains(line)) << what << ", line " << line << " of parts of " << of_part;
    }
    for (const auto &[line, times] : lines) {
        EXPECT_GE(line, of_part) << what << ": the first part is being read";
        EXPECT_LE(line, of_part * (parts + 1) + 1) << what << ": far behind the last part";
        often = std::max(often, times);
    }
    EXPECT_LE(often, 2 * readers) << what;
}

void expect_fetches(const Sum &of, Part part) {
    const std::map<int64_t, int> lines = fetched_lines(of, part);
    if (!of.fetches) {
        EXPECT_TRUE(lines.empty()) << of.what;
    } else if (part == Part::panel_of_weights) {
        expect_next_part(lines, of.what, int64_t{of.lanes} * of.channels / 16, of.panels, of.tiles * of.rows);
    } else {
        // Steps ask for shares of a line where there are more of them than lines: then for one line in several steps.
        const int steps_of_line = 16 / of.unroll + 1;
        expect_next_part(lines, of.what, int64_t{of.channels} * of.tiles / 16, of.rows, of.panels * steps_of_line);
    }
}

TEST(FetchedParts, EachLineOfTheNextPanelIsFetched) {
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
    for (const Sum &of : sums) expect_fetches(of, Part::panel_of_weights);
}

// Its pixels are single elements in the loops, a line or more apart.
TEST(FetchedParts, EachLineOfTheNextBlockOfTheInputIsFetched) {
    const Sum sums[] = {
        {"few panels", 16, 64, 4, 8, 6, 4},
        {"many panels", 8, 32, 16, 4, 5, 4},
        {"panels that do not divide", 16, 48, 3, 5, 4, 4},
        {"one channel a step", 16, 32, 3, 4, 4, 1},
        {"many channels a step", 16, 256, 2, 2, 4, 32},
        {"one tile of many channels", 16, 256, 2, 1, 4, 4},
        {"one panel", 16, 64, 1, 8, 6, 4, false},
        {"one block", 16, 64, 4, 8, 1, 4, false},
    };
    for (const Sum &of : sums) expect_fetches(of, Part::row_of_input);
}

}  // namespace
}  // namespace kiln
