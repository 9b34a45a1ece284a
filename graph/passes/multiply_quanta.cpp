// Functions of one or two stored numbers that divide, such as additions of quantized tensors and the requantization of what is
// concatenated, become a rounded sum of multiples:
//
//   round(min(max(x0 * factor0 + x1 * factor1 + shift, lo), hi))
//
// Bounds are whole numbers, so that they may come before the rounding. It is used where it gives the same result for all 256 or
// 65536 operands, which is tried. The multiples are those of the function in exact arithmetic, or numbers of f32 beside them: a
// result near a half may want another last place.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "graph/passes/passes.h"
#include "graph/passes/quantization/multiples.h"
#include "graph/passes/quantization/quantized_values.h"
#include "graph/passes/quantization/stored_function.h"
#include "graph/quantized_forms.h"
#include "graph/rewriting/value_terms.h"

namespace kiln::graph {
namespace {

bool is_of_f32(const Multiples &m) {
    constexpr double most = 1e30;  // also false for NaN
    return std::abs(m.factors[0]) < most && std::abs(m.factors[1]) < most && std::abs(m.shift) < most;
}

bool divides(const Term &term) { return is(term, Function::divide) || std::ranges::any_of(term.arguments, divides); }

// What the new expression computes, each step rounded to f32. Products and sums of two numbers of f32 are as good as exact in
// double.
struct Candidate {
    std::array<float, 2> factors{};
    float shift = 0;
    float behind = 0;  // a whole number that is added behind the rounding: halves go to the other side where it is odd

    static float sum(float a, float b) { return static_cast<float>(double(a) + double(b)); }
    float operator()(double x0, double x1) const {
        const auto multiple0 = static_cast<float>(x0 * factors[0]), multiple1 = static_cast<float>(x1 * factors[1]);
        return sum(static_cast<float>(std::nearbyint(sum(sum(multiple0, multiple1), shift))), behind);
    }
};

float moved(double number, int places) {
    auto nearest = static_cast<float>(number);
    for (; places > 0; places--) nearest = std::nextafterf(nearest, INFINITY);
    for (; places < 0; places++) nearest = std::nextafterf(nearest, -INFINITY);
    return nearest;
}

// By how many last places the numbers of a candidate are moved, the nearest first.
using Places = std::array<int, 3>;
std::vector<Places> places_around(size_t inputs) {
    constexpr int most = 3;
    std::vector<Places> all;
    for (int a = -most; a <= most; a++) {
        for (int b = inputs == 2 ? -most : 0; b <= (inputs == 2 ? most : 0); b++) {
            for (int c = -most; c <= most; c++) all.push_back({a, b, c});
        }
    }
    const auto distance = [](const Places &p) { return std::abs(p[0]) + std::abs(p[1]) + std::abs(p[2]); };
    std::ranges::stable_sort(all, {}, distance);
    return all;
}

class Proof {
public:
    Proof(const Rewriting &graph, const StoredFunction &function) : function_(function) {
        for (size_t i = 0; i < function.inputs.size(); i++)
            smallest_[i] = int64_t(range_of_quanta(graph.value(function.inputs[i]).form.type).lo);
        const auto [lo, hi] = std::ranges::minmax(function.results);
        lo_ = static_cast<float>(lo), hi_ = static_cast<float>(hi);
    }

    std::optional<Candidate> find(const Multiples &exact) {
        for (const float behind : {0.0F, 1.0F}) {
            for (const Places &places : places_around(function_.inputs.size())) {
                const Candidate candidate{{moved(exact.factors[0], places[0]), moved(exact.factors[1], places[1])},
                                          moved(exact.shift - behind, places[2]),
                                          behind};
                if (holds(candidate)) return candidate;
            }
        }
        return {};
    }

    float lo() const { return lo_; }
    float hi() const { return hi_; }

private:
    // Where one candidate fails, others do.
    bool holds(const Candidate &candidate) {
        if (!std::ranges::all_of(hard_, [&](size_t i) { return holds_at(candidate, i); })) return false;
        for (size_t i = 0; i < function_.results.size(); i++) {
            if (holds_at(candidate, i)) continue;
            hard_.push_back(i);
            return false;
        }
        return true;
    }

    bool holds_at(const Candidate &candidate, size_t i) const {
        const bool has_two = function_.inputs.size() == 2;
        const size_t first = has_two ? i / stored_values : i, second = has_two ? i % stored_values : 0;
        const float got = candidate(double(smallest_[0]) + double(first), double(smallest_[1]) + double(second));
        return std::clamp(got, lo_, hi_) == static_cast<float>(function_.results[i]);
    }

    const StoredFunction &function_;
    std::array<int64_t, 2> smallest_{};
    float lo_ = 0, hi_ = 0;
    std::vector<size_t> hard_;
};

// Numbers that are no bounds of the type are inputs, so that one kernel serves all.
class Writer {
public:
    Writer(Rewriting &graph, Element type) : graph_(graph), type_(type) {}

    Term number(float value) { return value_term(graph_, floats(graph_, {}, {value})); }

    Term term(const StoredFunction &function, const Candidate &candidate, float lo, float hi) {
        Term sum = multiple(function.inputs[0], candidate.factors[0]);
        if (function.inputs.size() == 2)
            sum = call(Function::add, {std::move(sum), multiple(function.inputs[1], candidate.factors[1])});
        sum = call(Function::add, {std::move(sum), number(candidate.shift)});
        const QuantumRange range = range_of_quanta(type_);
        sum = bounded(Function::maximum, std::move(sum), lo - candidate.behind, float(range.lo) - candidate.behind);
        sum = bounded(Function::minimum, std::move(sum), hi - candidate.behind, float(range.hi) - candidate.behind);
        Term result = call(Function::round, {std::move(sum)});
        if (candidate.behind != 0)
            result = call(Function::add, {std::move(result), number_term(candidate.behind, Element::f32)});
        return {{.function = Function::cast, .type = type_}, type_, {std::move(result)}};
    }

private:
    Term multiple(ValueId input, float factor) {
        Term value{{.function = Function::cast, .type = Element::f32}, Element::f32, {value_term(graph_, input)}};
        return call(Function::multiply, {std::move(value), number(factor)});
    }

    // The bound of the type is a number in any case: kernels see that nothing saturates.
    Term bounded(Function function, Term sum, float value, float of_type) {
        if (value != of_type) sum = call(function, {std::move(sum), number(value)});
        return call(function, {std::move(sum), number_term(of_type, Element::f32)});
    }

    Rewriting &graph_;
    const Element type_;
};

std::optional<ValueId> multiply(Rewriting &graph, const Node &node) {
    const auto *op = std::get_if<Elementwise>(&node.op);
    if (!op) return {};
    const Term term = term_of(graph, node);
    if (!divides(term)) return {};
    const auto function = stored_function(graph, node);
    if (!function) return {};
    const auto exact = unrounded_multiples(graph, function->inputs, term);
    if (!exact || !is_of_f32(*exact)) return {};
    Proof proof(graph, *function);
    const auto candidate = proof.find(*exact);
    if (!candidate) return {};
    Writer writer(graph, term.type);
    auto [result, inputs] = to_elementwise(writer.term(*function, *candidate, proof.lo(), proof.hi()), op->shape);
    return graph.result(std::move(result), std::move(inputs));
}

}  // namespace

Graph multiply_quanta(const Graph &graph) { return rewrite(graph, multiply); }

}  // namespace kiln::graph
