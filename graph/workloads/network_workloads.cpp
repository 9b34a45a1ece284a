#include "graph/workloads/network_workloads.h"

#include <optional>
#include <utility>

#include "graph/workloads/node_workloads.h"

namespace kiln::graph {
namespace {

class Conversion {
public:
    explicit Conversion(const Graph &graph)
        : graph_(graph), makers_(graph.values.size()), uses_(graph.values.size()), covered_(graph.nodes.size()) {
        for (size_t i = 0; i < graph.nodes.size(); i++) {
            makers_[graph.nodes[i].output] = int(i);
            for (const ValueId input : graph.nodes[i].inputs) uses_[input]++;
        }
        for (const Output &output : graph.outputs) uses_[output.value]++;
    }

    NetworkWorkloads run() {
        std::vector<std::optional<NodeWorkload>> found(graph_.nodes.size());
        for (size_t i = 0; i < graph_.nodes.size(); i++) found[i] = shuffle(graph_.nodes[i]);
        NetworkWorkloads result;
        for (size_t i = 0; i < graph_.nodes.size(); i++) {
            const Node &node = graph_.nodes[i];
            if (found[i]) {
                result.nodes.push_back(std::move(*found[i]));
            } else if (!covered_[i] && !std::holds_alternative<Reshape>(node.op)) {
                convert(node, &result);
            }
        }
        return result;
    }

private:
    const TypedShape &form(ValueId id) const { return graph_.values[id].form; }

    std::string name_of(const Node &node) const {
        return node.origins.empty() ? graph_.values[node.output].name : node.origins.front();
    }

    Result<Workload> workload(const Node &node) const {
        if (const auto *convolution = std::get_if<Convolution>(&node.op)) {
            return convolution_workload(*convolution, form(node.inputs[0]), form(node.inputs[1]));
        }
        if (std::holds_alternative<MatrixProduct>(node.op)) {
            return product_workload(form(node.inputs[0]), form(node.inputs[1]));
        }
        return unsupported("");
    }

    void convert(const Node &node, NetworkWorkloads *result) const {
        Result<Workload> w = workload(node);
        if (w) {
            result->nodes.push_back({name_of(node), std::move(*w)});
            return;
        }
        const std::string &why = w.error().message;
        result->others[std::string(name(node.op)) + (why.empty() ? "" : " " + why)]++;
    }

    // The node that computes a value, where nothing else needs the value and it is an Op.
    template<typename Op>
    std::optional<int> sole_maker(ValueId id) const {
        const auto maker = makers_[id];
        if (!maker || uses_[id] != 1 || !std::holds_alternative<Op>(graph_.nodes[*maker].op)) return {};
        return maker;
    }

    // A Reshape that ends a shuffle; the nodes before it are covered.
    std::optional<NodeWorkload> shuffle(const Node &last) {
        if (!std::holds_alternative<Reshape>(last.op)) return {};
        const std::optional<int> transpose = sole_maker<Transpose>(last.inputs[0]);
        if (!transpose) return {};
        const Node &middle = graph_.nodes[*transpose];
        const std::optional<int> split = sole_maker<Reshape>(middle.inputs[0]);
        if (!split) return {};
        const Node &first = graph_.nodes[*split];
        std::optional<Workload> w =
            shuffle_workload({form(first.inputs[0]), form(first.output).shape,
                              std::get<Transpose>(middle.op).permutation, form(last.output).shape});
        if (!w) return {};
        covered_[*transpose] = covered_[*split] = true;
        return NodeWorkload{name_of(last), std::move(*w)};
    }

    const Graph &graph_;
    std::vector<std::optional<int>> makers_;  // of each value
    std::vector<int> uses_;                   // of each value
    std::vector<bool> covered_;               // nodes that belong to a shuffle
};

}  // namespace

NetworkWorkloads workloads_of(const Graph &graph) { return Conversion(graph).run(); }

}  // namespace kiln::graph
