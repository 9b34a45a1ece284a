// Words of RV32IM for tests, field by field as the specification draws them.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/simulator.h"

namespace kiln::assembler {

inline uint32_t r_type(uint32_t upper, uint32_t rs2, uint32_t rs1, uint32_t function, uint32_t rd, uint32_t opcode) {
    return upper << 25 | rs2 << 20 | rs1 << 15 | function << 12 | rd << 7 | opcode;
}
inline uint32_t i_type(int32_t value, uint32_t rs1, uint32_t function, uint32_t rd, uint32_t opcode) {
    return static_cast<uint32_t>(value) << 20 | rs1 << 15 | function << 12 | rd << 7 | opcode;
}
inline uint32_t s_type(int32_t value, uint32_t rs2, uint32_t rs1, uint32_t function) {
    const auto v = static_cast<uint32_t>(value);
    return (v >> 5 & 127) << 25 | rs2 << 20 | rs1 << 15 | function << 12 | (v & 31) << 7 | 0x23;
}
inline uint32_t b_type(int32_t value, uint32_t rs2, uint32_t rs1, uint32_t function) {
    const auto v = static_cast<uint32_t>(value);
    return (v >> 12 & 1) << 31 | (v >> 5 & 63) << 25 | rs2 << 20 | rs1 << 15 | function << 12 | (v >> 1 & 15) << 8 |
           (v >> 11 & 1) << 7 | 0x63;
}
inline uint32_t jal(int32_t value, uint32_t rd) {
    const auto v = static_cast<uint32_t>(value);
    return (v >> 20 & 1) << 31 | (v >> 1 & 1023) << 21 | (v >> 11 & 1) << 20 | (v >> 12 & 255) << 12 | rd << 7 | 0x6f;
}
inline uint32_t op(uint32_t upper, uint32_t function, uint32_t rd, uint32_t rs1, uint32_t rs2) {
    return r_type(upper, rs2, rs1, function, rd, 0x33);
}
inline uint32_t addi(uint32_t rd, uint32_t rs1, int32_t value) { return i_type(value, rs1, 0, rd, 0x13); }
inline uint32_t load(uint32_t function, uint32_t rd, uint32_t rs1, int32_t at) {
    return i_type(at, rs1, function, rd, 0x03);
}
inline uint32_t ret() { return i_type(0, 1, 0, 0, 0x67); }

constexpr uint32_t a0 = 10, a1 = 11, a2 = 12, sp = 2;

// A simulator of this code, which lies at Simulator::lowest_address.
inline Simulator program(const std::vector<uint32_t> &words, const CoreDescription &core = {},
                         const SimulationLimits &limits = {.memory_bytes = 1 << 20, .instructions = 100'000}) {
    Elf32 elf;
    elf.segments.push_back({Simulator::lowest_address, static_cast<uint32_t>(4 * words.size()),
                            std::as_bytes(std::span(words)), true, false});
    return std::move(*Simulator::load(elf, "test.elf", core, limits));
}

}  // namespace kiln::assembler
