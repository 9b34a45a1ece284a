// Parsing bytes that lie in memory.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "graph/onnx/model.h"
#include "tests/graph/onnx/built_model.h"

namespace kiln::graph::onnx {

inline Result<Model> parsed(std::string bytes, const std::filesystem::path &folder = {}) {
    const auto owner = std::make_shared<const std::string>(std::move(bytes));
    return parse_model(owner, std::as_bytes(std::span(*owner)), folder);
}
inline Result<Model> parsed(const Message &model, const std::filesystem::path &folder = {}) {
    return parsed(model.bytes(), folder);
}

// The message of an error; the empty text where there is none.
inline std::string error_of(const Result<Model> &model) { return model ? "" : model.error().message; }

// A model with one initializer `w` that a node reads.
inline Message with_initializer(const Message &tensor) {
    return model_of(graph({.nodes = {node("n", "Relu", {"w"}, {"y"})},
                           .initializers = {tensor},
                           .outputs = {value("y", data_type::f32, {1})}}));
}

// One with a node `n` that has an attribute.
inline Message with_attribute(const Message &attribute) {
    return model_of(graph(
        {.nodes = {node("n", "Op", {}, {"y"}).message(5, attribute)}, .outputs = {value("y", data_type::f32, {1})}}));
}

}  // namespace kiln::graph::onnx
