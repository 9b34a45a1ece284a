// Conditions, and integers of types that tensors of nests do not have, as floats; those of 64 bits that the caller gives as i32. Floats
// of 16 bits are converted where they come in and go out, by nodes of their own.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "graph/evaluate/evaluate.h"
#include "graph/rewriting/rewriting.h"
#include "graph/rewriting/value_range.h"
#include "graph/window_axis.h"
#include "network/integers/long_integers.h"
#include "network/prepare.h"
#include "network/stored_types.h"

namespace kiln::network {
namespace {

using namespace graph;
using scalar::Function;

constexpr int64_t most_exact = int64_t{1} << 24;  // f32 has every integer up to this

bool is_float_exactly(double number) { return static_cast<double>(static_cast<float>(number)) == number; }

// The elements as f32, if each of them is one exactly.
std::optional<Numbers> as_floats(const Numbers &numbers) {
    Numbers result{{Element::f32, numbers.form.shape}, std::vector<double>()};
    auto &elements = std::get<std::vector<double>>(result.elements);
    if (const auto *integers = std::get_if<std::vector<int64_t>>(&numbers.elements)) {
        for (const int64_t integer : *integers) {
            if (integer < -most_exact || integer > most_exact) return {};
            elements.push_back(static_cast<double>(integer));
        }
        return result;
    }
    for (const double number : std::get<std::vector<double>>(numbers.elements)) {
        if (!is_float_exactly(number) && !std::isnan(number)) return {};
        elements.push_back(number);
    }
    return result;
}

ValueId input_of(const Rewriting &graph, ValueId id) { return graph.producer(id)->inputs[0]; }

// Whether a value was stored as f32, or as i32 where it has 64 bits: it is a cast of one and nothing else.
bool is_stored_otherwise(const Rewriting &graph, ValueId id) {
    const auto *op = graph.computed_by<Elementwise>(id);
    const TypedShape &form = graph.value(id).form;
    if (!op || lies_between_kernels(form.type) || op->expression != scalar::cast(scalar::operand(0), form.type))
        return false;
    const TypedShape &source = graph.value(input_of(graph, id)).form;
    const bool is_half = source.type == Element::i32 && form.type == Element::i64;
    return source.shape == form.shape && (source.type == Element::f32 || is_half);
}

// Whether a node is one of those that make it.
bool makes_readable(const Rewriting &graph, const Elementwise &op, const Node &node) {
    if (node.inputs.size() != 1 || op.shape != graph.shape(node.inputs[0])) return false;
    const std::optional<Element> readable = readable_form(graph, node.inputs[0]);
    return readable && op.expression == scalar::cast(scalar::operand(0), *readable);
}

// Whether a node computes with integers that are stored as they are: constants beside them stay so, too.
bool reads_integers(const Rewriting &graph, const Node &node) {
    return std::ranges::any_of(node.inputs, [&](ValueId id) {
        const Element type = graph.value(id).form.type;
        return !graph.is_constant(id) && type != Element::f32 && lies_between_kernels(type);
    });
}

// What an input is read from instead.
std::optional<ValueId> source_of(Rewriting &graph, const Node &node, ValueId id) {
    const Element type = graph.value(id).form.type;
    if (type == Element::f32 || type == Element::i8 || type == Element::u8) return {};
    if (type == Element::i32 && reads_integers(graph, node)) return {};
    if (is_stored_otherwise(graph, id)) return input_of(graph, id);
    if ((type == Element::boolean || is_narrow_float(type)) && readable_form(graph, id))
        return made_readable(graph, id);
    if (!graph.is_constant(id)) return {};
    const std::optional<Numbers> floats = as_floats(graph.numbers(id));
    return floats ? std::optional(graph.constant(*floats)) : std::nullopt;
}

// The expression with a cast behind each use of an operand.
scalar::Expression with_cast(const scalar::Expression &expression, size_t operand, Element type) {
    scalar::Expression result;
    for (const scalar::Step &step : expression.steps) {
        result.steps.push_back(step);
        if (step.function != Function::operand || step.operand != static_cast<int>(operand)) continue;
        result.steps.push_back({.function = Function::cast, .type = type});
    }
    return result;
}

std::optional<ValueId> read_sources(Rewriting &graph, const Elementwise &op, const Node &node) {
    if (makes_readable(graph, op, node)) return {};
    Elementwise changed = op;
    std::vector<ValueId> inputs = node.inputs;
    for (size_t i = 0; i < inputs.size(); i++) {
        const Element type = graph.value(inputs[i]).form.type;
        std::optional<ValueId> source = source_of(graph, node, inputs[i]);
        if (!source) source = lower_halves(graph, inputs[i]);
        if (!source) continue;
        inputs[i] = *source;
        changed.expression = with_cast(changed.expression, i, type);
    }
    if (inputs == node.inputs) return compute_sources(graph, op, node);
    return graph.result(std::move(changed), std::move(inputs));
}

Element type_of_result(const Rewriting &graph, const Elementwise &op, const Node &node) {
    std::vector<Element> types;
    for (const ValueId id : node.inputs) types.push_back(graph.value(id).form.type);
    const Result<Element> type = scalar::type_of(op.expression, types);
    return type ? *type : Element::f32;
}

// Whether each number of that type which the node answers is an f32.
bool fits_floats(const Rewriting &graph, const Elementwise &op, const Node &node, Element type) {
    if (type == Element::boolean) return true;
    if (is_float(type) || lies_between_kernels(type)) return false;
    return is_exact_in_floats(range_of(graph, op.expression, node.inputs));
}

std::optional<ValueId> store_result(Rewriting &graph, const Elementwise &op, const Node &node) {
    const Element type = type_of_result(graph, op, node);
    // An output of 16 bits is rounded by itself.
    if (!is_narrow_float(type) && !fits_floats(graph, op, node, type)) return {};
    const Element first = node.inputs.empty() ? type : graph.value(node.inputs[0]).form.type;
    const scalar::Expression read = scalar::cast(scalar::operand(0), type);
    if (op.expression == read && first == Element::f32 && graph.shape(node.inputs[0]) == op.shape) return {};
    const ValueId stored = graph.between(Elementwise{scalar::cast(op.expression, Element::f32), op.shape}, node.inputs);
    return graph.result(Elementwise{read, op.shape}, {stored});
}

// Operators whose result's elements are some of their inputs', or the largest or smallest of them. A window of padding alone has the
// least value of the type.
bool answers_its_inputs(const Operator &op, const Shape &input) {
    if (const auto *pool = std::get_if<Pool>(&op)) {
        return pool->kind == Pool::Kind::maximum &&
               std::ranges::none_of(window_axes(*pool, input), &WindowAxis::misses_image);
    }
    if (const auto *reduce = std::get_if<Reduce>(&op)) {
        return reduce->kind == Reduce::Kind::maximum || reduce->kind == Reduce::Kind::minimum;
    }
    return moves(op);
}

// Whether a sum is a number of f32, and the sums of some of its terms are, which the range holds, too.
bool sums_exactly(const Rewriting &graph, const Node &node) {
    const auto *reduce = std::get_if<Reduce>(&node.op);
    return reduce && reduce->kind == Reduce::Kind::sum && is_exact_in_floats(range_of(graph, node));
}

// Whether floats were integers before.
bool has_whole_numbers(const Rewriting &graph, ValueId id) {
    const auto *op = graph.computed_by<Elementwise>(id);
    if (!op || op->expression.steps.back() != scalar::Step{.function = Function::cast}) return false;
    Elementwise before = *op;
    before.expression.steps.pop_back();
    return !is_float(type_of_result(graph, before, *graph.producer(id)));
}

// What integers of a type are stored as, for sums: without the parts that a cast cuts off.
ValueId whole_numbers(Rewriting &graph, ValueId source, Element type) {
    if (!is_float(graph.value(source).form.type) || has_whole_numbers(graph, source)) return source;
    const scalar::Expression whole = scalar::cast(scalar::cast(scalar::operand(0), type), Element::f32);
    return graph.between(Elementwise{whole, graph.shape(source)}, {source});
}

// The same elements of what was stored, by the same indices.
std::optional<ValueId> gather_sources(Rewriting &graph, const Node &node) {
    const TypedShape form = graph.value(node.inputs[0]).form;
    const std::optional<ValueId> source = source_of(graph, node, node.inputs[0]);
    if (!source) return {};
    const ValueId taken = graph.between(node.op, {*source, node.inputs[1]});
    const Shape shape = graph.shape(taken);
    return graph.result(Elementwise{scalar::cast(scalar::operand(0), form.type), shape}, {taken});
}

// The same of what its inputs were stored as.
std::optional<ValueId> move_sources(Rewriting &graph, const Node &node) {
    const TypedShape form = graph.value(node.inputs[0]).form;
    if (lies_between_kernels(form.type)) return {};
    if (std::holds_alternative<Gather>(node.op)) return gather_sources(graph, node);
    std::vector<TypedShape> forms;
    for (const ValueId id : node.inputs) forms.push_back(graph.value(id).form);
    const Result<TypedShape> result = result_of(node.op, forms);
    if (!result) return {};
    // Any number but 0 is true, so the largest one says nothing about conditions.
    const bool compares_conditions = std::holds_alternative<Reduce>(node.op) && form.type == Element::boolean;
    const bool sums = sums_exactly(graph, node);
    if (!sums && !answers_its_inputs(node.op, form.shape)) return {};
    std::vector<ValueId> sources;
    for (const ValueId id : node.inputs) {
        const std::optional<ValueId> source = source_of(graph, node, id);
        if (!source) return {};
        const bool is_whole = sums || compares_conditions;
        sources.push_back(is_whole ? whole_numbers(graph, *source, form.type) : *source);
        const Element stored = graph.value(*source).form.type;
        if (stored != graph.value(sources[0]).form.type || !fill_fits(node.op, stored)) return {};
    }
    const ValueId moved = graph.between(node.op, std::move(sources));
    const Shape shape = graph.shape(moved);
    return graph.result(Elementwise{scalar::cast(scalar::operand(0), form.type), shape}, {moved});
}

}  // namespace

Graph store_as_floats(const Graph &graph) {
    return rewrite(graph, [](Rewriting &now, const Node &node) -> std::optional<ValueId> {
        const auto *op = std::get_if<Elementwise>(&node.op);
        if (!op) {
            const auto moved = move_sources(now, node);
            return moved ? moved : reduce_long(now, node);
        }
        if (const auto result = read_sources(now, *op, node)) return result;
        return store_result(now, *op, node);
    });
}

}  // namespace kiln::network
