#include <algorithm>
#include <iterator>
#include <vector>

#include "schedules/spaces/cpu_tile_rules.h"
#include "workload/division.h"

namespace kiln {
namespace {

// Pieces of work that threads share, and the time that they take by that of threads which end together.
struct Split {
    int64_t block = 1;  // tiles of a piece
    double time = 1e300;
};

// What the pieces are: `times` times `tiles` tiles, in blocks of at most `most`. A block of one tile takes longer by the part
// `reread`, since it reads what it shares with others for itself. A thread that comes late leaves its pieces to the others, if it
// has several.
struct Pieces {
    int64_t tiles = 1, times = 1, most = 1;
    double reread = 0.1;
};

Split even_split(const TileFacts &f, const Pieces &p, const std::vector<int64_t> &blocks) {
    Split best;
    for (const int64_t block : blocks) {
        if (block > p.most) break;
        const int64_t pieces = p.times * ceil_div(p.tiles, block);
        const double longest = double(ceil_div(pieces, f.threads) * f.threads * block) / double(p.times * p.tiles);
        const double time = longest * (1 + p.reread / double(block) + 0.1 * double(f.threads) / double(pieces));
        if (time <= best.time) best = {block, time};
    }
    return best;
}

double image_bytes(const ConvLoops &s) {
    const auto bytes = [](const StoredActivation &a) {
        return 4.0 * double(a.channels * a.space[0] * a.space[1] * a.space[2] * a.images);
    };
    return bytes(s.stored_input) + bytes(s.stored_result);
}

}  // namespace

// Domains have blocks of all tiles of a size, too, which are for one thread.
void split_over_threads(const TileFacts &f, const CpuTileDomains &domains, CpuTileKnobs *k) {
    const int64_t images = f.shape.batch * f.shape.output[2], x_tiles = f.x_tiles(k->pixels);
    const int64_t y_tiles = ceil_div(f.shape.output[1], k->rows), panels = f.panels(k->vectors);
    const double image_by_weights = image_bytes(f.shape) / f.weight_bytes();
    const Split by_rows = even_split(f, {y_tiles, images, k->row_block}, block_sizes(f.shape.output[1]));
    Split by_pixels;
    if (x_tiles > 1 && (k->stage_input == 0 || k->stage_input == 4) && !(k->prefetch && f.shape.groups > 1)) {
        constexpr int64_t few = 8;  // tiles that walk with a panel even where one tile would do
        std::vector<int64_t> blocks;
        std::ranges::copy_if(block_sizes(f.x_tiles(1)), std::back_inserter(blocks),
                             [&](int64_t block) { return blocks_are_apart(f, k->pixels, block); });
        by_pixels =
            even_split(f, {x_tiles, images * ceil_div(y_tiles, k->row_block), std::max(k->x_block, few)}, blocks);
    }
    // Each block of panels makes its own copies of the input.
    const bool copies = k->stage_input != 0 && k->stage_input != 2;
    const double reread = copies ? 0.25 : 0.1 * std::min(1.0, image_by_weights);
    const Split by_panels = even_split(f, {panels, 1, ceil_div(panels, f.threads), reread}, block_sizes(f.panels(1)));
    // Quantized images are a quarter of the bytes.
    const double written_elsewhere = image_by_weights < 1 ? 0.8 : f.shape.parts > 1 ? 1.05 : 1.25;
    const bool by_panels_at_all = std::ranges::count(domains.parallel, 2) > 0;
    if (by_panels_at_all && by_panels.time * written_elsewhere < std::min(by_rows.time, by_pixels.time)) {
        k->parallel = 2, k->panel_block = by_panels.block;
    } else if (by_pixels.time < 0.9 * by_rows.time) {
        k->parallel = 3, k->x_block = by_pixels.block;
    } else {
        k->parallel = 1, k->row_block = by_rows.block;
    }
}

}  // namespace kiln
