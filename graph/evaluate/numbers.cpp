#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "graph/evaluate/operator_loops.h"

namespace kiln::graph {

Numbers from_constant(const TypedShape &form, const ConstantData &data) {
    const int size = size_of(form.type);
    const std::byte *bytes = data.bytes().data();
    const size_t count = data.bytes().size() / size;
    if (!is_float(form.type)) {
        std::vector<int64_t> elements(count);
        for (size_t i = 0; i < count; i++) elements[i] = read_integer(form.type, bytes + i * size);
        return {form, std::move(elements)};
    }
    std::vector<double> elements(count);
    if (form.type == Element::f32) {  // nearly all, so without a call for each
        for (size_t i = 0; i < count; i++) {
            float value;
            std::memcpy(&value, bytes + i * sizeof value, sizeof value);
            elements[i] = value;
        }
        return {form, std::move(elements)};
    }
    for (size_t i = 0; i < count; i++) elements[i] = read_float(form.type, bytes + i * size);
    return {form, std::move(elements)};
}

ConstantData to_constant(const Numbers &numbers) {
    const Element type = numbers.form.type;
    const int size = size_of(type);
    const auto write = [&](const auto &elements, auto write_one) {
        std::vector<std::byte> bytes(elements.size() * size);
        for (size_t i = 0; i < elements.size(); i++) write_one(type, elements[i], bytes.data() + i * size);
        return ConstantData(std::move(bytes));
    };
    if (const auto *floats = std::get_if<0>(&numbers.elements)) return write(*floats, write_float);
    return write(*std::get_if<1>(&numbers.elements), write_integer);
}

Numbers round_to_type(Numbers numbers) {
    if (numbers.form.type == Element::f64 || numbers.form.type == Element::i64) return numbers;
    return from_constant(numbers.form, to_constant(numbers));
}

int64_t wrapped(Element type, int64_t value) {
    switch (type) {
        case Element::i8:
            return static_cast<int8_t>(value);
        case Element::u8:
            return static_cast<uint8_t>(value);
        case Element::i16:
            return static_cast<int16_t>(value);
        case Element::u16:
            return static_cast<uint16_t>(value);
        case Element::i32:
            return static_cast<int32_t>(value);
        case Element::u32:
            return static_cast<uint32_t>(value);
        case Element::boolean:
            return value != 0;
        default:
            return value;
    }
}

int64_t cut_off(Element type, double value) {
    if (type == Element::boolean) return value != 0;
    std::array<std::byte, 8> bytes{};
    write_float(type, std::trunc(value), bytes.data());
    return read_integer(type, bytes.data());
}

double rounded(Element type, double value) {
    if (type == Element::f64) return value;
    if (type == Element::f32) return static_cast<float>(value);
    std::array<std::byte, 8> bytes{};
    write_float(type, value, bytes.data());
    return read_float(type, bytes.data());
}

}  // namespace kiln::graph
