#include "tests/fuzz/protobuf_mutator.h"

#include <cstddef>
#include <iterator>
#include <optional>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <utility>
#include <vector>

namespace kiln {

namespace {

using Kind = protozero::pbf_wire_type;

struct Field {
    uint32_t number = 1;
    Kind kind = Kind::varint;
    uint64_t value = 0;         // of a varint, 4 or 8 bytes
    std::string bytes;          // of what is no message
    std::vector<Field> fields;  // of a message
};

std::optional<std::vector<Field>> read_fields(std::string_view message, int depth);

Field read_field(protozero::pbf_reader &reader, int depth) {
    Field field{.number = reader.tag(), .kind = reader.wire_type()};
    switch (field.kind) {
        case Kind::varint:
            field.value = reader.get_uint64();
            break;
        case Kind::fixed32:
            field.value = reader.get_fixed32();
            break;
        case Kind::fixed64:
            field.value = reader.get_fixed64();
            break;
        default: {
            const protozero::data_view view = reader.get_view();
            field.bytes.assign(view.data(), view.size());
            if (depth > 0 && !field.bytes.empty()) {
                if (auto inner = read_fields(field.bytes, depth - 1)) {
                    field.fields = std::move(*inner);
                    field.bytes.clear();
                }
            }
        }
    }
    return field;
}

std::optional<std::vector<Field>> read_fields(std::string_view message, int depth) {
    std::vector<Field> fields;
    try {
        protozero::pbf_reader reader(message.data(), message.size());
        while (reader.next()) fields.push_back(read_field(reader, depth));
    } catch (const protozero::exception &) {
        return std::nullopt;
    }
    return fields;
}

std::string to_bytes(const std::vector<Field> &fields) {
    std::string bytes;
    protozero::pbf_writer writer(bytes);
    for (const Field &field : fields) {
        switch (field.kind) {
            case Kind::varint:
                writer.add_uint64(field.number, field.value);
                break;
            case Kind::fixed32:
                writer.add_fixed32(field.number, uint32_t(field.value));
                break;
            case Kind::fixed64:
                writer.add_fixed64(field.number, field.value);
                break;
            default:
                writer.add_bytes(field.number, field.fields.empty() ? field.bytes : to_bytes(field.fields));
        }
    }
    return bytes;
}

// Every list of fields, the outermost first. Pointers hold as long as no field is added or taken away.
void collect(std::vector<Field> &fields, std::vector<std::vector<Field> *> &all) {
    all.push_back(&fields);
    for (Field &field : fields) {
        if (!field.fields.empty()) collect(field.fields, all);
    }
}

class Mutation {
public:
    Mutation(std::vector<Field> &root, std::mt19937 &random) : root_(root), random_(random) {}

    void once() {
        std::vector<Field> &list = any_list();
        if (list.empty()) return;
        const size_t at = below(list.size());
        switch (below(8)) {
            case 0:
                list.erase(list.begin() + ptrdiff_t(at));
                break;
            case 1:
                list.insert(list.begin() + ptrdiff_t(at), Field(list[at]));
                break;
            case 2:
                std::swap(list[at], list[below(list.size())]);
                break;
            case 3:
                list[at].number = uint32_t(1 + below(26));
                break;
            case 4:
                insert_elsewhere(Field(list[at]));
                break;
            case 5:
                take_value_of_another(list[at]);
                break;
            default:
                change_value(list[at]);
        }
    }

private:
    size_t below(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random_); }
    std::vector<Field> &any_list() {
        std::vector<std::vector<Field> *> all;
        collect(root_, all);
        return *all[below(all.size())];
    }
    void insert_elsewhere(Field field) {
        std::vector<Field> &list = any_list();
        list.insert(list.begin() + ptrdiff_t(below(list.size() + 1)), std::move(field));
    }
    // Names of other values, shapes of other tensors.
    void take_value_of_another(Field &field) {
        std::vector<Field> &list = any_list();
        if (list.empty()) return;
        Field other = list[below(list.size())];
        if (below(4) != 0) other.number = field.number;
        field = std::move(other);
    }
    void change_value(Field &field) {
        static constexpr uint64_t values[] = {
            0, 1, 2, 3, 7, 64, 1u << 31, uint64_t{1} << 40, uint64_t{1} << 63, ~uint64_t{0}};
        if (field.kind != Kind::length_delimited) {
            field.value = below(2) == 0 ? values[below(std::size(values))] : field.value + below(3) - 1;
        } else if (field.bytes.empty()) {
            field.fields.clear();
        } else if (below(3) == 0) {
            field.bytes.resize(below(2 * field.bytes.size()));
        } else {
            field.bytes[below(field.bytes.size())] = char(below(256));
        }
    }

    std::vector<Field> &root_;
    std::mt19937 &random_;
};

}  // namespace

std::string mutated_message(std::string_view message, std::mt19937 &random) {
    constexpr int depth = 6;
    std::vector<Field> fields = read_fields(message, depth).value_or(std::vector<Field>());
    Mutation mutation(fields, random);
    const int count = std::uniform_int_distribution<int>(1, 4)(random);
    for (int i = 0; i < count; i++) mutation.once();
    return to_bytes(fields);
}

}  // namespace kiln
