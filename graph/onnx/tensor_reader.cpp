#include "graph/onnx/tensor_reader.h"

#include <utility>

#include "graph/onnx/data_type.h"
#include "graph/onnx/file/wire.h"
#include "graph/onnx/tensor_elements.h"

namespace kiln::graph::onnx {

namespace {

struct TensorFields {
    std::string name;
    std::vector<int64_t> dims;
    int64_t data_type = 0;
    bool has_segment = false;
    bool is_external = false;
    std::string_view raw_data;
    ExternalPlace place;
};

Status read_place(std::string_view message, ExternalPlace &place) {
    std::string key, value;
    const Status status = each_field(message, [&](Field &field) -> Status {
        switch (field.tag_and_type()) {
            case bytes(1):
                key = take_text(field);
                break;
            case bytes(2):
                value = take_text(field);
                break;
            default:
                field.skip();
        }
        return {};
    });
    if (key == "location") {
        place.location = value;
    } else if (key == "offset") {
        place.offset = value;
    } else if (key == "length") {
        place.length = value;
    }
    return status;
}

Status read_fields(std::string_view message, TensorFields &tensor) {
    return each_field(message, [&](Field &field) -> Status {
        switch (field.tag_and_type()) {
            case varint(1):
            case bytes(1):
                append_integers(field, tensor.dims);
                break;
            case varint(2):
                tensor.data_type = field.get_int32();
                break;
            case bytes(3):
                tensor.has_segment = true, field.skip();
                break;
            case bytes(8):
                return take_name(field, tensor.name);
            case bytes(9):
                tensor.raw_data = take_bytes(field);
                break;
            case bytes(13):
                return read_place(take_bytes(field), tensor.place);
            case varint(14):
                tensor.is_external = field.get_int32() == 1;
                break;
            default:
                field.skip();
        }
        return {};
    });
}

Result<ConstantData> read_data(std::string_view message, const TensorFields &fields, Element type, Reading &reading) {
    const Result<int64_t> count = element_count(fields.dims);
    if (!count) {
        return within("its shape", count.error());
    }
    const int64_t size = *count * size_of(type);
    if (fields.is_external) {
        return reading.external.read(fields.place, size);
    }
    if (fields.raw_data.empty()) {
        return typed_elements(message, type, *count, reading.owner);
    }
    if (int64_t(fields.raw_data.size()) != size) {
        return bad_input("has " + std::to_string(fields.raw_data.size()) + " bytes, but its type " +
                         std::string(graph::name(type)) + " and shape " + to_text(fields.dims) + " need " +
                         std::to_string(size));
    }
    return ConstantData(reading.owner, std::as_bytes(std::span(fields.raw_data)));
}

}  // namespace

Result<ReadTensor> read_tensor(std::string_view message, Reading &reading) {
    TensorFields fields;
    Status status = read_fields(message, fields);
    if (status && fields.dims.size() > most_axes) {
        status = bad_input("has more than " + std::to_string(most_axes) + " axes");
    }
    const std::string place = fields.name.empty() ? "a tensor without a name" : "tensor " + shown(fields.name);
    if (!status) {
        return within(place, status.error());
    }
    ReadTensor read{.tensor = {.name = fields.name}};
    const std::optional<Element> type = element_of(fields.data_type);
    if (!type || fields.has_segment) {
        read.unread = type ? "in segments" : "of type " + data_type_name(fields.data_type);
        return read;
    }
    const Result<ConstantData> data = read_data(message, fields, *type, reading);
    if (!data) {
        return within(place, data.error());
    }
    read.tensor.type = *type;
    read.tensor.shape = std::move(fields.dims);
    read.tensor.data = *data;
    return read;
}

}  // namespace kiln::graph::onnx
