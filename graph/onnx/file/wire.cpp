#include "graph/onnx/file/wire.h"

#include <bit>

#include "text/quoted_text.h"

namespace kiln::graph::onnx {

static_assert(std::endian::native == std::endian::little, "elements are views of the file, which is little-endian");

Error broken_message(const protozero::exception &exception) {
    if (dynamic_cast<const protozero::end_of_buffer_exception *>(&exception)) {
        return bad_input("ends in the middle of a field: the file is cut off or damaged; copy or download it again");
    }
    if (dynamic_cast<const protozero::unknown_pbf_wire_type_exception *>(&exception)) {
        return bad_input("has a field of a kind that ONNX does not use: the file is damaged or no ONNX model");
    }
    return bad_input("has bytes that are no field of protobuf: the file is damaged or no ONNX model");
}

Status take_name(Field &field, std::string &name) {
    const std::string_view text = take_bytes(field);
    if (text.size() > most_name_bytes) {
        return bad_input("has a name of " + std::to_string(text.size()) + " bytes, " + shown(text) +
                         "; the most that kiln reads are " + std::to_string(most_name_bytes));
    }
    name = text;
    return {};
}

void append_integers(Field &field, std::vector<int64_t> &numbers) {
    if (field.wire_type() == protozero::pbf_wire_type::varint) {
        numbers.push_back(field.get_int64());
        return;
    }
    for (const int64_t number : field.get_packed_int64()) {
        numbers.push_back(number);
    }
}

void append_floats(Field &field, std::vector<float> &numbers) {
    if (field.wire_type() == protozero::pbf_wire_type::fixed32) {
        numbers.push_back(field.get_float());
        return;
    }
    for (const float number : field.get_packed_float()) {
        numbers.push_back(number);
    }
}

Error within(const std::string &place, Error error) { return {error.code, place + ": " + error.message}; }

std::string shown(std::string_view name) {
    constexpr size_t most = 160;
    if (name.size() <= most) {
        return "'" + quoted_line(name) + "'";
    }
    return "'" + quoted_line(name.substr(0, most / 2)) + "..." + quoted_line(name.substr(name.size() - most / 2)) + "'";
}

}  // namespace kiln::graph::onnx
