// The attributes of a node, each read as the type that its operator gives it. An attribute of another type is refused by name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/onnx/model.h"

namespace kiln::graph {

class Attributes {
public:
    explicit Attributes(const onnx::Node &node) : node_(node) {}

    bool has(std::string_view name) const { return find(name) != nullptr; }

    // The value, or `absent` where the node does not say it. Without `absent` the operator requires it.
    int64_t integer(std::string_view name, std::optional<int64_t> absent = {}) const;
    double real(std::string_view name, std::optional<double> absent = {}) const;
    std::string text(std::string_view name, std::optional<std::string> absent = {}) const;
    bool flag(std::string_view name, bool absent) const { return integer(name, absent) != 0; }
    Element type(std::string_view name, Element absent) const;  // by its number in ONNX

    // Lists; empty where the node does not say them.
    std::vector<int64_t> integers(std::string_view name) const;
    std::vector<int64_t> required_integers(std::string_view name) const;  // may be empty, but not left out
    std::vector<double> reals(std::string_view name) const;
    std::vector<std::string> texts(std::string_view name) const;

    const onnx::Tensor &tensor(std::string_view name) const;
    const onnx::Body &graph(std::string_view name) const;

private:
    const onnx::Attribute *find(std::string_view name) const;
    template<typename T>
    const T *read(std::string_view name, std::string_view type) const;

    const onnx::Node &node_;
};

}  // namespace kiln::graph
