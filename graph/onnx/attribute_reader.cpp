#include "graph/onnx/attribute_reader.h"

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "graph/onnx/file/wire.h"
#include "graph/onnx/graph_reader.h"
#include "graph/onnx/tensor_reader.h"

namespace kiln::graph::onnx {

namespace {

// AttributeProto.AttributeType: the index is ONNX's number. `field` is the one that has the value.
enum Kind {
    undefined,
    float_kind,
    int_kind,
    string_kind,
    tensor_kind,
    graph_kind,
    floats_kind,
    ints_kind,
    strings_kind
};
struct KindFacts {
    uint32_t field;
    std::string_view words;
};
constexpr KindFacts kinds[] = {
    {0, "nothing"},
    {2, "a float"},
    {3, "an integer"},
    {4, "a string"},
    {5, "a tensor"},
    {6, "a graph"},
    {7, "a list of floats"},
    {8, "a list of integers"},
    {9, "a list of strings"},
    {10, "a list of tensors"},
    {11, "a list of graphs"},
    {22, "a sparse tensor"},
    {23, "a list of sparse tensors"},
    {14, "a type"},
    {15, "a list of types"},
};

struct AttributeFields {
    std::string name, reference;
    int64_t kind = undefined;
    std::vector<uint32_t> present;  // fields that have values, without repetitions in a row
    float number = 0;
    int64_t integer = 0;
    std::string text;
    std::string_view tensor, graph;
    std::vector<float> floats;
    std::vector<int64_t> integers;
    std::vector<std::string> texts;
};

Status read_value(Field &field, AttributeFields &a, Reading &reading) {
    if (a.present.empty() || a.present.back() != field.tag()) {
        a.present.push_back(field.tag());
    }
    switch (field.tag_and_type()) {
        case fixed32(2):
            a.number = field.get_float();
            break;
        case varint(3):
            a.integer = field.get_int64();
            break;
        case bytes(4):
            a.text = take_text(field);
            break;
        case bytes(5):
            a.tensor = take_bytes(field);
            break;
        case bytes(6):
            a.graph = take_bytes(field);
            break;
        case fixed32(7):
        case bytes(7):
            append_floats(field, a.floats);
            break;
        case varint(8):
        case bytes(8):
            append_integers(field, a.integers);
            break;
        case bytes(9):
            a.texts.push_back(take_text(field));
            return count_entry(reading);
        default:
            if (field.tag() <= 9) {
                return bad_input("has a value that is stored in a way that ONNX does not use");
            }
            field.skip();
    }
    return {};
}

Status read_fields(std::string_view message, AttributeFields &a, Reading &reading) {
    return each_field(message, [&](Field &field) -> Status {
        switch (field.tag_and_type()) {
            case bytes(1):
                return take_name(field, a.name);
            case bytes(13):
                field.skip();
                return {};
            case varint(20):
                a.kind = field.get_int32();
                return {};
            case bytes(21):
                return take_name(field, a.reference);
            default:
                break;
        }
        for (const KindFacts &kind : kinds) {
            if (kind.field == field.tag()) {
                return read_value(field, a, reading);
            }
        }
        field.skip();
        return {};
    });
}

// The kind that the attribute says, or the one that its value has. An empty list has no field.
Result<int64_t> kind_of(const AttributeFields &a) {
    if (a.kind < 0 || a.kind >= int64_t(std::size(kinds))) {
        return bad_input("is of kind " + std::to_string(a.kind) + ", which kiln does not know");
    }
    int64_t kind = a.kind;
    for (const uint32_t field : a.present) {
        int64_t found = 1;
        while (kinds[found].field != field) found++;
        if (kind != undefined && kind != found) {
            return bad_input("should be " + std::string(kinds[kind].words) + " and has " +
                             std::string(kinds[found].words));
        }
        kind = found;
    }
    return kind != undefined ? Result<int64_t>(kind) : bad_input("has neither a kind nor a value");
}

Result<Attribute> tensor_attribute(AttributeFields &a, Reading &reading) {
    Result<ReadTensor> read = read_tensor(a.tensor, reading);
    if (!read) {
        return read.error();
    }
    if (!read->unread.empty()) {
        return Attribute{std::move(a.name), Attribute::Unread{"a tensor " + read->unread}};
    }
    return Attribute{std::move(a.name), std::move(read->tensor)};
}

Result<Attribute> graph_attribute(AttributeFields &a, Reading &reading) {
    Result<std::shared_ptr<const Body>> body = read_body(a.graph, reading);
    return body ? Result<Attribute>(Attribute{std::move(a.name), std::move(*body)}) : body.error();
}

Result<Attribute> attribute_of(AttributeFields &a, Reading &reading) {
    if (a.name.empty()) {
        return bad_input("has no name");
    }
    if (!a.reference.empty()) {
        return Attribute{std::move(a.name),
                         Attribute::Unread{"a reference to an attribute of a function", a.reference}};
    }
    const Result<int64_t> kind = kind_of(a);
    if (!kind) {
        return kind.error();
    }
    switch (*kind) {
        case float_kind:
            return Attribute{std::move(a.name), a.number};
        case int_kind:
            return Attribute{std::move(a.name), a.integer};
        case string_kind:
            return Attribute{std::move(a.name), std::move(a.text)};
        case tensor_kind:
            return tensor_attribute(a, reading);
        case graph_kind:
            return graph_attribute(a, reading);
        case floats_kind:
            return Attribute{std::move(a.name), std::move(a.floats)};
        case ints_kind:
            return Attribute{std::move(a.name), std::move(a.integers)};
        case strings_kind:
            return Attribute{std::move(a.name), std::move(a.texts)};
        default:
            return Attribute{std::move(a.name), Attribute::Unread{std::string(kinds[*kind].words)}};
    }
}

}  // namespace

Result<Attribute> read_attribute(std::string_view message, Reading &reading) {
    AttributeFields fields;
    const Status status = read_fields(message, fields, reading);
    const std::string place = fields.name.empty() ? "an attribute" : "attribute " + shown(fields.name);
    if (!status) {
        return within(place, status.error());
    }
    Result<Attribute> attribute = attribute_of(fields, reading);
    return attribute ? attribute : within(place, attribute.error());
}

}  // namespace kiln::graph::onnx
