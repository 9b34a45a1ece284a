#include "graph/passes/functions/rounded_multiples.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "graph/passes/functions/multiples.h"
#include "graph/passes/quantization/quantized_values.h"
#include "graph/quantized_forms.h"

namespace kiln::graph {
namespace {

bool is_of_f32(const Multiples &m) {
    constexpr double most = 1e30;  // also false for NaN
    return std::abs(m.factors[0]) < most && std::abs(m.factors[1]) < most && std::abs(m.shift) < most;
}

float sum(float a, float b) { return static_cast<float>(double(a) + double(b)); }

// Each step rounded to f32. Products and sums of two numbers of f32 are as good as exact in double.
float result_of(const RoundedMultiples &m, double x0, double x1) {
    const auto multiple0 = static_cast<float>(x0 * m.factors[0]), multiple1 = static_cast<float>(x1 * m.factors[1]);
    const auto rounded = static_cast<float>(std::nearbyint(sum(sum(multiple0, multiple1), m.shift)));
    return std::clamp(sum(rounded, m.behind), m.lo, m.hi);
}

float moved(double number, int places) {
    auto nearest = static_cast<float>(number);
    for (; places > 0; places--) nearest = std::nextafterf(nearest, INFINITY);
    for (; places < 0; places++) nearest = std::nextafterf(nearest, -INFINITY);
    return nearest;
}

// By how many last places the numbers of a candidate are moved, the nearest first.
using Places = std::array<int, 3>;
std::vector<Places> all_places(size_t inputs) {
    constexpr int most = 6;
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

const std::vector<Places> &places_around(size_t inputs) {
    static const std::vector<Places> of_one = all_places(1), of_two = all_places(2);
    return inputs == 1 ? of_one : of_two;
}

class Proof {
public:
    explicit Proof(const WholeFunction &function) : function_(function) {
        const auto [lo, hi] = std::ranges::minmax(function.results);
        like_.lo = static_cast<float>(lo), like_.hi = static_cast<float>(hi);
    }

    void set_bounds(float lo, float hi) { like_.lo = lo, like_.hi = hi; }

    std::optional<RoundedMultiples> find(const Multiples &exact, float behind) {
        for (const Places &places : places_around(function_.smallest.size())) {
            RoundedMultiples candidate = like_;
            candidate.factors = {moved(exact.factors[0], places[0]), moved(exact.factors[1], places[1])};
            candidate.shift = moved(exact.shift - behind, places[2]);
            candidate.behind = behind;
            if (holds(candidate)) return candidate;
        }
        return {};
    }

private:
    // Where one candidate fails, others do.
    bool holds(const RoundedMultiples &candidate) {
        if (!std::ranges::all_of(hard_, [&](size_t i) { return holds_at(candidate, i); })) return false;
        for (size_t i = 0; i < function_.results.size(); i++) {
            if (holds_at(candidate, i)) continue;
            hard_.push_back(i);
            return false;
        }
        return true;
    }

    bool holds_at(const RoundedMultiples &candidate, size_t i) const {
        const bool has_two = function_.smallest.size() == 2;
        const auto columns = static_cast<size_t>(function_.values_of_last);
        const double first = double(function_.smallest[0]) + double(has_two ? i / columns : i);
        const double second = has_two ? double(function_.smallest[1]) + double(i % columns) : 0;
        const float got = result_of(candidate, first, second);
        return got == static_cast<float>(function_.results[i]);
    }

    const WholeFunction &function_;
    RoundedMultiples like_;  // has the bounds
    std::vector<size_t> hard_;
};

}  // namespace

std::optional<RoundedMultiples> rounded_multiples(const Multiples &exact, const WholeFunction &function) {
    if (!is_of_f32(exact)) return {};
    Proof proof(function);
    const auto even = proof.find(exact, 0);
    return even ? even : proof.find(exact, 1);
}

std::optional<RoundedMultiples> rounded_multiples(const Multiples &exact, const WholeFunction &function,
                                                  const SharedBounds &shared) {
    if (!is_of_f32(exact)) return {};
    Proof proof(function);
    proof.set_bounds(shared.lo, shared.hi);
    return proof.find(exact, shared.behind);
}

std::optional<RoundedMultiples> rounded_multiples(const Rewriting &graph, const StoredFunction &function,
                                                  const Term &term) {
    const auto exact = unrounded_multiples(graph, function.inputs, term);
    if (!exact) return {};
    WholeFunction whole{{}, function.results};
    for (const ValueId input : function.inputs)
        whole.smallest.push_back(int64_t(range_of_quanta(graph.value(input).form.type).lo));
    return rounded_multiples(*exact, whole);
}

}  // namespace kiln::graph
