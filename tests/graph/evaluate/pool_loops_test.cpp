#include <gtest/gtest.h>

#include "tests/graph/evaluate/numbers_of.h"

namespace kiln::graph {
namespace {

Pool pool(Pool::Kind kind, std::vector<int64_t> window, std::vector<int64_t> strides) {
    Pool op{.kind = kind, .window = std::move(window), .strides = std::move(strides)};
    op.dilations = std::vector<int64_t>(op.window.size(), 1);
    op.padding.resize(op.window.size());
    op.beyond.resize(op.window.size(), 0);
    return op;
}

TEST(PoolLoops, maximum) {
    const Numbers x = floats({1, 1, 5}, {-1, -5, -3, -4, -2});
    Pool op = pool(Pool::Kind::maximum, {3}, {1});
    expect_result(op, {x}, floats({1, 1, 3}, {-1, -3, -2}));
    op.padding = {{1, 1}};  // is no zero
    expect_result(op, {x}, floats({1, 1, 5}, {-1, -1, -3, -2, -2}));
    op.strides = {2};
    expect_result(op, {x}, floats({1, 1, 3}, {-1, -3, -2}));
    op.dilations = {2};
    expect_result(op, {x}, floats({1, 1, 2}, {-4, -4}));
    op = pool(Pool::Kind::maximum, {2}, {2});
    op.beyond = {1};
    expect_result(op, {x}, floats({1, 1, 3}, {-1, -3, -2}));
    expect_result(op, {floats({1, 1, 5}, {nan, 1, 2, nan, infinity})}, floats({1, 1, 3}, {nan, nan, infinity}));
    // Windows that hold no pixel.
    op = pool(Pool::Kind::maximum, {1}, {1});
    op.padding = {{1, 0}};
    expect_result(op, {floats({1, 1, 1}, {4})}, floats({1, 1, 2}, {-infinity, 4}));
    expect_result(op, {integers({1, 1, 1}, {4}, Element::i8)}, integers({1, 1, 2}, {-128, 4}, Element::i8));
    expect_result(op, {integers({1, 1, 1}, {4}, Element::u8)}, integers({1, 1, 2}, {0, 4}, Element::u8));
}

TEST(PoolLoops, average_and_what_counts) {
    const Numbers x = floats({1, 1, 4}, {2, 4, 6, 8});
    Pool op = pool(Pool::Kind::average, {3}, {2});
    op.padding = {{1, 1}};
    expect_result(op, {x}, floats({1, 1, 2}, {3, 6}));
    op.counts_padding = true;
    expect_result(op, {x}, floats({1, 1, 2}, {2, 6}));
    op.beyond = {1};  // 6 8 [0] |: the last window reaches one beyond the padding
    expect_result(op, {x}, floats({1, 1, 3}, {2, 6, 4}));
    op.counts_padding = false;
    expect_result(op, {x}, floats({1, 1, 3}, {3, 6, 8}));
    op = pool(Pool::Kind::average, {3}, {1});
    op.padding = {{2, 0}};
    op.dilations = {2};
    expect_result(op, {x}, floats({1, 1, 2}, {4, 6}));
    op.counts_padding = true;
    expect_result(op, {x}, floats({1, 1, 2}, {8. / 3, 4}));
    op = pool(Pool::Kind::average, {1}, {1});
    op.padding = {{1, 0}};
    expect_result(op, {x}, floats({1, 1, 5}, {nan, 2, 4, 6, 8}));
    op.counts_padding = true;
    expect_result(op, {x}, floats({1, 1, 5}, {0, 2, 4, 6, 8}));
}

TEST(PoolLoops, two_axes_and_planes) {
    const Numbers x = counted({2, 2, 3, 3});
    expect_result(pool(Pool::Kind::maximum, {2, 2}, {1, 1}), {x},
                  floats({2, 2, 2, 2}, {4, 5, 7, 8, 13, 14, 16, 17, 22, 23, 25, 26, 31, 32, 34, 35}));
    expect_result(pool(Pool::Kind::average, {3, 2}, {1, 1}), {x},
                  floats({2, 2, 1, 2}, {3.5, 4.5, 12.5, 13.5, 21.5, 22.5, 30.5, 31.5}));
    Pool op = pool(Pool::Kind::average, {2, 2}, {2, 2});
    op.padding = {{0, 0}, {1, 0}};
    op.beyond = {1, 0};
    op.counts_padding = true;  // the column of padding counts, the row beyond does not
    expect_result(op, {counted({1, 1, 3, 3})}, floats({1, 1, 2, 2}, {0.75, 3, 3, 7.5}));
    expect_result(pool(Pool::Kind::maximum, {2, 2}, {1, 1}), {floats({1, 0, 3, 3}, {})}, floats({1, 0, 2, 2}, {}));
    expect_result(pool(Pool::Kind::maximum, {4, 1}, {1, 1}), {x}, floats({2, 2, 0, 3}, {}));
}

TEST(PoolLoops, windows_of_any_size) {
    Pool op = pool(Pool::Kind::average, {int64_t{1} << 38}, {1});
    op.padding = {{(int64_t{1} << 38) - 1, 0}};
    expect_result(op, {floats({1, 1, 2}, {2, 4})}, floats({1, 1, 2}, {2, 3}));
    op.counts_padding = true;
    expect_result(op, {floats({1, 1, 2}, {2, 4})}, floats({1, 1, 2}, {0x1p-37, 6 * 0x1p-38}));
}

}  // namespace
}  // namespace kiln::graph
