#include "graph/onnx/data_type.h"

#include <iterator>
#include <string_view>

namespace kiln::graph::onnx {

namespace {

struct DataType {
    std::string_view name;
    std::optional<Element> element;
};

// The index is ONNX's number.
constexpr DataType data_types[] = {
    {"undefined", {}},
    {"float", Element::f32},
    {"uint8", Element::u8},
    {"int8", Element::i8},
    {"uint16", Element::u16},
    {"int16", Element::i16},
    {"int32", Element::i32},
    {"int64", Element::i64},
    {"string", {}},
    {"bool", Element::boolean},
    {"float16", Element::f16},
    {"double", Element::f64},
    {"uint32", Element::u32},
    {"uint64", Element::u64},
    {"complex64", {}},
    {"complex128", {}},
    {"bfloat16", Element::bf16},
    {"float8e4m3fn", {}},
    {"float8e4m3fnuz", {}},
    {"float8e5m2", {}},
    {"float8e5m2fnuz", {}},
    {"uint4", {}},
    {"int4", {}},
    {"float4e2m1", {}},
    {"float8e8m0", {}},
    {"uint2", {}},
    {"int2", {}},
    {"float6e2m3", {}},
    {"float6e3m2", {}},
};

bool is_known(int64_t data_type) { return data_type >= 0 && data_type < int64_t(std::size(data_types)); }

}  // namespace

std::optional<Element> element_of(int64_t data_type) {
    return is_known(data_type) ? data_types[data_type].element : std::nullopt;
}

std::string data_type_name(int64_t data_type) {
    return is_known(data_type) ? std::string(data_types[data_type].name) : "number " + std::to_string(data_type);
}

}  // namespace kiln::graph::onnx
