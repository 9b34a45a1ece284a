#include <cassert>
#include <utility>

#include "graph/graph.h"

namespace kiln::graph {

GraphBuilder::GraphBuilder(Graph graph) : graph_(std::move(graph)) {
    for (const Value &value : graph_.values) names_.emplace(value.name, 2);
}

std::string GraphBuilder::unique_name(std::string name) {
    if (name.empty()) name = "value";
    const auto [taken, is_free] = names_.emplace(name, 2);
    if (is_free) return name;
    for (;;) {
        std::string numbered = name + "_" + std::to_string(taken->second++);
        if (names_.emplace(numbered, 2).second) return numbered;
    }
}

ValueId GraphBuilder::add(Value value) {
    value.name = unique_name(std::move(value.name));
    graph_.values.push_back(std::move(value));
    return static_cast<ValueId>(graph_.values.size()) - 1;
}

ValueId GraphBuilder::input(std::string name, TypedShape form) {
    graph_.inputs.push_back(add({std::move(name), std::move(form), std::nullopt}));
    return graph_.inputs.back();
}

ValueId GraphBuilder::constant(std::string name, TypedShape form, ConstantData data) {
    assert(element_count(form.shape) &&
           static_cast<int64_t>(data.bytes().size()) == *element_count(form.shape) * size_of(form.type));
    return add({std::move(name), std::move(form), std::move(data)});
}

Result<ValueId> GraphBuilder::node(Operator op, std::vector<ValueId> inputs, std::string name,
                                   std::vector<std::string> origins) {
    std::vector<TypedShape> forms;
    for (ValueId id : inputs) forms.push_back(value(id).form);
    auto form = result_of(op, forms);
    if (!form) return form.error();
    const ValueId output = add({std::move(name), std::move(*form), std::nullopt});
    graph_.nodes.push_back({std::move(op), std::move(inputs), output, std::move(origins)});
    return output;
}

}  // namespace kiln::graph
