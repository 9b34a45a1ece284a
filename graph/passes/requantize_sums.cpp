// What happens to integer sums until they are quantized becomes the requantization of their convolution: one multiplication in
// f32 that rounds once, where floats would be rounded at every step. Numbers that are added become biases of the sums if they
// are whole multiples of the sums' unit; clamps become bounds of the result, as both ascend.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "graph/passes/passes.h"
#include "graph/passes/quantization/clamped_sums.h"
#include "graph/passes/quantization/integer_convolution.h"
#include "graph/passes/quantization/integer_sums.h"
#include "graph/quantized_forms.h"
#include "workload/quantization/quantization.h"

namespace kiln::graph {
namespace {

using StepKind = EpilogueStep::Kind;

constexpr int most_steps_behind = 64;

// The element-wise nodes behind a convolution of integers, as one term of its sums.
struct Behind {
    ValueId sums;
    Term term;
};

std::optional<Behind> behind_sums(const Rewriting &graph, ValueId number) {
    const Shape shape = graph.shape(number);
    Term term = value_term(graph, number);
    for (bool grows = true; grows && size(term) <= most_steps_behind;) {
        grows = false;
        for (const ValueId id : values_in(term)) {
            if (graph.shape(id) != shape || graph.uses(id) > 1) continue;
            if (graph.computed_by<Convolution>(id) && graph.value(id).form.type == Element::i32)
                return Behind{id, term};
            if (!graph.computed_by<Elementwise>(id)) continue;
            term = replaced(std::move(term), id, term_of(graph, id));
            grows = true;
            break;
        }
    }
    return {};
}

class Requantization {
public:
    Requantization(Rewriting &graph, const Behind &behind, const UniformQuantization &by, Element type)
        : graph_(graph),
          sums_(behind.sums),
          convolution_(*graph.producer(behind.sums)),
          op_(std::get<Convolution>(convolution_.op)),
          by_(by),
          type_(type) {}

    std::optional<ValueId> add(const ClampedSums &clamped, ValueId absorbed) {
        std::vector<ValueId> inputs = convolution_.inputs;
        if (!add_biases(clamped, &inputs)) return {};
        std::vector<double> scales;
        for (const double scale : clamped.scale) {
            scales.push_back(static_cast<float>(scale / by_.scale));
            const bool is_normal = scales.back() >= std::numeric_limits<float>::min() && std::isfinite(scales.back());
            if (!is_normal && scale != 0) return {};
        }
        const auto channels = static_cast<int64_t>(scales.size());
        inputs.push_back(floats(graph_, {channels}, std::move(scales)));
        inputs.push_back(integers(graph_, {by_.zero_point}));
        inputs.push_back(integers(graph_, {stored(clamped.lo), stored(clamped.hi)}));
        op_.epilogue.push_back({StepKind::requantize_onnx});
        op_.result_type = type_;
        return graph_.result(std::move(op_), std::move(inputs), {sums_, absorbed});
    }

private:
    int64_t stored(double number) const { return static_cast<int64_t>(*nearest_stored(number, by_, type_)); }

    bool add_biases(const ClampedSums &clamped, std::vector<ValueId> *inputs) {
        if (std::ranges::all_of(clamped.shift, [](double shift) { return shift == 0; })) return true;
        const int64_t products = products_of(graph_.shape(inputs->at(1)));
        const bool is_wide = are_wide(graph_, inputs->at(1), op_.kernel_zero_point);
        const int64_t largest = largest_bias(products, is_wide);
        auto biases = whole_biases(clamped.shift, clamped.scale, largest);
        if (!biases) return false;
        if (!op_.epilogue.empty()) {
            const auto own = along_axis(graph_, inputs->back(), 0, graph_.shape(inputs->back()));
            if (!own) return false;
            for (size_t o = 0; o < biases->size(); o++) {
                (*biases)[o] += static_cast<int64_t>((*own)[o]);
                if (std::abs((*biases)[o]) > largest) return false;
            }
            inputs->pop_back();
            op_.epilogue.clear();
        }
        op_.epilogue.push_back({StepKind::bias});
        inputs->push_back(integers(graph_, std::move(*biases)));
        return true;
    }

    Rewriting &graph_;
    const ValueId sums_;
    const Node convolution_;
    Convolution op_;
    const UniformQuantization by_;
    const Element type_;
};

std::optional<ValueId> requantize(Rewriting &graph, const Node &node) {
    const auto y = quantized(node);
    if (!y || (y->type != Element::i8 && y->type != Element::u8) || graph.uses(y->number) > 1) return {};
    if (graph.shape(y->number) != std::get<Elementwise>(node.op).shape) return {};
    const auto by = uniform(graph, y->by);
    const auto behind = by ? behind_sums(graph, y->number) : std::nullopt;
    if (!behind) return {};
    const auto clamped = clamped_sums(graph, behind->term, behind->sums);
    if (!clamped) return {};
    return Requantization(graph, *behind, *by, y->type).add(*clamped, y->number);
}

}  // namespace

Graph requantize_sums(const Graph &graph) { return has_quantization(graph) ? rewrite(graph, requantize) : graph; }

}  // namespace kiln::graph
