#include "simulate/instruction.h"

#include <gtest/gtest.h>

#include "tests/simulate/assembler.h"

namespace kiln {
namespace {

using namespace assembler;

TEST(Decode, ImmediatesOfEveryForm) {
    const struct {
        uint32_t word;
        Instruction expected;
    } rows[] = {
        {0x800002b7, {Opcode::lui, 5, 0, 0, static_cast<int32_t>(0x80000000)}},
        {0xfffff297, {Opcode::auipc, 5, 0, 0, -4096}},
        {jal(-1048576, 1), {Opcode::jal, 1, 0, 0, -1048576}},
        {jal(1048574, 1), {Opcode::jal, 1, 0, 0, 1048574}},
        {jal(2048, 0), {Opcode::jal, Instruction::sink, 0, 0, 2048}},
        {i_type(-2048, 3, 0, 1, 0x67), {Opcode::jalr, 1, 3, 0, -2048}},
        {b_type(-4096, 7, 6, 0), {Opcode::beq, Instruction::sink, 6, 7, -4096}},
        {b_type(4094, 7, 6, 7), {Opcode::bgeu, Instruction::sink, 6, 7, 4094}},
        {b_type(2048, 7, 6, 1), {Opcode::bne, Instruction::sink, 6, 7, 2048}},
        {load(5, 9, 8, 2047), {Opcode::lhu, 9, 8, 0, 2047}},
        {s_type(-2048, 4, 3, 2), {Opcode::sw, Instruction::sink, 3, 4, -2048}},
        {s_type(31, 4, 3, 0), {Opcode::sb, Instruction::sink, 3, 4, 31}},
        {addi(31, 30, -1), {Opcode::addi, 31, 30, 0, -1}},
        {i_type(31, 1, 1, 2, 0x13), {Opcode::slli, 2, 1, 0, 31}},
        {i_type(0x400 | 31, 1, 5, 2, 0x13), {Opcode::srai, 2, 1, 0, 31}},
        {op(0x20, 0, 1, 2, 3), {Opcode::sub, 1, 2, 3, 0}},
        {0x0ff0000f, {Opcode::fence, Instruction::sink, 0, 0, 0}},
        {0x00000073, {Opcode::ecall, Instruction::sink, 0, 0, 0}},
        {0x00100073, {Opcode::ebreak, Instruction::sink, 0, 0, 0}},
    };
    for (const auto &row : rows) EXPECT_EQ(decode(row.word), row.expected) << std::hex << row.word;
}

TEST(Decode, RefusesWhatRv32imDoesNotHave) {
    const struct {
        uint32_t word;
        const char *message;
    } rows[] = {
        {0x00000000, "illegal instruction 0x00000000"},
        {0xffffffff, "illegal instruction 0xffffffff"},
        {0x00008082, "illegal instruction 0x00008082 (compressed; compile for rv32im, without c)"},
        {0x00052007, "illegal instruction 0x00052007 (floating point; compile for rv32im, without f and d)"},
        {0xc0002573, "illegal instruction 0xc0002573 (system; this core has no control registers)"},
        {load(3, 1, 2, 0), "illegal instruction 0x00013083"},                  // ld, of 64 bits
        {s_type(0, 1, 2, 3), "illegal instruction 0x00113023"},                // sd
        {b_type(8, 1, 2, 2), "illegal instruction 0x00112463"},                // a branch of no condition
        {i_type(32, 1, 1, 2, 0x13), "illegal instruction 0x02009113"},         // a shift by 32
        {i_type(0x200 | 1, 1, 5, 2, 0x13), "illegal instruction 0x2010d113"},  // neither srli nor srai
        {op(0x20, 1, 1, 2, 3), "illegal instruction 0x403110b3"},
        {op(2, 0, 1, 2, 3), "illegal instruction 0x043100b3"},
        {i_type(0, 1, 1, 1, 0x67), "illegal instruction 0x000090e7"},
    };
    for (const auto &row : rows) {
        EXPECT_EQ(decode(row.word), Instruction{}) << row.message;
        EXPECT_EQ(refusal(row.word), row.message);
    }
}

}  // namespace
}  // namespace kiln
