#include "graph/lower/lower.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "graph/lower/input_forms.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/node/repetitions.h"
#include "graph/lower/node/shown_names.h"
#include "graph/lower/node_checks.h"
#include "graph/lower/problems.h"
#include "graph/lower/value_names.h"
#include "graph/onnx/name_checks.h"

namespace kiln::graph {
namespace {

// What the lowerings of a model's graphs share.
struct Shared {
    const onnx::Model &model;
    FoldingBuilder builder;
    Problems problems;
    // Nodes of graphs in attributes and their names, each time that they are lowered: a few bytes can ask for repetitions without end.
    int64_t left_to_place = int64_t{1} << 23;
};

constexpr const char *too_much = "it and others repeat more nodes and names than kiln writes out";

// One graph of a model: the model's own, or one that an attribute holds, which also sees the values around it.
class BodyLowering {
public:
    BodyLowering(const onnx::Body &body, BodyLowering *outer, Shared *shared)
        : body_(body),
          outer_(outer),
          shared_(*shared),
          is_needed_(body.nodes.size(), false),
          has_bodies_required_(body.nodes.size(), false) {
        for (const auto &[name, why] : body.unread)
            values_[name].why_not = "which is " + why + ", which kiln does not read";
        for (const onnx::Tensor &tensor : body.initializers) initializers_.emplace(tensor.name, &tensor);
        for (const onnx::ValueInfo &input : body.inputs) values_[input.name];
        for (size_t i = 0; i < body.nodes.size(); i++) {
            for (const std::string &output : body.nodes[i].outputs) {
                if (!output.empty()) makers_.emplace(output, i);
            }
        }
    }

    void define(std::string_view name, ValueId id) {
        values_[name] = {id, ""};
        names_.emplace_back(name, id);
    }

    // The outputs, nothing for one that cannot be had. What other nodes need is no concern of the network.
    std::vector<std::optional<ValueId>> lower() {
        std::vector<std::string_view> names;
        for (const onnx::ValueInfo &output : body_.outputs) names.push_back(output.name);
        require(names);
        std::vector<std::optional<ValueId>> outputs;
        for (const std::string_view name : names) {
            const Known &known = find(name);
            outputs.push_back(known.id);
            if (!known.id && !known.why_not.empty()) {
                const std::string whose = outer_ ? "the output " : "the model's output ";
                shared_.problems.add(unsupported(whose + shown(name) + " is a value, " + known.why_not));
            }
        }
        return outputs;
    }

    const std::vector<std::pair<std::string_view, ValueId>> &names() const { return names_; }

    // Where the network could end in front of what cannot be lowered: what nodes compute and can be had, without constants.
    std::vector<std::string> frontier() {
        if (frontier_.empty()) return {};
        for (const onnx::ValueInfo &output : body_.outputs) add_to_frontier(output.name);
        return frontier_;
    }

private:
    // A value of the model. One without an id cannot be had; without a reason, that was said already.
    struct Known {
        std::optional<ValueId> id;
        std::string why_not;
    };

    // Lowers the nodes that compute these values and were not lowered yet. What graphs in attributes read is lowered before their
    // nodes rather than when they ask for it: chains of such nodes are too long for recursion.
    void require(std::vector<std::string_view> names) {
        std::set<size_t> needed;
        need(std::move(names), &needed);
        while (!needed.empty()) {
            const size_t first = *needed.begin();
            if (!has_bodies_required_[first]) {
                has_bodies_required_[first] = true;
                need(read_by_bodies(body_.nodes[first]), &needed);
                continue;  // they come before it
            }
            needed.erase(needed.begin());
            lower(body_.nodes[first]);
        }
    }

    // Adds the nodes that compute these values, and what they need; requires what is of the graph around this one.
    void need(std::vector<std::string_view> names, std::set<size_t> *nodes) {
        std::vector<std::string_view> outer;
        while (!names.empty()) {
            const std::string_view name = names.back();
            names.pop_back();
            const auto maker = makers_.find(name);
            if (maker == makers_.end() && !values_.count(name) && !initializers_.count(name)) outer.push_back(name);
            if (maker == makers_.end() || is_needed_[maker->second]) continue;
            is_needed_[maker->second] = true;
            nodes->insert(maker->second);
            const std::vector<std::string> &inputs = body_.nodes[maker->second].inputs;
            names.insert(names.end(), inputs.begin(), inputs.end());
        }
        if (outer_ && !outer.empty()) outer_->require(std::move(outer));
    }

    // The branch of an If that is not chosen, by the name of its attribute; nothing where that is not known. The inputs of the node
    // are lowered.
    std::string_view branch_left_out(const onnx::Node &node) {
        if (node.op_type != "If" || !node.domain.empty() || node.inputs.empty()) return {};
        const std::optional<int64_t> condition = known_integer(node.inputs[0]);
        if (!condition) return {};
        return *condition != 0 ? "else_branch" : "then_branch";
    }

    // The only element of a value that was lowered, where that is an integer that is known.
    std::optional<int64_t> known_integer(std::string_view name) {
        const std::optional<ValueId> id = find(name).id;
        if (!id) return {};
        const Result<int64_t> count = element_count(shared_.builder.value(*id).form.shape);
        const auto known = count && *count == 1 ? shared_.builder.known(*id) : std::nullopt;
        const auto *numbers = known ? std::get_if<std::vector<int64_t>>(&known->elements) : nullptr;
        return numbers ? std::optional(numbers->front()) : std::nullopt;
    }

    // What graphs in attributes of a node read of this one and of those around it.
    std::vector<std::string_view> read_by_bodies(const onnx::Node &node) {
        const std::string_view left_out = branch_left_out(node);
        std::vector<std::string_view> names;
        for (const onnx::Attribute &attribute : node.attributes) {
            const auto *body = std::get_if<std::shared_ptr<const onnx::Body>>(&attribute.value);
            if (!body || attribute.name == left_out) continue;
            names.insert(names.end(), (*body)->outer_names.begin(), (*body)->outer_names.end());
        }
        return names;
    }

    // Initializers become constants when something needs them.
    const Known &find(std::string_view name) {
        const auto initializer = initializers_.find(name);
        if (initializer != initializers_.end() && !values_[name].id) define_initializer(*initializer->second);
        if (const auto known = values_.find(name); known != values_.end()) return known->second;
        if (outer_) return outer_->find(name);
        values_[name].why_not = "which nothing computes";
        return values_[name];
    }

    void define_initializer(const onnx::Tensor &tensor) {
        const Result<int64_t> count = element_count(tensor.shape);
        if (!count || *count * size_of(tensor.type) != static_cast<int64_t>(tensor.data.bytes().size())) {
            values_[tensor.name].why_not = "which lacks elements";
            return;
        }
        define(tensor.name, shared_.builder.constant(tensor.name, {tensor.type, tensor.shape}, tensor.data));
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
                shared_.problems.add(node, unsupported("it needs " + shown(name) + ", " + known.why_not));
            }
        }
        while (!inputs.empty() && !inputs.back()) inputs.pop_back();
        if (!complete) return {};
        return inputs;
    }

    void lower(const onnx::Node &node) {
        for (const std::string &output : node.outputs) values_[output];
        const Rule *rule = rule_for(shared_.model, node, &shared_.problems);
        auto inputs = inputs_of(node);
        if (!rule || !inputs) return stop_at(node);
        NodeLowering lowering(node, opset_of(shared_.model, node), std::move(*inputs), &shared_.builder,
                              {[&](const auto &body, const auto &values) { return place(body, values); },
                               [&](const auto &body, int64_t times) { check_room(body, times); }});
        const size_t before = shared_.problems.count();
        try {
            rule->lower(lowering);
        } catch (const Refusal &refusal) {
            shared_.problems.add(node, refusal.error);
        }
        if (shared_.problems.count() > before || lowering.has_unplaced_body()) return stop_at(node);
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

    // Before any of the repetitions is written out, which may take long.
    void check_room(const onnx::Body &body, int64_t times) {
        if (times < 1) return;
        const int64_t size = certain_size(body, [&](std::string_view name) { return known_integer(name); });
        if (size > shared_.left_to_place / times) refuse(too_much);
    }

    std::optional<std::vector<ValueId>> place(const onnx::Body &body, const std::vector<ValueId> &inputs) {
        shared_.left_to_place -= placed_size(body);
        if (shared_.left_to_place < 0) refuse(too_much);
        BodyLowering inner(body, this, &shared_);
        for (size_t i = 0; i < inputs.size(); i++) inner.define(body.inputs[i].name, inputs[i]);
        std::vector<ValueId> outputs;
        for (const std::optional<ValueId> &output : inner.lower()) {
            if (output) outputs.push_back(*output);
        }
        if (outputs.size() < body.outputs.size()) return {};
        return outputs;
    }

    // What a node that cannot be lowered reads and kiln can compute: there the network could end.
    void stop_at(const onnx::Node &node) {
        onnx::each_name_read(node, [&](auto &name) { add_to_frontier(name); });
    }

    void add_to_frontier(const std::string &name) {
        if (!makers_.contains(name)) return;
        const Known &known = values_[name];
        if (!known.id || shared_.builder.value(*known.id).constant || std::ranges::count(frontier_, name) > 0) return;
        frontier_.push_back(name);
    }

    const onnx::Body &body_;
    BodyLowering *outer_;
    Shared &shared_;
    std::unordered_map<std::string_view, const onnx::Tensor *> initializers_;
    std::unordered_map<std::string_view, size_t> makers_;  // the node that computes a value
    std::vector<bool> is_needed_, has_bodies_required_;    // by node
    std::unordered_map<std::string_view, Known> values_;
    std::vector<std::pair<std::string_view, ValueId>> names_;
    std::vector<std::string> frontier_;
};

Error with_frontier(Error error, const std::vector<std::string> &frontier) {
    constexpr size_t most = 8;
    if (error.code != ErrorCode::unsupported || frontier.empty()) return error;
    if (frontier.size() > most || !std::ranges::all_of(frontier, is_word)) return error;
    error.message += "\nas far as these nodes the network can be computed with";
    for (const std::string &name : frontier) error.message += " --outputs " + name;
    return error;
}

Result<Graph> lower_model(const onnx::Model &model, const StatedInputs &stated, const FoldingBounds &bounds) {
    Shared shared{model, FoldingBuilder(Graph{.name = model.graph_name}, bounds), {}};
    if (const Status status = check_opset(model); !status) shared.problems.add(status.error());
    if (model.outputs.empty()) shared.problems.add(bad_input("the model has no outputs"));
    BodyLowering lowering(model, nullptr, &shared);
    for (InputForm &input : input_forms(model, stated, &shared.problems)) {
        std::string name(input.name);
        lowering.define(input.name, input.constant
                                        ? shared.builder.constant(name, input.form, std::move(*input.constant))
                                        : shared.builder.input(name, std::move(input.form)));
    }
    const std::vector<std::optional<ValueId>> outputs = lowering.lower();
    if (shared.problems.count() > 0) return with_frontier(shared.problems.error(), lowering.frontier());
    for (size_t i = 0; i < outputs.size(); i++) shared.builder.output(model.outputs[i].name, *outputs[i]);
    Graph graph = std::move(shared.builder).finish();
    name_values(lowering.names(), &graph);
    return without_dead_values(graph);
}

}  // namespace

Result<Graph> lower(const onnx::Model &model, const StatedInputs &stated, const FoldingBounds &bounds) {
    Result<Graph> graph = lower_model(model, stated, bounds);
    assert(!graph || validate(*graph));
    return graph;
}

Result<std::vector<ConstantInput>> constant_inputs(const onnx::Model &model, const StatedInputs &stated) {
    Problems problems;
    std::vector<ConstantInput> constants;
    for (InputForm &input : input_forms(model, stated, &problems)) {
        if (input.constant) constants.push_back({std::string(input.name), input.form, std::move(*input.constant)});
    }
    if (problems.count() > 0) return problems.error();
    return constants;
}

}  // namespace kiln::graph
