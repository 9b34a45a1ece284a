// Networks of f16 and bf16 compute in f32: their weights become f32, inputs are converted where they come in, and outputs where they go
// out. No step in between is rounded to 16 bits, so results are closer to those of exact numbers than the model asks for.
#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "graph/evaluate/evaluate.h"
#include "graph/passes/passes.h"
#include "graph/rewriting/expression_tree.h"

namespace kiln::graph {
namespace {

Element widened(Element type) { return is_narrow_float(type) ? Element::f32 : type; }

// The same function of operands that are f32 where they were halves.
Term widened(const Term &term) {
    Term result = term;
    result.type = widened(term.type);
    result.step.type = widened(term.step.type);
    for (Term &argument : result.arguments) argument = widened(argument);
    const bool is_cast = is(term, Function::cast);
    return is_cast && result.type == result.arguments[0].type ? result.arguments[0] : result;
}

bool is_conversion(const Node &node, Element type) {
    const auto *op = std::get_if<Elementwise>(&node.op);
    return op && node.inputs.size() == 1 && op->expression == cast(operand(0), type);
}

// Grows the graph in which values that were halves are f32.
class Widening {
public:
    explicit Widening(const Graph &before) : before_(before), ids_(before.values.size(), -1) {}

    Graph run() && {
        for (const ValueId id : before_.inputs) {
            const Value &value = before_.values[size_t(id)];
            ids_[size_t(id)] = builder_.input(value.name, value.form);
        }
        for (const Node &node : before_.nodes) {
            std::vector<ValueId> inputs;
            for (const ValueId id : node.inputs) inputs.push_back(wide(id));
            ids_[size_t(node.output)] = add(widened_op(node), std::move(inputs), node);
        }
        for (const Output &output : before_.outputs) builder_.output(output.name, narrow(output.value));
        Graph after = std::move(builder_).finish();
        after.name = before_.name;
        return after;
    }

private:
    const Value &value(ValueId id) const { return before_.values[size_t(id)]; }

    ValueId add(Operator op, std::vector<ValueId> inputs, const Node &node) {
        return *builder_.node(std::move(op), std::move(inputs), value(node.output).name, node.origins);
    }

    // The value as a node reads it.
    ValueId wide(ValueId id) {
        ValueId &known = ids_[size_t(id)];
        if (value(id).constant && known < 0) known = constant(id);
        if (!is_narrow_float(builder_.value(known).form.type)) return known;
        // An input: converted once.
        return known = converted(known, Element::f32);
    }

    ValueId converted(ValueId id, Element type) {
        const Value from = builder_.value(id);
        return *builder_.node(Elementwise{cast(operand(0), type), from.form.shape}, {id}, from.name, {});
    }

    ValueId constant(ValueId id) {
        const Value &old = value(id);
        if (!is_narrow_float(old.form.type)) return builder_.constant(old.name, old.form, *old.constant);
        Numbers numbers = from_constant(old.form, *old.constant);
        numbers.form.type = Element::f32;
        return builder_.constant(old.name, numbers.form, to_constant(numbers));
    }

    // The value in the type that the network gives it out in.
    ValueId narrow(ValueId id) {
        const Element type = value(id).form.type;
        const bool is_input = std::ranges::count(before_.inputs, id) > 0;
        if (is_input) return input_of(id);
        const ValueId known = wide(id);
        return is_narrow_float(type) ? converted(known, type) : known;
    }

    ValueId input_of(ValueId id) const {
        return builder_.graph().inputs[size_t(std::ranges::find(before_.inputs, id) - before_.inputs.begin())];
    }

    Operator widened_op(const Node &node) const {
        const auto *op = std::get_if<Elementwise>(&node.op);
        if (!op) return node.op;
        std::vector<Element> types;
        for (const ValueId id : node.inputs) types.push_back(value(id).form.type);
        return Elementwise{to_expression(widened(to_term(op->expression, types))), op->shape};
    }

    const Graph &before_;
    GraphBuilder builder_;
    std::vector<ValueId> ids_;  // by value: the new one, or -1
};

// Whether halves are read and made by conversions alone, at the ends of the network.
bool is_wide(const Graph &graph) {
    return std::ranges::all_of(graph.nodes, [&](const Node &node) {
        const auto has_half = [&](ValueId id) { return is_narrow_float(graph.values[size_t(id)].form.type); };
        const Element result = graph.values[size_t(node.output)].form.type;
        if (is_narrow_float(result)) return is_conversion(node, result) && !has_half(node.inputs[0]);
        return std::ranges::none_of(node.inputs, has_half) || is_conversion(node, Element::f32);
    });
}

}  // namespace

Graph widen_halves(const Graph &graph) { return is_wide(graph) ? graph : without_dead_values(Widening(graph).run()); }

}  // namespace kiln::graph
