#include "graph/passes/quantization/integer_convolution.h"

#include <functional>
#include <numeric>
#include <utility>

namespace kiln::graph {

int64_t products_of(const Shape &weights) {
    return std::accumulate(weights.begin() + 1, weights.end(), int64_t{1}, std::multiplies<>());
}

Shape beside_channels(int64_t channels, size_t axes) {
    Shape shape(axes, 1);
    shape[1] = channels;
    return shape;
}

std::vector<double> IntegerConvolution::units() const {
    std::vector<double> result = w.scales;
    for (double &unit : result) unit *= x.by.scale;
    return result;
}

ValueId IntegerConvolution::add(Rewriting &graph, Convolution op, ValueId stored, ValueId weights) const {
    const auto channels = static_cast<size_t>(graph.shape(weights)[0]);
    std::vector<ValueId> inputs{stored, weights, integers(graph, {x.by.zero_point})};
    op.epilogue.clear();
    if (!w.zero_points.empty()) {
        op.kernel_zero_point = true;
        inputs.push_back(integers(graph, w.zero_points));
    }
    if (!biases.empty() && biases.size() == channels) {
        op.epilogue.push_back({EpilogueStep::Kind::bias});
        inputs.push_back(integers(graph, biases));
    }
    return graph.between(std::move(op), std::move(inputs));
}

}  // namespace kiln::graph
