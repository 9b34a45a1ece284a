#include "graph/onnx/graph_reader.h"

#include <utility>

#include "graph/onnx/file/wire.h"
#include "graph/onnx/node_reader.h"
#include "graph/onnx/tensor_reader.h"
#include "graph/onnx/value_reader.h"

namespace kiln::graph::onnx {

namespace {

Status add_node(std::string_view message, Model &model, Reading &reading) {
    Result<Node> node = read_node(message, model.nodes.size(), reading);
    if (!node) {
        return node.error();
    }
    model.nodes.push_back(std::move(*node));
    return count_entry(reading);
}

Status add_unread(const std::string &name, std::string why, Model &model) {
    if (name.empty()) {
        return bad_input("an initializer has no name");
    }
    if (!model.unread.emplace(name, std::move(why)).second) {
        return bad_input("there are two initializers or inputs " + shown(name));
    }
    return {};
}

Status add_initializer(std::string_view message, Model &model, Reading &reading) {
    Result<ReadTensor> read = read_tensor(message, reading);
    if (!read) {
        return read.error();
    }
    if (!read->unread.empty()) {
        return add_unread(read->tensor.name, read->unread, model);
    }
    if (read->tensor.name.empty()) {
        return bad_input("an initializer has no name");
    }
    model.initializers.push_back(std::move(read->tensor));
    return count_entry(reading);
}

// SparseTensorProto has its name in its first field, the tensor of its values.
Status add_sparse_initializer(std::string_view message, Model &model) {
    std::string name;
    const Status status = each_field(message, [&](Field &field) -> Status {
        if (field.tag_and_type() != bytes(1)) {
            field.skip();
            return {};
        }
        return each_field(take_bytes(field), [&](Field &inner) -> Status {
            if (inner.tag_and_type() == bytes(8)) {
                name = take_text(inner);
            } else {
                inner.skip();
            }
            return {};
        });
    });
    return status ? add_unread(name, "a sparse tensor", model) : within("a sparse initializer", status.error());
}

Status add_value(std::string_view message, std::vector<ValueInfo> &values, Model &model, Reading &reading) {
    Result<ReadValue> read = read_value_info(message, reading);
    if (!read) {
        return read.error();
    }
    // An output may be of any type, for it is inferred; an input of an initializer that cannot be read is known.
    if (!read->unread.empty() && &values == &model.inputs) {
        read->value.type.reset();
        model.unread.emplace(read->value.name, read->unread);
    }
    values.push_back(std::move(read->value));
    return {};
}

}  // namespace

Status read_graph(std::string_view message, Model &model, Reading &reading) {
    return each_field(message, [&](Field &field) -> Status {
        switch (field.tag_and_type()) {
            case bytes(1):
                return add_node(take_bytes(field), model, reading);
            case bytes(2):
                model.graph_name = take_text(field);
                return {};
            case bytes(5):
                return add_initializer(take_bytes(field), model, reading);
            case bytes(11):
                return add_value(take_bytes(field), model.inputs, model, reading);
            case bytes(12):
                return add_value(take_bytes(field), model.outputs, model, reading);
            case bytes(15):
                return add_sparse_initializer(take_bytes(field), model);
            default:
                field.skip();
                return {};
        }
    });
}

}  // namespace kiln::graph::onnx
