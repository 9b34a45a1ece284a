// Four vectors that are narrowed to bytes are stored as one where they are neighbours, and have the same values.
#include "generators/passes/joined_bytes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace kiln {
namespace {

using namespace Halide;

// The lanes of the stores of a stage, in their order.
class StoredLanes : public Internal::IRMutator {
public:
    StoredLanes(std::string stage, std::vector<int> *lanes) : stage_(std::move(stage)), lanes_(lanes) {}

private:
    using IRMutator::visit;

    Internal::Stmt visit(const Internal::Store *op) override {
        if (op->name == stage_) lanes_->push_back(op->value.type().lanes());
        return IRMutator::visit(op);
    }

    const std::string stage_;
    std::vector<int> *const lanes_;
};

struct Stored {
    const char *what;
    Type type;
    int lanes, vectors, rows;     // of a tile: `vectors` are neighbours in memory
    std::vector<int> after = {};  // lanes of the stores of a tile
    bool adds = false;            // a byte
};

constexpr int width = 256, height = 4;

int number_at(int x, int y) { return (x * 37 - y * 1001 - 3000) * (x % 3 == 0 ? -1 : 1); }

void expect_same_bytes(const Stored &stored, JoinBytes how) {
    Buffer<int32_t> numbers(width, height);
    numbers.for_each_element([&](int x, int y) { numbers(x, y) = number_at(x, y); });
    ImageParam input(Int(32), 2, "input");
    Param<int8_t> added("added");
    const Var x("x"), y("y");
    Var xi("xi"), yi("yi"), lane("lane");
    Func output("output");
    const Expr bytes = cast(stored.type, input(x, y));
    output(x, y) = stored.adds ? bytes + cast(stored.type, added) : bytes;
    output.bound(x, 0, width)
        .bound(y, 0, height)
        .split(x, x, xi, stored.lanes * stored.vectors)
        .split(xi, xi, lane, stored.lanes)
        .split(y, y, yi, stored.rows)
        .reorder(lane, xi, yi, x, y)
        .vectorize(lane)
        .unroll(xi)
        .unroll(yi);
    output.output_buffer().dim(0).set_bounds(0, width);
    output.output_buffer().dim(1).set_bounds(0, height).set_stride(width);
    Pipeline pipeline(output);
    join_bytes(pipeline, how);
    std::vector<int> lanes;
    pipeline.add_custom_lowering_pass(new StoredLanes(output.name(), &lanes));
    input.set(numbers);
    added.set(-77);
    const auto expect_bytes = [&](const auto &result) {
        result.for_each_element([&](int i, int j) {
            const int number = number_at(i, j) - (stored.adds ? 77 : 0);
            EXPECT_EQ(uint8_t(result(i, j)), uint8_t(number)) << stored.what << ' ' << i << ' ' << j;
        });
    };
    const Realization result = pipeline.realize({width, height}, Target("host-no_asserts-no_bounds_query"));
    stored.type.is_int() ? expect_bytes(Buffer<int8_t>(result[0])) : expect_bytes(Buffer<uint8_t>(result[0]));
    EXPECT_EQ(lanes, stored.after) << stored.what;
}

TEST(JoinedBytes, AreTheSameBytesInFewerStores) {
    const Stored rows[] = {
        {"four neighbours", UInt(8), 16, 4, 1, {64}},
        {"eight neighbours of half a vector, and a byte that is added", Int(8), 8, 8, 1, {32, 32}, true},
        {"two rows of two", UInt(8), 16, 2, 2, {32, 32}, true},
        {"four rows of one", Int(8), 16, 1, 4, {16, 16, 16, 16}},
        {"two are too few", UInt(8), 16, 1, 2, {16, 16}},
        {"one", UInt(8), 64, 1, 1, {64}},
    };
    for (const Stored &row : rows) {
        for (const JoinBytes how : {JoinBytes::narrow, JoinBytes::by_masks, JoinBytes::by_funnels})
            expect_same_bytes(row, how);
    }
}

// What is stored first may be what is read next.
TEST(JoinedBytes, StoresThatReadTheirOwnBufferStay) {
    constexpr int lanes = 16, count = 4 * lanes;
    const Var x("x");
    Func bytes("bytes");
    RDom r(lanes, count);
    Param<int32_t> factor("factor");
    bytes(x) = cast<uint8_t>(x);
    bytes(r) = cast<uint8_t>((cast<int32_t>(bytes(r - lanes)) + 1000) / factor);
    bytes.bound(x, 0, count + lanes);
    RVar outer("outer"), lane("lane"), tile("tile");
    bytes.update()
        .allow_race_conditions()
        .split(r, outer, lane, lanes)
        .split(outer, tile, outer, 4)
        .vectorize(lane)
        .unroll(outer);
    Pipeline pipeline(bytes);
    join_bytes(pipeline, JoinBytes::by_funnels);
    factor.set(7);
    const Buffer<uint8_t> result = pipeline.realize({count + lanes});
    for (int i = lanes; i < count + lanes; i++) EXPECT_EQ(result(i), uint8_t((result(i - lanes) + 1000) / 7)) << i;
}

}  // namespace
}  // namespace kiln
