// A program on a simulated core: loads an executable, places operands beside it, and calls its functions one by one as C
// does, without a word of code before or behind them. What a kernel does wrong is a message, never a crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "simulate/core_description.h"
#include "simulate/elf32.h"
#include "simulate/execution.h"
#include "simulate/memory.h"
#include "workload/result.h"

namespace kiln {

struct SimulatedCall {
    uint32_t result = 0;  // a0
    Counts counts;
    int64_t stack_bytes = 0;  // that were written to, below the stack pointer of the call
    std::string problem;      // why it did not return; empty: it did
};

// What a whole program did that ran on its own: firmware, which sets up its stack itself.
struct ProgramRun {
    int32_t status = 0;          // that it ended with
    std::string output;          // that it wrote
    Counts counts;               // of everything
    std::vector<Counts> marked;  // of each stretch between two marks
    std::string problem;         // why it did not end; empty: it did
};

// A call that shall be made without a simulator.
struct ProgramCall {
    uint32_t function = 0;
    std::vector<uint32_t> arguments;
    uint32_t result = 0;  // where it writes
    int64_t result_bytes = 0;
    bool warm = true;  // called once before the call that counts
};

// The hash of a result, as such programs compute it: h = (h ^ byte) * 16777619, from 1 on.
uint32_t result_hash(std::span<const std::byte> result);

struct SimulationLimits {
    int64_t memory_bytes = int64_t{64} << 20;
    int64_t stack_bytes = 16 << 10;
    int64_t instructions = 20'000'000'000;  // of one call
};

class Simulator {
public:
    // `elf`: an executable whose segments lie at or above `lowest_address`. Errors (bad_input) begin with `name`.
    static constexpr uint32_t lowest_address = 0x10000;
    static Result<Simulator> load(const Elf32 &elf, const std::string &name, const CoreDescription &core,
                                  const SimulationLimits &limits);

    // Memory that the program may read, or write too, until `memory` says otherwise. Aligned to cache lines of 64 bytes.
    Result<uint32_t> place(int64_t bytes, Access access) { return memory_.allocate(bytes, 64, access); }
    // The same at an address whose place in the data cache follows that of the stack's end.
    Result<uint32_t> place_behind_stack(int64_t bytes, Access access);
    SimulatedMemory &memory() { return memory_; }

    // Preconditions: `function` is the address of one. Caches are as the call before left them; cold_caches() empties them.
    SimulatedCall call(uint32_t function, const std::vector<uint32_t> &arguments);

    // From the program's first instruction. It ends and writes as a program of Linux does (environment calls 93 and 64), so
    // that an emulator for such programs runs it, too. Two hints, which no core acts on, mark what shall be counted:
    // `slti zero, zero, 1` begins a stretch, `slti zero, zero, 2` ends it.
    ProgramRun run(uint32_t entry);
    void cold_caches() { state_ = CoreState(core_); }

    // An executable that makes the call on memory as it is now, at the same addresses, for a core that is not simulated: a
    // hardware description, or run(). The call that counts lies between the two marks, with its own jump and the second mark
    // (`program_overhead` instructions). Then it writes result_hash() to the first word of its last segment, and at a third
    // mark, `slti zero, zero, 3`, everything is done; whoever goes on writes the hash, four bytes, and exits. Errors
    // (bad_input): the arguments do not fit registers, or memory is full.
    static constexpr int64_t program_overhead = 2;
    Result<std::string> program_of(const ProgramCall &call);

private:
    Simulator(const CoreDescription &core, const SimulationLimits &limits)
        : core_(core), limits_(limits), memory_(limits.memory_bytes), state_(core) {}
    Status load_segments(const Elf32 &elf);
    Status load_code(const Elf32::Segment &segment);
    bool answer_call(ProgramRun *run);
    std::string problem_of(const Execution &execution);

    CoreDescription core_;
    SimulationLimits limits_;
    SimulatedMemory memory_;
    CoreState state_;
    DecodedCode code_;
    uint32_t stack_ = 0;
};

}  // namespace kiln
