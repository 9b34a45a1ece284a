// Vectors of channels are stored, and what is added to them is loaded, in rows of four neighbours, and have the same values.
#include "generators/passes/turned_stores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace kiln {
namespace {

using namespace Halide;

// How many stores of a buffer, and loads of it, have so many lanes.
struct LaneCounts {
    std::map<int, int> stored, loaded;
};

class CountLanes : public Internal::IRMutator {
public:
    CountLanes(std::string stored, std::string loaded, LaneCounts *lanes)
        : stored_(std::move(stored)), loaded_(std::move(loaded)), lanes_(lanes) {}

private:
    using IRMutator::visit;

    Internal::Stmt visit(const Internal::Store *op) override {
        if (op->name == stored_) lanes_->stored[op->value.type().lanes()]++;
        return IRMutator::visit(op);
    }
    Expr visit(const Internal::Load *op) override {
        if (op->name == loaded_) lanes_->loaded[op->type.lanes()]++;
        return IRMutator::visit(op);
    }

    const std::string stored_, loaded_;
    LaneCounts *const lanes_;
};

struct TiledStores {
    const char *what;
    int lanes, vectors, columns;  // of a tile, in whose innermost loop are the vectors
    std::map<int, int> after;     // stores of a tile, by their lanes
    Type type = Float(32);
    bool adds = false;
    bool is_clamped = false;  // a value that is named, as it is used twice
};

// output(x, c) = sums(c, x) [+ addend(x, c)], in tiles of columns and vectors of channels.
void expect_same_values(const TiledStores &stored) {
    const int channels = 2 * stored.lanes * stored.vectors, width = 3 * stored.columns;
    const auto sum_at = [](int c, int x) { return (c * 7 - x * 31) % 100; };
    const auto addend_at = [](int x, int c) { return (c * 13 + x * 5) % 50; };
    ImageParam input(stored.type, 2, "input"), addend(stored.type, 2, "addend");
    const Var x("x"), c("c");
    Var xi("xi"), ci("ci"), lane("lane");
    Func output("output");
    Expr value = input(c, x);
    if (stored.adds) value += addend(x, c);
    if (stored.is_clamped) value = select(value < 0, cast(stored.type, 0), value);
    output(x, c) = value;
    output.bound(x, 0, width)
        .bound(c, 0, channels)
        .split(x, x, xi, stored.columns)
        .split(c, c, ci, stored.lanes * stored.vectors)
        .split(ci, ci, lane, stored.lanes)
        .reorder(lane, ci, xi, x, c)
        .vectorize(lane)
        .unroll(ci)
        .unroll(xi);
    for (Parameter buffer : {addend.parameter(), output.output_buffer().parameter()}) {
        buffer.set_min_constraint(0, 0), buffer.set_extent_constraint(0, width);
        buffer.set_min_constraint(1, 0), buffer.set_extent_constraint(1, channels);
        buffer.set_stride_constraint(1, width);
    }
    Pipeline pipeline(output);
    turn_stores(pipeline);
    LaneCounts lanes;
    pipeline.add_custom_lowering_pass(new CountLanes(output.name(), addend.name(), &lanes));
    Buffer<> numbers(stored.type, {channels, width}), added(stored.type, {width, channels});
    const auto fill = [&]<typename T>(T) {
        numbers.as<T>().for_each_element([&](int i, int j) { numbers.as<T>()(i, j) = T(sum_at(i, j)); });
        added.as<T>().for_each_element([&](int i, int j) { added.as<T>()(i, j) = T(addend_at(i, j)); });
    };
    stored.type.is_float() ? fill(float()) : fill(int32_t());
    input.set(numbers), addend.set(added);
    const Realization result = pipeline.realize({width, channels}, Target("host-no_asserts-no_bounds_query"));
    const auto expect = [&](const auto &got) {
        got.for_each_element([&](int i, int j) {
            int wanted = sum_at(j, i) + (stored.adds ? addend_at(i, j) : 0);
            if (stored.is_clamped) wanted = std::max(wanted, 0);
            EXPECT_EQ(got(i, j), wanted) << stored.what << ' ' << i << ' ' << j;
        });
    };
    stored.type.is_float() ? expect(Buffer<float>(result[0])) : expect(Buffer<int32_t>(result[0]));
    EXPECT_EQ(lanes.stored, stored.after) << stored.what;
    EXPECT_EQ(lanes.loaded.contains(4), stored.adds) << stored.what;
}

TEST(TurnedStores, AreTheSameValuesInRows) {
    const TiledStores rows[] = {
        {"four columns", 16, 1, 4, {{4, 16}}},
        {"half a vector of integers", 8, 1, 4, {{4, 8}}, Int(32)},
        {"128 bits", 4, 1, 8, {{4, 8}}},
        {"two vectors in turns", 16, 2, 4, {{4, 32}}},
        {"what fours leave", 8, 1, 6, {{4, 8}, {8, 2}}},
        {"three columns", 16, 1, 3, {{16, 3}}},
        {"a tensor that is added", 16, 2, 8, {{4, 64}}, Float(32), true},
        {"values that are named", 16, 2, 4, {{4, 32}}, Float(32), false, true},
        {"both", 8, 3, 7, {{4, 24}, {8, 9}}, Float(32), true, true},
    };
    for (const TiledStores &row : rows) expect_same_values(row);
}

// What is stored first may be what is read next.
TEST(TurnedStores, ThoseThatReadTheirOwnBufferStay) {
    constexpr int lanes = 8, width = 13;
    const Var x("x"), c("c");
    Func output("output");
    RDom r(1, width - 1);
    output(x, c) = c;
    output(r, c) = output(r - 1, c) * 3 + r;
    output.bound(x, 0, width).bound(c, 0, lanes);
    RVar tile("tile"), column("column");
    output.update().split(r, tile, column, 4).reorder(c, column, tile).vectorize(c, lanes).unroll(column);
    output.output_buffer().dim(0).set_bounds(0, width);
    output.output_buffer().dim(1).set_bounds(0, lanes).set_stride(width);
    Pipeline pipeline(output);
    turn_stores(pipeline);
    const Buffer<int32_t> result = pipeline.realize({width, lanes});
    for (int i = 0; i < lanes; i++) {
        int wanted = i;
        for (int j = 0; j < width; j++, wanted = wanted * 3 + j) EXPECT_EQ(result(j, i), wanted) << i << ' ' << j;
    }
}

}  // namespace
}  // namespace kiln
