#include "simulate/instruction.h"

#include <fmt/format.h>

namespace kiln {
namespace {

using enum Opcode;

constexpr uint32_t bits(uint32_t word, int high, int low) {
    return (word >> low) & ((uint32_t{1} << (high - low + 1)) - 1);
}

int32_t signed_bits(uint32_t value, int count) { return static_cast<int32_t>(value << (32 - count)) >> (32 - count); }

// Immediates are scattered over the word so that their sign is always its highest bit.
int32_t immediate_i(uint32_t w) { return static_cast<int32_t>(w) >> 20; }
int32_t immediate_s(uint32_t w) { return signed_bits(bits(w, 31, 25) << 5 | bits(w, 11, 7), 12); }
int32_t immediate_b(uint32_t w) {
    return signed_bits(bits(w, 31, 31) << 12 | bits(w, 7, 7) << 11 | bits(w, 30, 25) << 5 | bits(w, 11, 8) << 1, 13);
}
int32_t immediate_j(uint32_t w) {
    return signed_bits(bits(w, 31, 31) << 20 | bits(w, 19, 12) << 12 | bits(w, 20, 20) << 11 | bits(w, 30, 21) << 1,
                       21);
}

constexpr Opcode branches[] = {beq, bne, illegal, illegal, blt, bge, bltu, bgeu};
constexpr Opcode loads[] = {lb, lh, lw, illegal, lbu, lhu, illegal, illegal};
constexpr Opcode stores[] = {sb, sh, sw, illegal, illegal, illegal, illegal, illegal};
constexpr Opcode with_immediate[] = {addi, slli, slti, sltiu, xori, srli, ori, andi};
constexpr Opcode with_registers[] = {add, sll, slt, sltu, xor_, srl, or_, and_};
constexpr Opcode products[] = {mul, mulh, mulhsu, mulhu, div, divu, rem, remu};

uint8_t written(uint32_t w) {
    const auto rd = static_cast<uint8_t>(bits(w, 11, 7));
    return rd == 0 ? Instruction::sink : rd;
}
uint8_t first_read(uint32_t w) { return static_cast<uint8_t>(bits(w, 19, 15)); }
uint8_t second_read(uint32_t w) { return static_cast<uint8_t>(bits(w, 24, 20)); }

Instruction decode_immediate(uint32_t w) {
    const uint32_t function = bits(w, 14, 12), upper = bits(w, 31, 25);
    Instruction i{with_immediate[function], written(w), first_read(w), 0, immediate_i(w)};
    if (function == 1 || function == 5) {  // shifts: the upper bits say which
        i.immediate = second_read(w);
        if (function == 5 && upper == 0x20) {
            i.operation = srai;
        } else if (upper != 0) {
            return {};
        }
    }
    return i;
}

Instruction decode_registers(uint32_t w) {
    const uint32_t function = bits(w, 14, 12), upper = bits(w, 31, 25);
    Opcode operation = illegal;
    if (upper == 0) operation = with_registers[function];
    if (upper == 1) operation = products[function];
    if (upper == 0x20 && function == 0) operation = sub;
    if (upper == 0x20 && function == 5) operation = sra;
    if (operation == illegal) return {};
    return {operation, written(w), first_read(w), second_read(w), 0};
}

}  // namespace

Instruction decode(uint32_t w) {
    const uint32_t function = bits(w, 14, 12);
    switch (bits(w, 6, 0)) {
        case 0x37:
            return {lui, written(w), 0, 0, static_cast<int32_t>(w & 0xfffff000)};
        case 0x17:
            return {auipc, written(w), 0, 0, static_cast<int32_t>(w & 0xfffff000)};
        case 0x6f:
            return {jal, written(w), 0, 0, immediate_j(w)};
        case 0x67:
            return function == 0 ? Instruction{jalr, written(w), first_read(w), 0, immediate_i(w)} : Instruction{};
        case 0x63:
            if (branches[function] == illegal) return {};
            return {branches[function], Instruction::sink, first_read(w), second_read(w), immediate_b(w)};
        case 0x03:
            if (loads[function] == illegal) return {};
            return {loads[function], written(w), first_read(w), 0, immediate_i(w)};
        case 0x23:
            if (stores[function] == illegal) return {};
            return {stores[function], Instruction::sink, first_read(w), second_read(w), immediate_s(w)};
        case 0x13:
            return decode_immediate(w);
        case 0x33:
            return decode_registers(w);
        case 0x0f:
            return function <= 1 ? Instruction{fence, Instruction::sink, 0, 0, 0} : Instruction{};
        case 0x73:
            if (w == 0x00000073) return {ecall, Instruction::sink, 0, 0, 0};
            if (w == 0x00100073) return {ebreak, Instruction::sink, 0, 0, 0};
            return {};
        default:
            return {};
    }
}

std::string refusal(uint32_t word) {
    std::string text = fmt::format("illegal instruction {:#010x}", word);
    const uint32_t opcode = bits(word, 6, 0);
    if (bits(word, 1, 0) != 3 && word != 0) text += " (compressed; compile for rv32im, without c)";
    if (opcode == 0x53 || opcode == 0x07 || opcode == 0x27)
        text += " (floating point; compile for rv32im, without f and d)";
    if (opcode == 0x73) text += " (system; this core has no control registers)";
    return text;
}

}  // namespace kiln
