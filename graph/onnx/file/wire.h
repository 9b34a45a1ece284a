// Fields of protobuf messages, read once from front to back. Lengths that do not fit what is there are errors.
//
// A field whose number or kind is not asked for is skipped, as in every reader of protobuf: later versions of ONNX add
// fields. Exceptions of protozero end here.
#pragma once

#include <cstdint>
#include <optional>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <protozero/types.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workload/result.h"

namespace kiln::graph::onnx {

using Field = protozero::pbf_reader;  // stands at a field whose value is to be taken or skipped

// A field's number and kind together, for a switch over Field::tag_and_type().
constexpr uint32_t varint(uint32_t number) { return protozero::tag_and_type(number, protozero::pbf_wire_type::varint); }
constexpr uint32_t fixed32(uint32_t number) {
    return protozero::tag_and_type(number, protozero::pbf_wire_type::fixed32);
}
constexpr uint32_t fixed64(uint32_t number) {
    return protozero::tag_and_type(number, protozero::pbf_wire_type::fixed64);
}
// Texts, bytes, messages and packed lists of numbers.
constexpr uint32_t bytes(uint32_t number) {
    return protozero::tag_and_type(number, protozero::pbf_wire_type::length_delimited);
}

inline std::string_view take_bytes(Field &field) {
    const protozero::data_view view = field.get_view();
    return {view.data(), view.size()};
}
inline std::string take_text(Field &field) { return std::string(take_bytes(field)); }

// Names are joined and repeated, where nodes are written out for each call of a function and in messages. So one that nobody would
// write is refused.
inline constexpr size_t most_name_bytes = 4096;
Status take_name(Field &field, std::string &name);

Error broken_message(const protozero::exception &exception);

// Calls read(Field &) -> Status for each field, until one is an error.
template<typename Read>
Status each_field(std::string_view message, Read read) {
    try {
        Field field(message.data(), message.size());
        while (field.next()) {
            if (Status status = read(field); !status) {
                return status;
            }
        }
        return {};
    } catch (const protozero::exception &exception) {
        return broken_message(exception);
    }
}

// Appends the numbers of a field: one of them, or a packed list.
void append_integers(Field &field, std::vector<int64_t> &numbers);
void append_floats(Field &field, std::vector<float> &numbers);

// Messages say where. Names come from the model: they are quoted, so that a line of a message stays one, and long ones are cut.
Error within(const std::string &place, Error error);
std::string shown(std::string_view name);  // in single quotes

}  // namespace kiln::graph::onnx
