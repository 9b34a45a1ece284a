#include "graph/passes/quantization/clamped_sums.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "graph/passes/quantization/quantized_values.h"

namespace kiln::graph {
namespace {

using ByChannel = std::vector<double>;

class Reader {
public:
    Reader(const Rewriting &graph, ValueId sums) : graph_(graph), sums_(sums), shape_(graph.shape(sums)) {}

    std::optional<ClampedSums> read(const Term &term) const {
        if (term.type != Element::f32) return {};
        if (is(term, Function::cast)) return converted(term.arguments[0]);
        if (is(term, Function::negate) || term.arguments.size() != 2) return {};
        for (const bool swaps : {false, true}) {
            const Term &x = term.arguments[swaps], &other = term.arguments[!swaps];
            const auto number = constant(other);
            if (!number || (swaps && (is(term, Function::divide) || is(term, Function::subtract)))) continue;
            auto before = read(x);
            return before ? joined(term.step.function, std::move(*before), *number) : std::nullopt;
        }
        return {};
    }

private:
    // Sums, and a constant of i32 that may be added to them.
    std::optional<ClampedSums> converted(const Term &term) const {
        const auto channels = static_cast<size_t>(shape_[1]);
        if (is(term, Function::operand)) {
            if (term.step.operand != sums_) return {};
            return ClampedSums{ByChannel(channels, 1), ByChannel(channels, 0)};
        }
        if (!is(term, Function::add) || term.type != Element::i32) return {};
        for (const bool swaps : {false, true}) {
            const Term &sums = term.arguments[swaps], &added = term.arguments[!swaps];
            if (!is(sums, Function::operand) || sums.step.operand != sums_ || !is(added, Function::operand)) continue;
            const auto numbers = along_axis(graph_, added.step.operand, 1, shape_);
            if (numbers) return ClampedSums{ByChannel(channels, 1), *numbers};
        }
        return {};
    }

    std::optional<ByChannel> constant(const Term &term) const {
        if (is_number(term)) return ByChannel(shape_[1], term.step.number);
        if (!is(term, Function::operand) || !is_float(term.type)) return {};
        return along_axis(graph_, term.step.operand, 1, shape_);
    }

    static bool is_uniform(const ByChannel &numbers) {
        return std::ranges::all_of(numbers, [&](double number) { return number == numbers.front(); });
    }
    static bool has_bounds(const ClampedSums &x) { return std::isfinite(x.lo) || std::isfinite(x.hi); }

    static std::optional<ClampedSums> joined(Function function, ClampedSums x, const ByChannel &by) {
        if (function == Function::minimum || function == Function::maximum) {
            if (!is_uniform(by) || std::isnan(by.front())) return {};
            if (function == Function::minimum) {
                x.hi = std::min(x.hi, by.front()), x.lo = std::min(x.lo, by.front());
            } else {
                x.lo = std::max(x.lo, by.front()), x.hi = std::max(x.hi, by.front());
            }
            return x;
        }
        // Bounds are one number for all channels, and stay in their order.
        if (has_bounds(x) && !(is_uniform(by) && by.front() > 0)) return {};
        for (size_t c = 0; c < by.size(); c++) {
            if (!apply(function, by[c], &x.scale[c], &x.shift[c])) return {};
        }
        if (!has_bounds(x)) return x;
        double scale = 0;
        apply(function, by.front(), &scale, &x.lo);
        apply(function, by.front(), &scale, &x.hi);
        return x;
    }

    static bool apply(Function function, double by, double *scale, double *shift) {
        switch (function) {
            case Function::multiply:
                *scale *= by, *shift *= by;
                return true;
            case Function::divide:
                *scale /= by, *shift /= by;
                return true;
            case Function::add:
                *shift += by;
                return true;
            case Function::subtract:
                *shift -= by;
                return true;
            default:
                return false;
        }
    }

    const Rewriting &graph_;
    const ValueId sums_;
    const Shape shape_;
};

}  // namespace

std::optional<ClampedSums> clamped_sums(const Rewriting &graph, const Term &term, ValueId sums) {
    if (graph.shape(sums)[1] == 0) return {};
    return Reader(graph, sums).read(term);
}

}  // namespace kiln::graph
