#include "graph/passes/quantization/quantized_averages.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "graph/passes/quantization/integer_convolution.h"
#include "graph/passes/quantization/integer_sums.h"

namespace kiln::graph {
namespace {

constexpr int64_t most_taps = 1 << 16;       // of a window along one axis
constexpr int64_t most_positions = 1 << 24;  // of a window: numbers are listed for them

// Averages over windows and over all spatial axes as sums of taps.
struct Average {
    Convolution op;
    Shape window;
    std::vector<std::vector<double>> counts = {};  // taps that each position of a spatial axis counts
};

int64_t reach(const Pool &pool, size_t d) { return (pool.window[d] - 1) * pool.dilations[d] + 1; }

// Positions of the window along one spatial axis.
int64_t positions(const Pool &pool, size_t d, int64_t input) {
    const int64_t rest = input + pool.padding[d].lo + pool.padding[d].hi + pool.beyond[d] - reach(pool, d);
    return rest < 0 ? 0 : rest / pool.strides[d] + 1;
}

// Taps of each window along one spatial axis that lie in the input, or in its padding where that counts.
std::vector<double> counted_taps(const Pool &pool, size_t d, int64_t input) {
    const int64_t lo = pool.padding[d].lo, hi = pool.padding[d].hi;
    const int64_t begin = pool.counts_padding ? -lo : 0, end = pool.counts_padding ? input + hi : input;
    // The first tap that is not in front of a place.
    const auto tap_at = [&](int64_t start, int64_t place) {
        const int64_t dilation = pool.dilations[d];
        return std::clamp<int64_t>((std::max<int64_t>(place - start, 0) + dilation - 1) / dilation, 0, pool.window[d]);
    };
    std::vector<double> counts;
    for (int64_t i = 0; i < positions(pool, d, input); i++) {
        const int64_t start = i * pool.strides[d] - lo;
        counts.push_back(static_cast<double>(std::max<int64_t>(tap_at(start, end) - tap_at(start, begin), 0)));
    }
    return counts;
}

std::optional<Average> average(const Rewriting &graph, const Node &node) {
    const Shape &shape = node.inputs.empty() ? Shape() : graph.shape(node.inputs[0]);
    if (shape.size() < 3 || shape.size() > 5) return {};
    Average result;
    const size_t rank = shape.size() - 2;
    result.op.input_dilation.assign(rank, 1);
    result.op.groups = shape[1];
    if (const auto *pool = std::get_if<Pool>(&node.op)) {
        if (pool->kind != Pool::Kind::average) return {};
        result.op.strides = pool->strides, result.op.dilations = pool->dilations, result.op.padding = pool->padding;
        result.window = pool->window;
        int64_t all = 1;
        for (size_t d = 0; d < rank; d++) {
            const int64_t along = positions(*pool, d, shape[d + 2]);
            if (pool->window[d] > most_taps || along > most_positions || along * all > most_positions) return {};
            all *= std::max<int64_t>(along, 1);
            result.op.padding[d].hi += pool->beyond[d];
            result.counts.push_back(counted_taps(*pool, d, shape[d + 2]));
        }
        return result;
    }
    const auto *reduce = std::get_if<Reduce>(&node.op);
    if (!reduce || reduce->kind != Reduce::Kind::mean) return {};
    std::vector<int> spatial(rank);
    std::iota(spatial.begin(), spatial.end(), 2);
    if (reduce->axes != spatial) return {};
    result.op.strides.assign(rank, 1), result.op.dilations.assign(rank, 1), result.op.padding.assign(rank, {});
    result.window = Shape(shape.begin() + 2, shape.end());
    for (const int64_t extent : result.window) result.counts.push_back({static_cast<double>(extent)});
    return result;
}

// Where all windows of an axis count as many taps, that is part of one unit; else sums are divided by the product of the
// others' counts at each position.
struct Divisor {
    double all = 1;
    std::optional<ValueId> at_positions;
};

Divisor divisor(Rewriting &graph, const Average &mean) {
    Divisor result;
    Shape shape{1, 1};
    std::vector<double> products{1};
    for (const std::vector<double> &counts : mean.counts) {
        const bool is_uniform = std::ranges::all_of(counts, [&](double count) { return count == counts[0]; });
        if (is_uniform && !counts.empty()) result.all *= counts[0];
        const std::vector<double> own = is_uniform ? std::vector<double>{1} : counts;
        std::vector<double> next;
        for (const double product : products) {
            for (const double count : own) next.push_back(product * count);
        }
        products = std::move(next);
        shape.push_back(static_cast<int64_t>(own.size()));
    }
    if (products.size() > 1) result.at_positions = floats(graph, shape, std::move(products));
    return result;
}

}  // namespace

std::optional<ValueId> quantized_average(Rewriting &graph, const Node &node) {
    // Averages list numbers for their positions; most are of floats.
    if (!std::holds_alternative<Pool>(node.op) && !std::holds_alternative<Reduce>(node.op)) return {};
    const auto x = quantized_input(graph, node.inputs[0]);
    const auto mean = x ? average(graph, node) : std::nullopt;
    if (!mean) return {};
    const int64_t channels = mean->op.groups;
    Shape shape{channels, 1};
    shape.insert(shape.end(), mean->window.begin(), mean->window.end());
    const int64_t taps = products_of(shape);
    if (taps < 1 || channels < 1 || !fits_sums(taps, false)) return {};
    const ValueId ones =
        graph.constant({Element::i8, shape}, ConstantData(std::vector<std::byte>(channels * taps, std::byte{1})));
    const IntegerConvolution sums{*x, {ones, {1.0}, {}}};
    const ValueId total = sums.add(graph, mean->op, x->stored, ones);
    const Divisor by = divisor(graph, *mean);
    Expression number = apply(Function::multiply, cast(operand(0), Element::f32), operand(1));
    std::vector<ValueId> inputs{total, floats(graph, {}, {x->by.scale / by.all})};
    if (by.at_positions) {
        number = apply(Function::divide, std::move(number), operand(2));
        inputs.push_back(*by.at_positions);
    }
    return graph.result(Elementwise{std::move(number), graph.shape(total)}, std::move(inputs));
}

}  // namespace kiln::graph
