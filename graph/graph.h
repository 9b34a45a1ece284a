// A network as a graph of values and nodes with static shapes. A pass is a function Graph -> Graph (graph/passes/).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/constant_data.h"
#include "graph/operator.h"
#include "workload/result.h"

namespace kiln::graph {

using ValueId = int;  // index into Graph::values

struct Value {
    std::string name;  // unique; that of the model where it has one
    TypedShape form;
    std::optional<ConstantData> constant;
    bool operator==(const Value &) const = default;
};

struct Node {
    Operator op;
    std::vector<ValueId> inputs;
    ValueId output = 0;
    std::vector<std::string> origins;  // names of the model's nodes that it computes
    bool operator==(const Node &) const = default;
};

// A result by the name that the model gives it. Two outputs may be one value, and an output may be an input or a constant.
struct Output {
    std::string name;
    ValueId value = 0;
    bool operator==(const Output &) const = default;
};

// Nodes stand in an order in which they can be computed. A value is an input, a constant or the output of one node.
struct Graph {
    std::string name;
    std::vector<Value> values;
    std::vector<Node> nodes;
    std::vector<ValueId> inputs;
    std::vector<Output> outputs;
    bool operator==(const Graph &) const = default;
};

// Adds values and nodes to a graph; the only way to grow one, so that forms always agree with operators. Names that are
// taken, and empty ones, get a number behind them.
class GraphBuilder {
public:
    explicit GraphBuilder(Graph graph = {});

    // Preconditions: element_count() knows the shape, and `data` has the bytes for it.
    ValueId input(std::string name, TypedShape form);
    ValueId constant(std::string name, TypedShape form, ConstantData data);
    // An error is that of result_of().
    Result<ValueId> node(Operator op, std::vector<ValueId> inputs, std::string name, std::vector<std::string> origins);
    void output(std::string name, ValueId value) { graph_.outputs.push_back({std::move(name), value}); }

    const Value &value(ValueId id) const { return graph_.values[id]; }
    const Graph &graph() const { return graph_; }
    Graph finish() && { return std::move(graph_); }

private:
    std::string unique_name(std::string name);
    ValueId add(Value value);

    Graph graph_;
    std::map<std::string, int> names_;  // with the number that is tried next behind each
};

// Whether ids, order, names and forms are as described above. A pass that breaks one of them has a fault.
Status validate(const Graph &graph);

// The graph without nodes and constants that no output needs; inputs stay.
Graph without_dead_values(const Graph &graph);

// For people: a node a line, where a value with a long name is called by its number; and Graphviz's language.
std::string to_text(const Graph &graph);
std::string to_graphviz(const Graph &graph);

}  // namespace kiln::graph
