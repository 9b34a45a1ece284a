// The types that elements of a network's values have, and what reads and writes one element of each.
//
// A network computes in few of them (workload/workload.h, DType). The others occur in constants: shapes and indices are
// i64, conditions are boolean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kiln::scalar {

enum class Element { f32, f64, f16, bf16, i8, u8, i16, u16, i32, u32, i64, u64, boolean };

int size_of(Element type);  // bytes of one element in memory; a boolean has 1
bool is_float(Element type);

// Of floats.
double largest_finite(Element type);
double smallest_normal(Element type);  // above 0

std::string_view name(Element type);  // "f32", "i64", "bool"
std::optional<Element> parse_element(std::string_view text);

// The element at `bytes`, which may lie at any address, as the wider of its kind. `bytes` has size_of(type) bytes.
double read_float(Element type, const std::byte *bytes);     // of every type
int64_t read_integer(Element type, const std::byte *bytes);  // floats are rounded; a u64 beyond i64 saturates

// Rounds to nearest, ties to even; integers saturate, and NaN is 0 there. A boolean is 1 for everything but 0.
void write_float(Element type, double value, std::byte *bytes);
void write_integer(Element type, int64_t value, std::byte *bytes);

}  // namespace kiln::scalar
