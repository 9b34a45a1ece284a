#include "simulate/simulator.h"

#include <gtest/gtest.h>

#include "tests/simulate/assembler.h"

namespace kiln {
namespace {

using namespace assembler;

constexpr uint32_t begin = Simulator::lowest_address;

TEST(Simulator, RefusesInsteadOfCrashing) {
    const struct {
        const char *name;
        std::vector<uint32_t> code;
        std::vector<uint32_t> arguments;  // behind the address of 8 bytes that may be read, and 8 that may be written
        const char *problem;
    } rows[] = {
        {"no instruction", {0}, {}, "illegal instruction 0x00000000 (instruction at 0x10000)"},
        {"no return", {addi(a0, a0, 1)}, {}, "the code ends at 0x10004 without a return"},
        {"endless", {jal(0, 0)}, {}, "no end after 100000 instructions (instruction at 0x10000)"},
        {"null", {load(2, a0, 0, 0), ret()}, {}, "a load from 0x0, outside of every operand (instruction at 0x10000)"},
        {"past the end",
         {load(0, a2, a0, 8), ret()},
         {},
         "a load from 0x140c8, outside of every operand (instruction at 0x10000)"},
        {"before it",
         {load(0, a2, a0, -1), ret()},
         {},
         "a load from 0x140bf, outside of every operand (instruction at 0x10000)"},
        {"read-only",
         {s_type(0, a0, a0, 0), ret()},
         {},
         "a store to 0x140c0, which it may not write (instruction at 0x10000)"},
        {"its own code",
         {0x00000517, s_type(0, a0, a0, 2), ret()},
         {},
         "a store to 0x10000, which it may not write (instruction at 0x10004)"},
        {"misaligned", {load(2, a2, a0, 2), ret()}, {}, "a misaligned access to 0x140c2 (instruction at 0x10000)"},
        {"far away",
         {load(0, a2, a2, 0), ret()},
         {0xffffffff},
         "a load from 0xffffffff, outside of every operand (instruction at 0x10000)"},
        {"into nowhere",
         {i_type(0, a2, 0, 0, 0x67)},
         {0xfffffffc},
         "a jump to 0xfffffffc, where no instruction lies (instruction at 0x10000)"},
        {"between instructions",
         {jal(6, 0), ret()},
         {},
         "a jump to 0x10006, where no instruction lies (instruction at 0x10000)"},
        {"an operating system", {0x00000073}, {}, "an environment call, which nobody answers (instruction at 0x10000)"},
        {"a debugger", {0x00100073}, {}, "a breakpoint (instruction at 0x10000)"},
    };
    for (const auto &row : rows) {
        Simulator simulator = program(row.code);
        const auto read = simulator.place(8, Access::read), write = simulator.place(8, Access::read_write);
        ASSERT_TRUE(read && write);
        std::vector<uint32_t> arguments = {*read, *write};
        arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
        EXPECT_EQ(simulator.call(begin, arguments).problem, row.problem) << row.name;
    }
}

TEST(Simulator, StackThatIsTooSmallIsNamed) {
    Simulator simulator = program({addi(sp, sp, -2048), s_type(-2048, 0, sp, 2), ret()}, {},
                                  {.memory_bytes = 1 << 20, .stack_bytes = 1024, .instructions = 100});
    const std::string problem = simulator.call(begin, {}).problem;
    EXPECT_NE(problem.find("; the stack has 1024 bytes"), std::string::npos) << problem;
}

TEST(Simulator, MeasuresTheStack) {
    for (const int32_t bytes : {0, 4, 64, 1000}) {
        Simulator simulator = program({bytes == 0 ? addi(0, 0, 0) : s_type(-bytes, 0, sp, 2), ret()});
        EXPECT_EQ(simulator.call(begin, {}).stack_bytes, bytes);
        EXPECT_EQ(simulator.call(begin, std::vector<uint32_t>(11, 0)).stack_bytes, bytes) << "with arguments on it";
    }
}

// A word at the stack's end and one behind it, in a cache of two lines: neither evicts the other.
TEST(Simulator, WhatLiesBehindTheStackDoesNotEvictIt) {
    CoreDescription core;
    core.data = {.bytes = 64, .line_bytes = 32};
    for (const int64_t before : {0, 32, 96}) {
        Simulator simulator =
            program({load(2, a1, sp, -4), load(2, a2, a0, 0), load(2, a1, sp, -4), load(2, a2, a0, 0), ret()}, core);
        ASSERT_TRUE(simulator.place(before, Access::read));
        const auto address = simulator.place_behind_stack(8, Access::read);
        ASSERT_TRUE(address);
        EXPECT_EQ(simulator.call(begin, {*address}).counts.load_misses, 2) << before;
    }
    Simulator simulator = program({ret()}, core);
    EXPECT_FALSE(simulator.place_behind_stack(1 << 21, Access::read));
}

TEST(Simulator, PassesArgumentsAsCDoes) {
    // The ninth and the tenth argument lie at the stack pointer.
    Simulator simulator = program({load(2, a0, sp, 0), load(2, a1, sp, 4), op(0x20, 0, a0, a0, a1), ret()});
    EXPECT_EQ(simulator.call(begin, {1, 2, 3, 4, 5, 6, 7, 8, 100, 58}).result, 42u);
}

TEST(Simulator, CountsTheSameEachTime) {
    const std::vector<uint32_t> code = {addi(a1, 0, 100), load(0, a2, a0, 0), addi(a1, a1, -1), b_type(-8, 0, a1, 1),
                                        ret()};
    Counts first;
    for (int i = 0; i < 3; i++) {
        Simulator simulator = program(code);
        const auto address = simulator.place(8, Access::read);
        const Counts counts = simulator.call(begin, {*address}).counts;
        if (i == 0) first = counts;
        EXPECT_EQ(counts, first);
        EXPECT_EQ(counts.instructions, 302);
    }
}

TEST(Simulator, RefusesProgramsThatItCannotLoad) {
    const std::vector<std::byte> code(8);
    const auto segment = [&](uint32_t address, bool executable) {
        return Elf32::Segment{address, 8, code, executable, false};
    };
    const struct {
        std::vector<Elf32::Segment> segments;
        const char *message;
    } rows[] = {
        {{}, "k.elf: has no executable segment; link it first"},
        {{segment(begin, false)}, "k.elf: has no executable segment; link it first"},
        {{segment(0x1000, true)}, "k.elf: a segment lies at 0x1000; needs 0x10000 or above"},
        {{segment(begin + 2, true)}, "k.elf: its code lies at 0x10002; needs a multiple of 4"},
        {{segment(begin, true), segment(begin + 64, true)},
         "k.elf: has two executable segments; link the code into one"},
        {{segment(begin, true), segment(begin + 4, false)}, "k.elf: 8 bytes at 0x10004 are used already"},
        {{segment(0xfffffff0, true)},
         "k.elf: 8 bytes at 0xfffffff0 have no place in the memory of 1048576 bytes of the simulated core"},
    };
    for (const auto &row : rows) {
        Elf32 elf;
        elf.segments = row.segments;
        const auto simulator = Simulator::load(elf, "k.elf", {}, {.memory_bytes = 1 << 20});
        ASSERT_FALSE(simulator) << row.message;
        EXPECT_EQ(simulator.error().message, row.message);
    }
}

TEST(Simulator, MemoryThatIsFullIsAMessage) {
    Simulator simulator = program({ret()});
    EXPECT_TRUE(simulator.place(500'000, Access::read));
    const auto more = simulator.place(600'000, Access::read);
    ASSERT_FALSE(more);
    EXPECT_NE(more.error().message.find("no place in the memory of 1048576 bytes"), std::string::npos);
}

}  // namespace
}  // namespace kiln
