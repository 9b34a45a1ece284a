// Instructions of RV32IM, decoded once, so that executing one is a jump through a table.
#pragma once

#include <cstdint>
#include <string>

namespace kiln {

// In the order of the RISC-V specification's listing; `illegal` is whatever else a word may hold.
enum class Opcode : uint8_t {
    lui,
    auipc,
    jal,
    jalr,
    beq,
    bne,
    blt,
    bge,
    bltu,
    bgeu,
    lb,
    lh,
    lw,
    lbu,
    lhu,
    sb,
    sh,
    sw,
    addi,
    slti,
    sltiu,
    xori,
    ori,
    andi,
    slli,
    srli,
    srai,
    add,
    sub,
    sll,
    slt,
    sltu,
    xor_,
    srl,
    sra,
    or_,
    and_,
    mul,
    mulh,
    mulhsu,
    mulhu,
    div,
    divu,
    rem,
    remu,
    fence,
    ecall,
    ebreak,
    illegal,
};

// Registers that an operation does not read are x0, which is never written: what would write it writes `sink`.
struct Instruction {
    static constexpr uint8_t sink = 32;
    Opcode operation = Opcode::illegal;
    uint8_t rd = sink, rs1 = 0, rs2 = 0;
    int32_t immediate = 0;
    bool operator==(const Instruction &) const = default;
};

Instruction decode(uint32_t word);

// "illegal instruction 0x00000000", and for what one might meet, its cure.
std::string refusal(uint32_t word);

}  // namespace kiln
