#include "graph/evaluate/evaluate.h"

#include <new>
#include <optional>
#include <utility>

#include "graph/evaluate/operator_loops.h"
#include "graph/evaluate/walk.h"

namespace kiln::graph {
namespace {

// Whether the elements are as many as the form says and of its kind.
Status check_elements(const Numbers &numbers) {
    const auto count = element_count(numbers.form.shape);
    if (!count) return count.error();
    const bool is_right_kind = is_float(numbers.form.type) == (numbers.elements.index() == 0);
    const size_t held = std::visit([](const auto &elements) { return elements.size(); }, numbers.elements);
    if (is_right_kind && held == static_cast<size_t>(*count)) return {};
    return bad_input(std::to_string(held) + (numbers.elements.index() == 0 ? " floats" : " integers") + " for " +
                     std::string(name(numbers.form.type)) + " " + to_text(numbers.form.shape));
}

Result<Numbers> computed(const Operator &op, const TypedShape &form, const std::vector<const Numbers *> &inputs,
                         const Interrupted &interrupted) {
    const auto count = static_cast<size_t>(product(form.shape));
    Numbers result{form, {}};
    if (is_float(form.type)) {
        result.elements = std::vector<double>(count);
    } else {
        result.elements = std::vector<int64_t>(count);
    }
    const Task task{inputs, &result, interrupted};
    if (Status s = std::visit([&](const auto &o) { return compute(o, task); }, op); !s) return s.error();
    return result;
}

// The values that are alive while a graph is computed.
class Evaluation {
public:
    Evaluation(const Graph &graph, const EvaluationOptions &options)
        : graph_(graph),
          options_(options),
          held_(graph.values.size()),
          known_(graph.values.size()),
          uses_(graph.values.size()) {
        for (const Node &node : graph.nodes) {
            for (ValueId id : node.inputs) uses_[id]++;
        }
        for (const Output &output : graph.outputs) uses_[output.value]++;
    }

    void set_input(ValueId id, const Numbers &numbers) { note(id, numbers); }

    Status run(const Node &node) {
        if (options_.interrupted()) return interrupted_error();
        std::vector<const Numbers *> inputs;
        for (ValueId id : node.inputs) inputs.push_back(&value(id));
        auto result = evaluate(node.op, inputs, options_.interrupted);
        if (!result) {
            return Error{result.error().code, "`" + graph_.values[node.output].name + "`: " + result.error().message};
        }
        for (ValueId id : node.inputs) release(id);
        if (uses_[node.output] == 0 && !options_.observe) return {};
        held_[node.output] = std::move(*result);
        note(node.output, *held_[node.output]);
        if (uses_[node.output] == 0) held_[node.output].reset();
        return {};
    }

    Numbers take_output(ValueId id) {
        const Numbers &numbers = value(id);
        if (--uses_[id] > 0 || !held_[id]) return numbers;
        return std::move(*held_[id]);
    }

private:
    void note(ValueId id, const Numbers &numbers) {
        known_[id] = &numbers;
        if (options_.observe) options_.observe(id, numbers);
    }

    const Numbers &value(ValueId id) {
        if (!known_[id]) {
            held_[id] = from_constant(graph_.values[id].form, *graph_.values[id].constant);
            note(id, *held_[id]);
        }
        return *known_[id];
    }

    void release(ValueId id) {
        if (--uses_[id] > 0) return;
        held_[id].reset();
    }

    const Graph &graph_;
    const EvaluationOptions &options_;
    std::vector<std::optional<Numbers>> held_;  // inputs lie elsewhere
    std::vector<const Numbers *> known_;
    std::vector<int> uses_;  // to come
};

}  // namespace

Error interrupted_error() { return {ErrorCode::interrupted, "interrupted"}; }

Status check_size(int64_t elements) {
    if (elements <= most_elements_at_once) return {};
    return unsupported(std::to_string(elements) + " elements are more than can be computed here (2^28)");
}

Result<Numbers> evaluate(const Operator &op, const std::vector<const Numbers *> &inputs,
                         const Interrupted &interrupted) {
    std::vector<TypedShape> forms;
    for (const Numbers *input : inputs) {
        if (Status s = check_elements(*input); !s) return s.error();
        forms.push_back(input->form);
    }
    const auto form = result_of(op, forms);
    if (!form) return form.error();
    const auto named = [&](const Error &error) {
        return Error{error.code, std::string(name(op)) + ": " + error.message};
    };
    if (Status s = check_size(product(form->shape)); !s) return named(s.error());
    try {
        auto result = computed(op, *form, inputs, interrupted);
        if (!result && result.error().code != ErrorCode::interrupted) return named(result.error());
        return result;
    } catch (const std::bad_alloc &) {
        return environment_error("not enough memory for a value of shape " + to_text(form->shape));
    }
}

Result<std::vector<Numbers>> evaluate(const Graph &graph, const std::vector<Numbers> &inputs,
                                      const EvaluationOptions &options) {
    if (inputs.size() != graph.inputs.size()) {
        return bad_input(std::to_string(inputs.size()) + " inputs for a network of " +
                         std::to_string(graph.inputs.size()));
    }
    Evaluation evaluation(graph, options);
    for (size_t i = 0; i < inputs.size(); i++) {
        const Value &value = graph.values[graph.inputs[i]];
        if (inputs[i].form != value.form) {
            return bad_input("input `" + value.name + "` is " + std::string(name(inputs[i].form.type)) + " " +
                             to_text(inputs[i].form.shape) + ", the network takes " +
                             std::string(name(value.form.type)) + " " + to_text(value.form.shape));
        }
        if (Status s = check_elements(inputs[i]); !s)
            return bad_input("input `" + value.name + "`: " + s.error().message);
        evaluation.set_input(graph.inputs[i], inputs[i]);
    }
    for (const Node &node : graph.nodes) {
        if (Status s = evaluation.run(node); !s) return s.error();
    }
    std::vector<Numbers> outputs;
    for (const Output &output : graph.outputs) outputs.push_back(evaluation.take_output(output.value));
    return outputs;
}

}  // namespace kiln::graph
