#include "graph/passes/functions/stored_function.h"

#include <utility>
#include <variant>

#include "graph/convolution_inputs.h"
#include "graph/quantized_forms.h"

namespace kiln::graph {
namespace {

constexpr size_t most_inputs = 2;

bool is_scalar(const Rewriting &graph, ValueId id) {
    return graph.is_constant(id) && *element_count(graph.shape(id)) == 1;
}

// All values of the type along `axis` of two.
Numbers all_values(Element type, size_t axis) {
    std::vector<int64_t> values;
    for (int64_t i = 0; i < stored_values; i++) values.push_back(int64_t(range_of_quanta(type).lo) + i);
    const Shape shape = axis == 0 ? Shape{stored_values, 1} : Shape{1, stored_values};
    return {{type, shape}, std::move(values)};
}

// What an Elementwise computes of all values of its inputs that are not constants of one element.
struct AllResults {
    std::vector<ValueId> inputs;
    Numbers results;
};

std::optional<AllResults> all_results(const Rewriting &graph, const Node &node) {
    const auto *op = std::get_if<Elementwise>(&node.op);
    if (!op) return {};
    AllResults all;
    std::vector<Numbers> values;
    for (const ValueId id : node.inputs) {
        const Element type = graph.value(id).form.type;
        if (is_scalar(graph, id)) {
            values.push_back(graph.numbers(id));
            values.back().form.shape.clear();
        } else if (!graph.is_constant(id) && is_quantized(type) && all.inputs.size() < most_inputs) {
            values.push_back(all_values(type, all.inputs.size()));
            all.inputs.push_back(id);
        } else {
            return {};
        }
    }
    if (all.inputs.empty()) return {};
    const Elementwise of_all{op->expression, {stored_values, all.inputs.size() == 2 ? stored_values : 1}};
    std::vector<const Numbers *> operands;
    for (const Numbers &numbers : values) operands.push_back(&numbers);
    Result<Numbers> results = evaluate(of_all, operands);
    if (!results) return {};
    all.results = std::move(*results);
    return all;
}

}  // namespace

std::optional<StoredFunction> stored_function(const Rewriting &graph, const Node &node) {
    auto all = all_results(graph, node);
    if (!all || !is_quantized(all->results.form.type)) return {};
    return StoredFunction{std::move(all->inputs), std::move(std::get<std::vector<int64_t>>(all->results.elements))};
}

std::optional<StoredTable> table_of(const Rewriting &graph, const Node &node) {
    auto all = all_results(graph, node);
    if (!all || all->inputs.size() != 1) return {};
    const Element type = all->results.form.type;
    if (type != Element::f32 && type != Element::i32 && !is_quantized(type)) return {};
    all->results.form.shape = {stored_values};
    return StoredTable{all->inputs[0], std::move(all->results)};
}

}  // namespace kiln::graph
