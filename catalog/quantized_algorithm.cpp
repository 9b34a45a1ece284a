#include "catalog/quantized_algorithm.h"

#include <algorithm>
#include <string>

#include "catalog/conv_checks.h"
#include "rewrites/input_phases.h"
#include "rewrites/panels.h"
#include "rewrites/parts.h"
#include "schedules/spaces/cpu_tile_knobs.h"
#include "schedules/spaces/cpu_tile_space.h"
#include "workload/division.h"
#include "workload/quantization/quantization.h"

namespace kiln {
namespace {

// Whether lanes of one vector need inputs of several groups.
bool mixes_groups(const ConvLoops &loops, const Target &target) {
    const int lanes = vector_lanes(target);
    if (loops.groups == 1 || loops.group_outputs() % lanes == 0) return false;
    return !panelled(gathered(loops), lanes).group_panels;
}

// Few channels, which do not fill steps, and columns beside each other in memory: a step has channels of several columns.
bool joins_columns(const ConvLoops &s, const Target &target) {
    const bool is_plain = s.groups == 1 && s.dilation[0] == 1 && !s.has_holes() && !s.has_groups_in_batch();
    return is_plain && vector_lanes(target) > 1 && s.kernel[0] > 1 && s.stored_input.block == s.stored_input.channels &&
           s.input_channels < 16 && s.input_channels % 4 != 0;
}

int64_t parts_of(const Workload &w, const ConvLoops &loops, const Target &target) {
    if (vector_lanes(target) == 1 || loops.input_channels == 1 || mixes_groups(loops, target)) return 1;
    for (const int64_t parts : {4, 2}) {
        const bool has_unit = parts == 2 || (has_dot_products(target) && !has_wide_weights(w));
        if (has_unit && (loops.groups == 1 || loops.input_channels % parts == 0)) return parts;
    }
    return 1;
}

}  // namespace

ConvLoops quantized_loops(const Workload &w, const Target &target) {
    const ConvLoops stated = pixels_of_one_row(read_pixels(conv_loops(w)));
    const ConvLoops loops = joins_columns(stated, target) ? joined_columns(stated) : stated;
    ConvLoops in_steps = gathered(in_parts(loops, parts_of(w, loops, target)));
    in_steps.converts = in_steps.parts != 4 || w.dtype != DType::u8;  // others are shifted or widened
    return in_steps;
}

Status quantized_applies(std::string_view, const Workload &w, const Target &target) {
    if (!is_quantized(w))
        return unsupported("dtype " + std::string(name(w.dtype)) + " is not quantized; needs i8 or u8");
    if (Status s = result_can_be_computed(w); !s) return s;
    return copies_fit(quantized_loops(w, target));
}

// Halide 21 loses a symbol of its own in some kernels with two blocks of rows that read the input as it lies: where the blocks
// are not equally long, and in others.
Constraint blocks_that_compile(const ConvLoops &loops) {
    return constraint<CpuTileKnobs>(
        {{"two blocks of rows do not compile where sums are written out and read the input as it lies",
          [rows = loops.output[1]](const CpuTileKnobs &k) {
              return !k.inline_sum || k.stage_input != 0 || ceil_div(ceil_div(rows, k.rows), k.row_block) != 2;
          }}});
}

// What is spread has an element of its own for each lane, pixel and channel of an unrolled step. Halide takes minutes for many.
Constraint spread_that_compiles() {
    constexpr int64_t most_spread = 128;  // vectors
    return constraint<CpuTileKnobs>(
        {{"inputs that are spread over lanes in an unrolled step are too much code", [](const CpuTileKnobs &k) {
              return k.spread == 0 || k.vectors * k.pixels * k.rows * k.unroll <= most_spread;
          }}});
}

Space quantized_space(const Candidate &base, const Workload &w, const Target &target, const Core &core) {
    const ConvLoops loops = quantized_loops(w, target);
    const Space space = cpu_tile_space(base, loops, target, core);
    std::vector<Constraint> constraints = space.constraints();
    constraints.push_back(blocks_that_compile(loops));
    constraints.push_back(spread_that_compiles());
    Space narrowed(space.default_candidate(), space.knobs(), std::move(constraints));
    // A default that is one of these keeps its kernel: it is known to compile.
    return narrowed.check(space.default_candidate()) ? narrowed : space;
}

}  // namespace kiln
