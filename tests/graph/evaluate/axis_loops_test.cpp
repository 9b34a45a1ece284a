#include <gtest/gtest.h>

#include "tests/graph/evaluate/numbers_of.h"

namespace kiln::graph {
namespace {

TEST(ReduceLoops, axes) {
    using Kind = Reduce::Kind;
    const Numbers x = counted({2, 3, 2}, 1);  // 1 .. 12
    expect_result(Reduce{Kind::sum, {0}}, {x}, floats({1, 3, 2}, {8, 10, 12, 14, 16, 18}));
    expect_result(Reduce{Kind::sum, {1}}, {x}, floats({2, 1, 2}, {9, 12, 27, 30}));
    expect_result(Reduce{Kind::sum, {2}}, {x}, floats({2, 3, 1}, {3, 7, 11, 15, 19, 23}));
    expect_result(Reduce{Kind::sum, {0, 2}}, {x}, floats({1, 3, 1}, {18, 26, 34}));
    expect_result(Reduce{Kind::mean, {0, 1, 2}}, {x}, floats({1, 1, 1}, {6.5}));
    expect_result(Reduce{Kind::product, {1}}, {x}, floats({2, 1, 2}, {15, 48, 693, 960}));
    expect_result(Reduce{Kind::maximum, {1, 2}}, {x}, floats({2, 1, 1}, {6, 12}));
    expect_result(Reduce{Kind::minimum, {0}}, {x}, floats({1, 3, 2}, {1, 2, 3, 4, 5, 6}));
    expect_result(Reduce{Kind::sum, {}}, {x}, x);
    expect_result(Reduce{Kind::sum, {}}, {floats({}, {3})}, floats({}, {3}));
    expect_result(Reduce{Kind::maximum, {0}}, {floats({3}, {1, nan, 2})}, floats({1}, {nan}));
}

TEST(ReduceLoops, nothing_and_integers) {
    using Kind = Reduce::Kind;
    const Numbers none = floats({2, 0}, {});
    expect_result(Reduce{Kind::sum, {1}}, {none}, floats({2, 1}, {0, 0}));
    expect_result(Reduce{Kind::product, {1}}, {none}, floats({2, 1}, {1, 1}));
    expect_result(Reduce{Kind::mean, {1}}, {none}, floats({2, 1}, {nan, nan}));
    expect_result(Reduce{Kind::maximum, {1}}, {none}, floats({2, 1}, {-infinity, -infinity}));
    expect_result(Reduce{Kind::minimum, {1}}, {none}, floats({2, 1}, {infinity, infinity}));
    expect_result(Reduce{Kind::sum, {0}}, {none}, floats({1, 0}, {}));
    for (Element type : {Element::i8, Element::u8, Element::i32, Element::u32, Element::i64, Element::boolean}) {
        const bool is_signed = type == Element::i8 || type == Element::i32 || type == Element::i64;
        const int bits = type == Element::boolean ? 1 : 8 * size_of(type) - is_signed;
        const auto most = static_cast<int64_t>((uint64_t{1} << bits) - 1);
        expect_result(Reduce{Kind::maximum, {0}}, {integers({0}, {}, type)},
                      integers({1}, {is_signed ? -most - 1 : 0}, type));
        expect_result(Reduce{Kind::minimum, {0}}, {integers({0}, {}, type)}, integers({1}, {most}, type));
    }
    expect_result(Reduce{Kind::sum, {0}}, {integers({2}, {INT64_MAX, 1})}, integers({1}, {INT64_MIN}));
    expect_result(Reduce{Kind::sum, {0}}, {integers({2}, {100, 100}, Element::i8)}, integers({1}, {-56}, Element::i8));
    expect_result(Reduce{Kind::product, {0}}, {integers({3}, {INT64_MAX, INT64_MAX, 7})}, integers({1}, {7}));
    expect_result(Reduce{Kind::maximum, {0}}, {integers({2}, {0, 1}, Element::boolean)},
                  integers({1}, {1}, Element::boolean));
}

TEST(NormalizeLoops, softmax) {
    using Kind = Normalize::Kind;
    const double e = std::exp(1.0);
    const Numbers x = floats({2, 2}, {1000, 1001, -1000, -1000});  // far from what exp() can hold
    expect_result(Normalize{Kind::softmax, {1}}, {x}, floats({2, 2}, {1 / (1 + e), e / (1 + e), 0.5, 0.5}));
    expect_result(Normalize{Kind::log_softmax, {1}}, {x},
                  floats({2, 2}, {-std::log(1 + e), 1 - std::log(1 + e), -std::log(2.0), -std::log(2.0)}));
    expect_result(Normalize{Kind::softmax, {0}}, {x}, floats({2, 2}, {1, 1, 0, 0}));
    expect_result(Normalize{Kind::softmax, {0, 1}}, {floats({2, 2}, {3, 3, 3, 3})},
                  floats({2, 2}, {.25, .25, .25, .25}));
    expect_result(Normalize{Kind::softmax, {}}, {x}, floats({2, 2}, {1, 1, 1, 1}));
    expect_result(Normalize{Kind::softmax, {0}}, {floats({3}, {-infinity, 0, 0})}, floats({3}, {0, .5, .5}));
    expect_result(Normalize{Kind::softmax, {0}}, {floats({2}, {nan, 0})}, floats({2}, {nan, nan}));
    expect_result(Normalize{Kind::softmax, {1}}, {floats({3, 0}, {})}, floats({3, 0}, {}));
}

TEST(NormalizeLoops, mean_variance) {
    const Normalize op{Normalize::Kind::mean_variance, {1}, 0};
    expect_result(op, {floats({2, 3}, {1, 2, 3, 10, 10, 40})},
                  floats({2, 3}, {-std::sqrt(1.5), 0, std::sqrt(1.5), -std::sqrt(0.5), -std::sqrt(0.5), std::sqrt(2)}));
    expect_result(Normalize{Normalize::Kind::mean_variance, {1}, 4}, {floats({1, 2}, {7, 7})}, floats({1, 2}, {0, 0}));
    expect_result(Normalize{Normalize::Kind::mean_variance, {0, 2}, 3}, {floats({2, 1, 2}, {1, -1, -1, 1})},
                  floats({2, 1, 2}, {.5, -.5, -.5, .5}));
}

TEST(ResampleLoops, indices) {
    const auto op = [](std::vector<int64_t> indices, int axis = 0) {
        return Resample{{{.axis = axis, .taps = 1, .indices = std::move(indices), .weights = {}}}, 0};
    };
    const Numbers x = floats({4}, {1, 2, 3, nan});
    expect_result(op({2, 0, 0}), {x}, floats({3}, {3, 1, 1}));
    expect_result(op({3, 2, 1, 0}), {x}, floats({4}, {nan, 3, 2, 1}));
    expect_result(op({}), {x}, floats({0}, {}));
    Resample pad = op({-1, 0, 1, -1});
    pad.fill = 9;
    expect_result(pad, {x}, floats({4}, {9, 1, 2, 9}));
    expect_result(pad, {integers({2}, {5, 6}, Element::i32)}, integers({4}, {9, 5, 6, 9}, Element::i32));
    expect_result(op({1, 2}, 1), {counted({2, 3, 2})}, floats({2, 2, 2}, {2, 3, 4, 5, 8, 9, 10, 11}));
    expect_result(op({-1, -1}), {floats({0}, {})}, floats({2}, {0, 0}));
    expect_result(Resample{}, {x}, x);
    // Both axes: a corner is filled once.
    const Resample frame{{{.axis = 0, .indices = {-1, 0}}, {.axis = 1, .indices = {0, -1}}}, 5};
    expect_result(frame, {floats({1, 1}, {2})}, floats({2, 2}, {5, 5, 2, 5}));
}

TEST(GatherLoops, indices) {
    const Numbers x = counted({2, 3, 2});  // 0 to 11
    expect_result(Gather{1}, {x, integers({2}, {2, 0})}, floats({2, 2, 2}, {4, 5, 0, 1, 10, 11, 6, 7}));
    expect_result(Gather{0}, {x, integers({}, {1})}, floats({3, 2}, {6, 7, 8, 9, 10, 11}));
    expect_result(Gather{2}, {counted({1, 1, 2}), integers({1, 2}, {1, 1})}, floats({1, 1, 1, 2}, {1, 1}));
    // Outside is 0, on both sides.
    expect_result(Gather{0}, {integers({2}, {5, 6}), integers({4}, {-1, 0, 2, 1})}, integers({4}, {0, 5, 0, 6}));
    expect_result(Gather{0}, {floats({0}, {}), integers({2}, {0, 1})}, floats({2}, {0, 0}));
}

TEST(ResampleLoops, weights) {
    const Resample linear{{{.axis = 0, .taps = 2, .indices = {0, 1, 1, 2, 2, 2}, .weights = {.5, .5, .25, .75, 1, 0}}},
                          0};
    expect_result(linear, {floats({3}, {2, 4, 8})}, floats({3}, {3, 7, 8}));
    Resample outside = linear;
    outside.axes[0].indices[3] = Resample::outside;
    outside.fill = -1;
    expect_result(outside, {floats({3}, {2, 4, 8})}, floats({3}, {3, -1, 8}));
    const Resample both{{{.axis = 0, .taps = 2, .indices = {0, 1}, .weights = {.5, .5}},
                         {.axis = 1, .taps = 1, .indices = {1}, .weights = {3}}},
                        0};
    expect_result(both, {floats({2, 2}, {1, 2, 3, 4})}, floats({1, 1}, {9}));
}

TEST(MatrixProductLoops, shapes) {
    const Numbers a = floats({2, 3}, {1, 2, 3, 4, 5, 6}), b = floats({3, 2}, {1, 0, 0, 1, 2, 2});
    expect_result(MatrixProduct{}, {a, b}, floats({2, 2}, {7, 8, 16, 17}));
    expect_result(MatrixProduct{}, {counted({2, 1, 1, 2}), counted({3, 2, 1})},
                  floats({2, 3, 1, 1}, {1, 3, 5, 3, 13, 23}));
    expect_result(MatrixProduct{}, {floats({2, 0}, {}), floats({0, 1}, {})}, floats({2, 1}, {0, 0}));
    expect_result(MatrixProduct{}, {floats({0, 2}, {}), counted({2, 2})}, floats({0, 2}, {}));
    expect_result(MatrixProduct{}, {integers({1, 2}, {100, 100}, Element::i8), integers({2, 1}, {1, 1}, Element::i8)},
                  integers({1, 1}, {-56}, Element::i8));
    expect_result(MatrixProduct{}, {integers({1, 2}, {INT64_MAX, 1}), integers({2, 1}, {2, 1})},
                  integers({1, 1}, {-1}));
}

TEST(MovementLoops, elements_keep_their_values) {
    const Numbers x = counted({2, 3});
    expect_result(Transpose{{1, 0}}, {x}, floats({3, 2}, {0, 3, 1, 4, 2, 5}));
    expect_result(Transpose{{2, 0, 1}}, {counted({2, 1, 3})}, floats({3, 2, 1}, {0, 3, 1, 4, 2, 5}));
    expect_result(Transpose{{}}, {floats({}, {4})}, floats({}, {4}));
    expect_result(Transpose{{1, 0}}, {integers({1, 2}, {INT64_MAX, INT64_MIN})},
                  integers({2, 1}, {INT64_MAX, INT64_MIN}));
    expect_result(Reshape{{3, 1, 2}}, {x}, counted({3, 1, 2}));
    expect_result(Reshape{{}}, {floats({1, 1}, {nan})}, floats({}, {nan}));
    expect_result(Concat{0}, {floats({1}, {1}), floats({0}, {}), floats({2}, {2, 3})}, floats({3}, {1, 2, 3}));
    expect_result(Concat{1}, {floats({2, 1}, {1, 2}), floats({2, 2}, {3, 4, 5, 6})},
                  floats({2, 3}, {1, 3, 4, 2, 5, 6}));
    expect_result(Concat{0}, {integers({1}, {1}), integers({1}, {2})}, integers({2}, {1, 2}));
}

}  // namespace
}  // namespace kiln::graph
