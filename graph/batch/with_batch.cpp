#include "graph/batch/with_batch.h"

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/batch/batch_axis.h"

namespace kiln::graph {
namespace {

// The operator where its result has `batch` images along an axis. Others find the number in their inputs.
Operator with_images(Operator op, int axis, int64_t batch) {
    if (auto *elementwise = std::get_if<Elementwise>(&op)) elementwise->shape[axis] = batch;
    if (auto *reshape = std::get_if<Reshape>(&op)) reshape->shape[axis] = batch;
    return op;
}

class Batcher {
public:
    Batcher(const Graph &graph, int64_t batch)
        : graph_(graph), batch_(batch), builder_({.name = graph.name}), made_(graph.values.size()) {}

    Result<Graph> run() && {
        for (const ValueId id : graph_.inputs) {
            if (Status s = add_input(id); !s) return s.error();
        }
        for (size_t id = 0; id < graph_.values.size(); id++) {
            const Value &value = graph_.values[id];
            if (value.constant) made_[id] = {builder_.constant(value.name, value.form, *value.constant), std::nullopt};
        }
        for (const Node &node : graph_.nodes) {
            if (Status s = add_node(node); !s) return s.error();
        }
        for (const Output &output : graph_.outputs) builder_.output(output.name, made_[output.value].id);
        return std::move(builder_).finish();
    }

private:
    struct Made {
        ValueId id = -1;
        BatchAxis axis;
    };

    Status add_input(ValueId id) {
        const Value &value = graph_.values[id];
        TypedShape form = value.form;
        if (form.shape.empty() || form.shape[0] != 1) {
            return bad_input("input `" + value.name + "` has the shape " + to_text(form.shape) +
                             ", whose first axis is not of one image");
        }
        form.shape[0] = batch_;
        made_[id] = {builder_.input(value.name, std::move(form)), 0};
        return {};
    }

    Status add_node(const Node &node) {
        std::vector<TypedShape> forms;
        std::vector<BatchAxis> axes;
        std::vector<ValueId> inputs;
        bool has_images = false;
        for (const ValueId id : node.inputs) {
            forms.push_back(graph_.values[id].form);
            axes.push_back(made_[id].axis);
            inputs.push_back(made_[id].id);
            has_images = has_images || made_[id].axis.has_value();
        }
        Operator op = node.op;
        BatchAxis axis;
        if (has_images) {
            const Result<int> found = batch_axis_of_result(op, forms, graph_.values[node.output].form.shape, axes);
            if (!found) return refused(node, found.error());
            axis = *found;
            op = with_images(std::move(op), *axis, batch_);
            if (std::holds_alternative<Concat>(op)) repeat(node, *axis, axes, &inputs);
        }
        const Value &output = graph_.values[node.output];
        const Result<ValueId> made = builder_.node(std::move(op), std::move(inputs), output.name, node.origins);
        if (!made) return refused(node, made.error());
        made_[node.output] = {*made, axis};
        return {};
    }

    // Parts that are the same for all images stand beside each of them.
    void repeat(const Node &node, int axis, const std::vector<BatchAxis> &axes, std::vector<ValueId> *inputs) {
        for (size_t i = 0; i < axes.size(); i++) {
            if (axes[i]) continue;
            const TypedShape form = builder_.value((*inputs)[i]).form;
            Elementwise same{operand(0), form.shape};
            same.shape[axis] = batch_;
            (*inputs)[i] = *builder_.node(std::move(same), {(*inputs)[i]}, "", node.origins);
        }
    }

    static Error refused(const Node &node, const Error &why) {
        const std::string origin = node.origins.empty() ? std::string(name(node.op)) : node.origins.front();
        return {why.code, "`" + origin + "` (" + std::string(name(node.op)) + "): " + why.message};
    }

    const Graph &graph_;
    const int64_t batch_;
    GraphBuilder builder_;
    std::vector<Made> made_;  // by value of the graph
};

}  // namespace

Result<Graph> with_batch(const Graph &graph, int64_t batch) { return Batcher(graph, batch).run(); }

}  // namespace kiln::graph
