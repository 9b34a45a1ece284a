// Vectors that begin anywhere in a row of registers are shuffled out of whole ones, and have the same values.
#include "generators/passes/shuffled_registers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "generators/passes/negative_places.h"

namespace kiln {
namespace {

using namespace Halide;

constexpr int lanes_of_row = 8;

// The first places of the vectors that a stage is read at.
class ReadPlaces : public Internal::IRMutator {
public:
    ReadPlaces(std::string stage, std::set<int64_t> *places) : stage_(std::move(stage)), places_(places) {}

private:
    using IRMutator::visit;

    Expr visit(const Internal::Load *op) override {
        const auto *ramp = op->index.as<Internal::Ramp>();
        const auto first = ramp ? Internal::as_const_int(ramp->base) : std::nullopt;
        if (op->name.substr(0, op->name.find('$')) == stage_ && first) places_->insert(*first);
        return IRMutator::visit(op);
    }

    const std::string stage_;
    std::set<int64_t> *const places_;
};

struct ReadRow {
    const char *what;
    int shift, stride, vectors;  // a tap's, and how many vectors are read
    const char *stage;           // that is shuffled
    bool is_shuffled = true;
};

// output(x) = row(x * stride) + row(x * stride + shift), where vectors of `row` are in registers.
std::set<int64_t> places_of(const ReadRow &of) {
    const int count = of.vectors * lanes_of_row, width = (count - 1) * of.stride + of.shift + 1;
    const int stored = (width + lanes_of_row - 1) / lanes_of_row * lanes_of_row;
    Buffer<float> numbers(stored);
    for (int i = 0; i < stored; i++) numbers(i) = float(i * i);
    const Var x("x");
    Func row("row"), output("output");
    row(x) = numbers(x);
    output(x) = row(x * of.stride) + row(x * of.stride + of.shift);
    output.bound(x, 0, count).vectorize(x, lanes_of_row).unroll(x);
    row.compute_root().store_in(MemoryType::Register).bound(x, 0, stored).vectorize(x, lanes_of_row).unroll(x);
    Pipeline pipeline(output);
    shuffle_registers(pipeline, of.stage);
    std::set<int64_t> places;
    pipeline.add_custom_lowering_pass(new ReadPlaces("row", &places));
    const Buffer<float> result = pipeline.realize({count});
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(result(i), numbers(i * of.stride) + numbers(i * of.stride + of.shift)) << of.what << ' ' << i;
    }
    return places;
}

TEST(ShuffledRegisters, ReadWholeVectors) {
    for (const ReadRow &row : {
             ReadRow{.what = "a neighbour", .shift = 1, .stride = 1, .vectors = 2, .stage = "row"},
             ReadRow{.what = "far away", .shift = 13, .stride = 1, .vectors = 1, .stage = "row"},
             ReadRow{.what = "a stride", .shift = 3, .stride = 2, .vectors = 2, .stage = "row"},
             ReadRow{.what = "three vectors for one", .shift = 5, .stride = 3, .vectors = 1, .stage = "row"},
             ReadRow{.what = "another stage",
             .shift = 1,
             .stride = 1,
             .vectors = 2,
             .stage = "column",
             .is_shuffled = false},
         }) {
        bool is_whole = true;
        const std::set<int64_t> places = places_of(row);
        EXPECT_FALSE(places.empty()) << row.what;
        for (const int64_t place : places) is_whole = is_whole && place % lanes_of_row == 0;
        EXPECT_EQ(is_whole, row.is_shuffled) << row.what;
    }
}

// output(x) takes turns between two columns of 16 bytes, within each half of eight.
TEST(ShuffledRegisters, ReadWholeVectorsForPlacesThatAreComputed) {
    constexpr int lanes = 16;
    Buffer<uint8_t> numbers(2 * lanes);
    for (int i = 0; i < 2 * lanes; i++) numbers(i) = uint8_t(7 * i);
    const Var x("x");
    Func row("row"), output("output");
    row(x) = numbers(x);
    output(x) = row(x % 2 * lanes + x % lanes / 2 + x / lanes * 8);
    output.bound(x, 0, 2 * lanes).vectorize(x, lanes).unroll(x);
    row.compute_root().store_in(MemoryType::Register).bound(x, 0, 2 * lanes).vectorize(x, lanes).unroll(x);
    Pipeline pipeline(output);
    shuffle_registers(pipeline, "row");
    std::set<int64_t> places;
    pipeline.add_custom_lowering_pass(new ReadPlaces("row", &places));
    const Buffer<uint8_t> result = pipeline.realize({2 * lanes});
    for (int i = 0; i < 2 * lanes; i++)
        EXPECT_EQ(result(i), numbers(i % 2 * lanes + i % lanes / 2 + i / lanes * 8)) << i;
    EXPECT_EQ(places, (std::set<int64_t>{0, lanes}));
}

// The lanes before the first element are left out by a mask, and nothing else of the row is read.
TEST(NegativePlaces, AreReadByMasks) {
    ImageParam row(Float(32), 1, "row");
    row.dim(0).set_bounds(0, lanes_of_row);
    const Var x("x");
    Func output("output");
    const Expr at = x - 3, inside = at >= 0;
    const Expr load = Internal::Call::make(Float(32), Internal::Call::if_then_else,
                                           {inside, row(Internal::promise_clamped(at, 0, lanes_of_row - 1))},
                                           Internal::Call::PureIntrinsic);
    output(x) = select(inside, load, 0.0f);
    output.bound(x, 0, lanes_of_row).vectorize(x, lanes_of_row);
    Pipeline pipeline(output);
    allow_negative_places(pipeline);
    Buffer<float> numbers(lanes_of_row);
    for (int i = 0; i < lanes_of_row; i++) numbers(i) = float(i + 1);
    row.set(numbers);
    const Buffer<float> result = pipeline.realize({lanes_of_row}, Target("host-no_asserts-no_bounds_query"));
    for (int i = 0; i < lanes_of_row; i++) EXPECT_EQ(result(i), i < 3 ? 0.0f : float(i - 2)) << i;
}

}  // namespace
}  // namespace kiln
