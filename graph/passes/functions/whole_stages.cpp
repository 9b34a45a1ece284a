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

constexpr int64_t most_values = 256;     // of a stage
constexpr int64_t most_stages = 2;       // that another follows from
constexpr int64_t most_channels = 4096;  // all results of each are computed

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

// Constants with an element for each channel: the axis, counted from the last one, and how many there are. One element is for all.
struct Channels {
    int64_t axis_from_end = 0, count = 1;
};

std::optional<Channels> channels_of(const Shape &shape) {
    Channels channels;
    for (size_t i = 0; i < shape.size(); i++) {
        if (shape[i] == 1) continue;
        if (channels.count != 1) return {};
        channels = {int64_t(shape.size() - 1 - i), shape[i]};
    }
    return channels;
}

// What a stage follows from: the stages in it that are in no other one, and stored numbers.
class Sources {
public:
    explicit Sources(const Rewriting &graph) : graph_(graph) {}

    // Whether a term follows from few of them, and from constants of one element, or of one for each channel.
    bool collect(const Term &term) {
        if (is(term, Function::operand)) return collect_value(term);
        if (const auto range = stage(term)) return add(term, *range);
        return std::ranges::all_of(term.arguments, [this](const Term &argument) { return collect(argument); });
    }

    const std::vector<Term> &terms() const { return terms_; }
    const std::vector<Range> &ranges() const { return ranges_; }
    const Channels &channels() const { return channels_; }

private:
    bool collect_constant(const Shape &shape) {
        const auto own = channels_of(shape);
        if (!own || own->count == 1) return own.has_value();
        const bool fits =
            channels_.count == 1 || (channels_.count == own->count && channels_.axis_from_end == own->axis_from_end);
        channels_ = *own;
        return fits && own->count <= most_channels;
    }

    bool collect_value(const Term &term) {
        const ValueId id = term.step.operand;
        if (graph_.is_constant(id)) return collect_constant(graph_.shape(id));
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
    Channels channels_;
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

// Of all numbers that the sources may have, those of the last one in a row, or of one source those of all channels.
std::optional<std::vector<int64_t>> results_of(const Rewriting &graph, const Term &term, const Sources &sources) {
    const std::vector<Range> &ranges = sources.ranges();
    const int64_t rows = ranges[0].values(),
                  columns = ranges.size() == 2 ? ranges[1].values() : sources.channels().count;
    // Behind a conversion to quanta each step is rounded to f32, as in the expression that the stage is a part of.
    const Term quanta{{.function = Function::cast, .type = Element::i16}, Element::i16, {term}};
    auto [op, ids] = to_elementwise(quanta, {rows, columns});
    std::vector<Numbers> operands;
    for (const ValueId id : ids) {
        const auto found = std::ranges::find(stand_ins, id);
        if (found == stand_ins.end()) {
            operands.push_back(graph.numbers(id));
            const bool is_one = *element_count(operands.back().form.shape) == 1;
            operands.back().form.shape = is_one ? Shape{} : Shape{columns};
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

// With these factors and this shift, and the bounds of the multiples.
Term stage_of(const RoundedMultiples &multiples, const std::vector<Term> &sources, const std::vector<Term> &factors,
              const Term &shift) {
    Term sum = call(Function::multiply, {as_f32(sources[0]), factors[0]});
    if (sources.size() == 2)
        sum = call(Function::add, {std::move(sum), call(Function::multiply, {as_f32(sources[1]), factors[1]})});
    Term rounded = call(Function::round, {call(Function::add, {std::move(sum), shift})});
    if (multiples.behind != 0) rounded = call(Function::add, {std::move(rounded), number(multiples.behind)});
    return call(Function::minimum,
                {call(Function::maximum, {std::move(rounded), number(multiples.lo)}), number(multiples.hi)});
}

// The term for one of the channels.
Term of_channel(const Rewriting &graph, const Term &term, int64_t channel) {
    if (is(term, Function::operand) && term.step.operand >= 0) {
        const Value &value = graph.value(term.step.operand);
        const int64_t element = *element_count(value.form.shape) == 1 ? 0 : channel;
        return number_term(
            read_float(value.form.type, value.constant->bytes().data() + element * size_of(value.form.type)),
            value.form.type);
    }
    Term result = term;
    for (Term &argument : result.arguments) argument = of_channel(graph, argument, channel);
    return result;
}

// Multiples of one source for each channel, with the bounds of the stage.
std::optional<std::vector<RoundedMultiples>> multiples_of_channels(const Rewriting &graph, const Term &of_source,
                                                                   const Range &source, const SharedBounds &shared,
                                                                   const std::vector<int64_t> &results) {
    const int64_t channels = int64_t(results.size()) / source.values();
    std::vector<RoundedMultiples> all;
    for (int64_t c = 0; c < channels; c++) {
        const auto exact = unrounded_multiples(graph, {stand_ins[0]}, of_channel(graph, of_source, c));
        if (!exact) return {};
        WholeFunction function{{source.lo}, {}};
        for (int64_t i = 0; i < source.values(); i++) function.results.push_back(results[size_t(i * channels + c)]);
        const auto multiples = rounded_multiples(*exact, function, shared);
        if (!multiples) return {};
        all.push_back(*multiples);
    }
    return all;
}

// As stage_of(), of one source with numbers for each channel.
std::optional<Term> stage_of_channels(Rewriting &graph, const Term &of_source, const Sources &sources,
                                      const Range &bounds, const std::vector<int64_t> &results) {
    for (const float behind : {0.0F, 1.0F}) {
        const SharedBounds shared{behind, static_cast<float>(bounds.lo), static_cast<float>(bounds.hi)};
        const auto multiples = multiples_of_channels(graph, of_source, sources.ranges()[0], shared, results);
        if (!multiples) continue;
        std::vector<double> factors, shifts;
        for (const RoundedMultiples &own : *multiples) factors.push_back(own.factors[0]), shifts.push_back(own.shift);
        Shape shape(size_t(sources.channels().axis_from_end) + 1, 1);
        shape[0] = sources.channels().count;
        const auto constant = [&](std::vector<double> numbers) {
            return value_term(graph, graph.constant(Numbers{{Element::f32, shape}, std::move(numbers)}));
        };
        RoundedMultiples like;
        like.behind = behind, like.lo = shared.lo, like.hi = shared.hi;
        return stage_of(like, sources.terms(), {constant(std::move(factors))}, constant(std::move(shifts)));
    }
    return {};
}

// The stage in another way, if it is one.
std::optional<Term> changed(Rewriting &graph, const Term &term) {
    if (!stage(term)) return {};
    Sources sources(graph);
    const Term &sum = term.arguments[0].arguments[0];
    if (!sources.collect(sum) || sources.terms().empty()) return {};
    const Term of_sources = with_stand_ins(term, sources.terms());
    const bool has_one = sources.terms().size() == 1, has_channels = sources.channels().count > 1;
    const bool divides = contains(of_sources, Function::divide);
    if (has_channels && (!has_one || !divides)) return {};
    if (!divides && !has_one) return {};
    const auto results = results_of(graph, of_sources, sources);
    if (!results) return {};
    if (has_channels) return stage_of_channels(graph, of_sources, sources, *stage(term), *results);
    if (has_one && is_the_same(sources.ranges()[0], *results)) return as_f32(sources.terms()[0]);
    if (!divides) return {};
    std::vector<ValueId> inputs(stand_ins.begin(), stand_ins.begin() + std::ptrdiff_t(sources.terms().size()));
    const auto exact = unrounded_multiples(graph, inputs, of_sources);
    if (!exact) return {};
    std::vector<int64_t> smallest;
    for (const Range &range : sources.ranges()) smallest.push_back(range.lo);
    const auto multiples = rounded_multiples(*exact, {smallest, *results, sources.ranges().back().values()});
    if (!multiples) return {};
    return stage_of(*multiples, sources.terms(), {number(multiples->factors[0]), number(multiples->factors[1])},
                    number(multiples->shift));
}

}  // namespace

std::optional<Term> without_a_stage(Rewriting &graph, const Term &term) {
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
