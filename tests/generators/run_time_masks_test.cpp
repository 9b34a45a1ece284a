// Masks of loads that are known when compiling are not known any more, and leave the same lanes out.
#include "generators/passes/run_time_masks.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "generators/masked_load.h"
#include "generators/passes/negative_places.h"

namespace kiln {
namespace {

using namespace Halide;

class FindVariables : public Internal::IRVisitor {
public:
    bool found = false;

private:
    using IRVisitor::visit;
    void visit(const Internal::Variable *) override { found = true; }
};

// Counts loads of a buffer that have masks, and comparisons of vectors of which nothing has to be computed.
class CountMasks : public Internal::IRMutator {
public:
    CountMasks(std::string buffer, int *masked, int *known)
        : buffer_(std::move(buffer)), masked_(masked), known_(known) {}

private:
    using IRMutator::visit;

    Expr visit(const Internal::Load *op) override {
        *masked_ += op->name == buffer_ && !Internal::is_const_one(op->predicate);
        return IRMutator::visit(op);
    }
    Expr visit(const Internal::LT *op) override { return count(op), IRMutator::visit(op); }
    Expr visit(const Internal::LE *op) override { return count(op), IRMutator::visit(op); }

    void count(const Expr &mask) {
        FindVariables variables;
        mask.accept(&variables);
        *known_ += mask.type().is_vector() && !variables.found;
    }

    const std::string buffer_;
    int *const masked_, *const known_;
};

// Three taps of a row of 14 columns with zeros at its ends, as a tile of a depthwise kernel has them.
TEST(RunTimeMasks, LeaveTheSameLanesOut) {
    constexpr int lanes = 16, columns = 14, rows = 3, taps = 3;
    ImageParam input(Float(32), 2, "input");
    input.dim(0).set_bounds(0, columns);
    input.dim(1).set_bounds(0, rows).set_stride(columns);
    const Var x("x"), y("y"), tap("tap");
    Func read("read"), output("output");
    const Expr at = x + tap - 1, inside = at >= 0 && at < columns;
    read(x, y, tap) = select(inside, masked_load(inside, input(promised(at, columns), y)), 0.0f);
    output(x, y) = read(x, y, 0) + 10 * read(x, y, 1) + 100 * read(x, y, 2);
    output.bound(x, 0, lanes).bound(y, 0, rows).vectorize(x, lanes).unroll(y);
    read.compute_at(output, y).bound(tap, 0, taps).vectorize(x, lanes).unroll(tap);
    read.store_in(MemoryType::Register);
    for (const bool at_run_time : {false, true}) {
        Pipeline pipeline(output);
        if (at_run_time) make_masks_at_run_time(pipeline);
        allow_negative_places(pipeline);
        int masked = 0, known = 0;
        pipeline.add_custom_lowering_pass(new CountMasks(input.name(), &masked, &known));
        Buffer<float> numbers(columns, rows);
        numbers.for_each_element([&](int i, int j) { numbers(i, j) = float(1 + i + j * columns); });
        input.set(numbers);
        const Buffer<float> result = pipeline.realize({lanes, rows}, Target("host-no_asserts-no_bounds_query"));
        const auto number = [&](int i, int j) { return i >= 0 && i < columns ? numbers(i, j) : 0.0f; };
        result.for_each_element([&](int i, int j) {
            EXPECT_EQ(result(i, j), number(i - 1, j) + 10 * number(i, j) + 100 * number(i + 1, j)) << i << ' ' << j;
        });
        EXPECT_EQ(masked, taps * rows) << at_run_time;
        EXPECT_EQ(known == 0, at_run_time) << known;
    }
}

}  // namespace
}  // namespace kiln
