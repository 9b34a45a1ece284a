// A convolution with strides as one without: the phases of a stride become channels, and weights of the window lie as the
// phases do. Padding and the last pixels that no window reads go into the same movement. First layers of networks gain, whose
// three channels fill no vector.
//
//   y[o, p] = sum over c, r of w[o, c, r] * x[c, p * s + r],  r = q * s + t:  channels (t, c), window of q, ceil(r / s) wide
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>

#include "graph/convolution_inputs.h"
#include "network/alter/alteration.h"
#include "network/alter/plain_input.h"

namespace kiln::network {
namespace {

using namespace graph;

constexpr int64_t most_channels = 8;        // of the input
constexpr int64_t most_new_channels = 512;  // of what takes its place
constexpr int64_t most_padding = 64;        // at each end

struct Phases {
    Shape counts;   // phases of each spatial axis
    Shape windows;  // of the new convolution
    Shape extents;  // of its input
};

int64_t product(const Shape &shape) {
    return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

Phases phases_of(const Convolution &op, const Shape &weights, const Shape &result) {
    Phases phases{op.strides, {}, {}};
    for (size_t d = 0; d < op.strides.size(); d++) {
        phases.windows.push_back((weights[d + 2] + op.strides[d] - 1) / op.strides[d]);
        phases.extents.push_back(result[d + 2] + phases.windows[d] - 1);
    }
    return phases;
}

// What padding stands for, and weights that no window has: nothing where the first is not known, or the second is not 0.
std::optional<double> zero_of(const GraphIndex &graph, const Node &node) {
    if (!is_quantized(graph.value(node.inputs[0]).form.type)) return 0;
    if (std::get<Convolution>(node.op).kernel_zero_point || !graph.is_constant(node.inputs[2])) return {};
    return double(read_integer(Element::i32, graph.value(node.inputs[2]).constant->bytes().data()));
}

bool applies(const GraphIndex &graph, const Node &node) {
    const auto *op = std::get_if<Convolution>(&node.op);
    if (!op || op->groups != 1 || !has_plain_input(*op)) return false;
    if (!graph.is_constant(node.inputs[1]) || graph.is_constant(node.inputs[0])) return false;
    const auto is_one = [](int64_t n) { return n == 1; };
    const auto is_small = [](int64_t n) { return n <= most_new_channels; };
    const auto is_thin = [](const Padding &p) { return p.lo <= most_padding && p.hi <= most_padding; };
    const Shape &x = graph.shape(node.inputs[0]), &result = graph.shape(node.output);
    if (!std::ranges::all_of(op->strides, is_small) || !std::ranges::all_of(op->padding, is_thin)) return false;
    if (op->strides.size() > 3 || !zero_of(graph, node)) return false;
    return !std::ranges::all_of(op->strides, is_one) && std::ranges::all_of(op->dilations, is_one) &&
           std::ranges::all_of(op->input_dilation, is_one) && x[1] <= most_channels && std::ranges::count(x, 0) == 0 &&
           std::ranges::count(result, 0) == 0 && std::ranges::count(graph.shape(node.inputs[1]), 0) == 0 &&
           x[1] * product(op->strides) <= most_new_channels;
}

// N, C, spatial... as N, (phases..., C), spatial..., padded and cut to what the windows read.
ValueId moved_input(const GraphIndex &graph, const Node &node, const Phases &phases, Patch *patch) {
    const auto &op = std::get<Convolution>(node.op);
    const ValueId x = node.inputs[0];
    const Shape &shape = graph.shape(x);
    const auto rank = static_cast<int>(phases.counts.size());
    Resample cut{{}, *zero_of(graph, node)};
    Shape apart{shape[0], shape[1]};
    for (int d = 0; d < rank; d++) {
        const int64_t count = phases.counts[d] * phases.extents[d];
        Resample::Axis axis{.axis = d + 2, .taps = 1, .indices = {}, .weights = {}};
        for (int64_t i = 0; i < count; i++) {
            const int64_t from = i - op.padding[d].lo;
            axis.indices.push_back(from >= 0 && from < shape[d + 2] ? from : Resample::outside);
        }
        const bool is_whole = count == shape[d + 2] && op.padding[d].lo == 0;
        if (!is_whole) cut.axes.push_back(std::move(axis));
        apart.insert(apart.end(), {phases.extents[d], phases.counts[d]});
    }
    std::vector<int> permutation{0};
    for (int d = 0; d < rank; d++) permutation.push_back(2 * d + 3);
    permutation.push_back(1);
    for (int d = 0; d < rank; d++) permutation.push_back(2 * d + 2);
    Shape together{shape[0], shape[1] * product(phases.counts)};
    together.insert(together.end(), phases.extents.begin(), phases.extents.end());
    const std::vector<ValueId> computes{node.output};
    ValueId y = cut.axes.empty() ? x : patch->node(std::move(cut), {x}, computes);
    y = patch->node(Reshape{std::move(apart)}, {y}, computes);
    y = patch->node(Transpose{std::move(permutation)}, {y}, computes);
    return patch->node(Reshape{std::move(together)}, {y}, computes);
}

// Element by element, in whatever type they have.
ValueId moved_weights(const Value &weights, const Phases &phases, Patch *patch) {
    const Shape &shape = weights.form.shape;
    const size_t size = size_t(size_of(weights.form.type)), rank = phases.counts.size();
    const int64_t outputs = shape[0], channels = shape[1], taps = product({shape.begin() + 2, shape.end()});
    TypedShape form{weights.form.type, {outputs, channels * product(phases.counts)}};
    form.shape.insert(form.shape.end(), phases.windows.begin(), phases.windows.end());
    const int64_t new_taps = product(phases.windows);
    std::vector<std::byte> bytes(size_t(*element_count(form.shape)) * size);
    const std::byte *from = weights.constant->bytes().data();
    for (int64_t tap = 0; tap < taps; tap++) {
        int64_t phase = 0, place = 0, step = 1, rest = tap;
        Shape index(rank);
        for (size_t d = rank; d-- > 0; rest /= shape[d + 2]) index[d] = rest % shape[d + 2];
        for (size_t d = 0; d < rank; d++) phase = phase * phases.counts[d] + index[d] % phases.counts[d];
        for (size_t d = rank; d-- > 0; step *= phases.windows[d]) place += index[d] / phases.counts[d] * step;
        for (int64_t o = 0; o < outputs; o++) {
            for (int64_t c = 0; c < channels; c++) {
                const int64_t to = (o * form.shape[1] + phase * channels + c) * new_taps + place;
                std::memcpy(bytes.data() + size_t(to) * size, from + size_t((o * channels + c) * taps + tap) * size,
                            size);
            }
        }
    }
    return patch->constant(std::move(form), ConstantData(std::move(bytes)));
}

}  // namespace

std::vector<Patch> space_to_depth(const GraphIndex &graph, const Node &node) {
    if (!applies(graph, node)) return {};
    auto op = std::get<Convolution>(node.op);
    const Phases phases = phases_of(op, graph.shape(node.inputs[1]), graph.shape(node.output));
    Patch patch(graph.graph());
    std::vector<ValueId> inputs = node.inputs;
    inputs[0] = moved_input(graph, node, phases, &patch);
    inputs[1] = moved_weights(graph.value(node.inputs[1]), phases, &patch);
    op.strides.assign(op.strides.size(), 1);
    op.padding.assign(op.padding.size(), {});
    patch.replace(node.output, patch.node(std::move(op), std::move(inputs), {node.output}));
    return {std::move(patch)};
}

}  // namespace kiln::network
