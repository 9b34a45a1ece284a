// Mutates protobuf messages field by field, so that lengths stay right and what stands behind them is reached: fields are
// dropped, repeated, exchanged, moved into other messages, their numbers changed. Without the format's description: bytes that
// read as a message are one.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace kiln {

std::string mutated_message(std::string_view message, std::mt19937 &random);

}  // namespace kiln
