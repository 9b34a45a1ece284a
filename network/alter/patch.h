// What an alteration puts into a graph: new constants and nodes, and which values they take the place of.
//
// A patch is a value, made beside the graph. apply() says what is wrong with it, whoever made it: it trusts nothing but the
// graph.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "workload/result.h"

namespace kiln::network {

class Patch {
public:
    explicit Patch(const graph::Graph &graph) : graph_(&graph) {}

    // Ids of new values follow those of the graph.
    graph::ValueId constant(graph::TypedShape form, graph::ConstantData data);
    // `computes`: values of the graph whose nodes it computes, for people; empty: all that the patch makes superfluous. What an
    // operator refuses is an error of the patch, and the id is -1, which every later node may be given.
    graph::ValueId node(graph::Operator op, std::vector<graph::ValueId> inputs,
                        std::vector<graph::ValueId> computes = {});
    // Every reader of `value` in the graph reads `by` in its place, and outputs do so, too. New nodes read what they say.
    void replace(graph::ValueId value, graph::ValueId by) { replaced_.emplace_back(value, by); }

    const graph::TypedShape &form(graph::ValueId id) const;  // precondition: there is such a value

    struct Made {
        graph::TypedShape form;
        std::optional<graph::ConstantData> constant;
        graph::Operator op;  // of no constant
        std::vector<graph::ValueId> inputs, computes;
    };
    const std::vector<Made> &made() const { return made_; }
    const std::vector<std::pair<graph::ValueId, graph::ValueId>> &replaced() const { return replaced_; }
    const Status &status() const { return status_; }

private:
    const graph::Graph *graph_;  // outlives it
    std::vector<Made> made_;
    std::vector<std::pair<graph::ValueId, graph::ValueId>> replaced_;
    Status status_;
};

// The graph with the patch in it and without what nobody reads any more. An error (bad input) names the value: it is unknown,
// has another form than what takes its place, or depends on itself.
Result<graph::Graph> apply(const graph::Graph &graph, const Patch &patch);

}  // namespace kiln::network
