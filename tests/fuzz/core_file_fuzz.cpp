// Core files of any bytes. What is read is a core that a program runs on: counts are the same each time, and not less than what
// the core says of a cycle.
#include "simulate/core_file.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/simulate/assembler.h"

using namespace kiln;
using namespace kiln::assembler;

namespace {

// Adds four words that lie 512 bytes apart, a product and a quotient, and stores the sum, ten times.
std::vector<uint32_t> loop() {
    constexpr uint32_t t0 = 5, t1 = 6, lw = 2, sw = 2, bne = 1, mul = 0, div = 4;
    std::vector<uint32_t> words = {addi(t0, 0, 10), addi(a0, 0, 0)};
    for (int32_t at = -2048; at < 0; at += 512) {
        words.insert(words.end(), {load(lw, t1, sp, at), op(0, 0, a0, a0, t1)});
    }
    words.insert(words.end(),
                 {op(1, mul, t1, a0, t0), op(1, div, t1, t1, t0), s_type(-64, t1, sp, sw), addi(t0, t0, -1)});
    const auto body = static_cast<int32_t>(words.size()) - 2;
    words.insert(words.end(), {b_type(-4 * body, 0, t0, bne), ret()});
    return words;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const std::vector<uint32_t> words = loop();
    const Result<CoreDescription> core = parse_core(FuzzInput(data, size).rest(), "c.json");
    if (!core) {
        KILN_FUZZ_EXPECT(core.error().message.starts_with("c.json: ") && core.error().message.size() < 4096);
        return 0;
    }
    KILN_FUZZ_EXPECT(key(*core).starts_with("rv32im-" + core->name + "/"));
    const auto counted = [&] {
        Simulator simulator =
            program(words, *core, {.memory_bytes = 1 << 17, .stack_bytes = 8192, .instructions = 1000});
        return simulator.call(Simulator::lowest_address, {});
    };
    const SimulatedCall first = counted(), second = counted();
    KILN_FUZZ_EXPECT(first.problem.empty() && first.counts.instructions == 133);
    KILN_FUZZ_EXPECT(first.counts.cycles >= first.counts.instructions + 10 * core->divide_cycles);
    KILN_FUZZ_EXPECT(first.counts.cycles == second.counts.cycles &&
                     first.counts.load_misses == second.counts.load_misses);
    return 0;
}
