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
#include "network/prepare.h"
#include "network/stored_types.h"

namespace kiln::network {
namespace {

using namespace graph;
using scalar::Function;

constexpr int64_t most_exact = int64_t{1} << 24;   // f32 has every integer up to this
constexpr size_t most_inlined = 256;               // steps of an expression that computes its operands, too
constexpr int64_t most_masked = int64_t{1} << 20;  // elements of a mask that says which of them are fills

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

// What a kernel can make of a value that the caller gives: of conditions, which are bytes, and of floats of 16 bits, f32; of integers of
// 64 bits their lower halves.
std::optional<Element> readable_form(const Rewriting &graph, ValueId id) {
    const Value &value = graph.value(id);
    if (value.constant || graph.producer(id) != nullptr) return {};
    if (value.form.type == Element::boolean || is_narrow_float(value.form.type)) return Element::f32;
    if (value.form.type == Element::i64) return Element::i32;
    return {};
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

bool moves(const Operator &op) {
    return std::holds_alternative<Transpose>(op) || std::holds_alternative<Reshape>(op) ||
           std::holds_alternative<Resample>(op) || std::holds_alternative<Concat>(op);
}

// Whether what lies outside of an input that is stored as such a type is a number of it.
bool fill_fits(const Operator &op, Element stored) {
    const auto *resample = std::get_if<Resample>(&op);
    if (!resample || !resample->reads_outside()) return true;
    constexpr double most = std::numeric_limits<int32_t>::max(), least = std::numeric_limits<int32_t>::min();
    return stored == Element::i32 ? resample->fill >= least && resample->fill <= most
                                  : is_float_exactly(resample->fill);
}

ValueId made_readable(Rewriting &graph, ValueId id) {
    return graph.between(Elementwise{scalar::cast(scalar::operand(0), *readable_form(graph, id)), graph.shape(id)},
                         {id});
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

// The lower halves of integers of 64 bits that the caller gives, also of those that were moved `depth` times at most. A value that
// is only moved keeps all of its bits.
std::optional<ValueId> lower_halves(Rewriting &graph, ValueId id, int depth = 8) {
    if (graph.value(id).form.type != Element::i64) return {};
    if (readable_form(graph, id)) return made_readable(graph, id);
    const Node *maker = graph.producer(id);
    if (!maker || depth == 0) return {};
    const Node node = *maker;
    if (std::holds_alternative<Gather>(node.op)) {
        const std::optional<ValueId> source = lower_halves(graph, node.inputs[0], depth - 1);
        return source ? std::optional(graph.between(node.op, {*source, node.inputs[1]})) : std::nullopt;
    }
    if (!moves(node.op) || !fill_fits(node.op, Element::i32)) return {};
    std::vector<ValueId> sources;
    for (const ValueId input : node.inputs) {
        const std::optional<ValueId> source = lower_halves(graph, input, depth - 1);
        if (!source) return {};
        sources.push_back(*source);
    }
    return graph.between(node.op, std::move(sources));
}

// How an integer of 64 bits is computed.
struct Computation {
    scalar::Expression expression;
    std::vector<ValueId> inputs;
};

// Whether the function of moved inputs, which have the fill outside of their shapes, answers the fill there, as a sum does for 0.
bool answers_fill(const Rewriting &graph, double fill, const Computation &computation) {
    std::vector<Numbers> operands;
    for (const ValueId id : computation.inputs) {
        if (graph.shape(id).empty()) return false;
        const Element type = graph.value(id).form.type;
        operands.push_back(is_float(type) ? Numbers{{type, {}}, std::vector<double>{fill}}
                                          : Numbers{{type, {}}, std::vector<int64_t>{static_cast<int64_t>(fill)}});
    }
    std::vector<const Numbers *> inputs;
    for (const Numbers &operand : operands) inputs.push_back(&operand);
    const Result<Numbers> answer = evaluate(Elementwise{computation.expression, {}}, inputs);
    const auto *integers = answer ? std::get_if<std::vector<int64_t>>(&answer->elements) : nullptr;
    return integers && static_cast<double>(integers->front()) == fill;
}

// What lies outside of the shape that was moved is the fill, and no function of another fill. Whether there is room for a mask.
bool keep_fill(Rewriting &graph, const Resample &op, const Shape &shape, Computation *computation) {
    if (answers_fill(graph, op.fill, *computation)) return true;
    const Result<int64_t> count = element_count(shape);
    if (!count || *count > most_masked) return false;
    Resample to_mask = op;
    to_mask.fill = 0;
    const Numbers ones{{Element::f32, shape}, std::vector<double>(size_t(*count), 1)};
    const Result<Numbers> inside = evaluate(to_mask, {&ones});
    if (!inside) return false;
    const scalar::Expression is_inside = scalar::apply(Function::less, scalar::constant(0),
                                                       scalar::operand(static_cast<int>(computation->inputs.size())));
    computation->inputs.push_back(graph.constant(*inside));
    computation->expression = scalar::apply(Function::select, is_inside, std::move(computation->expression),
                                            scalar::constant(op.fill, Element::i64));
    return true;
}

// Of a value whose maker is element-wise, also of one that was moved `depth` times at most: then what it is computed from is moved.
std::optional<Computation> computation_of(Rewriting &graph, ValueId id, int depth = 8) {
    if (graph.value(id).form.type != Element::i64 || !graph.producer(id)) return {};
    const Node node = *graph.producer(id);
    if (const auto *op = std::get_if<Elementwise>(&node.op)) return Computation{op->expression, node.inputs};
    if (!moves(node.op) || node.inputs.size() != 1 || depth == 0) return {};
    std::optional<Computation> before = computation_of(graph, node.inputs[0], depth - 1);
    if (!before) return {};
    const Shape shape = graph.shape(node.inputs[0]);
    for (ValueId &input : before->inputs) {
        if (graph.shape(input).empty()) continue;
        if (graph.shape(input) != shape) return {};
        input = graph.between(node.op, {input});
    }
    const auto *resample = std::get_if<Resample>(&node.op);
    if (resample && resample->reads_outside() && !keep_fill(graph, *resample, shape, &*before)) return {};
    return before;
}

// Nothing lies between kernels as integers of 64 bits, so a node that computes with some computes them, too. Lengths and places are such
// numbers; there are few of them.
std::optional<ValueId> compute_sources(Rewriting &graph, const Elementwise &op, const Node &node) {
    for (size_t i = 0; i < node.inputs.size(); i++) {
        const std::optional<Computation> source = computation_of(graph, node.inputs[i]);
        if (!source) continue;
        scalar::Expression expression = scalar::compose(op.expression, static_cast<int>(i), source->expression);
        if (expression.steps.size() > most_inlined) return {};
        std::vector<ValueId> inputs = node.inputs;
        inputs.insert(inputs.erase(inputs.begin() + std::ptrdiff_t(i)), source->inputs.begin(), source->inputs.end());
        return graph.result(Elementwise{std::move(expression), op.shape}, std::move(inputs));
    }
    return {};
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

bool is_exact_in_floats(const std::optional<ValueRange> &range) {
    return range && range->lo >= -most_exact && range->hi <= most_exact;
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
        if (!op) return move_sources(now, node);
        if (const auto result = read_sources(now, *op, node)) return result;
        return store_result(now, *op, node);
    });
}

}  // namespace kiln::network
