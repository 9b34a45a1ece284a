// An ONNX model as it stands in its file: names, nodes with attributes, initializers, declared forms. Nothing is inferred.
//
// The format: onnx.proto of https://github.com/onnx/onnx, IR versions 3 to the latest. What a model says of itself is not
// believed: sizes are compared with the bytes that are there, external data must lie in the model's folder.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "graph/constant_data.h"
#include "graph/element.h"
#include "graph/shape.h"
#include "workload/result.h"

namespace kiln::graph::onnx {

struct Tensor {
    std::string name;
    Element type = Element::f32;
    Shape shape;
    ConstantData data;  // size_of(type) bytes for each element of `shape`
};

struct Body;

struct Attribute {
    std::string name;
    // The last is an attribute of a kind that kiln does not read (lists of graphs, sparse tensors): its kind in words.
    struct Unread {
        std::string kind;
        std::string reference = "";  // in a function: the attribute of its calls whose value it has
    };
    std::variant<float, int64_t, std::string, Tensor, std::vector<float>, std::vector<int64_t>,
                 std::vector<std::string>, std::shared_ptr<const Body>, Unread>
        value;
};

struct Node {
    std::string name, op_type;
    std::string domain;                        // "" for ONNX's own; "ai.onnx" is read as ""
    std::vector<std::string> inputs, outputs;  // "" stands for one that is left out
    std::vector<Attribute> attributes;
    std::string overload = {};  // of a call of a function: which of those with its name
};

struct Dimension {
    std::optional<int64_t> size;  // none: known when the network runs
    std::string parameter;        // its name, if it has one
};

struct ValueInfo {
    std::string name;
    std::optional<Element> type;                  // none where the model does not say
    std::optional<std::vector<Dimension>> shape;  // none where the model does not say
};

// A graph: that of a model, or one that an attribute of a node holds, as the branches of an If are.
//
// Names are what they should be: every name in Node::inputs and `outputs` is that of one input, initializer, unread value or
// output of a node, or one of `outer_names`, and nodes stand in an order in which they can be computed. An initializer may have
// the name of an input: it is its default.
struct Body {
    std::string graph_name;
    std::vector<Node> nodes;
    std::vector<Tensor> initializers;
    std::vector<ValueInfo> inputs;  // before IR version 4 initializers are listed here too
    std::vector<ValueInfo> outputs;
    // Initializers and inputs that kiln does not read, and why: "of type float8e4m3fn", "a sparse tensor". Such an initializer
    // is not among `initializers`, such an input has no type. It is no fault of a model where nothing needs the value.
    std::map<std::string, std::string> unread;
    // Values of the graphs around it that its nodes read, at any depth; a model has none.
    std::vector<std::string> outer_names;
};

struct Model : Body {
    int64_t ir_version = 0;
    std::map<std::string, int64_t> opsets;  // by domain; "ai.onnx" is read as ""
    std::string producer;
};

// IR versions that kiln reads.
inline constexpr int64_t oldest_ir_version = 3, newest_ir_version = 14;

// Reads a model from a file, which is mapped; constants are views of it and keep it open.
Result<Model> read_model(const std::filesystem::path &file);

// The same from bytes that `owner` keeps alive; `folder` holds external data, and where it is empty there can be none.
Result<Model> parse_model(std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
                          const std::filesystem::path &folder);

}  // namespace kiln::graph::onnx
