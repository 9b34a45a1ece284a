#include "schedules/spaces/matrix/matrix_tile_space.h"

#include <algorithm>

#include "schedules/spaces/matrix/matrix_steps.h"
#include "workload/division.h"

namespace kiln {
namespace {

constexpr int64_t most_positions = 4096;  // of a block

// Blocks that cut an image into equal parts, but for the last one. Those that are read in place have no last one.
std::vector<int64_t> blocks(const ConvLoops &s, int64_t bytes) {
    const int64_t all = block_units(s);
    std::vector<int64_t> sizes;
    for (int64_t parts = all; parts > 0; parts--) {
        const int64_t size = ceil_div(all, parts);
        if (!sizes.empty() && sizes.back() == size) continue;
        if (reads_in_place(s, bytes) && all % parts != 0) continue;
        if (!sizes.empty() && block_positions(s, size) > most_positions) break;
        sizes.push_back(size);
    }
    return sizes;
}

// Of all images.
int64_t block_count(const ConvLoops &s, int64_t block) { return ceil_div(block_units(s), block) * s.batch; }

// A block's copy of the input and its sums, which panels pass through again and again, are to stay in L2 beside the weights of a
// panel.
int64_t default_block(const ConvLoops &s, int64_t element_bytes, const std::vector<int64_t> &sizes,
                      const Target &target, const Core &core) {
    int64_t best = sizes.front();
    for (const int64_t size : sizes) {
        const int64_t bytes =
            block_positions(s, size) * (matrix_steps(s, element_bytes).channels() * element_bytes + 8 * matrix_outputs);
        const bool is_for_all_threads = target.threads == 1 || block_count(s, size) >= 2 * target.threads;
        if (2 * bytes <= core.l2_bytes && is_for_all_threads) best = size;
    }
    return best;
}

}  // namespace

Space matrix_tile_space(Candidate base, const ConvLoops &s, int64_t bytes, const Target &target, const Core &core) {
    MatrixTileDomains domains;
    domains.block = blocks(s, bytes);
    if (target.threads > 1) domains.parallel = {1, 2};
    MatrixTileKnobs k;
    k.block = default_block(s, bytes, domains.block, target, core);
    if (target.threads > 1) k.parallel = block_count(s, k.block) >= target.threads ? 1 : 2;
    std::vector<Knob> knobs = knob_list(domains);
    base.schedule = matrix_tile_name;
    base.schedule_version = matrix_tile_version;
    base.knobs = present(encode_knobs(k), knobs);
    return Space(std::move(base), std::move(knobs), {});
}

double matrix_cycles(const ConvLoops &s, int64_t bytes, int64_t block) {
    // A product waits for the one before it, whose sums it adds to: 52 cycles for TDPBUSD by published latencies, beside which the next
    // loads are hidden. With one sum Halide reached 870 of 2940 GFLOP/s in bf16 on a Sapphire Rapids, which is 54. A tile's way to memory
    // and back is a guess.
    constexpr double product = 52, end_of_tile = 32;
    const MatrixSteps steps = matrix_steps(s, bytes);
    const double tiles = double(block_positions(s, block)) / matrix_positions * double(block_count(s, block));
    const double panels = double(ceil_div(s.output_channels, matrix_outputs));
    return tiles * panels * (double(steps.taps * steps.chunks) * product + end_of_tile);
}

}  // namespace kiln
