#include "graph/onnx/name_checks.h"

#include <functional>
#include <queue>
#include <set>
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

void add_inputs(const Body &body, Makers &makers, Complaints &complaints) {
    std::unordered_set<std::string_view> inputs, initializers;
    for (const ValueInfo &input : body.inputs) {
        if (!inputs.insert(input.name).second) {
            complaints.add("there are two inputs " + shown(input.name));
        }
    }
    for (const Tensor &tensor : body.initializers) {
        const bool is_unread_too = body.unread.count(tensor.name) != 0 && inputs.count(tensor.name) == 0;
        if (!initializers.insert(tensor.name).second || is_unread_too) {
            complaints.add("there are two initializers " + shown(tensor.name));
        }
    }
    for (const auto &[name, why] : body.unread) {
        makers.emplace(name, no_node);
    }
    for (const std::string_view name : inputs) makers.emplace(name, no_node);
    for (const std::string_view name : initializers) makers.emplace(name, no_node);
}

void add_nodes(const Body &body, Makers &makers, Complaints &complaints) {
    for (size_t i = 0; i < body.nodes.size(); i++) {
        for (const std::string &output : body.nodes[i].outputs) {
            if (!output.empty() && !makers.emplace(output, int(i)).second) {
                complaints.add(describe(body.nodes[i], i) + " computes " + shown(output) +
                               ", which is the name of another value");
            }
        }
    }
}

void check_uses(const Body &body, const Makers &makers, Complaints &complaints) {
    for (size_t i = 0; i < body.nodes.size(); i++) {
        each_name_read(body.nodes[i], [&](const std::string &name) {
            if (makers.count(name) == 0) {
                complaints.add(
                    describe(body.nodes[i], i) + " takes " + shown(name) +
                    ", which is no input, no initializer and no result of a node: part of the model is missing");
            }
        });
    }
    for (const ValueInfo &output : body.outputs) {
        if (makers.count(output.name) == 0) {
            complaints.add("the output " + shown(output.name) + " is computed by no node");
        }
    }
}

void check_outputs(const Body &body, Complaints &complaints) {
    std::unordered_set<std::string_view> outputs;
    for (const ValueInfo &output : body.outputs) {
        if (!outputs.insert(output.name).second) {
            complaints.add("there are two outputs " + shown(output.name));
        }
    }
}

// Names that the graph around this one must have.
void find_outer_names(const Makers &makers, Body &body) {
    std::set<std::string> names;
    const auto add = [&](const std::string &name) {
        if (makers.count(name) == 0) names.insert(name);
    };
    for (const Node &node : body.nodes) each_name_read(node, add);
    for (const ValueInfo &output : body.outputs) add(output.name);
    body.outer_names.assign(names.begin(), names.end());
}

int maker_of(const Makers &makers, const std::string &name) {
    const auto maker = makers.find(name);
    return maker == makers.end() ? no_node : maker->second;
}

// Nodes that need each other's results, beginning with one that needs one of `left`.
std::string circle(const Body &body, const Makers &makers, const std::vector<int> &missing) {
    std::vector<int> path;
    std::vector<int> place(body.nodes.size(), no_node);
    int node = 0;
    while (missing[node] == 0) node++;
    while (place[node] == no_node) {
        place[node] = int(path.size());
        path.push_back(node);
        int next = no_node;
        each_name_read(body.nodes[node], [&](const std::string &name) {
            const int maker = maker_of(makers, name);
            if (next == no_node && maker != no_node && missing[maker] > 0) next = maker;
        });
        node = next;
    }
    std::string text;
    constexpr size_t most = 10;
    for (size_t i = place[node]; i < path.size() && i < place[node] + most; i++) {
        text += describe(body.nodes[path[i]], path[i]) + " <- ";
    }
    return text + (path.size() - place[node] > most ? "... <- " : "") + describe(body.nodes[node], node);
}

// Kahn's algorithm; of those that can be computed, the first in the file is next.
Status sort_nodes(Body &body, const Makers &makers) {
    const int count = int(body.nodes.size());
    std::vector<std::vector<int>> users(count);
    std::vector<int> missing(count, 0);  // inputs that are not computed yet
    for (int i = 0; i < count; i++) {
        each_name_read(body.nodes[i], [&](const std::string &name) {
            const int maker = maker_of(makers, name);
            if (maker == no_node) return;
            users[maker].push_back(i);
            missing[i]++;
        });
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
        return bad_input("nodes need each other's results: " + circle(body, makers, missing));
    }
    std::vector<Node> nodes;
    nodes.reserve(count);
    for (const int i : order) nodes.push_back(std::move(body.nodes[i]));
    body.nodes = std::move(nodes);
    return {};
}

}  // namespace

Status order_nodes(Body &body, Surroundings surroundings) {
    Makers makers;  // its keys are names in `body`
    Complaints complaints;
    add_inputs(body, makers, complaints);
    add_nodes(body, makers, complaints);
    if (surroundings == Surroundings::none) {
        check_uses(body, makers, complaints);
        check_outputs(body, complaints);
    }
    if (Status status = complaints.status(); !status) {
        return status;
    }
    if (surroundings == Surroundings::graph) find_outer_names(makers, body);
    return sort_nodes(body, makers);
}

}  // namespace kiln::graph::onnx
