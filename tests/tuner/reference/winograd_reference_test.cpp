// The reference of the Winograd transforms: against products written by hand, against each other as a convolution, and
// in every order of dimensions.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tuner/reference/reference.h"

namespace kiln {
namespace {

Workload workload(const std::string &key) {
    const auto parsed = parse_workload_key(key);
    EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
    return *parsed;
}

Tensor f32_tensor(std::vector<int64_t> shape, const std::vector<double> &values) {
    Tensor tensor{DType::f32, std::move(shape), std::vector<std::byte>(values.size() * sizeof(float))};
    for (size_t i = 0; i < values.size(); i++) {
        const auto value = float(values[i]);
        std::memcpy(tensor.data.data() + i * sizeof value, &value, sizeof value);
    }
    return tensor;
}

void expect_near(const std::vector<double> &got, const std::vector<double> &expected) {
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], expected[i], 1e-12) << i;
}

// F(2, 3) at the points 0, 1, -1 and infinity; the leading coefficients of B^T are 1.
TEST(WinogradReference, OneDimensionByHand) {
    Operands operands;
    operands.first = f32_tensor({1, 1, 4, 1}, {1, 2, 4, 8});
    const std::string fields = "/window:1x3/tile:1x2";
    const auto v = reference(workload("winograd_input_transform/input:1x1x4x1" + fields), operands);
    ASSERT_TRUE(v) << v.error().message;
    // d2 - d0, d2 + d1, d2 - d1, d3 - d1.
    expect_near(v->expected, {3, 6, 2, 6});
    expect_near(v->magnitude, {5, 6, 6, 10});

    Operands weights;
    weights.second = f32_tensor({1, 3, 1, 1}, {1, 10, 100});
    const auto u = reference(workload("winograd_filter_transform/kernel:1x3x1x1/tile:1x2"), weights);
    ASSERT_TRUE(u) << u.error().message;
    // -g0, (g0 + g1 + g2) / 2, (g0 - g1 + g2) / 2, g2.
    expect_near(u->expected, {-1, 55.5, 45.5, 100});
    expect_near(u->magnitude, {1, 55.5, 55.5, 100});

    Operands products;
    products.first = f32_tensor({1, 4, 1, 1, 1, 1}, {-3, 333, 91, 600});
    const auto y = reference(workload("winograd_output_transform/input:1x1x1x1" + fields), products);
    ASSERT_TRUE(y) << y.error().message;
    // m0 + m1 + m2, m1 - m2 + m3: the correlation, 1 * 1 + 2 * 10 + 4 * 100 and 2 * 1 + 4 * 10 + 8 * 100.
    expect_near(y->expected, {421, 842});
    expect_near(y->magnitude, {427, 1024});
}

struct Layer {
    std::vector<int64_t> input, kernel, tile;
    std::vector<Padding> padding;
    int points;
};

// Transforms, products over the input channels and the inverse transform are the convolution, ragged tiles included.
TEST(WinogradReference, TheThreeMakeAConvolution) {
    const Layer layers[] = {
        {{1, 8, 8, 3}, {3, 3, 3, 2}, {4, 4}, {{1, 1}, {1, 1}}, 0},
        {{2, 7, 9, 2}, {3, 3, 2, 4}, {2, 6}, {{1, 0}, {-1, 2}}, 0},
        {{1, 9, 8, 3}, {3, 3, 3, 2}, {4, 4}, {{0, 0}, {2, 2}}, 1},
        {{1, 6, 11, 2}, {1, 7, 2, 3}, {1, 4}, {{0, 0}, {3, 3}}, 0},
        {{1, 9, 5, 2}, {5, 3, 2, 3}, {4, 3}, {{2, 2}, {1, 1}}, 0},
    };
    for (const Layer &layer : layers) {
        Workload conv = convolution(layer.input, layer.kernel);
        conv.padding = layer.padding;
        const Operands operands = make_operands(conv, Data::ordinary, 7);
        const auto expected = reference(conv, operands);
        ASSERT_TRUE(expected);

        Workload input, filter, output;
        input.op = Operation::winograd_input_transform;
        filter.op = Operation::winograd_filter_transform;
        output.op = Operation::winograd_output_transform;
        input.input = layer.input, input.padding = layer.padding, filter.kernel = layer.kernel;
        const std::vector<int64_t> y = output_shape(conv);
        output.input = {y[0], (y[1] + layer.tile[0] - 1) / layer.tile[0], (y[2] + layer.tile[1] - 1) / layer.tile[1],
                        y[3]};
        output.output = {y[1], y[2]};
        input.window = output.window = {layer.kernel[0], layer.kernel[1]};
        for (Workload *w : {&input, &filter, &output}) {
            w->tile = layer.tile, w->points = layer.points;
            fill_defaults(w);
            ASSERT_TRUE(validate(*w)) << validate(*w).error().message;
        }
        const auto v = reference(input, operands), u = reference(filter, operands);
        ASSERT_TRUE(v && u);
        const int64_t ci = layer.kernel[2], co = layer.kernel[3];
        const int64_t places = (layer.tile[0] + layer.kernel[0] - 1) * (layer.tile[1] + layer.kernel[1] - 1);
        const int64_t tiles = int64_t(v->expected.size()) / (places * ci);
        std::vector<double> products(places * tiles * co, 0);
        for (int64_t p = 0; p < places; p++)
            for (int64_t t = 0; t < tiles; t++)
                for (int64_t i = 0; i < ci; i++)
                    for (int64_t o = 0; o < co; o++) {
                        products[(p * tiles + t) * co + o] +=
                            v->expected[(p * tiles + t) * ci + i] * u->expected[(p * ci + i) * co + o];
                    }
        Operands transformed;
        transformed.first = f32_tensor(signature(output).operands[0].shape(), products);
        const auto got = reference(output, transformed);
        ASSERT_TRUE(got);
        ASSERT_EQ(got->expected.size(), expected->expected.size()) << key(output);
        for (size_t i = 0; i < got->expected.size(); i++) {
            ASSERT_NEAR(got->expected[i], expected->expected[i], 2e-5) << key(output) << " at " << i;
        }
    }
}

// Positions of the tile's dimensions, layouts and the batch move elements and change none.
TEST(WinogradReference, OrdersOfDimensions) {
    const std::string plain = "winograd_input_transform/input:1x5x6x3/padding:1,1x1,1/window:3x3/tile:2x4";
    const Workload w = workload(plain);
    const Operands operands = make_operands(w, Data::ordinary, 3);
    const auto expected = reference(w, operands);
    ASSERT_TRUE(expected);
    const auto at = [&](int64_t i, int64_t j, int64_t y, int64_t x, int64_t c) {
        return expected->expected[(((i * 6 + j) * 3 + y) * 2 + x) * 3 + c];  // [i=4, j=6, n=1, h=3, w=2, c=3]
    };
    const auto innermost = reference(workload(plain + "/tile_dimensions:3x4/batch:false"), operands);
    const auto between = reference(workload(plain + "/tile_dimensions:4x2"), operands);
    const auto planes = reference(
        workload("winograd_input_transform/input:1x5x6x3/padding:1,1x1,1/output_layout:NCHW/window:3x3/tile:2x4"),
        operands);
    ASSERT_TRUE(innermost && between && planes);
    for (int64_t i = 0; i < 4; i++)
        for (int64_t j = 0; j < 6; j++)
            for (int64_t y = 0; y < 3; y++)
                for (int64_t x = 0; x < 2; x++)
                    for (int64_t c = 0; c < 3; c++) {
                        const double value = at(i, j, y, x, c);
                        ASSERT_EQ(innermost->expected[(((y * 2 + x) * 3 + c) * 4 + i) * 6 + j], value);
                        ASSERT_EQ(between->expected[(((y * 6 + j) * 2 + x) * 4 + i) * 3 + c],
                                  value);  // n, h, j, w, i, c
                        ASSERT_EQ(planes->expected[(((i * 6 + j) * 3 + c) * 3 + y) * 2 + x], value);
                    }
}

TEST(WinogradReference, RefusesWhatHasNoPoints) {
    for (const char *key : {"winograd_filter_transform/kernel:3x3x2x2/tile:9x4",
                            "winograd_filter_transform/kernel:3x3x2x2/tile:4x4/points:7"}) {
        const Workload w = workload(key);
        const auto r = reference(w, make_operands(w, Data::ordinary, 1));
        ASSERT_FALSE(r) << key;
        EXPECT_EQ(r.error().code, ErrorCode::unsupported);
    }
}

TEST(WinogradReference, PositionsInMessages) {
    const Workload w =
        workload("winograd_input_transform/input:1x8x8x4/window:3x3/tile:4x4/tile_dimensions:3x4/batch:false");
    EXPECT_EQ(result_position(w, ((1 * 2 + 0) * 4 + 3) * 36 + 2 * 6 + 5), "output[h=1, w=0, c=3, i=2, j=5]");
}

}  // namespace
}  // namespace kiln
