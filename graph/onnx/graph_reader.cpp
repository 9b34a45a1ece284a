#include "graph/onnx/graph_reader.h"

#include <utility>

#include "graph/onnx/file/wire.h"
#include "graph/onnx/name_checks.h"
#include "graph/onnx/node_reader.h"
#include "graph/onnx/tensor_reader.h"
#include "graph/onnx/value_reader.h"

namespace kiln::graph::onnx {

namespace {

Status add_unread(const std::string &name, std::string why, Body &body) {
    if (name.empty()) {
        return bad_input("an initializer has no name");
    }
    if (!body.unread.emplace(name, std::move(why)).second) {
        return bad_input("there are two initializers or inputs " + shown(name));
    }
    return {};
}

Status add_initializer(std::string_view message, Body &body, Reading &reading) {
    Result<ReadTensor> read = read_tensor(message, reading);
    if (!read) {
        return read.error();
    }
    if (!read->unread.empty()) {
        return add_unread(read->tensor.name, read->unread, body);
    }
    if (read->tensor.name.empty()) {
        return bad_input("an initializer has no name");
    }
    body.initializers.push_back(std::move(read->tensor));
    return count_entry(reading);
}

// SparseTensorProto has its name in its first field, the tensor of its values.
Status add_sparse_initializer(std::string_view message, Body &body) {
    std::string name;
    const Status status = each_field(message, [&](Field &field) -> Status {
        if (field.tag_and_type() != bytes(1)) {
            field.skip();
            return {};
        }
        return each_field(take_bytes(field), [&](Field &inner) -> Status {
            if (inner.tag_and_type() == bytes(8)) {
                return take_name(inner, name);
            }
            inner.skip();
            return {};
        });
    });
    return status ? add_unread(name, "a sparse tensor", body) : within("a sparse initializer", status.error());
}

Status add_value(std::string_view message, std::vector<ValueInfo> &values, Body &body, Reading &reading) {
    Result<ReadValue> read = read_value_info(message, reading);
    if (!read) {
        return read.error();
    }
    // An output may be of any type, for it is inferred; an input of an initializer that cannot be read is known.
    if (!read->unread.empty() && &values == &body.inputs) {
        read->value.type.reset();
        body.unread.emplace(read->value.name, read->unread);
    }
    values.push_back(std::move(read->value));
    return {};
}

Status read_graph_name(Field &field, Body &body) {
    const Status status = take_name(field, body.graph_name);
    return status ? status : within("a graph", status.error());
}

}  // namespace

Status add_node(std::string_view message, Body &body, Reading &reading) {
    Result<Node> node = read_node(message, body.nodes.size(), reading);
    if (!node) {
        return node.error();
    }
    body.nodes.push_back(std::move(*node));
    return count_entry(reading);
}

Status read_graph(std::string_view message, Body &body, Reading &reading) {
    return each_field(message, [&](Field &field) -> Status {
        switch (field.tag_and_type()) {
            case bytes(1):
                return add_node(take_bytes(field), body, reading);
            case bytes(2):
                return read_graph_name(field, body);
            case bytes(5):
                return add_initializer(take_bytes(field), body, reading);
            case bytes(11):
                return add_value(take_bytes(field), body.inputs, body, reading);
            case bytes(12):
                return add_value(take_bytes(field), body.outputs, body, reading);
            case bytes(15):
                return add_sparse_initializer(take_bytes(field), body);
            default:
                field.skip();
                return {};
        }
    });
}

Result<std::shared_ptr<const Body>> read_body(std::string_view message, Reading &reading) {
    if (reading.depth == most_depth) {
        return bad_input("has graphs in graphs beyond " + std::to_string(most_depth) + ", the most that kiln reads");
    }
    auto body = std::make_shared<Body>();
    reading.depth++;
    Status status = read_graph(message, *body, reading);
    reading.depth--;
    if (status) {
        status = order_nodes(*body, Surroundings::graph);
    }
    for (size_t i = 0; status && i < body->outer_names.size(); i++) status = count_entry(reading);
    return status ? Result<std::shared_ptr<const Body>>(std::move(body)) : status.error();
}

}  // namespace kiln::graph::onnx
