// A network as constants: its steps with the places of all that they read and write. `kiln build` generates and compiles
// them beside the table of kernels.
//
// A run needs one workspace: what the plan of the network wants, one stretch that steps in turn use for prepared inputs and
// weights that are no constants, and the contexts of kernels with their arenas.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include "runtime/kernel_table.h"
#include "runtime/kiln.h"
#include "runtime/network/weights_file.h"

namespace kiln {

struct NetworkPlace {
    enum Memory : uint32_t { input, output, weights, workspace } memory;
    uint32_t index;  // of the input or output
    uint64_t offset;
};

struct NetworkCopy {
    uint64_t rows, row_bytes, from_pitch, to_pitch;
};

struct NetworkStep {
    const KernelRow *row;        // null: a copy from places[0] to places[1]
    const NetworkPlace *places;  // of the operands in the order in which the kernel takes them, then of the result
    uint32_t operands;
    uint32_t packs;  // 1 + the operand that is packed in each run, since it is no constant; 0: none
    NetworkCopy copy;
};

struct NetworkVariant {
    const NetworkStep *steps;
    size_t step_count;
    size_t plan_bytes, scratch_bytes;            // multiples of 64
    size_t arena_bytes, arena_bytes_per_thread;  // the most that a step needs
};

struct NetworkTable {
    const NetworkVariant *variants;  // as those of the info
    const WeightsSection *sections;
    size_t section_count;
    WeightsHeader weights;  // the header of the weights that belong to it
};

}  // namespace kiln
