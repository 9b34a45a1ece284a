#include "graph/passes/quantization/center_weights.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "graph/convolution_inputs.h"
#include "graph/rewriting/rewriting.h"

namespace kiln::graph {
namespace {

// Which input of the node has the zero points of its weights; nothing where there are none.
std::optional<size_t> input_of_zero_points(const Rewriting &graph, const Convolution &op, const Node &node) {
    const auto further = further_inputs(op, graph.value(node.inputs[0]).form, graph.shape(node.inputs[0]));
    const auto found = std::ranges::find(further, Role::kernel_zero_point, &ConvolutionInput::role);
    if (found == further.end()) return {};
    return size_t(found - further.begin()) + 2;
}

// One for each output channel; zeros where `input` is none.
std::optional<std::vector<int64_t>> zero_points(const Rewriting &graph, const Node &node, std::optional<size_t> input) {
    const auto outputs = size_t(graph.shape(node.inputs[1])[0]);
    if (!input) return std::vector<int64_t>(outputs, 0);
    if (!graph.is_constant(node.inputs[*input])) return {};
    const Numbers numbers = graph.numbers(node.inputs[*input]);
    return std::get<std::vector<int64_t>>(numbers.elements);
}

// Nothing where a difference does not fit i8.
std::optional<std::vector<std::byte>> centered(std::span<const std::byte> weights, bool has_sign,
                                               const std::vector<int64_t> &points) {
    std::vector<std::byte> result;
    result.reserve(weights.size());
    const size_t of_output = weights.size() / points.size();
    for (size_t i = 0; i < weights.size(); i++) {
        const auto byte = static_cast<uint8_t>(weights[i]);
        const int64_t weight = has_sign ? int64_t{static_cast<int8_t>(byte)} : int64_t{byte};
        const int64_t difference = weight - points[i / of_output];
        if (difference < std::numeric_limits<int8_t>::min() || difference > std::numeric_limits<int8_t>::max())
            return {};
        result.push_back(static_cast<std::byte>(difference));
    }
    return result;
}

std::optional<ValueId> center(Rewriting &graph, const Node &node) {
    const auto *op = std::get_if<Convolution>(&node.op);
    if (!op || !graph.is_constant(node.inputs[1])) return {};
    const Value &weights = graph.value(node.inputs[1]);
    const bool has_sign = weights.form.type == Element::i8;
    if (!has_sign && weights.form.type != Element::u8) return {};
    const std::optional<size_t> input = input_of_zero_points(graph, *op, node);
    if (has_sign && !input) return {};
    const auto points = zero_points(graph, node, input);
    if (!points || weights.constant->bytes().empty()) return {};
    auto bytes = centered(weights.constant->bytes(), has_sign, *points);
    if (!bytes) return {};
    Convolution changed = *op;
    changed.kernel_zero_point = false;
    std::vector<ValueId> inputs = node.inputs;
    inputs[1] = graph.constant({Element::i8, weights.form.shape}, ConstantData(std::move(*bytes)));
    if (input) inputs.erase(inputs.begin() + std::ptrdiff_t(*input));
    return graph.result(std::move(changed), std::move(inputs));
}

}  // namespace

Graph center_weights(const Graph &graph) { return rewrite(graph, center); }

}  // namespace kiln::graph
