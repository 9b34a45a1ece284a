#include "graph/lower/lower.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "graph/lower/input_forms.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/node/shown_names.h"
#include "graph/lower/node_checks.h"
#include "graph/lower/problems.h"
#include "graph/lower/value_names.h"

namespace kiln::graph {
namespace {

class ModelLowering {
public:
    ModelLowering(const onnx::Model &model, const FoldingBounds &bounds)
        : model_(model), builder_(Graph{.name = model.graph_name}, bounds) {
        for (const auto &[name, why] : model.unread)
            values_[name].why_not = "which is " + why + ", which kiln does not read";
        for (const onnx::Tensor &tensor : model.initializers) initializers_.emplace(tensor.name, &tensor);
    }

    Result<Graph> run(const std::vector<InputShape> &shapes) {
        if (const Status status = check_opset(model_); !status) problems_.add(status.error());
        if (model_.outputs.empty()) problems_.add(bad_input("the model has no outputs"));
        for (const onnx::ValueInfo &input : model_.inputs) values_[input.name];
        for (InputForm &input : input_forms(model_, shapes, &problems_)) {
            define(input.name, builder_.input(std::string(input.name), std::move(input.form)));
        }
        for (const onnx::Node *node : live_nodes(model_)) lower(*node);
        add_outputs();
        if (problems_.count() > 0) return with_frontier(problems_.error());
        Graph graph = std::move(builder_).finish();
        name_values(names_, &graph);
        return without_dead_values(graph);
    }

private:
    // A value of the model. One without an id cannot be had; without a reason, that was said already.
    struct Known {
        std::optional<ValueId> id;
        std::string why_not;
    };

    void define(std::string_view name, ValueId id) {
        values_[name] = {id, ""};
        names_.emplace_back(name, id);
    }

    // Initializers become constants when something needs them.
    const Known &find(std::string_view name) {
        const auto initializer = initializers_.find(name);
        if (initializer != initializers_.end() && !values_[name].id) define_initializer(*initializer->second);
        if (!values_.count(name)) values_[name].why_not = "which nothing computes";
        return values_[name];
    }

    void define_initializer(const onnx::Tensor &tensor) {
        const Result<int64_t> count = element_count(tensor.shape);
        if (!count || *count * size_of(tensor.type) != static_cast<int64_t>(tensor.data.bytes().size())) {
            values_[tensor.name].why_not = "which lacks elements";
            return;
        }
        define(tensor.name, builder_.constant(tensor.name, {tensor.type, tensor.shape}, tensor.data));
    }

    // The inputs of a node; nothing where one cannot be had.
    std::optional<std::vector<std::optional<ValueId>>> inputs_of(const onnx::Node &node) {
        std::vector<std::optional<ValueId>> inputs;
        bool complete = true;
        for (const std::string &name : node.inputs) {
            inputs.emplace_back();
            if (name.empty()) continue;
            const Known &known = find(name);
            inputs.back() = known.id;
            complete = complete && known.id;
            if (!known.id && !known.why_not.empty()) {
                problems_.add(node, unsupported("it needs " + shown(name) + ", " + known.why_not));
            }
        }
        while (!inputs.empty() && !inputs.back()) inputs.pop_back();
        if (!complete) return {};
        return inputs;
    }

    void lower(const onnx::Node &node) {
        for (const std::string &output : node.outputs) values_[output];
        const Rule *rule = rule_for(model_, node, &problems_);
        auto inputs = inputs_of(node);
        if (!rule || !inputs) return stop_at(node);
        NodeLowering lowering(node, opset_of(model_, node), std::move(*inputs), &builder_);
        try {
            rule->lower(lowering);
        } catch (const Refusal &refusal) {
            problems_.add(node, refusal.error);
            return stop_at(node);
        }
        for (size_t i = 0; i < node.outputs.size(); i++) {
            if (node.outputs[i].empty()) continue;
            if (lowering.results()[i]) {
                define(node.outputs[i], *lowering.results()[i]);
            } else {
                values_[node.outputs[i]].why_not =
                    "output " + std::to_string(i) + " of " + describe(node) + ", which kiln does not compute";
            }
        }
    }

    // What a node that cannot be lowered reads and kiln can compute: there the network could end.
    void stop_at(const onnx::Node &node) {
        for (const std::string &name : node.inputs) add_to_frontier(name);
    }

    void add_to_frontier(const std::string &name) {
        const Known &known = values_[name];
        if (!known.id || builder_.value(*known.id).constant || std::ranges::count(frontier_, name) > 0) return;
        frontier_.push_back(name);
    }

    Error with_frontier(Error error) {
        constexpr size_t most = 8;
        const auto is_input = [&](const std::string &name) {
            return std::ranges::count(model_.inputs, name, &onnx::ValueInfo::name) > 0;
        };
        if (error.code != ErrorCode::unsupported || std::ranges::all_of(frontier_, is_input)) return error;
        for (const onnx::ValueInfo &output : model_.outputs) add_to_frontier(output.name);
        // People copy the options into a shell.
        const auto is_word = [](const std::string &name) {
            constexpr std::string_view others = "_-./:+,@%";
            const bool is_whole = shown(name).size() == name.size() + 2;
            return is_whole && name.front() != '-' && std::ranges::all_of(name, [&](unsigned char c) {
                       return std::isalnum(c) || others.find(char(c)) != std::string_view::npos;
                   });
        };
        if (frontier_.size() > most || !std::ranges::all_of(frontier_, is_word)) return error;
        error.message += "\nas far as these nodes the network can be computed with";
        for (const std::string &name : frontier_) error.message += " --outputs " + name;
        return error;
    }

    void add_outputs() {
        for (const onnx::ValueInfo &output : model_.outputs) {
            const Known &known = find(output.name);
            if (known.id) builder_.output(output.name, *known.id);
            if (!known.id && !known.why_not.empty()) {
                problems_.add(
                    unsupported("the model's output " + shown(output.name) + " is a value, " + known.why_not));
            }
        }
    }

    const onnx::Model &model_;
    FoldingBuilder builder_;
    Problems problems_;
    std::unordered_map<std::string_view, const onnx::Tensor *> initializers_;
    std::unordered_map<std::string_view, Known> values_;
    std::vector<std::pair<std::string_view, ValueId>> names_;
    std::vector<std::string> frontier_;
};

}  // namespace

Result<Graph> lower(const onnx::Model &model, const std::vector<InputShape> &shapes, const FoldingBounds &bounds) {
    Result<Graph> graph = ModelLowering(model, bounds).run(shapes);
    assert(!graph || validate(*graph));
    return graph;
}

}  // namespace kiln::graph
