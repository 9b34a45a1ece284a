// The core that a target's kernels run on, as far as estimates of cost need it: what its caches hold, what it starts in
// a cycle. Defaults follow from it. What a kernel can be follows from workload and target alone, so that a candidate
// measured on one machine can be built for another.
//
// A core is not the machine that measured (workload/machine.h): under an emulator they differ.
#pragma once

#include <algorithm>
#include <cstdint>

#include "workload/machine.h"
#include "workload/target.h"

namespace kiln {

// Bytes that come in a cycle and that multiply-adds do not hide. Bytes that are only read, one after the other, are fetched
// ahead.
struct FetchRate {
    double in_order = 0, scattered = 0;
};

// Lines that depthwise layers beyond L2 fetch ahead by default. Those of a Zen 2 are by races of 16 layers, which take 0.80 to 1.08 of the
// time with them; the others were set by races on a Zen 3 and a Zen 4 and are not measured elsewhere.
struct DepthwiseFetches {
    double share_of_l3 = 0.125;  // that holds the input between calls, so that nothing of it is fetched
    bool in_streams = true;      // of the input, where each tile is a column of pixels (streams_depthwise)
    bool of_results = false;     // where L3 does not hold input and result
};

struct Core {
    int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20, l3_bytes = 0;  // data caches; L3 is 0 where there is none
    int64_t line_bytes = 64, l1_sets = 64, l1_ways = 8;

    // Vectors: multiply-adds and loads that start in a cycle, and cycles from a multiply-add to its result, most of which every candidate
    // hides.
    int multiply_adds = 2, loads = 2, latency = 4;
    // The same for defaults of long sums of floats. Short ones, as of a depthwise window, end soon, and those of the next tile begin
    // beside them.
    int float_latency = 4;
    // Two multiply-adds of 256 bits start in a cycle, or one of 512.
    bool half_vectors_as_fast = false;
    // A multiply-add of 256 bits beside one of 512, where it is not known which of both a CPU does.
    double half_vector_cost = 0.75;

    // Two multiply-adds of 512 bits start in a cycle, which loads and stores do not keep up with.
    bool has_two_wide_multipliers = false;

    // Bitwise operations start beside as many multiply-adds as a cycle has.
    bool logic_beside_products = false;

    // What was faster in races; where nobody raced, it is left out.
    bool fetches_for_winograd = false;      // whole panels of weights for its products, the results of its first layers
    int64_t few_winograd_vectors = 0;       // of outputs, for which no panels are fetched
    bool gains_by_strassen = false;         // products of halves of 1x1 layers
    bool gains_by_groups = false;           // Winograd of few channels a group, in vectors of 16
    bool gains_by_pairs = false;            // Winograd in integers, by pairs of i16, beside direct sums of fours
    bool copies_quantized_padding = false;  // where each quantized tile would test for it
    bool streams_few_pixels = false;   // tiles of 1x1 layers of one vector of outputs, where L2 does not have the image
    bool streams_short_tiles = false;  // of more outputs, too, and of depthwise ones with strides, from beyond L2
    bool tests_strided_rows = false;   // of tiles with several, which read the image in place of a padded copy
    bool copies_winograd_rows = false;  // of NCHW, in front of Winograd's tiles
    bool shuffles_rows = false;  // depthwise ones of NCHW whose rows are a vector, in place of loads for each tap
    bool shuffles_strided_blocks = false;  // the same for blocks of half a vector with strides
    bool sums_by_columns = false;          // of depthwise windows, one after the other, whose weights stay in registers
    bool blocks_depthwise_panels = false;  // those whose input stays in the L1 cache, where L2 has all of it
    bool reads_wide_windows = false;  // depthwise ones, whose taps are many columns apart, from the input as it lies
    bool streams_one_panel = false;   // weights of 1x1 layers of few outputs, from L2, as fast as tiles multiply them
    bool pairs_by_vector = false;  // of columns of quantized depthwise layers, one vector of channels after the other

    DepthwiseFetches depthwise_fetches;

    // Of weights, beside multiply-adds.
    double l2_bytes_a_cycle = 32, l3_bytes_a_cycle = 32, memory_bytes_a_cycle = 8;
    FetchRate from_l2{256, 32}, from_l3{96, 8}, from_memory{16, 4};
    // What a core keeps for itself of an L3 cache, which other cores and programs share.
    double l3_share = 0.4;
    double waits_along_x = 0.4;     // the share of a fetch from L2 that tiles of pixels side by side wait for
    double line_bytes_along_x = 0;  // that come a cycle beside their products; 0: they wait for that share
    double loop_cycles = 2;         // to start the body of an innermost loop again
    double single_vector_cost =
        1;  // by share, of a tile with one of several vectors of outputs, which loads a number for each product
    double gather_cycles = 1;  // for an element from anywhere

    // Bytes that the last cache keeps for it.
    double last_cache() const { return std::max(l3_share * double(l3_bytes), 0.75 * double(l2_bytes)); }
    // Whole vectors of products that are added in a cycle.
    double vectors_a_cycle() const { return half_vectors_as_fast ? multiply_adds / 2.0 : multiply_adds; }
    // Independent sums that keep the multipliers busy while results are on their way.
    int64_t latency_sums() const { return int64_t{multiply_adds} * latency; }
    // Whether addresses so far apart share a set of the L1 cache.
    bool shares_l1_sets(int64_t bytes_apart) const { return bytes_apart % (l1_sets * line_bytes) == 0; }
};

// Cycles of multiply-adds beside a fetch of what they need: neither waits for most of the other, where it is fetched ahead.
inline double beside_fetch(double products, double fetch) {
    return std::max(products, fetch) + std::min(products, fetch) / 4;
}

// The same for weights that are read once. Those beyond the L2 cache come from memory.
inline double beside_weights(double products, double weight_bytes, const Core &core) {
    const bool is_far = weight_bytes > double(core.l2_bytes);
    return is_far ? beside_fetch(products, weight_bytes / core.memory_bytes_a_cycle) : products;
}

// A Sapphire Rapids or an Emerald Rapids, which have the same core.
inline bool is_golden_cove(const Machine &machine) {
    return machine.cpu_id.starts_with("GenuineIntel-6-143-") || machine.cpu_id.starts_with("GenuineIntel-6-207-");
}

// The machine's caches; what a cycle starts is the target's, but for a machine whose latency and memory are known.
inline Core core_of(const Machine &machine, const Target &target) {
    Core core;
    core.l1_bytes = machine.l1_bytes, core.l2_bytes = machine.l2_bytes, core.l3_bytes = machine.l3_bytes;
    const bool is_zen5 = has_feature(target, "avx512_zen5");
    core.half_vectors_as_fast = has_feature(target, "avx512_zen4") && !is_zen5;
    if (is_zen5) core.half_vector_cost = 1;
    core.logic_beside_products = is_zen5;
    core.fetches_for_winograd = core.gains_by_strassen = is_zen5;
    core.gains_by_pairs = has_feature(target, "avx512_zen4");  // on a Zen 4 and a Zen 5, which has its features, too
    core.copies_quantized_padding = core.blocks_depthwise_panels = core.streams_few_pixels = is_zen5;
    core.shuffles_rows = core.shuffles_strided_blocks = core.copies_winograd_rows = is_zen5;
    // The rates above were fitted with AVX2 on a Zen 3. These are from a Zen 4, and from a Zen 5 where weights come from memory; an
    // L3 cache's own rate was not looked for there.
    if (vector_lanes(target) >= 16) {
        core.l3_bytes_a_cycle = core.memory_bytes_a_cycle;
        core.from_l2.scattered = 96, core.from_l3.scattered = 16, core.from_memory.scattered = 8;
        core.l3_share = 0.75;
        core.waits_along_x = is_zen5 ? 0.4 : 0;  // nobody raced it elsewhere
        core.has_two_wide_multipliers = !has_feature(target, "avx512_zen4");
        core.copies_quantized_padding |= core.has_two_wide_multipliers;
        // By measurement of 18 layers of 3x3 on an Emerald Rapids.
        if (core.has_two_wide_multipliers) core.memory_bytes_a_cycle = 5.5;
        if (core.has_two_wide_multipliers && is_golden_cove(machine)) {
            // By races on an Emerald Rapids (docs/measurements: direct.md, winograd_blocks.md, choices.md, layouts.md and depthwise.md).
            core.fetches_for_winograd = core.copies_winograd_rows = core.shuffles_rows = true;
            core.gains_by_groups = core.sums_by_columns = true;
            core.blocks_depthwise_panels = true;
            core.few_winograd_vectors = 4;
            core.streams_short_tiles = core.tests_strided_rows = true;
            core.single_vector_cost = 1.12;
            core.line_bytes_along_x = 38;
        }
    } else if (machine.cpu_id.starts_with("AuthenticAMD-23-")) {
        // Zen, Zen+ and Zen 2 have this latency (A. Fog, Instruction tables). The rates are by races of 22 layers of 3x3 and 5x5 on a Zen 2.
        core.float_latency = 5, core.memory_bytes_a_cycle = 4.5, core.from_l3.scattered = 12;
        core.fetches_for_winograd = core.gains_by_strassen = core.pairs_by_vector = core.reads_wide_windows = true;
        core.streams_one_panel = true;
        core.depthwise_fetches = {.share_of_l3 = 0.5, .in_streams = false, .of_results = true};
    }
    return core;
}

}  // namespace kiln
