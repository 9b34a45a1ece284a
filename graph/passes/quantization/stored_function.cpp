#include "graph/passes/quantization/stored_function.h"

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

}  // namespace

std::optional<StoredFunction> stored_function(const Rewriting &graph, const Node &node) {
    const auto *op = std::get_if<Elementwise>(&node.op);
    if (!op) return {};
    StoredFunction function;
    std::vector<Numbers> values;
    for (const ValueId id : node.inputs) {
        const Element type = graph.value(id).form.type;
        if (is_scalar(graph, id)) {
            values.push_back(graph.numbers(id));
            values.back().form.shape.clear();
        } else if (!graph.is_constant(id) && is_quantized(type) && function.inputs.size() < most_inputs) {
            values.push_back(all_values(type, function.inputs.size()));
            function.inputs.push_back(id);
        } else {
            return {};
        }
    }
    if (function.inputs.empty()) return {};
    const Elementwise of_all{op->expression, {stored_values, function.inputs.size() == 2 ? stored_values : 1}};
    std::vector<const Numbers *> operands;
    for (const Numbers &numbers : values) operands.push_back(&numbers);
    Result<Numbers> results = evaluate(of_all, operands);
    if (!results || !is_quantized(results->form.type)) return {};
    function.results = std::move(std::get<std::vector<int64_t>>(results->elements));
    return function;
}

}  // namespace kiln::graph
