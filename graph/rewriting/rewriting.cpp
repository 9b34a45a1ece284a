#include "graph/rewriting/rewriting.h"

#include <algorithm>
#include <utility>

#include "graph/evaluate/evaluation_steps.h"
#include "graph/quantized_forms.h"
#include "graph/rewriting/moved_constant.h"

namespace kiln::graph {
namespace {

void add_origins(const std::vector<std::string> &more, std::vector<std::string> *origins) {
    for (const std::string &origin : more) {
        if (std::ranges::find(*origins, origin) == origins->end()) origins->push_back(origin);
    }
}

bool moves_or_maps_elements(const Operator &op) {
    return std::holds_alternative<Elementwise>(op) || std::holds_alternative<Reshape>(op) ||
           std::holds_alternative<Transpose>(op) || std::holds_alternative<Concat>(op) ||
           std::holds_alternative<Resample>(op);
}

// By value, whether it is.
std::vector<bool> quantized_behind(const Graph &graph) {
    std::vector<bool> result(graph.values.size(), false);
    for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
        const auto *op = std::get_if<Elementwise>(&node->op);
        if (!(op && quantizes(op->expression)) && !(result[node->output] && moves_or_maps_elements(node->op))) continue;
        for (const ValueId id : node->inputs) result[id] = true;
    }
    return result;
}

// For the constants that a pass computes. What networks ask for grows with their weights: they are scaled, moved and dequantized.
int64_t steps_of_constants(const Graph &graph) {
    constexpr int64_t least = int64_t{1} << 28, for_each = 16;
    int64_t elements = 0;
    for (const Value &value : graph.values) {
        if (value.constant) elements += static_cast<int64_t>(value.constant->bytes().size()) / size_of(value.form.type);
    }
    return least + for_each * elements;
}

}  // namespace

Rewriting::Rewriting(const Graph &before, int64_t *left_steps) : left_steps_(left_steps) {
    Graph empty;
    empty.name = before.name;
    is_quantized_behind_ = quantized_behind(before);
    builder_ = GraphBuilder(std::move(empty));
}

const Node *Rewriting::producer(ValueId id) const {
    const int index = static_cast<size_t>(id) < producer_.size() ? producer_[id] : -1;
    return index < 0 ? nullptr : &builder_.graph().nodes[index];
}

int Rewriting::uses(ValueId id) const {
    return static_cast<size_t>(id) < uses_.size() && uses_[id] > 0 ? uses_[id] : 1;
}

std::span<const Node *const> Rewriting::readers(ValueId id) const {
    if (static_cast<size_t>(id) >= readers_.size()) return {};
    return readers_[id];
}

ValueId Rewriting::between(Operator op, std::vector<ValueId> inputs) {
    const std::string name = name_ + "/" + std::string(graph::name(op));
    return emit(std::move(op), std::move(inputs), name, origins_);
}

ValueId Rewriting::result(Operator op, std::vector<ValueId> inputs, std::initializer_list<ValueId> absorbed) {
    std::vector<std::string> origins;
    for (ValueId id : absorbed) {
        if (const Node *node = producer(id)) add_origins(node->origins, &origins);
    }
    add_origins(origins_, &origins);
    return emit(std::move(op), std::move(inputs), name_, std::move(origins));
}

ValueId Rewriting::constant(const Numbers &numbers) { return constant(numbers.form, to_constant(numbers)); }

ValueId Rewriting::constant(const TypedShape &form, ConstantData data) {
    return builder_.constant(name_ + "/constant", form, std::move(data));
}

std::optional<ValueId> Rewriting::folded(const Operator &op, const std::vector<ValueId> &inputs,
                                         const std::string &name) {
    if (inputs.empty() || !std::ranges::all_of(inputs, [&](ValueId id) { return is_constant(id); })) return {};
    if (is_kept_for_passes(op)) return {};
    std::vector<TypedShape> forms;
    int64_t elements = 0;
    for (ValueId id : inputs) {
        forms.push_back(value(id).form);
        elements += *element_count(shape(id));
    }
    const auto form = result_of(op, forms);
    if (!form || *element_count(form->shape) > elements) return {};
    const int64_t steps = std::holds_alternative<Reshape>(op) ? 0 : evaluation_steps(op, forms, form->shape);
    if (steps > *left_steps_) return {};
    *left_steps_ -= steps;
    if (auto moved = moved_constant(op, value(inputs[0]))) return builder_.constant(name, *form, std::move(*moved));
    std::vector<Numbers> read;
    std::vector<const Numbers *> arguments;
    for (ValueId id : inputs) read.push_back(numbers(id));
    for (const Numbers &n : read) arguments.push_back(&n);
    const auto result = evaluate(op, arguments);
    if (!result) return {};
    return builder_.constant(name, result->form, to_constant(*result));
}

ValueId Rewriting::emit(Operator op, std::vector<ValueId> inputs, std::string name, std::vector<std::string> origins) {
    if (has_failed_) return 0;
    if (const auto constant = folded(op, inputs, name)) return *constant;
    const auto id = builder_.node(std::move(op), std::move(inputs), std::move(name), std::move(origins));
    if (!id) {
        has_failed_ = true;
        return 0;
    }
    producer_.resize(*id + 1, -1);
    producer_[*id] = static_cast<int>(builder_.graph().nodes.size()) - 1;
    return *id;
}

// One pass over all nodes.
class Sweep {
public:
    Sweep(const Graph &before, const Rule &rule, int64_t *left_steps)
        : before_(before), rule_(rule), after_(before, left_steps) {}

    bool run() {
        now_.resize(before_.values.size(), -1);
        uses_.resize(before_.values.size(), 0);
        readers_.resize(before_.values.size());
        for (const Node &node : before_.nodes) {
            for (ValueId id : node.inputs) {
                uses_[id]++;
                readers_[id].push_back(&node);
            }
        }
        for (const Output &output : before_.outputs) uses_[output.value]++;
        for (ValueId id : before_.inputs) {
            became(id, after_.builder_.input(before_.values[id].name, before_.values[id].form));
        }
        for (size_t id = 0; id < before_.values.size(); id++) {
            const Value &value = before_.values[id];
            if (value.constant) became(id, after_.builder_.constant(value.name, value.form, *value.constant));
        }
        for (const Node &node : before_.nodes) visit(node);
        for (const Output &output : before_.outputs) after_.builder_.output(output.name, now_[output.value]);
        return has_changed_;
    }

    Graph result() && { return without_dead_values(std::move(after_.builder_).finish()); }

private:
    void became(ValueId before, ValueId now) {
        now_[before] = now;
        if (after_.uses_.size() <= static_cast<size_t>(now)) {
            after_.uses_.resize(now + 1, 0);
            after_.readers_.resize(now + 1);
        }
        after_.uses_[now] += uses_[before];
        std::ranges::copy(readers_[before], std::back_inserter(after_.readers_[now]));
    }

    void visit(Node node) {
        for (ValueId &id : node.inputs) id = now_[id];
        const Value &output = before_.values[node.output];
        after_.name_ = output.name;
        after_.origins_ = node.origins;
        auto id = rule_(after_, node);
        if (after_.has_failed_) id.reset();
        after_.has_failed_ = false;
        if (id && after_.value(*id).form == output.form) {
            has_changed_ = true;
            return became(node.output, *id);
        }
        const ValueId copy = after_.emit(node.op, node.inputs, output.name, node.origins);
        has_changed_ |= after_.is_constant(copy);
        became(node.output, copy);
    }

    const Graph &before_;
    const Rule &rule_;
    Rewriting after_;
    std::vector<ValueId> now_;  // by value of before
    std::vector<int> uses_;     // by value of before
    std::vector<std::vector<const Node *>> readers_;
    bool has_changed_ = false;
};

Graph rewrite_once(const Graph &graph, const Rule &rule) {
    const Graph living = without_dead_values(graph);
    int64_t left_steps = steps_of_constants(living);
    Sweep sweep(living, rule, &left_steps);
    return sweep.run() ? std::move(sweep).result() : living;
}

Graph rewrite(const Graph &graph, const Rule &rule) {
    // A rule comes to an end long before; the limit is for one that does not.
    constexpr int most_sweeps = 1000;
    Graph now = without_dead_values(graph);
    int64_t left_steps = steps_of_constants(now);
    for (int i = 0; i < most_sweeps; i++) {
        Sweep sweep(now, rule, &left_steps);
        if (!sweep.run()) break;
        now = std::move(sweep).result();
    }
    return now;
}

}  // namespace kiln::graph
