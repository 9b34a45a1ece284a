// Elements at places that are computed when the network runs: Gather and GridSample.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/graph/lower/built_model.h"
#include "tests/graph/lower/rule_cases.h"

namespace kiln::graph {
namespace {

TEST(Gathers, ByComputedIndices) {
    const Numbers table = counted({4, 2});  // 1 to 8
    const struct {
        Element type;
        int64_t axis;
        Numbers indices;
        Numbers result;
    } rows[] = {
        {Element::i64, 0, whole({2, 1}, {3, 0}), floats({2, 1, 2}, {7, 8, 1, 2})},
        {Element::i32, 0, whole({3}, {-1, 1, -4}, Element::i32), floats({3, 2}, {7, 8, 3, 4, 1, 2})},
        {Element::i64, -1, whole({}, {1}), floats({4}, {2, 4, 6, 8})},
        // ONNX has no meaning for these.
        {Element::i64, 0, whole({2}, {4, -5}), floats({2, 2}, {0, 0, 0, 0})},
    };
    for (const auto &row : rows) {
        BuiltModel model(13);
        model.constant("table", table).input("i", row.indices.form.shape, row.type);
        model.node("Gather", {"table", "i"}, {"y"}, {integer("axis", row.axis)}).output("y");
        expect_result_of(model, {row.indices}, row.result);
    }
}

// The places on an axis of two pixels, 10 and 20, in steps of a quarter of the image and beyond.
TEST(GridSample, PlacesOfAnAxis) {
    const double places[] = {-1.75, -1, -0.5, -0.25, 0, 0.5, 1, 1.5};
    const struct {
        const char *mode, *padding;
        bool aligned;
        std::vector<double> result;
    } rows[] = {
        // Pixels lie at -0.5 and 0.5: a place p is pixel p + 0.5.
        {"bilinear", "zeros", false, {0, 5, 10, 12.5, 15, 20, 10, 0}},
        {"bilinear", "border", false, {10, 10, 10, 12.5, 15, 20, 20, 20}},
        {"bilinear", "reflection", false, {12.5, 10, 10, 12.5, 15, 20, 20, 20}},
        {"nearest", "zeros", false, {0, 10, 10, 10, 10, 20, 0, 0}},
        // Rounded before it is reflected: -1.25 is pixel -1, whose reflection is 0; 1.5 is 2, which is 1.
        {"nearest", "reflection", false, {10, 10, 10, 10, 10, 20, 20, 20}},
        // Pixels lie at -1 and 1: a place p is pixel (p + 1) / 2.
        {"bilinear", "zeros", true, {6.25, 10, 12.5, 13.75, 15, 17.5, 20, 15}},
        {"bilinear", "border", true, {10, 10, 12.5, 13.75, 15, 17.5, 20, 20}},
        {"bilinear", "reflection", true, {13.75, 10, 12.5, 13.75, 15, 17.5, 20, 17.5}},
        {"nearest", "border", true, {10, 10, 10, 10, 10, 20, 20, 20}},
    };
    for (const auto &row : rows) {
        for (const bool is_row : {true, false}) {
            SCOPED_TRACE(std::string(row.mode) + " " + row.padding + (row.aligned ? " aligned" : "") +
                         (is_row ? " x" : " y"));
            std::vector<double> grid;
            for (const double place : places) {
                // The other axis has one pixel: its middle.
                grid.push_back(is_row ? place : 0);
                grid.push_back(is_row ? 0 : place);
            }
            BuiltModel model(16);
            model.input("x", is_row ? Shape{1, 1, 1, 2} : Shape{1, 1, 2, 1}).input("grid", {1, 2, 4, 2});
            model.node(
                "GridSample", {"x", "grid"}, {"y"},
                {text("mode", row.mode), text("padding_mode", row.padding), integer("align_corners", row.aligned)});
            model.output("y");
            expect_result_of(
                model, {floats(is_row ? Shape{1, 1, 1, 2} : Shape{1, 1, 2, 1}, {10, 20}), floats({1, 2, 4, 2}, grid)},
                floats({1, 1, 2, 4}, row.result));
        }
    }
}

// Keys' kernel with a = -0.75, by the distance between a pixel and a place.
double cubic_weight(double distance) {
    const double d = std::abs(distance), a = -0.75;
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? a * (((d - 5) * d + 8) * d - 4) : 0;
}

// The pixel that stands for pixel i of an axis: that at its end, or the one that a mirror there shows; -1 for none.
int64_t pixel_inside(int64_t i, int64_t count, const std::string &padding, bool aligned) {
    if (padding == "border") return std::clamp<int64_t>(i, 0, count - 1);
    while (padding == "reflection" && (i < 0 || i >= count)) {
        if (count == 1) return 0;
        i = i < 0 ? -i - (aligned ? 0 : 1) : 2 * count - i - (aligned ? 2 : 1);
    }
    return i < count ? i : -1;
}

TEST(GridSample, CubicPlacesOfAnAxis) {
    const std::vector<double> pixels{3, -1, 4, 1, 5};
    const double places[] = {-2.2, -1.3, -1, -0.7, -0.1, 0, 0.25, 0.8, 1, 1.4, 2.6, 0.5};
    for (const char *padding : {"zeros", "border", "reflection"}) {
        for (const bool aligned : {false, true}) {
            for (const int64_t count : {1, 2, 5}) {
                SCOPED_TRACE(std::string(padding) + (aligned ? " aligned " : " ") + std::to_string(count));
                std::vector<double> grid, expected;
                for (const double place : places) {
                    grid.insert(grid.end(), {0, place});
                    const auto n = static_cast<double>(count);
                    const double at = aligned ? (place + 1) * (n - 1) / 2 : ((place + 1) * n - 1) / 2;
                    double sum = 0;
                    for (auto i = static_cast<int64_t>(std::floor(at)) - 1; i <= std::floor(at) + 2; i++) {
                        const int64_t pixel = pixel_inside(i, count, padding, aligned);
                        if (pixel >= 0)
                            sum += cubic_weight(at - static_cast<double>(i)) * pixels[static_cast<size_t>(pixel)];
                    }
                    expected.push_back(sum);
                }
                BuiltModel model(20);
                model.input("x", {1, 1, count, 1}).input("grid", {1, 3, 4, 2});
                model.node("GridSample", {"x", "grid"}, {"y"},
                           {text("mode", "cubic"), text("padding_mode", padding), integer("align_corners", aligned)});
                model.output("y");
                expect_result_of(
                    model,
                    {floats({1, 1, count, 1}, {pixels.begin(), pixels.begin() + count}), floats({1, 3, 4, 2}, grid)},
                    floats({1, 1, 3, 4}, expected));
            }
        }
    }
}

TEST(GridSample, ImagesAndChannels) {
    // Each image has its own grid, each channel the same.
    BuiltModel model(20);
    model.input("x", {2, 2, 2, 3}).input("grid", {2, 1, 1, 2});
    model.node("GridSample", {"x", "grid"}, {"y"}, {integer("align_corners", 1)}).output("y");
    expect_result_of(model, {counted({2, 2, 2, 3}), floats({2, 1, 1, 2}, {1, -1, 0.5, 1})},
                     floats({2, 2, 1, 1}, {3, 9, 17.5, 23.5}));
}

// Many channels are gathered side by side, few plane by plane.
TEST(GridSample, ManyChannels) {
    for (const int64_t channels : {7, 8, 9}) {
        BuiltModel model(16);
        model.input("x", {1, channels, 2, 1}).input("grid", {1, 1, 2, 2});
        model.node("GridSample", {"x", "grid"}, {"y"}, {integer("align_corners", 1)}).output("y");
        std::vector<double> image, expected;
        for (int64_t c = 0; c < channels; c++) {
            image.insert(image.end(), {double(c), double(10 * c)});
            expected.insert(expected.end(), {double(c), 5.5 * double(c)});
        }
        expect_result_of(model, {floats({1, channels, 2, 1}, image), floats({1, 1, 2, 2}, {0, -1, 0, 0})},
                         floats({1, channels, 1, 2}, expected));
    }
}

TEST(AffineGrid, MovesTheMiddlesOfPixels) {
    const struct {
        bool aligned;
        std::vector<double> grid;  // of 2x3 pixels: x, y
    } rows[] = {
        {true, {-1, -1, 0, -1, 1, -1, -1, 1, 0, 1, 1, 1}},
        {false, {-2. / 3, -.5, 0, -.5, 2. / 3, -.5, -2. / 3, .5, 0, .5, 2. / 3, .5}},
    };
    for (const auto &row : rows) {
        BuiltModel model(20);
        model.input("maps", {1, 2, 3}).constant("size", list({1, 7, 2, 3}));
        model.node("AffineGrid", {"maps", "size"}, {"y"}, {integer("align_corners", row.aligned)}).output("y");
        std::vector<double> expected;  // x' = 2x + y, y' = y - 3
        for (size_t i = 0; i < row.grid.size(); i += 2) {
            expected.insert(expected.end(), {2 * row.grid[i] + row.grid[i + 1], row.grid[i + 1] - 3});
        }
        expect_result_of(model, {floats({1, 2, 3}, {2, 1, 0, 0, 1, -3})}, floats({1, 2, 3, 2}, expected));
    }
}

TEST(AffineGrid, WhatItRefuses) {
    const auto message = [](const Shape &maps, Element type, std::vector<int64_t> size) {
        BuiltModel model(20);
        model.input("maps", maps, type).constant("size", list(std::move(size)));
        const auto graph = model.node("AffineGrid", {"maps", "size"}, {"y"}).output("y").lowered();
        return graph ? "accepted" : graph.error().message;
    };
    const struct {
        std::string got;
        const char *expected;
    } rows[] = {
        {message({1, 2, 3}, Element::f32, {1, 1, 16384, 8192}),
         "its grid has more places than kiln computes beforehand"},
        {message({1, 2, 3}, Element::i32, {1, 1, 2, 2}), "its maps are i32, not floats"},
        {message({1, 3, 4}, Element::f32, {1, 1, 2, 2}), "its maps of shape 1x3x4 do not fit a size of 1x1x2x2"},
        {message({2, 2, 3}, Element::f32, {1, 1, 2, 2}), "do not fit a size of 1x1x2x2"},
    };
    for (const auto &row : rows) EXPECT_NE(row.got.find(row.expected), std::string::npos) << row.got;
}

TEST(AffineGrid, OfVolumes) {
    BuiltModel model(20);
    model.input("maps", {2, 3, 4}).constant("size", list({2, 1, 1, 2, 1}));
    model.node("AffineGrid", {"maps", "size"}, {"y"}).output("y");
    // Places x = 0, y = -0.5 and 0.5, z = 0.
    const std::vector<double> maps{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3};
    expect_result_of(model, {floats({2, 3, 4}, maps)}, floats({2, 1, 2, 1, 3}, {3, 5, 7, 5, 11, 17, 1, 2, 3, 1, 2, 3}));
}

// A place in the middle between two pixels beyond the border.
TEST(GridSample, RoundsBeforeItReflects) {
    BuiltModel model(16);
    model.input("x", {1, 1, 1, 2}).input("grid", {1, 1, 1, 2});
    model.node("GridSample", {"x", "grid"}, {"y"}, {text("mode", "nearest"), text("padding_mode", "reflection")})
        .output("y");
    // Pixel -1.5 is -2, and its reflection 1.
    expect_result_of(model, {floats({1, 1, 1, 2}, {10, 20}), floats({1, 1, 1, 2}, {-2, 0})},
                     floats({1, 1, 1, 1}, {20}));
}

TEST(GridSample, WhatItRefuses) {
    const auto model = [](const Shape &x, const Shape &grid, std::vector<onnx::Attribute> attributes) {
        BuiltModel built(16);
        built.input("x", x).input("grid", grid).node("GridSample", {"x", "grid"}, {"y"}, std::move(attributes));
        return built.output("y");
    };
    const struct {
        BuiltModel model;
        ErrorCode code;
        const char *message;
    } rows[] = {
        {model({1, 1, 2, 2}, {1, 2, 2, 2}, {text("mode", "spline")}), ErrorCode::bad_input, "its mode is 'spline'"},
        {model({1, 1, 2, 2}, {1, 2, 2, 2}, {text("padding_mode", "wrap")}), ErrorCode::bad_input,
         "'padding_mode' is 'wrap'"},
        {model({1, 1, 2}, {1, 2, 1}, {}), ErrorCode::unsupported,
         "its input has 3 axes, its grid 3; kiln samples images"},
        {model({1, 1, 2, 2, 2}, {1, 2, 2, 2}, {}), ErrorCode::unsupported, "its input has 5 axes, its grid 4"},
        {model({1, 1, 2, 2, 2}, {1, 2, 2, 2, 3}, {text("mode", "cubic")}), ErrorCode::unsupported,
         "its mode is cubic; kiln samples volumes by linear and nearest"},
        {model({1, 1, 2, 2, 2}, {1, 2, 2, 2, 2}, {}), ErrorCode::bad_input, "its grid of shape 1x2x2x2x2 does not fit"},
        {model({1, 1, 2, 0, 2}, {1, 2, 2, 2, 3}, {}), ErrorCode::bad_input, "its images have no pixels"},
        {model({1, 1, 2, 2}, {1, 2, 2, 3}, {}), ErrorCode::bad_input, "its grid of shape 1x2x2x3 does not fit"},
        {model({2, 1, 2, 2}, {1, 2, 2, 2}, {}), ErrorCode::bad_input, "does not fit an input of shape 2x1x2x2"},
        {model({65, 1, 2, 2}, {65, 2, 2, 2}, {}), ErrorCode::unsupported, "it samples 65 images; kiln samples 1 to 64"},
    };
    for (const auto &row : rows) {
        const auto graph = row.model.lowered();
        ASSERT_FALSE(graph) << row.message;
        EXPECT_EQ(graph.error().code, row.code);
        EXPECT_NE(graph.error().message.find(row.message), std::string::npos) << graph.error().message;
    }
}

}  // namespace
}  // namespace kiln::graph
