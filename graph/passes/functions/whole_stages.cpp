#include "graph/passes/functions/whole_stages.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "graph/convolution_inputs.h"
#include "graph/passes/functions/multiples.h"
#include "graph/passes/functions/rounded_multiples.h"
#include "graph/quantized_forms.h"

namespace kiln::graph {
namespace {

constexpr int64_t most_values = 256;  // of a stage
constexpr int64_t most_stages = 2;    // that another follows from

bool is_whole(const Term &term) { return is_number(term) && term.step.number == std::nearbyint(term.step.number); }

// round(...), or that with a whole number added.
bool is_rounded(const Term &term) {
    if (is(term, Function::round)) return true;
    return is(term, Function::add) && is(term.arguments[0], Function::round) && is_whole(term.arguments[1]);
}

struct Range {
    int64_t lo = 0, hi = 0;
    int64_t values() const { return hi - lo + 1; }
};

// min(max(rounded, lo), hi) of f32.
std::optional<Range> stage(const Term &term) {
    if (!is(term, Function::minimum) || !is_whole(term.arguments[1])) return {};
    const Term &lower = term.arguments[0];
    if (!is(lower, Function::maximum) || !is_whole(lower.arguments[1]) || !is_rounded(lower.arguments[0])) return {};
    const double lo = lower.arguments[1].step.number, hi = term.arguments[1].step.number;
    if (term.type != Element::f32 || hi < lo || hi - lo >= double(most_values)) return {};
    return Range{static_cast<int64_t>(lo), static_cast<int64_t>(hi)};
}

bool divides(const Term &term) { return is(term, Function::divide) || std::ranges::any_of(term.arguments, divides); }

// What a stage follows from: the stages in it that are in no other one, and stored numbers.
class Sources {
public:
    explicit Sources(const Rewriting &graph) : graph_(graph) {}

    // Whether a term follows from few of them, and from constants of one element.
    bool collect(const Term &term) {
        if (is(term, Function::operand)) return collect_value(term);
        if (const auto range = stage(term)) return add(term, *range);
        return std::ranges::all_of(term.arguments, [this](const Term &argument) { return collect(argument); });
    }

    const std::vector<Term> &terms() const { return terms_; }
    const std::vector<Range> &ranges() const { return ranges_; }

private:
    bool collect_value(const Term &term) {
        const ValueId id = term.step.operand;
        if (graph_.is_constant(id)) return *element_count(graph_.shape(id)) == 1;
        if (!is_quantized(term.type)) return false;
        const QuantumRange range = range_of_quanta(term.type);
        return add(term, {static_cast<int64_t>(range.lo), static_cast<int64_t>(range.hi)});
    }

    bool add(const Term &term, const Range &range) {
        if (std::ranges::find(terms_, term) != terms_.end()) return true;
        terms_.push_back(term);
        ranges_.push_back(range);
        return terms_.size() <= most_stages;
    }

    const Rewriting &graph_;
    std::vector<Term> terms_;
    std::vector<Range> ranges_;
};

// The operands that stand for sources: no values of the graph.
constexpr std::array<ValueId, most_stages> stand_ins{-2, -3};

Term with_stand_ins(const Term &term, const std::vector<Term> &sources) {
    for (size_t i = 0; i < sources.size(); i++) {
        if (term == sources[i]) return operand_term(stand_ins[i], term.type);
    }
    Term result = term;
    for (Term &argument : result.arguments) argument = with_stand_ins(argument, sources);
    return result;
}

Numbers all_of(const Range &range, Element type, Shape shape) {
    std::vector<int64_t> whole;
    for (int64_t value = range.lo; value <= range.hi; value++) whole.push_back(value);
    if (!is_float(type)) return {{type, std::move(shape)}, std::move(whole)};
    return {{type, std::move(shape)}, std::vector<double>(whole.begin(), whole.end())};
}

// Of all numbers that the sources may have, those of the last one in a row.
std::optional<std::vector<int64_t>> results_of(const Rewriting &graph, const Term &term, const Sources &sources) {
    const std::vector<Range> &ranges = sources.ranges();
    const int64_t rows = ranges[0].values(), columns = ranges.size() == 2 ? ranges[1].values() : 1;
    // Behind a conversion to quanta each step is rounded to f32, as in the expression that the stage is a part of.
    const Term quanta{{.function = Function::cast, .type = Element::i16}, Element::i16, {term}};
    auto [op, ids] = to_elementwise(quanta, {rows, columns});
    std::vector<Numbers> operands;
    for (const ValueId id : ids) {
        const auto found = std::ranges::find(stand_ins, id);
        if (found == stand_ins.end()) {
            operands.push_back(graph.numbers(id));
            operands.back().form.shape.clear();
        } else {
            const size_t i = size_t(found - stand_ins.begin());
            operands.push_back(all_of(ranges[i], sources.terms()[i].type, i == 0 ? Shape{rows, 1} : Shape{1, columns}));
        }
    }
    std::vector<const Numbers *> pointers;
    for (const Numbers &operand : operands) pointers.push_back(&operand);
    Result<Numbers> computed = evaluate(op, pointers);
    if (!computed) return {};
    return std::move(std::get<std::vector<int64_t>>(computed->elements));
}

Term as_f32(const Term &term) {
    return term.type == Element::f32 ? term
                                     : Term{{.function = Function::cast, .type = Element::f32}, Element::f32, {term}};
}

bool is_the_same(const Range &range, const std::vector<int64_t> &results) {
    for (size_t i = 0; i < results.size(); i++) {
        if (results[i] != range.lo + int64_t(i)) return false;
    }
    return true;
}

Term number(float value) { return number_term(value, Element::f32); }

Term stage_of(const RoundedMultiples &multiples, const std::vector<Term> &sources) {
    Term sum = call(Function::multiply, {as_f32(sources[0]), number(multiples.factors[0])});
    if (sources.size() == 2)
        sum = call(Function::add,
                   {std::move(sum), call(Function::multiply, {as_f32(sources[1]), number(multiples.factors[1])})});
    Term rounded = call(Function::round, {call(Function::add, {std::move(sum), number(multiples.shift)})});
    if (multiples.behind != 0) rounded = call(Function::add, {std::move(rounded), number(multiples.behind)});
    return call(Function::minimum,
                {call(Function::maximum, {std::move(rounded), number(multiples.lo)}), number(multiples.hi)});
}

// The stage in another way, if it is one.
std::optional<Term> changed(const Rewriting &graph, const Term &term) {
    if (!stage(term)) return {};
    Sources sources(graph);
    const Term &sum = term.arguments[0].arguments[0];
    if (!sources.collect(sum) || sources.terms().empty()) return {};
    const Term of_sources = with_stand_ins(term, sources.terms());
    const bool has_one = sources.terms().size() == 1;
    if (!divides(of_sources) && !has_one) return {};
    const auto results = results_of(graph, of_sources, sources);
    if (!results) return {};
    if (has_one && is_the_same(sources.ranges()[0], *results)) return as_f32(sources.terms()[0]);
    if (!divides(of_sources)) return {};
    std::vector<ValueId> inputs(stand_ins.begin(), stand_ins.begin() + std::ptrdiff_t(sources.terms().size()));
    const auto exact = unrounded_multiples(graph, inputs, of_sources);
    if (!exact) return {};
    std::vector<int64_t> smallest;
    for (const Range &range : sources.ranges()) smallest.push_back(range.lo);
    const auto multiples = rounded_multiples(*exact, {smallest, *results, sources.ranges().back().values()});
    return multiples ? std::optional(stage_of(*multiples, sources.terms())) : std::nullopt;
}

}  // namespace

std::optional<Term> without_a_stage(const Rewriting &graph, const Term &term) {
    for (size_t i = 0; i < term.arguments.size(); i++) {
        auto argument = without_a_stage(graph, term.arguments[i]);
        if (!argument) continue;
        Term result = term;
        result.arguments[i] = std::move(*argument);
        return result;
    }
    return changed(graph, term);
}

}  // namespace kiln::graph
