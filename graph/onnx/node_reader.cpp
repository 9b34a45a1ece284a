#include "graph/onnx/node_reader.h"

#include <set>
#include <utility>

#include "graph/onnx/attribute_reader.h"
#include "graph/onnx/file/wire.h"
#include "text/quoted_text.h"

namespace kiln::graph::onnx {

namespace {

struct NodeFields {
    Node node;
    std::vector<std::string_view> attributes;  // read last, for their errors name the node
};

Status read_fields(std::string_view message, NodeFields &fields, Reading &reading) {
    return each_field(message, [&](Field &field) -> Status {
        switch (field.tag_and_type()) {
            case bytes(1):
                fields.node.inputs.push_back(take_text(field));
                return count_entry(reading);
            case bytes(2):
                fields.node.outputs.push_back(take_text(field));
                return count_entry(reading);
            case bytes(3):
                fields.node.name = take_text(field);
                break;
            case bytes(4):
                fields.node.op_type = take_text(field);
                break;
            case bytes(5):
                fields.attributes.push_back(take_bytes(field));
                return count_entry(reading);
            case bytes(7):
                fields.node.domain = take_text(field);
                break;
            case bytes(8):
                fields.node.overload = take_text(field);
                break;
            default:
                field.skip();
        }
        return {};
    });
}

Status read_attributes(const std::vector<std::string_view> &messages, Node &node, Reading &reading) {
    std::set<std::string> names;
    for (const std::string_view message : messages) {
        Result<Attribute> attribute = read_attribute(message, reading);
        if (!attribute) {
            return attribute.error();
        }
        if (!names.insert(attribute->name).second) {
            return bad_input("has two attributes " + shown(attribute->name));
        }
        node.attributes.push_back(std::move(*attribute));
    }
    return {};
}

}  // namespace

std::string describe(const Node &node, size_t index) {
    const std::string type = node.op_type.empty() ? "" : " (" + quoted_line(node.op_type.substr(0, 80)) + ")";
    return "node " + (node.name.empty() ? std::to_string(index) : shown(node.name)) + type;
}

Result<Node> read_node(std::string_view message, size_t index, Reading &reading) {
    NodeFields fields;
    Node &node = fields.node;
    Status status = read_fields(message, fields, reading);
    if (status && node.op_type.empty()) {
        status = bad_input("has no operator");
    }
    if (status) {
        status = read_attributes(fields.attributes, node, reading);
    }
    if (!status) {
        return within(describe(node, index), status.error());
    }
    if (node.domain == "ai.onnx") {
        node.domain.clear();
    }
    return std::move(node);
}

}  // namespace kiln::graph::onnx
