// Programs that run on their own: what they ask for, and what is counted between their marks.
#include <fmt/format.h>

#include <cstring>

#include "simulate/simulator.h"

namespace kiln {
namespace {

constexpr size_t a0 = 10, a1 = 11, a2 = 12, a7 = 17;
constexpr uint32_t call_write = 64, call_exit = 93;  // of Linux

// `slti zero, zero, n`
constexpr uint32_t begin_mark = 0x00102013, end_mark = 0x00202013;

constexpr size_t most_output = size_t{16} << 20;

uint32_t word_at(SimulatedMemory &memory, uint32_t address) {
    uint32_t word;
    std::memcpy(&word, memory.bytes() + address, sizeof word);
    return word;
}

void add(const Counts &part, Counts *sum) {
    sum->instructions += part.instructions, sum->cycles += part.cycles;
    sum->fetch_misses += part.fetch_misses, sum->loads += part.loads;
    sum->load_misses += part.load_misses, sum->stores += part.stores;
}

// Whether a program may read all of it.
bool is_readable(SimulatedMemory &memory, uint32_t address, uint32_t bytes) {
    if (address > memory.size() || bytes > memory.size() - address) return false;
    for (uint32_t i = 0; i < bytes; i++) {
        if (memory.access()[address + i] == 0) return false;
    }
    return true;
}

}  // namespace

// Answers a call of the environment. False: the program has ended, or asks for something else.
bool Simulator::answer_call(ProgramRun *run) {
    const uint32_t number = state_.x[a7], address = state_.x[a1], bytes = state_.x[a2];
    if (number == call_exit) {
        run->status = static_cast<int32_t>(state_.x[a0]);
        return false;
    }
    if (number != call_write) {
        run->problem = fmt::format("environment call {}; programs may write (64) and exit (93)", number);
    } else if (!is_readable(memory_, address, bytes)) {
        run->problem = fmt::format("writes {} bytes from {:#x}, which are not all its own", bytes, address);
    } else if (run->output.size() + bytes > most_output) {
        run->problem = fmt::format("writes more than {} MiB", most_output >> 20);
    } else {
        const auto text = memory_.at(address, bytes);
        run->output.append(reinterpret_cast<const char *>(text.data()), text.size());
        state_.x[a0] = bytes;
        return true;
    }
    return false;
}

ProgramRun Simulator::run(uint32_t entry) {
    DecodedCode code = code_;
    for (size_t i = 0; i + 1 < code.instructions.size(); i++) {
        const uint32_t word = word_at(memory_, code.begin + static_cast<uint32_t>(4 * i));
        if (word == begin_mark || word == end_mark) code.instructions[i] = decode(0x00100073);  // to stop there
    }
    ProgramRun run;
    state_.x = {};
    bool counts = false;
    ExecutionLimits limits{entry, 0, limits_.instructions};
    for (;;) {
        const Execution part = execute(code, core_, state_, memory_, limits);
        add(part.counts, &run.counts);
        if (counts) add(part.counts, &run.marked.back());
        limits.most_instructions -= part.counts.instructions;
        limits.start = part.pc + 4;
        if (part.stop == Stop::environment_call) {
            if (answer_call(&run)) continue;
            return run;
        }
        const uint32_t word = part.stop == Stop::breakpoint ? word_at(memory_, part.pc) : 0;
        if (word != begin_mark && word != end_mark) {
            run.problem = part.stop == Stop::returned ? "a jump to 0x0" : problem_of(part);
            return run;
        }
        counts = word == begin_mark;
        if (counts) run.marked.emplace_back();
    }
}

}  // namespace kiln
