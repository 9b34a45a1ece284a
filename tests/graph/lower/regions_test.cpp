// RoiAlign beside its samples in plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/graph/lower/built_model.h"
#include "tests/graph/lower/rule_cases.h"

namespace kiln::graph {
namespace {

constexpr int64_t channels = 2, height = 5, width = 6, bin_rows = 2, bin_columns = 3;

// x, y, x, y of each: one within its image, across its border, of less than a pixel, turned about, around the whole image.
const std::vector<double> corners{0, 0, 4, 4, 1.25, -2, 5.5, 7, 3, 3, 3.25, 3.125, 4, 4, 1, 2, -3.25, -2.75, 10, 9.5};
const std::vector<int64_t> images{0, 1, 1, 0, 1};

struct Pooling {
    int64_t opset;
    std::string mode;
    int64_t ratio;
    double scale;
    std::string coordinates = "";  // left out

    bool is_half_pixel() const { return opset >= 16 && coordinates != "output_half_pixel"; }
    std::vector<onnx::Attribute> attributes() const {
        std::vector<onnx::Attribute> all{text("mode", mode), integer("sampling_ratio", ratio),
                                         integer("output_height", bin_rows), integer("output_width", bin_columns),
                                         real("spatial_scale", static_cast<float>(scale))};
        if (!coordinates.empty()) all.push_back(text("coordinate_transformation_mode", coordinates));
        return all;
    }
};

// The four pixels around a place, each times its weight.
std::array<double, 4> pixels_around(const double *plane, double y, double x) {
    if (y < -1 || y > double(height) || x < -1 || x > double(width)) return {};
    y = std::clamp(y, 0.0, double(height - 1));
    x = std::clamp(x, 0.0, double(width - 1));
    const auto top = static_cast<int64_t>(y), left = static_cast<int64_t>(x);
    const int64_t bottom = std::min(top + 1, height - 1), right = std::min(left + 1, width - 1);
    const double down = y - double(top), across = x - double(left);
    return {(1 - down) * (1 - across) * plane[top * width + left], (1 - down) * across * plane[top * width + right],
            down * (1 - across) * plane[bottom * width + left], down * across * plane[bottom * width + right]};
}

// Along one axis of a region: where it begins, how long a bin is and how many samples it has.
struct Bins {
    Bins(const Pooling &row, double low, double high, int64_t count) {
        first = low * row.scale - (row.is_half_pixel() ? 0.5 : 0);
        double size = high * row.scale - (row.is_half_pixel() ? 0.5 : 0) - first;
        if (!row.is_half_pixel()) size = std::max(size, 1.0);
        length = size / double(count);
        samples = row.ratio > 0 ? row.ratio : static_cast<int64_t>(std::ceil(length));
    }
    double place(int64_t bin, int64_t sample) const {
        return first + double(bin) * length + (double(sample) + 0.5) * length / double(samples);
    }
    double first, length;
    int64_t samples;
};

double pooled(const Pooling &row, const double *plane, const Bins &y, const Bins &x, int64_t i, int64_t j) {
    double sum = 0;
    std::vector<double> terms;
    for (int64_t down = 0; down < y.samples; down++) {
        for (int64_t right = 0; right < x.samples; right++) {
            for (const double term : pixels_around(plane, y.place(i, down), x.place(j, right))) {
                sum += term;
                terms.push_back(term);
            }
        }
    }
    if (row.mode == "avg") return sum / double(std::max<int64_t>(y.samples * x.samples, 1));
    return terms.empty() ? 0 : *std::ranges::max_element(terms);
}

Numbers pooled_regions(const Pooling &row, const std::vector<double> &image_pixels) {
    std::vector<double> result;
    for (size_t region = 0; region < images.size(); region++) {
        const double *corner = corners.data() + 4 * region;
        const Bins y(row, corner[1], corner[3], bin_rows), x(row, corner[0], corner[2], bin_columns);
        for (int64_t c = 0; c < channels; c++) {
            const double *plane = image_pixels.data() + (images[region] * channels + c) * height * width;
            for (int64_t i = 0; i < bin_rows; i++) {
                for (int64_t j = 0; j < bin_columns; j++) result.push_back(pooled(row, plane, y, x, i, j));
            }
        }
    }
    return floats({static_cast<int64_t>(images.size()), channels, bin_rows, bin_columns}, result);
}

TEST(RoiAlign, BesidePlainLoops) {
    std::vector<Pooling> rows;
    for (const char *mode : {"avg", "max"}) {
        for (const int64_t ratio : {0, 1, 2, 3}) {
            for (const double scale : {1.0, 0.75}) {
                rows.push_back({10, mode, ratio, scale});
                rows.push_back({16, mode, ratio, scale});
                rows.push_back({22, mode, ratio, scale, "half_pixel"});
                rows.push_back({16, mode, ratio, scale, "output_half_pixel"});
            }
        }
    }
    std::vector<double> pixels;
    for (int64_t i = 0; i < 2 * channels * height * width; i++) pixels.push_back(double(i * 7919 % 23 - 11));
    const Numbers x = floats({2, channels, height, width}, pixels), rois = floats({5, 4}, corners),
                  which = list(images);
    for (const Pooling &row : rows) {
        for (const bool knows_regions : {false, true}) {
            for (const bool knows_images : {false, true}) {
                if (row.ratio == 0 && !knows_regions) continue;
                SCOPED_TRACE(row.mode + " " + std::to_string(row.opset) + " ratio " + std::to_string(row.ratio) +
                             " scale " + std::to_string(row.scale) + " " + row.coordinates +
                             (knows_regions ? " known regions" : "") + (knows_images ? " known images" : ""));
                std::vector<Numbers> inputs{x};
                BuiltModel model(row.opset);
                model.input("x", x.form.shape);
                if (knows_regions) model.constant("rois", rois);
                if (!knows_regions) model.input("rois", rois.form.shape), inputs.push_back(rois);
                if (knows_images) model.constant("images", which);
                if (!knows_images) model.input("images", which.form.shape, Element::i64), inputs.push_back(which);
                model.node("RoiAlign", {"x", "rois", "images"}, {"y"}, row.attributes()).output("y");
                // Places are kept in f32, and neighbours differ by up to 22.
                expect_result_of(model, inputs, pooled_regions(row, pixels), 1e-4);
            }
        }
    }
}

// Numbers of onnxruntime 1.31 and of onnx's reference.
TEST(RoiAlign, AsOthersComputeIt) {
    const struct {
        const char *mode, *coordinates;
        int64_t ratio;
        std::vector<double> result;
    } rows[] = {
        {"avg", "half_pixel", 0, {1.515625, 3.025391, 2.109375, 4.316406, 0, -3.28125, 0, 0}},
        {"avg", "output_half_pixel", 2, {4.660645, 3.476562, 3.283691, 5.673828, -1.25, -1.25, 0, 0}},
        {"max", "half_pixel", 2, {5.009766, 3.148438, 7.119141, 3.322266, 0, 0.5625, 0, 0}},
        {"max", "output_half_pixel", 0, {6.626953, 3.738281, 2.513672, 5.5, 0, 2.8125, 0, 0}},
    };
    const Numbers x = floats({1, 1, 3, 4}, {3, -1, 4, 1, -5, 9, 2, 6, -5, 3, 5, 8});
    for (const auto &row : rows) {
        SCOPED_TRACE(std::string(row.mode) + " " + row.coordinates);
        BuiltModel model(16);
        model.input("x", x.form.shape).constant("images", list({0, 0}));
        model.constant("rois", floats({2, 4}, {0.5, 0.25, 3, 2.5, -2, 1, 1, 9}));
        model.node("RoiAlign", {"x", "rois", "images"}, {"y"},
                   {text("mode", row.mode), text("coordinate_transformation_mode", row.coordinates),
                    integer("sampling_ratio", row.ratio), integer("output_height", 2), integer("output_width", 2)});
        expect_result_of(model.output("y"), {x}, floats({2, 1, 2, 2}, row.result));
    }
}

// ONNX has no meaning for images that there are not; regions of them are 0.
TEST(RoiAlign, ComputedImagesBeyondTheLast) {
    for (const int64_t count : {1, 2}) {
        BuiltModel model(16);
        model.input("x", {count, 1, 1, 1}).constant("rois", floats({3, 4}, {0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1}));
        model.input("images", {3}, Element::i64);
        model.node("RoiAlign", {"x", "rois", "images"}, {"y"}, {integer("sampling_ratio", 1)}).output("y");
        expect_result_of(model, {counted({count, 1, 1, 1}, 5), list({0, -1, count})}, floats({3, 1, 1, 1}, {5, 0, 0}));
    }
}

TEST(RoiAlign, WithoutRegions) {
    BuiltModel model(16);
    model.input("x", {1, 3, 4, 4}).constant("rois", floats({0, 4}, {})).constant("images", list({}));
    model.node("RoiAlign", {"x", "rois", "images"}, {"y"}).output("y");
    expect_result_of(model, {counted({1, 3, 4, 4})}, floats({0, 3, 1, 1}, {}));
}

TEST(RoiAlign, WhatItRefuses) {
    const auto model = [](int64_t regions, std::vector<onnx::Attribute> attributes) {
        BuiltModel built(16);
        built.input("x", {1, 1, 4, 4}).input("rois", {regions, 4});
        built.constant("images", list(std::vector<int64_t>(static_cast<size_t>(regions))));
        return built.node("RoiAlign", {"x", "rois", "images"}, {"y"}, std::move(attributes)).output("y");
    };
    const auto known = [](const Numbers &rois, const Numbers &which) {
        BuiltModel built(16);
        built.input("x", {1, 1, 4, 4}).constant("rois", rois).constant("images", which);
        return built.node("RoiAlign", {"x", "rois", "images"}, {"y"}).output("y");
    };
    const struct {
        BuiltModel model;
        ErrorCode code;
        const char *message;
    } rows[] = {
        {model(5, {}), ErrorCode::unsupported,
         "its input 'rois' is known only when the network runs, and kiln needs it before: where the attribute "
         "'sampling_ratio' is 0, the number of samples follows from it; set sampling_ratio to 1 or more, or export the "
         "model with it as a constant"},
        {model(1, {}), ErrorCode::unsupported, "or state what it follows from: --constant 'rois'=..."},
        {model(1, {integer("sampling_ratio", -1)}), ErrorCode::bad_input, "1x1 bins of -1 samples a side"},
        {model(1, {integer("output_width", 0)}), ErrorCode::bad_input, "it cuts regions into 1x0 bins"},
        {model(1, {text("mode", "min")}), ErrorCode::bad_input, "its attribute 'mode' is 'min'"},
        {model(1, {text("coordinate_transformation_mode", "pixel")}), ErrorCode::bad_input,
         "'coordinate_transformation_mode' is 'pixel', which must be half_pixel or output_half_pixel"},
        {model(1, {real("spatial_scale", INFINITY)}), ErrorCode::bad_input, "'spatial_scale' is not finite"},
        {model(1, {integer("output_width", int64_t{1} << 50), integer("sampling_ratio", 1)}), ErrorCode::bad_input,
         "the most that kiln takes"},
        {known(floats({1, 4}, {0, 0, 1e30, 1}), list({0})), ErrorCode::unsupported, "a region of it is too large"},
        {known(floats({1, 4}, {0, 0, 1e4, 1e4}), list({0})), ErrorCode::unsupported,
         "it takes elements of 100000000 places, which is too many"},
        {known(floats({1, 4}, {0, 0, nan, 1}), list({0})), ErrorCode::unsupported, "a region of it is too large"},
        {known(counted({1, 4}), list({1})), ErrorCode::bad_input, "'batch_indices' has an image 1 of 1"},
        {known(counted({1, 4}), whole({1}, {0}, Element::i32)), ErrorCode::bad_input,
         "its batch_indices are i32, not i64"},
        {known(counted({1, 4}), list({0, 0})), ErrorCode::bad_input,
         "its rois of shape 1x4 and batch_indices of shape 2 are not Rx4 and R"},
        {known(floats({1, 4}, {0, 0, 1, 1}, Element::f64), list({0})), ErrorCode::unsupported,
         "kiln samples f32 in regions of f32"},
    };
    for (const auto &row : rows) expect_refused(row.model, row.code, row.message);
}

}  // namespace
}  // namespace kiln::graph
