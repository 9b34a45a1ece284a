#include "graph/passes/quantization/integer_sums.h"

#include <algorithm>
#include <cmath>

#include "graph/convolution_inputs.h"
#include "workload/quantization/quantization.h"

namespace kiln::graph {
namespace {

bool are_scales(const std::vector<double> &scales) {
    return std::ranges::all_of(scales, [](double scale) { return scale >= 0 && std::isfinite(scale); });
}

}  // namespace

std::optional<QuantizedWeights> quantized_weights(const Rewriting &graph, ValueId id, int axis) {
    const auto w = dequantized(graph, id);
    if (!w || !graph.is_constant(w->stored) || !is_quantized(graph.value(w->stored).form.type)) return {};
    const Shape &shape = graph.shape(w->stored);
    auto scales = along_axis(graph, w->by.scale, axis, shape);
    if (!scales || !are_scales(*scales)) return {};
    QuantizedWeights weights{w->stored, std::move(*scales), {}};
    if (!w->by.zero_point) return weights;
    const auto zero_points = along_axis(graph, *w->by.zero_point, axis, shape);
    if (!zero_points) return {};
    if (std::ranges::any_of(*zero_points, [](double z) { return z != 0; }))
        weights.zero_points.assign(zero_points->begin(), zero_points->end());
    return weights;
}

std::optional<QuantizedInput> quantized_input(const Rewriting &graph, ValueId id) {
    const auto x = dequantized(graph, id);
    if (!x || !is_quantized(graph.value(x->stored).form.type)) return {};
    const auto by = uniform(graph, x->by);
    return by ? std::optional(QuantizedInput{x->stored, *by}) : std::nullopt;
}

bool fits_sums(int64_t products, bool has_wide_weights) { return products <= most_products(has_wide_weights); }

bool are_wide(const Rewriting &graph, ValueId stored, bool have_zero_points) {
    return graph.value(stored).form.type == Element::u8 || have_zero_points;
}

bool are_wide(const Rewriting &graph, const QuantizedWeights &weights) {
    return are_wide(graph, weights.stored, !weights.zero_points.empty());
}

std::optional<std::vector<int64_t>> whole_biases(const std::vector<double> &numbers, const std::vector<double> &units,
                                                 int64_t largest) {
    // A bias is a whole number times a scale. The scale was rounded to f32, and so was the product: each by 2^-24 at most.
    constexpr double rounding = 0x1p-23;
    std::vector<int64_t> result;
    for (size_t o = 0; o < numbers.size(); o++) {
        if (units[o] == 0 && numbers[o] == 0) {
            result.push_back(0);
            continue;
        }
        const double quotient = numbers[o] / units[o], whole = std::nearbyint(quotient);
        const bool is_whole = std::fabs(quotient - whole) <= rounding * std::fabs(whole) && std::isfinite(whole);
        if (!is_whole || std::fabs(whole) > static_cast<double>(largest)) return {};
        result.push_back(static_cast<int64_t>(whole));
    }
    return result;
}

}  // namespace kiln::graph
