#include "graph/passes/functions/integer_multiples.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "graph/quantized_forms.h"
#include "graph/rewriting/rewriting.h"

namespace kiln::graph {
namespace {

constexpr int number_bits = 23;    // by which a number of 8 bits is shifted to the left
constexpr int most_fraction = 22;  // of results between -256 and 256
constexpr int64_t one = 1;

// What is tried beside the exact multipliers, the nearest first: the function's own numbers were rounded to f32.
std::vector<int64_t> steps() {
    std::vector<int64_t> all{0};
    for (int64_t step = 8; step <= 512; step += 8) all.insert(all.end(), {step, -step});
    return all;
}

class Search {
public:
    Search(const StoredFunction &function, const Multiples &exact, const std::array<int64_t, 2> &lowest)
        : function_(function), exact_(exact) {
        made_.lowest = lowest;
        const auto [lo, hi] = std::ranges::minmax(function.results);
        made_.lo = lo, made_.hi = hi;
        for (size_t i = 0; i < inputs(); i++) made_.is_negative[i] = exact.factors[i] < 0;
    }

    std::optional<IntegerMultiples> run() {
        // Neither multiples nor sums nor the largest result may leave 32 bits. What the start is in the end is less than 1 away.
        double least = exact_.shift - double(made_.lo), most = least, largest = 0;
        for (size_t i = 0; i < inputs(); i++) {
            const double lowest = exact_.factors[i] * double(made_.lowest[i]),
                         span = exact_.factors[i] * (stored_values - 1);
            least += lowest + std::min(span, 0.0), most += lowest + std::max(span, 0.0);
            largest = std::max(largest, std::abs(exact_.factors[i]) * stored_values);
        }
        const double size = std::max({-least, most, largest, double(made_.hi - made_.lo)}) + 2;
        if (!(size < 0x1p29)) return {};
        made_.fraction = std::min(most_fraction, 30 - std::ilogb(size));
        for (const int64_t first : steps()) {
            if (!multiply(0, first)) continue;
            if (inputs() == 1 && find_start()) return made_;
            for (const int64_t second : inputs() == 2 ? steps() : std::vector<int64_t>()) {
                if (multiply(1, second) && find_start()) return made_;
            }
        }
        return {};
    }

private:
    size_t inputs() const { return function_.inputs.size(); }

    // The multiples of an input by its exact multiplier and a few more. False: a multiplier is no number of 32 bits.
    bool multiply(size_t input, int64_t more) {
        const double exact = std::abs(exact_.factors[input]) * std::ldexp(1.0, made_.fraction + 32 - number_bits);
        const int64_t multiplier = std::llround(exact) + more;
        if (multiplier < 0 || multiplier > std::numeric_limits<uint32_t>::max()) return false;
        made_.multipliers[input] = static_cast<uint32_t>(multiplier);
        for (size_t x = 0; x < size_t(stored_values); x++) {
            const auto multiple = static_cast<int64_t>(((uint64_t(x) << number_bits) * uint64_t(multiplier)) >> 32);
            multiples_[input][x] = made_.is_negative[input] ? -multiple : multiple;
        }
        return true;
    }

    // What the start may be.
    struct Range {
        int64_t least = -(one << 30), most = one << 30;
    };

    // For a result to be right.
    Range range_for(size_t i) const {
        const size_t seconds = inputs() == 2 ? size_t(stored_values) : 1;
        const int64_t result = function_.results[i], begin = (result - made_.lo) << made_.fraction;
        const int64_t sum = multiples_[0][i / seconds] + (seconds > 1 ? multiples_[1][i % seconds] : 0);
        Range range;
        if (result > made_.lo) range.least = begin - sum;
        if (result < made_.hi) range.most = begin + (one << made_.fraction) - 1 - sum;
        return range;
    }

    // The middle of all numbers with which every result is right. Where one pair of multipliers fails, others do.
    bool find_start() {
        Range all;
        for (const size_t i : hard_) {
            const Range range = range_for(i);
            all = {std::max(all.least, range.least), std::min(all.most, range.most)};
        }
        if (all.least > all.most) return false;
        size_t lowest = 0, highest = 0;  // the results that leave the least room
        for (size_t i = 0; i < function_.results.size() && all.least <= all.most; i++) {
            const Range range = range_for(i);
            if (range.least > all.least) all.least = range.least, lowest = i;
            if (range.most < all.most) all.most = range.most, highest = i;
        }
        made_.start = all.least + (all.most - all.least) / 2;
        if (all.least <= all.most) return true;
        hard_.insert(hard_.end(), {lowest, highest});
        return false;
    }

    const StoredFunction &function_;
    const Multiples &exact_;
    IntegerMultiples made_;
    std::array<std::array<int64_t, stored_values>, 2> multiples_{};
    std::vector<size_t> hard_;  // results that were wrong
};

Term cast_term(Term term, Element type) {
    return {{.function = Function::cast, .type = type}, type, {std::move(term)}};
}

Term multiple(const Rewriting &graph, ValueId input, const IntegerMultiples &by, size_t i) {
    Term number = cast_term(value_term(graph, input), Element::i32);
    if (by.lowest[i] != 0)
        number = call(Function::subtract, {std::move(number), number_term(double(by.lowest[i]), Element::i32)});
    number = call(Function::multiply,
                  {cast_term(std::move(number), Element::u32), number_term(double(one << number_bits), Element::u32)});
    number = call(Function::multiply,
                  {cast_term(std::move(number), Element::u64), number_term(double(by.multipliers[i]), Element::u64)});
    number = call(Function::divide, {std::move(number), number_term(0x1p32, Element::u64)});
    return cast_term(std::move(number), Element::i32);
}

Term term_with(const Rewriting &graph, const StoredFunction &function, const IntegerMultiples &by, Element type) {
    const auto number = [](int64_t value, Element of) { return number_term(double(value), of); };
    Term sum = number(by.start, Element::i32);
    for (size_t i = 0; i < function.inputs.size(); i++) {
        sum = call(by.is_negative[i] ? Function::subtract : Function::add,
                   {std::move(sum), multiple(graph, function.inputs[i], by, i)});
    }
    const int64_t above = (by.hi - by.lo + 1) << by.fraction;
    sum = call(Function::maximum, {std::move(sum), number(0, Element::i32)});
    sum = call(Function::minimum, {std::move(sum), number(above - 1, Element::i32)});
    Term result =
        call(Function::divide, {cast_term(std::move(sum), Element::u32), number(one << by.fraction, Element::u32)});
    result = cast_term(std::move(result), Element::i32);
    if (by.lo != 0) result = call(Function::add, {std::move(result), number(by.lo, Element::i32)});
    return cast_term(std::move(result), type);
}

std::optional<ValueId> in_integers(Rewriting &graph, const Node &node) {
    const auto *op = std::get_if<Elementwise>(&node.op);
    if (!op) return {};
    const Term term = term_of(graph, node);
    if (!contains(term, Function::round)) return {};
    const auto function = stored_function(graph, node);
    if (!function) return {};
    const auto exact = unrounded_multiples(graph, function->inputs, term);
    if (!exact) return {};
    std::array<int64_t, 2> lowest{};
    for (size_t i = 0; i < function->inputs.size(); i++)
        lowest[i] = int64_t(range_of_quanta(graph.value(function->inputs[i]).form.type).lo);
    const auto found = integer_multiples(*function, *exact, lowest);
    if (!found) return {};
    auto [result, inputs] = to_elementwise(term_with(graph, *function, *found, term.type), op->shape);
    return graph.result(std::move(result), std::move(inputs));
}

}  // namespace

std::optional<IntegerMultiples> integer_multiples(const StoredFunction &function, const Multiples &exact,
                                                  const std::array<int64_t, 2> &lowest) {
    return Search(function, exact, lowest).run();
}

Graph with_integer_multiples(const Graph &graph) { return rewrite_once(graph, in_integers); }

}  // namespace kiln::graph
