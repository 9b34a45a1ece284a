#include "graph/onnx/value_reader.h"

#include <utility>

#include "graph/onnx/data_type.h"
#include "graph/onnx/file/wire.h"
#include "graph/onnx/tensor_reader.h"

namespace kiln::graph::onnx {

namespace {

Status read_dimension(std::string_view message, std::vector<Dimension> &shape) {
    Dimension dimension;
    const Status status = each_field(message, [&](Field &field) -> Status {
        switch (field.tag_and_type()) {
            case varint(1):
                dimension.size = field.get_int64();
                break;
            case bytes(2):
                return take_name(field, dimension.parameter);
            default:
                field.skip();
        }
        return {};
    });
    if (dimension.size && *dimension.size < 0) {  // some writers say -1 for what they do not know
        dimension.size.reset();
    }
    shape.push_back(std::move(dimension));
    return shape.size() <= most_axes ? status : bad_input("has more than " + std::to_string(most_axes) + " axes");
}

Status read_shape(std::string_view message, ReadValue &read) {
    std::vector<Dimension> shape;
    const Status status = each_field(message, [&](Field &field) -> Status {
        if (field.tag_and_type() == bytes(1)) {
            return read_dimension(take_bytes(field), shape);
        }
        field.skip();
        return {};
    });
    read.value.shape = std::move(shape);
    return status;
}

Status read_tensor_type(std::string_view message, ReadValue &read) {
    return each_field(message, [&](Field &field) -> Status {
        switch (field.tag_and_type()) {
            case varint(1): {
                const int64_t data_type = field.get_int32();
                read.value.type = element_of(data_type);
                if (data_type != 0 && !read.value.type) {
                    read.unread = "of type " + data_type_name(data_type);
                }
                return {};
            }
            case bytes(2):
                return read_shape(take_bytes(field), read);
            default:
                field.skip();
                return {};
        }
    });
}

Status read_type(std::string_view message, ReadValue &read) {
    return each_field(message, [&](Field &field) -> Status {
        switch (field.tag_and_type()) {
            case bytes(1):
                return read_tensor_type(take_bytes(field), read);
            case bytes(4):
                read.unread = "a sequence";
                break;
            case bytes(5):
                read.unread = "a map";
                break;
            case bytes(7):
                read.unread = "opaque";
                break;
            case bytes(8):
                read.unread = "a sparse tensor";
                break;
            case bytes(9):
                read.unread = "optional";
                break;
            default:
                break;
        }
        field.skip();
        return {};
    });
}

}  // namespace

Result<ReadValue> read_value_info(std::string_view message, Reading &reading) {
    ReadValue read;
    std::string_view type;
    Status status = each_field(message, [&](Field &field) -> Status {
        switch (field.tag_and_type()) {
            case bytes(1):
                return take_name(field, read.value.name);
            case bytes(2):
                type = take_bytes(field);
                break;
            default:
                field.skip();
        }
        return {};
    });
    if (status && read.value.name.empty()) {
        status = bad_input("has no name");
    }
    if (status) {
        status = read_type(type, read);
    }
    if (status) {
        status = count_entry(reading);
    }
    const std::string place = read.value.name.empty() ? "an input or output" : "value " + shown(read.value.name);
    return status ? Result<ReadValue>(std::move(read)) : within(place, status.error());
}

}  // namespace kiln::graph::onnx
