#include "graph/onnx/name_checks.h"

#include <functional>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "graph/onnx/file/wire.h"
#include "graph/onnx/node_reader.h"

namespace kiln::graph::onnx {

namespace {

constexpr int no_node = -1;                                // for a value that is there from the beginning
using Makers = std::unordered_map<std::string_view, int>;  // value -> index of the node that computes it

// Complaints of one kind, shown up to a number that can be read.
class Complaints {
public:
    void add(const std::string &line) {
        if (count_++ < most) {
            text_ += (text_.empty() ? "" : "\n") + line;
        }
    }
    Status status() const {
        if (count_ == 0) {
            return {};
        }
        return bad_input(text_ + (count_ > most ? "\nand " + std::to_string(count_ - most) + " more" : ""));
    }

private:
    static constexpr int most = 20;
    std::string text_;
    int count_ = 0;
};

void add_inputs(const Model &model, Makers &makers, Complaints &complaints) {
    std::unordered_set<std::string_view> inputs, initializers;
    for (const ValueInfo &input : model.inputs) {
        if (!inputs.insert(input.name).second) {
            complaints.add("there are two inputs " + shown(input.name));
        }
    }
    for (const Tensor &tensor : model.initializers) {
        const bool is_unread_too = model.unread.count(tensor.name) != 0 && inputs.count(tensor.name) == 0;
        if (!initializers.insert(tensor.name).second || is_unread_too) {
            complaints.add("there are two initializers " + shown(tensor.name));
        }
    }
    for (const auto &[name, why] : model.unread) {
        makers.emplace(name, no_node);
    }
    for (const std::string_view name : inputs) makers.emplace(name, no_node);
    for (const std::string_view name : initializers) makers.emplace(name, no_node);
}

void add_nodes(const Model &model, Makers &makers, Complaints &complaints) {
    for (size_t i = 0; i < model.nodes.size(); i++) {
        for (const std::string &output : model.nodes[i].outputs) {
            if (!output.empty() && !makers.emplace(output, int(i)).second) {
                complaints.add(describe(model.nodes[i], i) + " computes " + shown(output) +
                               ", which is the name of another value");
            }
        }
    }
}

void check_uses(const Model &model, const Makers &makers, Complaints &complaints) {
    for (size_t i = 0; i < model.nodes.size(); i++) {
        for (const std::string &input : model.nodes[i].inputs) {
            if (!input.empty() && makers.count(input) == 0) {
                complaints.add(
                    describe(model.nodes[i], i) + " takes " + shown(input) +
                    ", which is no input, no initializer and no result of a node: part of the model is missing");
            }
        }
    }
    std::unordered_set<std::string_view> outputs;
    for (const ValueInfo &output : model.outputs) {
        if (makers.count(output.name) == 0) {
            complaints.add("the output " + shown(output.name) + " is computed by no node");
        }
        if (!outputs.insert(output.name).second) {
            complaints.add("there are two outputs " + shown(output.name));
        }
    }
}

// Nodes that need each other's results, beginning with one that needs one of `left`.
std::string circle(const Model &model, const Makers &makers, const std::vector<int> &missing) {
    std::vector<int> path;
    std::vector<int> place(model.nodes.size(), no_node);
    int node = 0;
    while (missing[node] == 0) node++;
    while (place[node] == no_node) {
        place[node] = int(path.size());
        path.push_back(node);
        for (const std::string &input : model.nodes[node].inputs) {
            const int maker = input.empty() ? no_node : makers.at(input);
            if (maker != no_node && missing[maker] > 0) {
                node = maker;
                break;
            }
        }
    }
    std::string text;
    constexpr size_t most = 10;
    for (size_t i = place[node]; i < path.size() && i < place[node] + most; i++) {
        text += describe(model.nodes[path[i]], path[i]) + " <- ";
    }
    return text + (path.size() - place[node] > most ? "... <- " : "") + describe(model.nodes[node], node);
}

// Kahn's algorithm; of those that can be computed, the first in the file is next.
Status sort_nodes(Model &model, const Makers &makers) {
    const int count = int(model.nodes.size());
    std::vector<std::vector<int>> users(count);
    std::vector<int> missing(count, 0);  // inputs that are not computed yet
    for (int i = 0; i < count; i++) {
        for (const std::string &input : model.nodes[i].inputs) {
            const int maker = input.empty() ? no_node : makers.at(input);
            if (maker != no_node) {
                users[maker].push_back(i);
                missing[i]++;
            }
        }
    }
    std::priority_queue<int, std::vector<int>, std::greater<>> ready;
    for (int i = 0; i < count; i++) {
        if (missing[i] == 0) ready.push(i);
    }
    std::vector<int> order;
    while (!ready.empty()) {
        const int next = ready.top();
        ready.pop();
        order.push_back(next);
        for (const int user : users[next]) {
            if (--missing[user] == 0) ready.push(user);
        }
    }
    if (int(order.size()) < count) {
        return bad_input("nodes need each other's results: " + circle(model, makers, missing));
    }
    std::vector<Node> nodes;
    nodes.reserve(count);
    for (const int i : order) nodes.push_back(std::move(model.nodes[i]));
    model.nodes = std::move(nodes);
    return {};
}

}  // namespace

Status order_nodes(Model &model) {
    Makers makers;  // its keys are names in `model`
    Complaints complaints;
    add_inputs(model, makers, complaints);
    add_nodes(model, makers, complaints);
    check_uses(model, makers, complaints);
    if (Status status = complaints.status(); !status) {
        return status;
    }
    return sort_nodes(model, makers);
}

}  // namespace kiln::graph::onnx
