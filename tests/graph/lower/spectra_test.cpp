// DFT, STFT, windows and mel weights beside sums in plain loops.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "tests/graph/lower/built_model.h"
#include "tests/graph/lower/rule_cases.h"

namespace kiln::graph {
namespace {

using Complex = std::complex<double>;

std::vector<Complex> transform(const std::vector<Complex> &x, size_t length, bool is_inverse) {
    std::vector<Complex> result(length);
    for (size_t k = 0; k < length; k++) {
        for (size_t n = 0; n < std::min(length, x.size()); n++) {
            const double angle = 2 * std::numbers::pi * static_cast<double>(k * n) / static_cast<double>(length);
            result[k] += x[n] * std::polar(1.0, is_inverse ? angle : -angle);
        }
        if (is_inverse) result[k] /= static_cast<double>(length);
    }
    return result;
}

Numbers result_of(const BuiltModel &model, const std::vector<Numbers> &inputs) {
    const auto graph = model.lowered();
    EXPECT_TRUE(graph) << graph.error().message;
    if (!graph) return {};
    const auto outputs = evaluate(*graph, inputs);
    EXPECT_TRUE(outputs) << outputs.error().message;
    return outputs ? outputs->front() : Numbers();
}

double drawn(size_t i) { return std::sin(static_cast<double>(i * i) + 1); }

struct DftRow {
    int64_t opset, extent, parts, length;  // 0: the extent
    bool is_inverse = false, is_one_sided = false;
};

// Two signals side by side behind the axis, so that it is not the one in front of the parts.
void expect_dft(const DftRow &row) {
    constexpr int64_t columns = 2;
    std::vector<double> elements;
    for (int64_t i = 0; i < row.extent * columns * row.parts; i++) elements.push_back(drawn(static_cast<size_t>(i)));
    const Numbers x = floats({1, row.extent, columns, row.parts}, elements);
    BuiltModel model(row.opset);
    model.input("x", x.form.shape).constant("length", whole({}, {row.length})).constant("axis", whole({}, {-3}));
    std::vector<onnx::Attribute> attributes{integer("inverse", row.is_inverse), integer("onesided", row.is_one_sided)};
    std::vector<std::string> inputs{"x", row.length ? "length" : ""};
    if (row.opset < 20) {
        attributes.push_back(integer("axis", 1));
    } else {
        inputs.emplace_back("axis");
    }
    const Numbers got = result_of(model.node("DFT", inputs, {"y"}, attributes).output("y"), {x});
    const auto length = static_cast<size_t>(row.length ? row.length : row.extent);
    const size_t bins = row.is_one_sided ? length / 2 + 1 : length;
    std::vector<double> expected(bins * columns * 2);
    for (int64_t column = 0; column < columns; column++) {
        std::vector<Complex> signal;
        for (int64_t n = 0; n < row.extent; n++) {
            const double *at = elements.data() + (n * columns + column) * row.parts;
            signal.emplace_back(at[0], row.parts == 2 ? at[1] : 0);
        }
        const std::vector<Complex> spectrum = transform(signal, length, row.is_inverse);
        for (size_t k = 0; k < bins; k++) {
            expected[(k * columns + static_cast<size_t>(column)) * 2] = spectrum[k].real();
            expected[(k * columns + static_cast<size_t>(column)) * 2 + 1] = spectrum[k].imag();
        }
    }
    expect_numbers(got, floats({1, static_cast<int64_t>(bins), columns, 2}, expected));
}

TEST(Spectra, Dft) {
    const DftRow rows[] = {
        {17, 8, 1, 0},
        {20, 8, 1, 0, false, true},
        {20, 7, 1, 0, false, true},
        {17, 7, 2, 0},
        {20, 6, 2, 0, true},
        {20, 6, 1, 0, true},
        {17, 6, 1, 9},
        {20, 6, 2, 4},
        {20, 9, 1, 5, false, true},
        {20, 1, 1, 0, false, true},
    };
    for (const DftRow &row : rows) {
        SCOPED_TRACE(std::to_string(row.extent) + "x" + std::to_string(row.parts) + ", length " +
                     std::to_string(row.length));
        expect_dft(row);
    }
}

TEST(Spectra, Stft) {
    const struct {
        int64_t length, step, frame, parts;
        bool has_window, is_one_sided;
    } rows[] = {
        {20, 3, 8, 1, true, true}, {20, 8, 8, 1, false, true}, {9, 2, 5, 1, true, false}, {12, 4, 6, 2, true, false}};
    for (const auto &row : rows) {
        std::vector<double> elements, window;
        for (int64_t i = 0; i < 2 * row.length * row.parts; i++) elements.push_back(drawn(static_cast<size_t>(i)));
        for (int64_t i = 0; i < row.frame; i++) window.push_back(row.has_window ? drawn(static_cast<size_t>(i)) : 1);
        const Numbers x = floats({2, row.length, row.parts}, elements);
        BuiltModel model(17);
        model.input("x", x.form.shape)
            .constant("step", whole({}, {row.step}))
            .constant("frame", whole({}, {row.frame}));
        model.constant("window", floats({row.frame}, window));
        model.node("STFT", {"x", "step", row.has_window ? "window" : "", row.has_window ? "" : "frame"}, {"y"},
                   {integer("onesided", row.is_one_sided)});
        const Numbers got = result_of(model.output("y"), {x});
        const int64_t frames = (row.length - row.frame) / row.step + 1;
        const int64_t bins = row.is_one_sided ? row.frame / 2 + 1 : row.frame;
        std::vector<double> expected;
        for (int64_t signal = 0; signal < 2; signal++) {
            for (int64_t frame = 0; frame < frames; frame++) {
                std::vector<Complex> part;
                for (int64_t n = 0; n < row.frame; n++) {
                    const double *at = elements.data() + (signal * row.length + frame * row.step + n) * row.parts;
                    part.push_back(window[static_cast<size_t>(n)] * Complex(at[0], row.parts == 2 ? at[1] : 0));
                }
                const auto spectrum = transform(part, static_cast<size_t>(row.frame), false);
                for (int64_t k = 0; k < bins; k++) {
                    expected.push_back(spectrum[static_cast<size_t>(k)].real());
                    expected.push_back(spectrum[static_cast<size_t>(k)].imag());
                }
            }
        }
        expect_numbers(got, floats({2, frames, bins, 2}, expected));
    }
}

TEST(Spectra, AFrameIsTheWholeSignalWhereNothingIsSaid) {
    BuiltModel model(17);
    model.input("x", {1, 4, 1}).constant("step", whole({}, {3})).node("STFT", {"x", "step"}, {"y"}).output("y");
    expect_numbers(result_of(model, {floats({1, 4, 1}, {1, 2, 3, 4})}), floats({1, 1, 3, 2}, {10, 0, -2, 2, -2, 0}));
}

TEST(Spectra, Windows) {
    const double root = std::sqrt(0.5);
    const RuleCase rows[] = {
        {"HannWindow", 17, {}, {whole({}, {4})}, {floats({4}, {0, 0.5, 1, 0.5})}},
        {"HannWindow", 17, {integer("periodic", 0)}, {whole({}, {5})}, {floats({5}, {0, 0.5, 1, 0.5, 0})}},
        {"HammingWindow", 17, {}, {whole({}, {2})}, {floats({2}, {4.0 / 46, 1})}},
        {"BlackmanWindow",
         17,
         {},
         {whole({}, {8})},
         {floats({8}, {0, 0.42 - 0.5 * root, 0.34, 0.42 + 0.5 * root, 1, 0.42 + 0.5 * root, 0.34, 0.42 - 0.5 * root})}},
        {"HannWindow", 17, {integer("output_datatype", 11)}, {whole({}, {2})}, {floats({2}, {0, 1}, Element::f64)}},
    };
    for (const RuleCase &row : rows) {
        BuiltModel model(row.opset);
        model.constant("size", *row.inputs[0]).node(row.op_type, {"size"}, {"y"}, row.attributes).output("y");
        expect_numbers(result_of(model, {}), row.outputs[0]);
    }
}

TEST(Spectra, MelWeights) {
    BuiltModel model(17);
    model.constant("mels", whole({}, {2})).constant("length", whole({}, {16})).constant("rate", whole({}, {8000}));
    model.constant("low", floats({}, {0})).constant("high", floats({}, {4000}));
    model.node("MelWeightMatrix", {"mels", "length", "rate", "low", "high"}, {"y"}).output("y");
    // Corners at bins 0, 0, 2 and 4: 0, 427, 1114 and 2220 hertz of 470 a bin.
    const Numbers got = result_of(model, {});
    expect_numbers(got, floats({9, 2}, {1, 0, 0.5, 0.5, 0, 1, 0, 0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Spectra, WhatIsRefused) {
    const auto dft = [](const Shape &shape, std::vector<onnx::Attribute> attributes, int64_t length = 4) {
        BuiltModel model(20);
        model.input("x", shape).constant("length", whole({}, {length}));
        return model.node("DFT", {"x", "length"}, {"y"}, std::move(attributes)).output("y");
    };
    const auto stft = [](const Shape &shape, int64_t step, int64_t frame) {
        BuiltModel model(17);
        model.input("x", shape).constant("step", whole({}, {step})).constant("frame", whole({}, {frame}));
        return model.node("STFT", {"x", "step", "", "frame"}, {"y"}).output("y");
    };
    BuiltModel integers(20);
    integers.input("x", {1, 4, 1}, Element::i32).node("DFT", {"x"}, {"y"}).output("y");
    BuiltModel mels(17);
    mels.constant("many", whole({}, {1 << 15})).constant("rate", whole({}, {8000})).constant("edge", floats({}, {10}));
    mels.node("MelWeightMatrix", {"many", "many", "rate", "edge", "edge"}, {"y"}).output("y");
    const struct {
        BuiltModel model;
        const char *message;
    } rows[] = {
        {integers, "its input is i32, not floats"},
        {mels, "its matrix has more elements than kiln computes beforehand"},
        {dft({1, 4, 3}, {}), "has no last axis of 1 or 2 parts"},
        {dft({4}, {}), "axis -2 does not exist in a value of rank 1"},
        {dft({1, 4, 2}, {integer("onesided", 1)}), "it is one-sided, and its input complex"},
        {dft({1, 4, 1}, {integer("onesided", 1), integer("inverse", 1)}), "it is inverse and one-sided"},
        {dft({1, 4, 1}, {}, 0), "its length is 0"},
        {dft({1, 65536, 1}, {}, 65536), "longer than kiln computes as a matrix product"},
        {stft({1, 8, 2}, 2, 4), "it is one-sided, and its signal complex"},
        {stft({1, 8, 1}, 0, 4), "its frame_step is 0"},
        {stft({1, 8, 1}, 1, 9), "its frames have 9 elements"},
        {stft({8}, 1, 4), "is not N, length, 1 or 2 parts"},
    };
    for (const auto &row : rows) {
        const auto graph = row.model.lowered();
        ASSERT_FALSE(graph) << row.message;
        EXPECT_NE(graph.error().message.find(row.message), std::string::npos) << graph.error().message;
    }
}

}  // namespace
}  // namespace kiln::graph
