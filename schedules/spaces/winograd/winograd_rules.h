// Facts and rules of the template `winograd` that its space, its default and its generators follow: tiles, transformed
// sizes, what fits where.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "rewrites/conv_loops.h"
#include "rewrites/fold.h"
#include "schedules/spaces/winograd/winograd_knobs.h"
#include "workload/core.h"
#include "workload/target.h"

namespace kiln {

inline constexpr int64_t strassen_products = 7;

// Index 0 is x, 1 is y, as in ConvLoops.
struct WinogradFacts {
    ConvLoops shape;
    std::array<int64_t, 2> m{1, 1};      // outputs of a tile; 1 on a side where the kernel is 1 wide
    std::array<int64_t, 2> tiles{1, 1};  // of one image
    std::array<FoldedPixels, 2> pixels;  // of blocks, where strides ask for them
    int lanes = 1, registers = 16;       // of the target
    int parts = 1;                       // channels that a lane multiplies at once and adds up: 2 of i16, else 1
    Core core;
    int threads = 1;
    // Strassen's products: `shape` has half of the input channels and half of the output channels, those of one product, and a tile is
    // two pixels of a row.
    bool halves_channels = false;

    int64_t a(int d) const { return m[d] + shape.kernel[d] - 1; }  // inputs of a tile
    // Products of a tile and a pair of channels; of a pair of each half.
    int64_t frequencies() const { return halves_channels ? strassen_products : a(0) * a(1); }
    int64_t operand_bytes() const { return 4 / parts; }  // of a transformed input or weight that is not demoted
    // Input channels are summed in vectors of this many, the last one filled up with zeros; in half vectors, where those have none.
    int64_t channel_step() const;
    int64_t summed_channels() const;       // of a group
    int64_t transformed_channels() const;  // of all groups
    // Whether pixels of a block are left out of products with weights of zero: where no vector has channels of two.
    bool skips_pixels() const;
    // Elements of a block of pixels that lie side by side, where vectors of channels are whole such rows or parts of one, and reach over
    // pixels; else 0. Each vector then loads pieces of memory.
    int64_t side_by_side() const;
    double products_left() const;    // their share of all, beside those that skipped pixels do not have
    int64_t output_vectors() const;  // vectors of output channels
    // Vectors of output channels that have the same inputs. Those of a panel do.
    int64_t group_vectors() const;
    bool panels_fill_groups(int64_t vectors) const { return shape.groups == 1 || group_vectors() % vectors == 0; }
    double weight_bytes() const;
    double image_bytes() const, result_bytes() const;  // of input and result, of the result alone, of f32
    // From a tile to the next in x, in elements of the stored input and result, where channels lie side by side; else 0.
    int64_t input_step() const, result_step() const;
    int64_t images() const { return shape.batch * shape.output[2]; }
    // Whether rows of the input may be copied: where fewer channels than a vector lie side by side, and columns are those that are
    // stored. And whether tiles of channels that lie apart are turned in registers then.
    bool may_stage_input() const;
    bool turns_input() const;
};
WinogradFacts winograd_facts(const ConvLoops &shape, int m, const Target &target, const Core &core, int parts = 1);
// The first half of the output channels fills vectors. Precondition: a kernel of one tap; channels lie side by side.
WinogradFacts strassen_facts(const ConvLoops &shape, const Target &target, const Core &core);

// Images of a block, and of its register tiles.
inline int64_t images_of_block(const WinogradKnobs &k) { return std::max<int64_t>(1, k.images); }
inline int64_t images_of_tile(const WinogradKnobs &k) { return std::max<int64_t>(1, k.tile_images); }

// Tiles of a register tile: so many products share a vector of weights.
inline int64_t tiles_of_tile(const WinogradKnobs &k) { return k.tiles_x * k.tiles_y * images_of_tile(k); }

// Register tiles of a block: so many read a panel of weights in turn.
int64_t register_tiles_of_block(const WinogradKnobs &knobs);

// Whether several register tiles of a block read a panel of weights in turn, in loops whose extents are known: all blocks are whole.
bool shares_winograd_panels(const WinogradFacts &facts, const WinogradKnobs &knobs);

// Images of so few tiles may share a block; more tiles make blocks of their own.
inline bool shares_blocks(const WinogradFacts &f) {
    constexpr int64_t few_tiles = 16;
    return f.shape.batch > 1 && f.tiles[0] * f.tiles[1] <= few_tiles;
}

// The bytes of copied and transformed input and products of one block, and their limit. Beyond it a block leaves every cache, and a
// library would ask its caller for too much memory. The least possible size is always allowed. What moves places apart is
// not counted.
int64_t winograd_workspace(const WinogradFacts &facts, const WinogradKnobs &knobs);
int64_t winograd_workspace_limit(const WinogradFacts &facts);

// Columns and rows of tiles, and vectors of their channels, for each frequency of a block.
struct TilesInMemory {
    int64_t x = 1, y = 1, vectors = 1;
    bool operator==(const TilesInMemory &) const = default;
};

// What a block computes.
TilesInMemory transformed_tiles(const WinogradFacts &facts, const WinogradKnobs &knobs);
TilesInMemory product_tiles(const WinogradKnobs &knobs);

// What memory is laid out for: the same, or one more along some dimensions, which nobody reads, where the frequencies of a tile would
// otherwise lie so many bytes apart that they share a few sets of the L1 cache: it would hold too few of them while a tile is written
// or read. Products have no more vectors.
TilesInMemory stored_transformed(const WinogradFacts &facts, const WinogradKnobs &knobs);
TilesInMemory stored_products(const WinogradFacts &facts, const WinogradKnobs &knobs);

// Columns and rows that are copied for a row of blocks, with those of the padding; of turned ones whole tiles.
int64_t winograd_copied_width(const WinogradFacts &facts, const WinogradKnobs &knobs);
int64_t winograd_copied_rows(const WinogradFacts &facts, const WinogradKnobs &knobs);

// The largest register tiles of the space, as far as registers do not say less.
struct RegisterTileLimits {
    int64_t vectors = 1, tiles_x = 1, tiles_y = 1, images = 1;
};
RegisterTileLimits most_of_register_tile(const WinogradFacts &facts);

// Whether the sums of the register tile stay in registers, beside the operands of one step.
bool winograd_fits_registers(const WinogradFacts &facts, const WinogradKnobs &knobs);

// Work of the register tiles that cover a block over the work asked for.
double winograd_waste(const WinogradKnobs &knobs);
inline constexpr double most_winograd_waste = 1.34;

// Whether there are parallel tasks for all threads, or as many as the image and the channels allow.
bool winograd_gives_all_threads_work(const WinogradFacts &facts, const WinogradKnobs &knobs);

}  // namespace kiln
