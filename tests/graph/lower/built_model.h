// Small ONNX models for tests, written as values.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/evaluate/evaluate.h"
#include "graph/lower/lower.h"
#include "graph/onnx/name_checks.h"

namespace kiln::graph {

inline onnx::Attribute integer(std::string name, int64_t value) { return {std::move(name), value}; }
inline onnx::Attribute real(std::string name, float value) { return {std::move(name), value}; }
inline onnx::Attribute text(std::string name, std::string value) { return {std::move(name), std::move(value)}; }
inline onnx::Attribute integers(std::string name, std::vector<int64_t> values) {
    return {std::move(name), std::move(values)};
}
inline onnx::Attribute reals(std::string name, std::vector<float> values) {
    return {std::move(name), std::move(values)};
}

inline Numbers floats(Shape shape, std::vector<double> elements, Element type = Element::f32) {
    return {{type, std::move(shape)}, std::move(elements)};
}

inline Numbers whole(Shape shape, std::vector<int64_t> elements, Element type = Element::i64) {
    return {{type, std::move(shape)}, std::move(elements)};
}

inline Numbers list(std::vector<int64_t> elements) { return whole({static_cast<int64_t>(elements.size())}, elements); }

// first, first + 1, ...
inline Numbers counted(Shape shape, double first = 1) {
    std::vector<double> elements(*element_count(shape));
    for (double &element : elements) element = first++;
    return floats(std::move(shape), std::move(elements));
}

inline onnx::Tensor tensor(std::string name, const Numbers &numbers) {
    return {std::move(name), numbers.form.type, numbers.form.shape, to_constant(numbers)};
}

inline onnx::ValueInfo value(std::string name, const TypedShape &form) {
    std::vector<onnx::Dimension> dimensions;
    for (const int64_t extent : form.shape) dimensions.push_back({extent, ""});
    return {std::move(name), form.type, std::move(dimensions)};
}

class BuiltModel {
public:
    explicit BuiltModel(int64_t opset = 17) {
        model_.ir_version = 8;
        model_.opsets[""] = opset;
    }

    BuiltModel &input(std::string name, Shape shape, Element type = Element::f32) {
        model_.inputs.push_back(value(std::move(name), {type, std::move(shape)}));
        return *this;
    }
    BuiltModel &constant(std::string name, const Numbers &numbers) {
        model_.initializers.push_back(tensor(std::move(name), numbers));
        return *this;
    }
    BuiltModel &node(std::string op_type, std::vector<std::string> inputs, std::vector<std::string> outputs,
                     std::vector<onnx::Attribute> attributes = {}, std::string domain = "") {
        const std::string name = op_type + "_" + std::to_string(model_.nodes.size());
        model_.nodes.push_back({name, std::move(op_type), std::move(domain), std::move(inputs), std::move(outputs),
                                std::move(attributes)});
        return *this;
    }
    BuiltModel &output(std::string name) {
        model_.outputs.push_back({std::move(name), {}, {}});
        return *this;
    }

    onnx::Model &model() { return model_; }
    Result<Graph> lowered(const std::vector<InputShape> &shapes = {}, const FoldingBounds &bounds = {}) const {
        return lower(model_, {.shapes = shapes, .constants = {}}, bounds);
    }
    Result<Graph> lowered_with(const std::vector<InputConstant> &constants) const {
        return lower(model_, {.shapes = {}, .constants = constants});
    }

private:
    onnx::Model model_;
};

// A graph in an attribute: nodes, constants and outputs of a model.
inline onnx::Attribute branch(std::string name, BuiltModel model) {
    auto body = std::make_shared<onnx::Body>(model.model());
    EXPECT_TRUE(onnx::order_nodes(*body, onnx::Surroundings::graph));
    return {std::move(name), std::shared_ptr<const onnx::Body>(std::move(body))};
}

// "convolution elementwise"
inline std::string operators(const Graph &graph) {
    std::string names;
    for (const Node &node : graph.nodes) names += (names.empty() ? "" : " ") + std::string(name(node.op));
    return names;
}

}  // namespace kiln::graph
