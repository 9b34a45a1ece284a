// GridSample of volumes beside plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/graph/lower/built_model.h"
#include "tests/graph/lower/rule_cases.h"

namespace kiln::graph {
namespace {

struct VolumeSampling {
    std::string mode, padding;
    bool is_aligned;

    // The place in pixels inside of an axis that stands for one from -1 to 1.
    double pixel(double place, int64_t count) const {
        const auto n = double(count);
        double at = is_aligned ? (place + 1) * (n - 1) / 2 : ((place + 1) * n - 1) / 2;
        if (mode == "nearest") at = std::nearbyint(at);
        const double low = is_aligned ? 0 : -0.5, high = is_aligned ? n - 1 : n - 0.5;
        while (padding == "reflection" && high > low && (at < low || at > high))
            at = at < low ? 2 * low - at : 2 * high - at;
        return padding == "zeros" ? at : std::clamp(at, 0.0, n - 1);
    }

    // What each pixel of an axis counts for a place.
    std::map<int64_t, double> weights(double place, int64_t count) const {
        const double at = pixel(place, count), first = std::floor(at);
        const auto i = static_cast<int64_t>(first);
        std::map<int64_t, double> all{{i, 1 - (at - first)}, {i + 1, at - first}};
        std::erase_if(all, [&](const auto &entry) { return entry.first < 0 || entry.first >= count; });
        return all;
    }
};

TEST(GridSample, Volumes) {
    const double places[] = {-1.7, -1, -0.6, 0.1, 0.45, 1, 1.3};
    for (const char *mode : {"linear", "nearest"}) {
        for (const char *padding : {"zeros", "border", "reflection"}) {
            for (const bool is_aligned : {false, true}) {
                // Many channels are gathered side by side, few volume by volume.
                for (const Shape &shape : {Shape{1, 2, 2, 3, 4}, Shape{2, 1, 1, 2, 3}, Shape{2, 9, 3, 2, 1}}) {
                    SCOPED_TRACE(std::string(mode) + " " + padding + (is_aligned ? " aligned " : " ") + to_text(shape));
                    const VolumeSampling sampling{mode, padding, is_aligned};
                    const Shape grid_shape{shape[0], 2, 3, 2, 3};
                    std::vector<double> grid(*element_count(grid_shape)), volume(*element_count(shape));
                    for (size_t i = 0; i < grid.size(); i++) grid[i] = places[i * i % 7] + 0.01 * double(i % 5);
                    for (size_t i = 0; i < volume.size(); i++) volume[i] = double(i * 7919 % 23) - 11;
                    std::vector<double> expected;
                    for (int64_t n = 0; n < shape[0]; n++) {
                        for (int64_t c = 0; c < shape[1]; c++) {
                            for (int64_t p = 0; p < 12; p++) {
                                const double *place = grid.data() + (n * 12 + p) * 3;  // x, y, z
                                double sum = 0;
                                for (const auto &[d, a] : sampling.weights(place[2], shape[2])) {
                                    for (const auto &[h, b] : sampling.weights(place[1], shape[3])) {
                                        for (const auto &[w, e] : sampling.weights(place[0], shape[4])) {
                                            const int64_t plane = (n * shape[1] + c) * shape[2] + d;
                                            sum += a * b * e *
                                                   volume[static_cast<size_t>((plane * shape[3] + h) * shape[4] + w)];
                                        }
                                    }
                                }
                                expected.push_back(sum);
                            }
                        }
                    }
                    BuiltModel model(20);
                    model.input("x", shape).input("grid", grid_shape);
                    model.node(
                        "GridSample", {"x", "grid"}, {"y"},
                        {text("mode", mode), text("padding_mode", padding), integer("align_corners", is_aligned)});
                    expect_result_of(model.output("y"), {floats(shape, volume), floats(grid_shape, grid)},
                                     floats({shape[0], shape[1], 2, 3, 2}, expected), 1e-5);
                }
            }
        }
    }
}

// Numbers of onnxruntime 1.31 and of onnx's reference.
TEST(GridSample, AVolumeAsOthersSampleIt) {
    const struct {
        const char *mode;
        bool is_aligned;
        std::vector<double> result;
    } rows[] = {
        {"linear", false, {2.625, 1.453125, 2.9375, 6.875}},
        {"linear", true, {7, 3.515625, 11.5, 6.6875}},
        {"nearest", false, {7, 0, 0, 5}},
        {"nearest", true, {7, 2, 12, 5}},
    };
    for (const auto &row : rows) {
        BuiltModel model(20);
        model.input("x", {1, 1, 2, 2, 3}).input("grid", {1, 1, 2, 2, 3});
        model.node("GridSample", {"x", "grid"}, {"y"},
                   {text("mode", row.mode), integer("align_corners", row.is_aligned)});
        expect_result_of(model.output("y"),
                         {counted({1, 1, 2, 2, 3}),
                          floats({1, 1, 2, 2, 3}, {-1, -0.5, 0.75, 0.25, 0, -1.125, 0.5, 1, 1, 0, 0.125, 0})},
                         floats({1, 1, 1, 2, 2}, row.result));
    }
}

}  // namespace
}  // namespace kiln::graph
