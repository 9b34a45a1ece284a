// Stores of what a table has at the places of bytes become calls, of as many as are neighbours.
#include "generators/passes/looked_up_bytes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kiln {
namespace {

using namespace Halide;

constexpr const char *lookup = "look_up";

// How many elements each call looks up.
class CallCounts : public Internal::IRMutator {
public:
    explicit CallCounts(std::vector<int64_t> *counts) : counts_(counts) {}

private:
    using IRMutator::visit;

    Expr visit(const Internal::Call *op) override {
        if (op->name == lookup)
            counts_->push_back(Internal::as_const_int(Internal::simplify(op->args[3])).value_or(-1));
        return IRMutator::visit(op);
    }

    std::vector<int64_t> *const counts_;
};

struct LookedUpNest {
    const char *what;
    int width, height;
    int stored_width;  // of a row of the result
    int entries;       // of the table
    std::vector<int64_t> counts;
    Type result = UInt(8);
    bool parallel = false;
    int added = 0;  // to what is looked up
};

std::vector<int64_t> counts_of(const LookedUpNest &row) {
    constexpr int lanes = 16, unrolled = 4;
    ImageParam indices(UInt(8), 2, "indices"), table(row.result, 1, "table");
    const Var x("x"), y("y");
    Var xi("xi"), lane("lane");
    Func output("output");
    const Expr found = table(cast<int32_t>(indices(x, y)));
    output(x, y) = row.added ? found + cast(row.result, row.added) : found;
    output.bound(x, 0, row.width)
        .bound(y, 0, row.height)
        .split(x, x, xi, lanes * unrolled, TailStrategy::ShiftInwards)
        .split(xi, xi, lane, lanes)
        .vectorize(lane)
        .unroll(xi);
    if (row.parallel) output.parallel(y);
    output.output_buffer().dim(0).set_bounds(0, row.width);
    output.output_buffer().dim(1).set_bounds(0, row.height).set_stride(row.stored_width);
    indices.dim(0).set_bounds(0, row.width);
    indices.dim(1).set_bounds(0, row.height).set_stride(row.width);
    table.dim(0).set_bounds(0, row.entries);
    Pipeline pipeline(output);
    look_up_bytes(pipeline, lookup);
    std::vector<int64_t> counts;
    pipeline.add_custom_lowering_pass(new CallCounts(&counts));
    (void)pipeline.compile_to_module({indices, table}, "lookups",
                                     Target("x86-64-linux-no_asserts-no_bounds_query-no_runtime"));
    return counts;
}

TEST(LookedUpBytes, AreAsManyAsAreNeighbours) {
    for (const LookedUpNest &row : {
             LookedUpNest{"all loops", 128, 10, 128, 256, {1280}},
             LookedUpNest{"the last vectors of a row begin before its end", 100, 10, 100, 256, {1000}},
             LookedUpNest{"each row, where they have gaps between them", 128, 10, 200, 256, {128}},
             LookedUpNest{"each row, where they are shared by threads", 128, 10, 128, 256, {128}, UInt(8), true},
             LookedUpNest{"numbers with a sign", 64, 3, 64, 256, {192}, Int(8)},
             LookedUpNest{"a table of fewer", 64, 3, 64, 255, {}},
             LookedUpNest{"wider numbers", 64, 3, 64, 256, {}, Float(32)},
             LookedUpNest{"what is not all that is done", 64, 3, 64, 256, {}, UInt(8), false, 3},
         })
        EXPECT_EQ(counts_of(row), row.counts) << row.what;
}

}  // namespace
}  // namespace kiln
