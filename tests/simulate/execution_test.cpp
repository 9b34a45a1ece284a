#include "simulate/execution.h"

#include <gtest/gtest.h>

#include "tests/simulate/assembler.h"

namespace kiln {
namespace {

using namespace assembler;

constexpr uint32_t low = 0x80000000, high = 0x7fffffff, ones = 0xffffffff;

TEST(Execution, OperationsOfTwoRegisters) {
    const struct {
        const char *name;
        uint32_t upper, function, a, b, expected;
    } rows[] = {
        {"add wraps", 0, 0, ones, 2, 1},
        {"sub wraps", 0x20, 0, 0, 1, ones},
        {"sll of 31", 0, 1, 3, 31, low},
        {"sll by the low five bits", 0, 1, 3, 33, 6},
        {"slt is signed", 0, 2, low, high, 1},
        {"slt of equals", 0, 2, 5, 5, 0},
        {"sltu is not", 0, 3, low, high, 0},
        {"sltu of -1", 0, 3, 1, ones, 1},
        {"xor", 0, 4, 0xff00ff00, 0x0ff00ff0, 0xf0f0f0f0},
        {"srl", 0, 5, low, 31, 1},
        {"sra", 0x20, 5, low, 31, ones},
        {"sra by the low five bits", 0x20, 5, low, 32, low},
        {"or", 0, 6, 0xf0, 0x0f, 0xff},
        {"and", 0, 7, 0xf8, 0x1f, 0x18},
        {"mul", 1, 0, ones, ones, 1},
        {"mul wraps", 1, 0, 0x10001, 0x10001, 0x20001},
        {"mulh of the least", 1, 1, low, low, 0x40000000},
        {"mulh of signs", 1, 1, ones, 1, ones},
        {"mulhsu of -1", 1, 2, ones, ones, ones},
        {"mulhsu of the least", 1, 2, low, ones, low},
        {"mulhu", 1, 3, ones, ones, 0xfffffffe},
        {"div towards zero", 1, 4, static_cast<uint32_t>(-7), 2, static_cast<uint32_t>(-3)},
        {"div by zero", 1, 4, 5, 0, ones},
        {"div that overflows", 1, 4, low, ones, low},
        {"divu", 1, 5, ones, 2, high},
        {"divu by zero", 1, 5, 5, 0, ones},
        {"divu of the least", 1, 5, low, ones, 0},
        {"rem has the sign of the dividend", 1, 6, static_cast<uint32_t>(-7), 2, ones},
        {"rem by zero", 1, 6, 5, 0, 5},
        {"rem that overflows", 1, 6, low, ones, 0},
        {"remu", 1, 7, ones, 10, 5},
        {"remu by zero", 1, 7, 5, 0, 5},
    };
    for (const auto &row : rows) {
        Simulator simulator = program({op(row.upper, row.function, a0, a0, a1), ret()});
        EXPECT_EQ(simulator.call(Simulator::lowest_address, {row.a, row.b}).result, row.expected) << row.name;
    }
}

TEST(Execution, OperationsWithAnImmediate) {
    const struct {
        const char *name;
        uint32_t word, a, expected;
    } rows[] = {
        {"addi", addi(a0, a0, -2048), 0, static_cast<uint32_t>(-2048)},
        {"slti", i_type(-1, a0, 2, a0, 0x13), static_cast<uint32_t>(-2), 1},
        {"sltiu compares with the extended immediate", i_type(-1, a0, 3, a0, 0x13), 5, 1},
        {"xori of -1 is not", i_type(-1, a0, 4, a0, 0x13), 0x0f, 0xfffffff0},
        {"ori", i_type(-256, a0, 6, a0, 0x13), 1, 0xffffff01},
        {"andi", i_type(255, a0, 7, a0, 0x13), 0x1234, 0x34},
        {"slli", i_type(4, a0, 1, a0, 0x13), 0x10000001, 0x10},
        {"srli", i_type(4, a0, 5, a0, 0x13), low, 0x08000000},
        {"srai", i_type(0x404, a0, 5, a0, 0x13), low, 0xf8000000},
        {"lui", 0xfffff000 | a0 << 7 | 0x37, 0, 0xfffff000},
        {"auipc", 0x00001000 | a0 << 7 | 0x17, 0, Simulator::lowest_address + 4096},
        {"x0 stays zero", addi(0, a0, 1), 7, 7},
        {"x0 reads as zero", addi(a0, 0, 3), 7, 3},
        {"fence does nothing", 0x0ff0000f, 7, 7},
    };
    for (const auto &row : rows) {
        Simulator simulator = program({row.word, ret()});
        EXPECT_EQ(simulator.call(Simulator::lowest_address, {row.a}).result, row.expected) << row.name;
    }
}

TEST(Execution, BranchesAndJumps) {
    const struct {
        const char *name;
        uint32_t function, a, b;
        bool taken;
    } rows[] = {
        {"beq", 0, 1, 1, true},    {"beq", 0, 1, 2, false},    {"bne", 1, 1, 2, true},    {"bne", 1, 1, 1, false},
        {"blt", 4, low, 0, true},  {"blt", 4, 0, low, false},  {"bge", 5, 0, 0, true},    {"bge", 5, low, 0, false},
        {"bltu", 6, 0, low, true}, {"bltu", 6, low, 0, false}, {"bgeu", 7, low, 0, true}, {"bgeu", 7, 0, 1, false},
    };
    for (const auto &row : rows) {
        Simulator simulator = program({b_type(12, a1, a0, row.function), addi(a0, 0, 1), ret(), addi(a0, 0, 2), ret()});
        EXPECT_EQ(simulator.call(Simulator::lowest_address, {row.a, row.b}).result, row.taken ? 2u : 1u) << row.name;
    }
    // A call of the last function and back: the addresses that jumps leave behind.
    Simulator calls =
        program({addi(5, 1, 0), jal(16, 1), addi(a0, a0, 1), addi(1, 5, 0), ret(), addi(a0, 0, 40), ret()});
    EXPECT_EQ(calls.call(Simulator::lowest_address, {}).result, 41u);
    // The lowest bit of a computed address is dropped.
    Simulator odd = program({i_type(9, a0, 0, 0, 0x67), addi(a0, 0, 1), addi(a0, 0, 2), ret()});
    EXPECT_EQ(odd.call(Simulator::lowest_address, {Simulator::lowest_address}).result, 2u);
}

TEST(Execution, LoadsAndStores) {
    const struct {
        const char *name;
        uint32_t word, expected;
    } rows[] = {
        {"lb", load(0, a0, a0, 1), 0xffffff80},       {"lbu", load(4, a0, a0, 1), 0x80},
        {"lh", load(1, a0, a0, 2), 0xffffff7f},       {"lhu", load(5, a0, a0, 2), 0xff7f},
        {"lw", load(2, a0, a0, 0), 0xff7f8001},       {"sb, lw", s_type(0, a1, a0, 0), 0xff7f80ab},
        {"sh, lw", s_type(2, a1, a0, 1), 0x89ab8001}, {"sw, lw", s_type(0, a1, a0, 2), 0x456789ab},
    };
    for (const auto &row : rows) {
        const bool stores = (row.word & 127) == 0x23;
        Simulator simulator = program({row.word, stores ? load(2, a0, a0, 0) : addi(0, 0, 0), ret()});
        const auto address = simulator.place(4, Access::read_write);
        ASSERT_TRUE(address);
        const uint32_t word = 0xff7f8001;
        std::memcpy(simulator.memory().at(*address, 4).data(), &word, 4);
        const SimulatedCall call = simulator.call(Simulator::lowest_address, {*address, 0x456789ab});
        EXPECT_EQ(call.problem, "") << row.name;
        EXPECT_EQ(call.result, row.expected) << row.name;
        EXPECT_EQ(call.counts.stores, stores ? 1 : 0) << row.name;
        EXPECT_EQ(call.counts.loads, 1) << row.name;
    }
}

// Cycles of a call with a return, of a core in which only what a row is about takes time.
TEST(Execution, CyclesAreThoseOfTheDescription) {
    CoreDescription fast;
    fast.instructions.refill_cycles = fast.data.refill_cycles = 0;
    fast.load_cycles = fast.multiply_cycles = fast.shift_cycles = 1;
    fast.divide_cycles = fast.jump_cycles = fast.indirect_jump_cycles = fast.mispredicted_cycles = fast.store_cycles =
        0;
    const auto with = [&](auto change) {
        CoreDescription core = fast;
        change(core);
        return core;
    };
    const uint32_t use = addi(a2, a1, 0), other = addi(a2, 0, 0);
    const struct {
        const char *name;
        CoreDescription core;
        std::vector<uint32_t> code;
        int64_t expected;
    } rows[] = {
        {"an instruction a cycle", fast, {other, other}, 3},
        {"a load is waited for", with([](auto &c) { c.load_cycles = 3; }), {load(0, a1, a0, 0), use}, 5},
        {"what lies between hides it",
         with([](auto &c) { c.load_cycles = 3; }),
         {load(0, a1, a0, 0), other, other, use},
         5},
        {"nobody waits for x0", with([](auto &c) { c.load_cycles = 3; }), {load(0, 0, a0, 0), addi(a2, 0, 0)}, 3},
        {"a later result counts",
         with([](auto &c) { c.load_cycles = 3; }),
         {load(0, a1, a0, 0), addi(a1, 0, 0), use},
         4},
        {"a product is waited for", with([](auto &c) { c.multiply_cycles = 4; }), {op(1, 0, a1, a0, a0), use}, 6},
        {"what is shifted is waited for", with([](auto &c) { c.shift_cycles = 2; }), {op(0, 1, a1, a0, a0), use}, 4},
        {"shifted right, too", with([](auto &c) { c.shift_cycles = 2; }), {op(32, 5, a1, a0, a0), use}, 4},
        {"a division stops the core", with([](auto &c) { c.divide_cycles = 34; }), {op(1, 4, a1, a0, a0), other}, 37},
        {"a jump", with([](auto &c) { c.jump_cycles = 2; }), {jal(4, 0), other}, 5},
        {"the return", with([](auto &c) { c.indirect_jump_cycles = 4; }), {other}, 6},
        {"forward and taken", with([](auto &c) { c.mispredicted_cycles = 5; }), {b_type(4, 0, 0, 0)}, 7},
        {"forward and not taken", with([](auto &c) { c.mispredicted_cycles = 5; }), {b_type(4, 0, 0, 1)}, 2},
        {"back and not taken", with([](auto &c) { c.mispredicted_cycles = 5; }), {b_type(-4, 0, 0, 1)}, 7},
        {"a line of code", with([](auto &c) { c.instructions.refill_cycles = 18; }), {other}, 20},
        {"two lines of code",
         with([](auto &c) { c.instructions.refill_cycles = 18; }),
         {other, other, other, other, other, other, other, other},
         45},
        {"a line of data",
         with([](auto &c) { c.data.refill_cycles = 18; }),
         {load(0, a1, a0, 0), load(0, a1, a0, 31)},
         21},
        {"two lines of data",
         with([](auto &c) { c.data.refill_cycles = 18; }),
         {load(0, a1, a0, 0), load(0, a1, a0, 32)},
         39},
        {"stores do not wait for one",
         with([](auto &c) { c.store_cycles = 3, c.pending_stores = 1; }),
         {s_type(0, a1, a0, 0)},
         2},
        {"but for two",
         with([](auto &c) { c.store_cycles = 3, c.pending_stores = 1; }),
         {s_type(0, a1, a0, 0), s_type(0, a1, a0, 0)},
         5},
        {"a refill waits for stores",
         with([](auto &c) { c.store_cycles = 10, c.data.refill_cycles = 1; }),
         {s_type(0, a1, a0, 0), load(0, a1, a0, 0)},
         13},
    };
    for (const auto &row : rows) {
        auto code = row.code;
        code.push_back(ret());
        Simulator simulator = program(code, row.core);
        const auto address = simulator.place(64, Access::read_write);
        ASSERT_TRUE(address);
        const SimulatedCall call = simulator.call(Simulator::lowest_address, {*address});
        EXPECT_EQ(call.problem, "") << row.name;
        EXPECT_EQ(call.counts.cycles, row.expected) << row.name;
        EXPECT_EQ(call.counts.instructions, int64_t(code.size())) << row.name;
    }
}

TEST(Execution, CachesAreDirectMapped) {
    CoreDescription core;
    core.data = {64, 16, 5};  // four lines
    const struct {
        const char *name;
        std::vector<int32_t> addresses;
        int64_t misses;
    } rows[] = {
        {"the same line", {0, 4, 15}, 1},
        {"four lines", {0, 16, 32, 48, 0, 16, 32, 48}, 4},
        {"two that share a place", {0, 64, 0, 64}, 4},
        {"five lines in turn", {0, 16, 32, 48, 64, 0, 16}, 6},
    };
    for (const auto &row : rows) {
        std::vector<uint32_t> code;
        for (const int32_t at : row.addresses) code.push_back(load(0, a1, a0, at));
        code.push_back(ret());
        Simulator simulator = program(code, core);
        const auto address = simulator.place(128, Access::read);
        ASSERT_TRUE(address);
        const auto misses = [&] { return simulator.call(Simulator::lowest_address, {*address}).counts.load_misses; };
        EXPECT_EQ(misses(), row.misses) << row.name;
        simulator.cold_caches();
        EXPECT_EQ(misses(), row.misses) << row.name;
    }
}

}  // namespace
}  // namespace kiln
