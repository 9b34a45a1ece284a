#include "graph/lower/composed/spectra.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"

namespace kiln::graph {
namespace {

// 128 MiB in f32. A fast transform would need no such matrix.
constexpr int64_t most_factors = int64_t{1} << 25;

// exp(-2 pi i k n / length), or with the other sign. The product is taken modulo the length, so that large angles lose no digits.
struct Turn {
    double cosine, sine;
};
Turn turn(int64_t k, int64_t n, int64_t length, bool is_inverse) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k * n % length) / static_cast<double>(length);
    return {std::cos(angle), is_inverse ? std::sin(angle) : -std::sin(angle)};
}

struct Transform {
    int64_t length = 1;       // of the transform
    int64_t parts = 1;        // of a number of the input: 2 where it is complex
    int64_t bins = 1;         // of the result
    bool is_inverse = false;  // divides by the length
};

// What part `part` of number n adds to the real and the imaginary part of bin k.
Turn factor(const Transform &t, int64_t n, int64_t part, int64_t k) {
    const Turn by = turn(k, n, t.length, t.is_inverse);
    const double scale = t.is_inverse ? 1 / static_cast<double>(t.length) : 1;
    return part == 0 ? Turn{scale * by.cosine, scale * by.sine} : Turn{-scale * by.sine, scale * by.cosine};
}

void check_transform(const NodeLowering &node, const Transform &t, int64_t taken) {
    if (t.length < 1 || t.length > most_places) reject("its length is " + std::to_string(t.length));
    if (taken * t.parts > most_factors / (2 * t.bins)) {
        refuse("it is of length " + std::to_string(t.length) + ", longer than kiln computes as a matrix product");
    }
    node.check_room({taken * t.parts, 2 * t.bins});
}

void check_floats(const NodeLowering &node, ValueId x) {
    if (!is_float(node.type(x))) reject("its input is " + std::string(name(node.type(x))) + ", not floats");
}

int64_t bins_of(int64_t length, bool is_one_sided) { return is_one_sided ? length / 2 + 1 : length; }

void transform(NodeLowering &node, int axis) {
    const Attributes &a = node.attributes;
    ValueId x = node.input(0);
    const Shape shape = node.shape(x);
    const int rank = node.rank(x);
    check_floats(node, x);
    if (rank < 2 || shape.back() < 1 || shape.back() > 2) {
        reject("its input of shape " + to_text(shape) + " has no last axis of 1 or 2 parts");
    }
    if (axis == rank - 1) reject("its axis is that of the parts of a number");
    const bool is_one_sided = a.flag("onesided", false);
    const int64_t length = node.has_input(1) ? node.known_integer(1, "dft_length") : shape[axis];
    const Transform t{length, shape.back(), bins_of(length, is_one_sided), a.flag("inverse", false)};
    if (is_one_sided && t.is_inverse) refuse("it is inverse and one-sided");
    if (is_one_sided && t.parts == 2) reject("it is one-sided, and its input complex");
    // What lies beyond the length is left out; what is missing is 0.
    const int64_t taken = std::min(length, shape[axis]);
    check_transform(node, t, taken);
    if (taken < shape[axis]) x = take(node, x, {{axis, index_range(0, taken)}});
    std::vector<int> to_end(static_cast<size_t>(rank));  // the axis in front of the parts; the same way back
    std::iota(to_end.begin(), to_end.end(), 0);
    std::swap(to_end[static_cast<size_t>(axis)], to_end[static_cast<size_t>(rank) - 2]);
    x = node.transpose(x, to_end);
    std::vector<double> matrix;
    for (int64_t n = 0; n < taken; n++) {
        for (int64_t part = 0; part < t.parts; part++) {
            for (int64_t k = 0; k < t.bins; k++) {
                const Turn by = factor(t, n, part, k);
                matrix.insert(matrix.end(), {by.cosine, by.sine});
            }
        }
    }
    const ValueId factors = node.constant({{node.type(x), {taken * t.parts, 2 * t.bins}}, std::move(matrix)});
    Shape result = node.shape(x);
    const int64_t rows = value_or_refusal(element_count({result.begin(), result.end() - 2}));
    const ValueId product = node.add(MatrixProduct{}, {node.reshape(x, {rows, taken * t.parts}), factors});
    result[static_cast<size_t>(rank) - 2] = t.bins;
    result.back() = 2;
    node.result(node.transpose(node.reshape(product, result), to_end));
}

Element stated_type(const NodeLowering &node) {
    const Element type = node.attributes.type("output_datatype", Element::f32);
    if (!is_float(type)) refuse("its elements are " + std::string(name(type)) + "; kiln computes floats");
    return type;
}

// sum of terms[i] * cos(2 pi i n / length)
void window(NodeLowering &node, const std::vector<double> &terms) {
    const int64_t size = node.known_integer(0, "size");
    if (size < 0 || size > most_places) reject("its size is " + std::to_string(size));
    node.check_room({size});
    const Element type = stated_type(node);
    const int64_t length = std::max<int64_t>(node.attributes.flag("periodic", true) ? size : size - 1, 1);
    std::vector<double> elements;
    for (int64_t n = 0; n < size; n++) {
        double element = 0;
        for (size_t i = 0; i < terms.size(); i++) {
            element += terms[i] * turn(static_cast<int64_t>(i), n, length, false).cosine;
        }
        elements.push_back(element);
    }
    node.result(node.constant({{type, {size}}, std::move(elements)}));
}

}  // namespace

void dft_of_opset_17(NodeLowering &node) {
    transform(node, axis_of(node.attributes.integer("axis", 1), node.rank(node.input(0))));
}

void dft(NodeLowering &node) {
    const int64_t axis = node.has_input(2) ? node.known_integer(2, "axis") : -2;
    transform(node, axis_of(axis, node.rank(node.input(0))));
}

void stft(NodeLowering &node) {
    ValueId x = node.input(0);
    if (node.rank(x) == 2) x = node.reshape(x, {node.shape(x)[0], node.shape(x)[1], 1});
    const Shape shape = node.shape(x);
    check_floats(node, x);
    if (shape.size() != 3 || shape[2] < 1 || shape[2] > 2) {
        reject("its signal of shape " + to_text(shape) + " is not N, length, 1 or 2 parts");
    }
    const int64_t step = node.known_integer(1, "frame_step");
    std::vector<double> window = node.has_input(2) ? node.known_reals(2, "window") : std::vector<double>();
    const int64_t longest = node.has_input(2) ? static_cast<int64_t>(window.size()) : shape[1];
    const int64_t length = node.has_input(3) ? node.known_integer(3, "frame_length") : longest;
    if (!node.has_input(2)) window.assign(static_cast<size_t>(std::clamp<int64_t>(length, 0, most_places)), 1);
    if (step < 1) reject("its frame_step is " + std::to_string(step));
    if (length != int64_t(window.size()) || length < 1 || length > shape[1]) {
        reject("its frames have " + std::to_string(length) + " elements, its window " + std::to_string(window.size()) +
               ", and its signal " + std::to_string(shape[1]));
    }
    const bool is_one_sided = node.attributes.flag("onesided", true);
    if (is_one_sided && shape[2] == 2) reject("it is one-sided, and its signal complex");
    const Transform t{length, shape[2], bins_of(length, is_one_sided), false};
    check_transform(node, t, length);
    std::vector<double> kernel;  // real and imaginary part of each bin, parts of a number, its place in the frame
    for (int64_t k = 0; k < t.bins; k++) {
        for (const bool is_imaginary : {false, true}) {
            for (int64_t part = 0; part < t.parts; part++) {
                for (int64_t n = 0; n < length; n++) {
                    const Turn by = factor(t, n, part, k);
                    kernel.push_back(window[static_cast<size_t>(n)] * (is_imaginary ? by.sine : by.cosine));
                }
            }
        }
    }
    const ValueId weights = node.constant({{node.type(x), {2 * t.bins, t.parts, length}}, std::move(kernel)});
    const Convolution frames{.strides = {step},
                             .input_dilation = {1},
                             .dilations = {1},
                             .padding = {{}},
                             .epilogue = {},
                             .prologue = {},
                             .depthwise = {}};
    const ValueId y = node.add(frames, {node.transpose(x, {0, 2, 1}), weights});
    const int64_t count = node.shape(y)[2];
    node.result(node.transpose(node.reshape(y, {shape[0], t.bins, 2, count}), {0, 3, 1, 2}));
}

void hann_window(NodeLowering &node) { window(node, {0.5, -0.5}); }
void hamming_window(NodeLowering &node) { window(node, {25.0 / 46, -21.0 / 46}); }
void blackman_window(NodeLowering &node) { window(node, {0.42, -0.5, 0.08}); }

// Triangles over bins of a spectrum, whose corners lie in equal steps on the mel scale.
void mel_weight_matrix(NodeLowering &node) {
    const int64_t mels = node.known_integer(0, "num_mel_bins"), length = node.known_integer(1, "dft_length");
    const int64_t rate = node.known_integer(2, "sample_rate");
    const auto edge = [&](int input, const char *name) {
        const std::vector<double> hertz = node.known_reals(input, name);
        if (hertz.size() != 1 || !(hertz[0] >= 0)) reject("its edges must be single frequencies");
        return 2595 * std::log10(1 + hertz[0] / 700);
    };
    const double low = edge(3, "lower_edge_hertz"), high = edge(4, "upper_edge_hertz");
    if (mels < 1 || length < 1 || rate < 1 || mels > most_places || length > most_places) {
        reject("it needs bins, a length and a rate of 1 or more");
    }
    const int64_t bins = length / 2 + 1;
    if (bins > most_factors / mels) refuse("its matrix has more elements than kiln computes beforehand");
    node.check_room({bins, mels});
    std::vector<int64_t> corners;
    for (int64_t i = 0; i < mels + 2; i++) {
        const double mel = low + static_cast<double>(i) * ((high - low) / static_cast<double>(mels + 2));
        const double hertz = 700 * (std::pow(10, mel / 2595) - 1);
        const double bin = std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
        if (!(bin >= 0 && bin < static_cast<double>(bins))) reject("its edges lie outside of the spectrum");
        corners.push_back(static_cast<int64_t>(bin));
    }
    std::vector<double> weights(static_cast<size_t>(bins * mels));
    for (int64_t i = 0; i < mels; i++) {
        const auto at = [&](int64_t bin) -> double & { return weights[static_cast<size_t>(bin * mels + i)]; };
        const int64_t first = corners[i], center = corners[i + 1], last = corners[i + 2];
        for (int64_t bin = first; bin < center; bin++) at(bin) = double(bin - first) / double(center - first);
        at(center) = 1;
        for (int64_t bin = center; bin < last; bin++) at(bin) = double(last - bin) / double(last - center);
    }
    node.result(node.constant({{stated_type(node), {bins, mels}}, std::move(weights)}));
}

}  // namespace kiln::graph
