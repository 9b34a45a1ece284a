// Convolutions of one input with the same window become one with the output channels of all of them, and parts of its result.
// The input is read once, and narrow ones fill vectors together. Where channels are outermost in memory, the parts are not
// copied.
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "graph/convolution_inputs.h"
#include "network/alter/alteration.h"
#include "network/alter/plain_input.h"

namespace kiln::network {
namespace {

using namespace graph;

constexpr size_t most_together = 16;

// Whether each input behind the first is a constant with one part for each output channel: weights, and numbers for channels.
// The zero points and bounds of quantized convolutions are for all channels, and what an epilogue adds is a whole tensor.
bool has_only_constants(const GraphIndex &graph, const Node &node) {
    if (is_quantized(graph.value(node.inputs[0]).form.type)) return false;
    for (size_t i = 1; i < node.inputs.size(); i++) {
        if (!graph.is_constant(node.inputs[i])) return false;
        if (graph.shape(node.inputs[i]).empty() || graph.shape(node.inputs[i])[0] != graph.shape(node.inputs[1])[0])
            return false;
        if (i > 1 && graph.shape(node.inputs[i]).size() != 1) return false;
    }
    return true;
}

bool is_single(const GraphIndex &graph, const Node &node) {
    const auto *op = std::get_if<Convolution>(&node.op);
    return op && op->groups == 1 && has_plain_input(*op) && node.inputs[0] != node.inputs[1] &&
           !graph.is_constant(node.inputs[0]) && has_only_constants(graph, node) && graph.shape(node.output)[1] > 0;
}

bool fit(const GraphIndex &graph, const Node &a, const Node &b) {
    const auto window = [&](const Node &node) {
        Shape shape = graph.shape(node.inputs[1]);
        shape[0] = 0;
        return shape;
    };
    return a.op == b.op && a.inputs[0] == b.inputs[0] && a.inputs.size() == b.inputs.size() && window(a) == window(b) &&
           graph.value(a.inputs[1]).form.type == graph.value(b.inputs[1]).form.type;
}

// Input `index` of all of them, one behind the other along the output channels, which are outermost.
ValueId joined(const GraphIndex &graph, const std::vector<const Node *> &nodes, size_t index, Patch *patch) {
    TypedShape form = graph.value(nodes[0]->inputs[index]).form;
    form.shape[0] = 0;
    std::vector<std::byte> bytes;
    for (const Node *node : nodes) {
        const Value &part = graph.value(node->inputs[index]);
        form.shape[0] += part.form.shape[0];
        bytes.insert(bytes.end(), part.constant->bytes().begin(), part.constant->bytes().end());
    }
    return patch->constant(std::move(form), ConstantData(std::move(bytes)));
}

Patch join(const GraphIndex &graph, const std::vector<const Node *> &nodes) {
    Patch patch(graph.graph());
    std::vector<ValueId> inputs{nodes[0]->inputs[0]};
    for (size_t i = 1; i < nodes[0]->inputs.size(); i++) inputs.push_back(joined(graph, nodes, i, &patch));
    const ValueId whole = patch.node(nodes[0]->op, inputs);
    int64_t begin = 0;
    for (const Node *node : nodes) {
        std::vector<int64_t> channels(size_t(graph.shape(node->output)[1]));
        std::iota(channels.begin(), channels.end(), begin);
        begin += std::ssize(channels);
        const Resample part{{{.axis = 1, .taps = 1, .indices = std::move(channels), .weights = {}}}, 0};
        patch.replace(node->output, patch.node(part, {whole}, {node->output}));
    }
    return patch;
}

// Whose results are copied anyway: joining them copies twice.
bool goes_to_concat(const GraphIndex &graph, const Node *node) {
    const auto &readers = graph.readers(node->output);
    return !readers.empty() &&
           std::ranges::all_of(readers, [](const Node *reader) { return std::holds_alternative<Concat>(reader->op); });
}

}  // namespace

std::vector<Patch> side_by_side(const GraphIndex &graph, const Node &node) {
    if (!is_single(graph, node)) return {};
    std::vector<const Node *> all;
    for (const Node *reader : graph.readers(node.inputs[0])) {
        const bool is_later = all.empty() ? reader == &node : is_single(graph, *reader) && fit(graph, node, *reader);
        if (is_later) all.push_back(reader);
        if (all.size() == most_together) break;
    }
    if (all.size() < 2) return {};
    std::vector<Patch> patches{join(graph, all)};
    std::vector<const Node *> others = all;
    std::erase_if(others, [&](const Node *n) { return goes_to_concat(graph, n); });
    if (others.size() > 1 && others.size() < all.size()) patches.push_back(join(graph, others));
    return patches;
}

}  // namespace kiln::network
