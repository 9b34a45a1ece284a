// A simulated core and its memory as numbers: caches, latencies, the bus that stores go through. Cycles follow from these
// and from nothing else, so that a count is the same on every machine.
//
// The default is the VexRiscv that LiteX calls "standard": five stages in order, caches of 4 KiB with one way, stores
// written through, and a memory whose first word comes after 10 cycles.
#pragma once

#include <cstdint>
#include <string>

namespace kiln {

// Direct-mapped. Both sizes are powers of two.
struct CacheDescription {
    int64_t bytes = 4096, line_bytes = 32;
    int64_t refill_cycles = 18;  // that the core waits for a line: 10 to its first word, then a word a cycle
    bool operator==(const CacheDescription &) const = default;
};

struct CoreDescription {
    std::string name = "vexriscv";
    int64_t clock_hz = 100'000'000;  // only to tell times; it changes no count
    CacheDescription instructions;
    CacheDescription data{.refill_cycles = 22};  // a load that missed starts again when its line is there

    // Cycles until a result can be used; 1: by the next instruction.
    int64_t load_cycles = 3, multiply_cycles = 3, shift_cycles = 2;
    int64_t divide_cycles = 34;  // that the core waits for a division or remainder

    // Cycles lost. A branch is predicted to be taken where it goes back, and not to be taken where it goes forward.
    int64_t jump_cycles = 1;           // by a jump or a branch that was predicted to be taken and was
    int64_t indirect_jump_cycles = 4;  // by a jump to an address in a register, such as a return
    int64_t mispredicted_cycles = 5;   // by a branch that was not predicted

    // A store keeps the bus busy, and the core waits only when more than `pending_stores` are on their way. A refill waits
    // for all of them.
    int64_t store_cycles = 3, pending_stores = 2;

    bool operator==(const CoreDescription &) const = default;
};

// The text by which measurements of one core are told from another's. Everything that changes a count is in it.
//   "rv32im-vexriscv/icache:4096-32-18/dcache:4096-32-22/latency:3-3-34-2/jump:1-4-5/store:3-2"
std::string key(const CoreDescription &core);

}  // namespace kiln
