#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/simulate/assembler.h"

namespace kiln {
namespace {

using namespace assembler;

constexpr uint32_t begin = Simulator::lowest_address, a7 = 17, ecall = 0x73;
constexpr uint32_t begin_mark = 0x00102013, end_mark = 0x00202013;

std::vector<uint32_t> exit_with(int32_t status) { return {addi(a7, 0, 93), addi(a0, 0, status), ecall}; }

std::vector<uint32_t> joined(const std::vector<std::vector<uint32_t>> &parts) {
    std::vector<uint32_t> all;
    for (const auto &part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

// "lui a1, begin": the program's own first bytes.
constexpr uint32_t a1_begins = 0x000105b7;

TEST(Program, EndsWithItsStatus) {
    for (const int32_t status : {0, 7, -1}) {
        const ProgramRun run = program(exit_with(status)).run(begin);
        EXPECT_EQ(run.problem, "");
        EXPECT_EQ(run.status, status);
        EXPECT_EQ(run.counts.instructions, 3);
        EXPECT_TRUE(run.marked.empty());
    }
}

TEST(Program, WritesWhatIsItsOwn) {
    const struct {
        uint32_t length;
        size_t written;
        const char *problem;
    } rows[] = {
        {addi(a2, 0, 0), 0, ""},
        {addi(a2, 0, 8), 16, ""},  // twice
        {addi(a2, 0, 2047), 0, "writes 2047 bytes from 0x10000, which are not all its own"},
        {addi(a2, 0, -1), 0, "writes 4294967295 bytes from 0x10000, which are not all its own"},
    };
    for (const auto &row : rows) {
        const std::vector<uint32_t> write = {addi(a7, 0, 64), a1_begins, row.length, ecall};
        const ProgramRun run = program(joined({write, {row.length, ecall}, exit_with(0)})).run(begin);
        EXPECT_EQ(run.problem, row.problem);
        EXPECT_EQ(run.output.size(), row.written);
    }
}

// A function that adds one to each of four bytes and leaves the sum of its last two arguments behind them.
TEST(Program, ACallBecomesAProgramThatDoesTheSame) {
    constexpr uint32_t a3 = 13, sb = 0, sw = 2, lbu = 4;
    std::vector<uint32_t> words;
    for (int32_t i = 0; i < 4; i++) {
        words.insert(words.end(), {load(lbu, 5, a0, i), addi(5, 5, 1), s_type(i, 5, a1, sb)});
    }
    words.insert(words.end(), {op(0, 0, 5, a2, a3), s_type(4, 5, a1, sw), ret()});
    const std::vector<uint32_t> sums[] = {{2, 3}, {0xfffff800, 0x7ff}, {0x12345678, 0x80000fff}};
    for (const bool warm : {false, true}) {
        for (const std::vector<uint32_t> &sum : sums) {
            Simulator simulator = kiln::assembler::program(words);
            const uint32_t input = *simulator.place(4, Access::read), result = *simulator.place(8, Access::read_write);
            const uint8_t bytes[] = {1, 2, 255, 4};
            std::ranges::copy(std::as_bytes(std::span(bytes)), simulator.memory().at(input, 4).begin());
            const std::vector<uint32_t> arguments = {input, result, sum[0], sum[1]};
            const Result<std::string> file = simulator.program_of({begin, arguments, result, 8, warm});
            ASSERT_TRUE(file.ok()) << file.error().message;

            SimulatedCall call = simulator.call(begin, arguments);
            if (warm) call = simulator.call(begin, arguments);
            ASSERT_EQ(call.problem, "");
            const uint32_t hash = result_hash(simulator.memory().at(result, 8));
            EXPECT_EQ(static_cast<uint8_t>(simulator.memory().at(result, 8)[0]), 2);

            const Result<Elf32> elf = parse_elf32(std::as_bytes(std::span(*file)), "call.elf");
            ASSERT_TRUE(elf.ok()) << elf.error().message;
            ASSERT_EQ(elf->segments.size(), 2u);
            Simulator other = std::move(*Simulator::load(*elf, "call.elf", {}, {.memory_bytes = 1 << 20}));
            const ProgramRun run = other.run(elf->entry);
            EXPECT_EQ(run.problem, "");
            EXPECT_EQ(run.status, 0);
            ASSERT_EQ(run.marked.size(), 1u);
            EXPECT_EQ(run.marked[0].instructions, call.counts.instructions + Simulator::program_overhead);
            EXPECT_EQ(run.marked[0].load_misses, call.counts.load_misses);
            EXPECT_EQ(run.marked[0].stores, call.counts.stores);
            ASSERT_EQ(run.output.size(), 4u);
            uint32_t written;
            std::memcpy(&written, run.output.data(), 4);
            EXPECT_EQ(written, hash);
            std::memcpy(&written, other.memory().at(elf->segments[1].address, 4).data(), 4);
            EXPECT_EQ(written, hash) << "where the hardware's memory is looked at";
        }
    }
    Simulator simulator = kiln::assembler::program(words);
    EXPECT_FALSE(simulator.program_of({begin, std::vector<uint32_t>(9), 0, 0}).ok());
}

TEST(Program, CountsBetweenMarks) {
    const auto work = [](int32_t count) { return std::vector<uint32_t>(static_cast<size_t>(count), addi(a1, a1, 1)); };
    const ProgramRun run =
        program(
            joined(
                {work(5), {begin_mark}, work(3), {end_mark}, work(7), {begin_mark}, work(9), {end_mark}, exit_with(0)}))
            .run(begin);
    EXPECT_EQ(run.problem, "");
    ASSERT_EQ(run.marked.size(), 2u);
    EXPECT_EQ(run.marked[0].instructions, 3 + 1);  // with the mark
    EXPECT_EQ(run.marked[1].instructions, 9 + 1);
    EXPECT_EQ(run.counts.instructions, 5 + 3 + 7 + 9 + 4 + 3);
    EXPECT_LT(run.marked[1].cycles, run.counts.cycles);
}

TEST(Program, SaysWhyItDidNotEnd) {
    const struct {
        std::vector<uint32_t> code;
        const char *problem;
    } rows[] = {
        {{addi(a7, 0, 1), ecall}, "environment call 1; programs may write (64) and exit (93)"},
        {{0x00100073}, "a breakpoint (instruction at 0x10000)"},
        {{jal(0, 0)}, "no end after 100000 instructions (instruction at 0x10000)"},
        {{begin_mark, jal(-4, 0)}, "no end after"},
        {{ret()}, "a jump to 0x0"},
        {{0}, "illegal instruction 0x00000000 (instruction at 0x10000)"},
        {{end_mark}, "a jump to 0x10004, where no instruction lies"},
    };
    for (const auto &row : rows) {
        const ProgramRun run = program(row.code).run(begin);
        EXPECT_NE(run.problem.find(row.problem), std::string::npos) << run.problem << " for " << row.problem;
    }
}

}  // namespace
}  // namespace kiln
