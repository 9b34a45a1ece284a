// Bytes of ONNX models and of their parts, for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln::graph::onnx {

// A message, field by field: Message().number(1, 8).text(2, "kiln").
class Message {
public:
    Message &number(uint32_t field, int64_t value) { return writer_.add_int64(field, value), *this; }
    Message &decimal(uint32_t field, float value) { return writer_.add_float(field, value), *this; }
    Message &text(uint32_t field, std::string_view value) {
        return writer_.add_bytes(field, value.data(), value.size()), *this;
    }
    Message &message(uint32_t field, const Message &value) { return text(field, value.bytes_); }
    Message &packed(uint32_t field, const std::vector<int64_t> &values) {
        return writer_.add_packed_int64(field, values.begin(), values.end()), *this;
    }
    template<typename T>
    Message &array(uint32_t field, const std::vector<T> &values) {  // packed floats, raw data
        return text(field, {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)});
    }
    const std::string &bytes() const { return bytes_; }

    Message() = default;
    Message(const Message &other) : bytes_(other.bytes_) {}
    Message &operator=(const Message &) = delete;

private:
    std::string bytes_;
    protozero::pbf_writer writer_{bytes_};
};

namespace data_type {
inline constexpr int f32 = 1, u8 = 2, i8 = 3, u16 = 4, i16 = 5, i32 = 6, i64 = 7, string = 8, boolean = 9, f16 = 10,
                     f64 = 11, u32 = 12, u64 = 13, bf16 = 16, float8 = 17, int4 = 22;
}

// TensorProto without elements.
inline Message tensor(std::string_view name, int type, const std::vector<int64_t> &dims) {
    Message t;
    for (const int64_t extent : dims) t.number(1, extent);
    return t.number(2, type).text(8, name);
}

// NodeProto without attributes.
inline Message node(std::string_view name, std::string_view type, const std::vector<std::string> &inputs,
                    const std::vector<std::string> &outputs) {
    Message n;
    for (const std::string &input : inputs) n.text(1, input);
    for (const std::string &output : outputs) n.text(2, output);
    return n.text(3, name).text(4, type);
}

// ValueInfoProto of a tensor; extents below 0 are left open.
inline Message value(std::string_view name, int type, const std::vector<int64_t> &dims) {
    Message shape;
    for (const int64_t extent : dims) {
        shape.message(1, extent < 0 ? Message().text(2, "n") : Message().number(1, extent));
    }
    return Message().text(1, name).message(2, Message().message(1, Message().number(1, type).message(2, shape)));
}

// GraphProto, one kind of entry after the other.
struct Parts {
    std::vector<Message> nodes, initializers, inputs, outputs;
};

inline Message graph(const Parts &parts) {
    Message g;
    for (const Message &node : parts.nodes) g.message(1, node);
    g.text(2, "net");
    for (const Message &initializer : parts.initializers) g.message(5, initializer);
    for (const Message &input : parts.inputs) g.message(11, input);
    for (const Message &output : parts.outputs) g.message(12, output);
    return g;
}

// ModelProto.
inline Message model_of(const Message &graph, int64_t ir_version = 8) {
    return Message()
        .number(1, ir_version)
        .text(2, "test")
        .message(7, graph)
        .message(8, Message().text(1, "").number(2, 17));
}

}  // namespace kiln::graph::onnx
