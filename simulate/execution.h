// The loop that executes instructions and counts cycles.
//
// An instruction starts a cycle after the one before it, later where it waits for a register. Loads and products deliver
// theirs after some cycles, misses and mispredicted branches stop everything. That is what a pipeline in order does as
// seen from outside; its stages are not modelled.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "simulate/core_description.h"
#include "simulate/instruction.h"
#include "simulate/memory.h"

namespace kiln {

struct Counts {
    int64_t instructions = 0, cycles = 0;
    int64_t fetch_misses = 0;  // of the instruction cache
    int64_t loads = 0, load_misses = 0, stores = 0;
    bool operator==(const Counts &) const = default;
};

// Direct-mapped: the line that each place holds.
class CacheTags {
public:
    explicit CacheTags(const CacheDescription &cache);
    bool holds(uint32_t address) const { return lines_[(address >> shift_) & mask_] == address >> shift_; }
    void fill(uint32_t address) { lines_[(address >> shift_) & mask_] = address >> shift_; }
    uint32_t line_mask() const { return (uint32_t{1} << shift_) - 1; }

private:
    uint32_t shift_, mask_;
    std::vector<uint32_t> lines_;
};

// Code, decoded. One more instruction follows the last one, which is illegal and stops what runs on.
struct DecodedCode {
    uint32_t begin = 0;
    std::vector<Instruction> instructions;
    uint32_t bytes() const { return static_cast<uint32_t>(4 * (instructions.size() - 1)); }
};

// What a function finds and leaves. Caches stay filled from call to call.
struct CoreState {
    explicit CoreState(const CoreDescription &core) : fetched(core.instructions), loaded(core.data) {}
    std::array<uint32_t, 33> x = {};  // the last one takes what is written to x0
    CacheTags fetched, loaded;
};

enum class Stop {
    returned,
    illegal_instruction,
    environment_call,
    breakpoint,
    left_code,
    bad_load,
    bad_store,
    misaligned,
    too_long
};

struct Execution {
    Stop stop = Stop::returned;
    uint32_t pc = 0, address = 0;  // where it stopped; of the load, store or jump that was refused
    Counts counts;
};

struct ExecutionLimits {
    uint32_t start = 0;           // where the first instruction lies
    uint32_t return_address = 0;  // a jump there ends the call
    int64_t most_instructions = 0;
};

Execution execute(const DecodedCode &code, const CoreDescription &core, CoreState &state, SimulatedMemory &memory,
                  const ExecutionLimits &limits);

}  // namespace kiln
