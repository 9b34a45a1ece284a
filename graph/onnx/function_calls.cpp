#include "graph/onnx/function_calls.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/onnx/file/wire.h"
#include "graph/onnx/name_checks.h"
#include "graph/onnx/node_reader.h"
#include "graph/onnx/reading.h"

namespace kiln::graph::onnx {

namespace {

using BodyPointer = std::shared_ptr<const Body>;

// Nodes of functions, their names and elements of their attributes, and calls: a few bytes can ask for them without end.
constexpr int64_t most_written = int64_t{1} << 20;

// What the names and attributes of a function are where it is called.
class Call {
public:
    Call(const Node &node, const Function &function, std::string prefix)
        : node_(node), function_(function), prefix_(std::move(prefix)) {
        const Body &body = function.body;
        for (size_t i = 0; i < body.inputs.size(); i++) {
            names_[body.inputs[i].name] = i < node.inputs.size() ? node.inputs[i] : "";
        }
        for (size_t i = 0; i < body.outputs.size() && i < node.outputs.size(); i++) {
            const std::string &formal = body.outputs[i].name, &actual = node.outputs[i];
            if (actual.empty()) continue;
            // An output that is an input, too.
            const auto [name, added] = names_.emplace(formal, actual);
            if (!added) copies_.push_back({"", "Identity", "", {name->second}, {actual}, {}});
        }
    }

    std::vector<Node> nodes() const {
        std::vector<Node> nodes = copies_;
        for (const Node &node : function_.body.nodes) nodes.push_back(renamed(node));
        return nodes;
    }

    // What nodes() takes, in names, nodes and elements of attributes. Each name gets the prefix, which may be as long as many.
    int64_t size() const {
        constexpr size_t ordinary = 1024;
        const auto size = static_cast<int64_t>(1 + copies_.size()) + size_of(function_.body);
        return size * static_cast<int64_t>(1 + prefix_.size() / ordinary);
    }

private:
    int64_t size_of(const Body &body) const {
        auto size = static_cast<int64_t>(body.initializers.size() + body.inputs.size() + body.outputs.size() +
                                         body.unread.size() + body.outer_names.size());
        for (const Node &node : body.nodes) {
            size += static_cast<int64_t>(1 + node.inputs.size() + node.outputs.size());
            for (const Attribute &attribute : node.attributes) size += size_of(attribute);
        }
        return size;
    }

    int64_t size_of(const Attribute &attribute) const {
        if (const auto *unread = std::get_if<Attribute::Unread>(&attribute.value)) {
            const Attribute *stated = attribute_of_call(unread->reference);
            return stated ? 1 + elements_of(stated->value) : 1;
        }
        return 1 + elements_of(attribute.value);
    }

    // Elements of tensors stay where they are in the file.
    int64_t elements_of(const decltype(Attribute::value) &value) const {
        return std::visit(
            [&]<typename Value>(const Value &of) -> int64_t {
                if constexpr (std::is_same_v<Value, BodyPointer>) return size_of(*of);
                if constexpr (requires { of.size(); }) return static_cast<int64_t>(of.size());
                return 1;
            },
            value);
    }

    std::string name_of(const std::string &formal) const {
        if (formal.empty()) return "";
        const auto known = names_.find(formal);
        return known != names_.end() ? known->second : prefix_ + formal;
    }

    void rename(std::vector<std::string> *names) const {
        for (std::string &name : *names) name = name_of(name);
    }

    Node renamed(Node node) const {
        if (!node.name.empty()) node.name = prefix_ + node.name;
        rename(&node.inputs);
        rename(&node.outputs);
        std::vector<Attribute> attributes;
        for (Attribute &attribute : node.attributes) {
            if (const auto *unread = std::get_if<Attribute::Unread>(&attribute.value);
                unread && !unread->reference.empty()) {
                const Attribute *stated = attribute_of_call(unread->reference);
                if (!stated) continue;  // left out here, too
                attribute.value = stated->value;
            } else if (const auto *body = std::get_if<BodyPointer>(&attribute.value)) {
                attribute.value = renamed(**body);
            }
            attributes.push_back(std::move(attribute));
        }
        node.attributes = std::move(attributes);
        return node;
    }

    BodyPointer renamed(Body body) const {
        for (Node &node : body.nodes) node = renamed(std::move(node));
        for (Tensor &tensor : body.initializers) tensor.name = name_of(tensor.name);
        for (ValueInfo &input : body.inputs) input.name = name_of(input.name);
        for (ValueInfo &output : body.outputs) output.name = name_of(output.name);
        std::map<std::string, std::string> unread;
        for (const auto &[name, why] : body.unread) unread.emplace(name_of(name), why);
        body.unread = std::move(unread);
        rename(&body.outer_names);
        std::erase(body.outer_names, "");
        return std::make_shared<const Body>(std::move(body));
    }

    const Attribute *attribute_of_call(const std::string &name) const {
        for (const auto *attributes : {&node_.attributes, &function_.defaults}) {
            const auto found = std::ranges::find(*attributes, name, &Attribute::name);
            if (found != attributes->end()) return &*found;
        }
        return nullptr;
    }

    const Node &node_;
    const Function &function_;
    const std::string prefix_;
    std::unordered_map<std::string, std::string> names_;
    std::vector<Node> copies_;
};

class Writer {
public:
    Writer(const Functions *functions, Model *model) : functions_(*functions), model_(*model) {}

    Status write_out(Body *body, int depth) {
        std::vector<Node> nodes;
        for (size_t i = 0; i < body->nodes.size(); i++) {
            if (Status status = write_out(std::move(body->nodes[i]), i, depth, &nodes); !status) return status;
        }
        body->nodes = std::move(nodes);
        return {};
    }

private:
    const Function *function_of(const Node &node) const {
        const auto found = functions_.find({node.domain, node.op_type, node.overload});
        return found == functions_.end() ? nullptr : &found->second;
    }

    // Another one for each call: names of nodes need not differ, and some have none.
    std::string prefix_of(const Node &node) {
        const std::string &name = node.name.empty() ? node.op_type : node.name;
        const int64_t calls = calls_[name]++;
        return name + (calls > 0 ? "_" + std::to_string(calls) : "") + "/";
    }

    // The node as it is, or what it calls, behind `nodes`.
    Status write_out(Node node, size_t index, int depth, std::vector<Node> *nodes) {
        const Function *function = function_of(node);
        if (!function) {
            if (Status status = write_out_bodies(&node, depth); !status) return status;
            nodes->push_back(std::move(node));
            return {};
        }
        const std::string label = describe(node, index);
        if (depth == most_depth) {
            return bad_input(label + " calls a function that calls others beyond " + std::to_string(most_depth) +
                             ", the most that kiln reads");
        }
        if (Status status = check(node, *function); !status) return within(label, status.error());
        const Call call(node, *function, prefix_of(node));
        written_ += call.size();
        if (written_ > most_written) {
            return bad_input(label + ": its functions and those of other nodes are more than " +
                             std::to_string(most_written) + " nodes, names and numbers when they are written out");
        }
        std::vector<Node> called = call.nodes();
        for (size_t i = 0; i < called.size(); i++) {
            if (Status status = write_out(std::move(called[i]), i, depth + 1, nodes); !status) {
                return within(label, status.error());
            }
        }
        return {};
    }

    Status write_out_bodies(Node *node, int depth) {
        for (Attribute &attribute : node->attributes) {
            const auto *inner = std::get_if<BodyPointer>(&attribute.value);
            if (!inner) continue;
            auto body = std::make_shared<Body>(**inner);
            Status status = write_out(body.get(), depth);
            if (status) status = order_nodes(*body, Surroundings::graph);
            if (!status) return status;
            attribute.value = BodyPointer(std::move(body));
        }
        return {};
    }

    // A function's nodes are read as the model's own: both must mean the same operators.
    Status check(const Node &node, const Function &function) {
        const Body &body = function.body;
        if (node.inputs.size() > body.inputs.size() || node.outputs.size() > body.outputs.size()) {
            return bad_input("calls a function of " + std::to_string(body.inputs.size()) + " inputs and " +
                             std::to_string(body.outputs.size()) + " outputs with " +
                             std::to_string(node.inputs.size()) + " and " + std::to_string(node.outputs.size()));
        }
        for (const auto &[domain, version] : function.opsets) {
            const auto [known, added] = model_.opsets.emplace(domain, version);
            const bool is_read = std::ranges::any_of(body.nodes, [&, &of = domain](const Node &inner) {
                return inner.domain == of && !function_of(inner);  // clang 14 captures no structured binding
            });
            if (!added && known->second != version && is_read) {
                return unsupported("calls a function that imports opset " + std::to_string(version) +
                                   " of the domain " + shown(domain) + ", where the model imports " +
                                   std::to_string(known->second) +
                                   "; onnx.inliner.inline_local_functions(model, convert_version=True) makes them one");
            }
        }
        return {};
    }

    const Functions &functions_;
    Model &model_;
    int64_t written_ = 0;
    std::unordered_map<std::string, int64_t> calls_;  // by name of their nodes
};

}  // namespace

Status write_out_calls(const Functions &functions, Model *model) {
    return Writer(&functions, model).write_out(model, 0);
}

}  // namespace kiln::graph::onnx
