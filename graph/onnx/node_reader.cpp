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

Status add_name(Field &field, std::vector<std::string> &names, Reading &reading) {
    const Status status = take_name(field, names.emplace_back());
    return status ? count_entry(reading) : status;
}

Status read_fields(std::string_view message, NodeFields &fields, Reading &reading) {
    return each_field(message, [&](Field &field) -> Status {
        switch (field.tag_and_type()) {
            case bytes(1):
                return add_name(field, fields.node.inputs, reading);
            case bytes(2):
                return add_name(field, fields.node.outputs, reading);
            case bytes(3):
                return take_name(field, fields.node.name);
            case bytes(4):
                return take_name(field, fields.node.op_type);
            case bytes(5):
                fields.attributes.push_back(take_bytes(field));
                return count_entry(reading);
            case bytes(7):
                return take_name(field, fields.node.domain);
            case bytes(8):
                return take_name(field, fields.node.overload);
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
