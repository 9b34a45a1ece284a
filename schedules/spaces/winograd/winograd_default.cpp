#include "schedules/spaces/winograd/winograd_default.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "schedules/spaces/fetched_weights.h"
#include "schedules/spaces/spilled_sums.h"
#include "workload/division.h"

namespace kiln {
namespace {

// Bytes a cycle from the cache that holds `bytes`.
double bytes_a_cycle(const Core &core, double bytes, bool in_order) {
    const auto rate = [&](const FetchRate &from) { return in_order ? from.in_order : from.scattered; };
    if (bytes <= core.l1_bytes / 2.0) return 1e9;
    if (bytes <= core.l2_bytes * 0.75) return rate(core.from_l2);
    if (bytes <= core.last_cache()) return rate(core.from_l3);
    return rate(core.from_memory);
}

// How many register tiles cover one side. Each block is covered by tiles of its own, and so is the remainder.
int64_t register_tiles(int64_t tiles, int64_t block, int64_t tile) {
    return tiles / block * ceil_div(block, tile) + ceil_div(tiles % block, tile);
}

// How much longer it takes when `tasks` of the size `each` are dealt to the threads than if `all` could be cut at will.
double imbalance(const WinogradFacts &f, double tasks, double each, double all) {
    return std::ceil(tasks / double(f.threads)) * double(f.threads) * each / all;
}

// With parts of the image, a thread mostly reads what it wrote itself in the layer before. With blocks of channels it does not, and
// one thread transforms the input for all.
double cycles_of_threads(const WinogradFacts &f, const WinogradKnobs &b, double cycles) {
    const auto together = double(images_of_block(b)), images = double(f.images()) / together;
    const double tiles = double(f.tiles[0] * f.tiles[1]) * together;
    const auto x_blocks = double(ceil_div(f.tiles[0], b.block_x)), y_blocks = double(ceil_div(f.tiles[1], b.block_y));
    if (b.parallel == 1) {
        return cycles * imbalance(f, images * y_blocks, double(b.block_y), images * double(f.tiles[1]));
    }
    if (b.parallel == 3) {
        return cycles *
               imbalance(f, images * y_blocks * x_blocks, double(b.block_x * b.block_y) * together, images * tiles);
    }
    if (b.parallel == 2) {
        const auto vectors = double(f.output_vectors()), each = double(b.vectors * b.panel_block);
        constexpr double cycles_a_vector = 3;  // some six instructions, two a cycle
        const double transform =
            cycles_a_vector * f.frequencies() * images * tiles * double(f.transformed_channels()) / f.lanes;
        return 1.1 * cycles * imbalance(f, std::ceil(vectors / each), each, vectors) +
               double(f.threads - 1) * transform;
    }
    return cycles;
}

// A cycle brings so many bytes of a panel that is fetched into L2 and read again by each register tile: by races on a Zen 5.
constexpr double panel_bytes_a_cycle = 20;

constexpr int64_t short_sum = 16;  // channels; the next register tile begins beside fewer

// Of a register tile, for one channel: multiply-adds, and loads competing with them.
double step_cycles(const WinogradFacts &f, const WinogradKnobs &b) {
    const double loads = double(b.vectors + tiles_of_tile(b)), products = double(b.vectors * tiles_of_tile(b));
    const bool is_short = f.parts > 1 || f.summed_channels() < short_sum;
    const double latency = is_short ? f.core.latency : f.core.float_latency;
    return std::max({products / f.core.multiply_adds, loads / f.core.loads, latency}) + 0.05 * loads;
}

// Of a register tile, for its first and last step.
double cycles_around_steps(const WinogradKnobs &b) { return 2.0 * double(b.vectors * tiles_of_tile(b)) + 10; }

// The product: multiply-adds, loads competing with them, and the weights, transformed input and products that come
// from beyond the L1 cache, in cycles that compare candidates. The transforms cost the same whatever the knobs.
double winograd_cost(const WinogradFacts &f, const WinogradKnobs &b) {
    const double steps = double(f.summed_channels() / f.parts), frequencies = double(f.frequencies());
    const double vectors = double(b.vectors), tiles = double(tiles_of_tile(b));
    const double together = double(images_of_block(b)), images = double(f.images()) / together;
    const int64_t panel_count = ceil_div(f.output_vectors(), b.vectors);
    const double panels = double(panel_count), channel_blocks = double(ceil_div(panel_count, b.panel_block));
    const double tiles_a_panel = images * double(ceil_div(images_of_block(b), images_of_tile(b))) *
                                 register_tiles(f.tiles[0], b.block_x, b.tiles_x) *
                                 register_tiles(f.tiles[1], b.block_y, b.tiles_y);
    const double step =
        step_cycles(f, b) + (b.unroll < 2 ? 0 : double(spilled_sums(f.registers, b.vectors, int64_t(tiles))));
    const double product = steps * step + cycles_around_steps(b);  // of a register tile

    const double blocks = images * ceil_div(f.tiles[0], b.block_x) * ceil_div(f.tiles[1], b.block_y);
    const double block_tiles = double(b.block_x * b.block_y) * together;
    const double input_bytes = 4 * frequencies * block_tiles * steps * double(f.shape.groups);
    const double product_bytes = 4 * frequencies * block_tiles * b.panel_block * vectors * f.lanes;
    const double panel_bytes = 4 * steps * vectors * f.lanes, weight_bytes = panel_bytes * panels * frequencies;
    // Weights pass once a block, for its first register tile; for the others of the block a panel of them is close by.
    const auto passing = [&](double rate) { return beside_fetch(product, panel_bytes / rate); };
    const bool stay_in_l2 = weight_bytes + input_bytes <= f.core.l2_bytes * 0.75;
    const double from_l2 = product + panel_bytes / f.core.from_l2.in_order;
    const double from_memory = passing(f.core.memory_bytes_a_cycle);
    const double from_l3 = weight_bytes <= f.core.last_cache() ? passing(f.core.l3_bytes_a_cycle) : from_memory;
    const double first = stay_in_l2 ? from_l2 : from_memory, again = stay_in_l2 ? from_l2 : from_l3;
    const double next = product + panel_bytes / bytes_a_cycle(f.core, 2 * panel_bytes, true);
    double cycles = panels * frequencies * (first + (blocks - 1) * again + (tiles_a_panel - blocks) * next);
    if (b.fetch_panels) {
        // Memory has the time of all register tiles of a block.
        const bool is_near = 2 * panel_bytes <= double(f.core.l1_bytes);
        // Beside the fetches LLVM keeps some of so many sums in memory.
        const bool spills = vectors * tiles + vectors + 3 > f.registers;
        const double late = (is_near ? 0 : std::max(0.0, 4 * vectors * f.lanes / panel_bytes_a_cycle - step)) +
                            (spills ? 0.1 * step : 0);
        const double products = double(register_tiles_of_block(b)) * (product + steps * late);
        cycles = panels * frequencies * blocks * std::max(products, panel_bytes / f.core.memory_bytes_a_cycle);
    }
    // Transformed input passes once a block of channels; products are written and read.
    const double held = input_bytes + product_bytes + 2 * panel_bytes;
    cycles += blocks * (channel_blocks + 1) * input_bytes / bytes_a_cycle(f.core, held, false);
    cycles += blocks * channel_blocks * 2 * product_bytes / bytes_a_cycle(f.core, 2 * product_bytes, false);
    return cycles_of_threads(f, b, cycles);
}

// Every blocking of the domains, cut short where a choice cannot fit any more.
template<typename Visit>
void for_every_blocking(const WinogradFacts &f, const WinogradDomains &domains, WinogradKnobs k, const Visit &visit) {
    const int64_t limit = winograd_workspace_limit(f);
    auto visit_blocks = [&]() {
        for (int64_t x : domains.block_x) {
            for (int64_t y : domains.block_y) {
                k.block_x = x, k.block_y = y;
                if (x < k.tiles_x || y < k.tiles_y || winograd_waste(k) > most_winograd_waste) continue;
                if (k.images > 1 && (x < f.tiles[0] || y < f.tiles[1])) continue;
                for (int64_t p : domains.panel_block) {
                    k.panel_block = p;
                    if (p > ceil_div(f.output_vectors(), k.vectors) || winograd_workspace(f, k) > limit) break;
                    if (winograd_gives_all_threads_work(f, k)) visit(k);
                }
            }
        }
    };
    const auto visit_tiles = [&] {
        for (int64_t v : domains.vectors) {
            // Each product of one vector loads an operand of its own, which takes longer than the cost says (by a race on a Zen 3).
            if (k.tile_images > 1 && v == 1 && f.output_vectors() > 1) continue;
            if (!f.panels_fill_groups(v)) continue;
            for (int64_t y : domains.tiles_y) {
                for (int64_t x : domains.tiles_x) {
                    k.vectors = v, k.tiles_y = y, k.tiles_x = x;
                    if (winograd_fits_registers(f, k)) visit_blocks();
                }
            }
        }
    };
    for (int64_t parallel : domains.parallel) {
        for (int64_t images : domains.images) {
            for (int64_t in_tile : domains.tile_images) {
                k.parallel = parallel, k.images = images, k.tile_images = in_tile;
                if (in_tile <= images) visit_tiles();
            }
        }
    }
}

// Whether a blocking that fetches whole panels may be a default. Memory answers after hundreds of cycles, and a core keeps track of a few
// dozen lines that are on their way, so they must not come too close upon each other. Weights near by come in time anyhow.
bool panels_may_pay(const WinogradFacts &f, const WinogradKnobs &b) {
    // Of pairs of integers with AVX2, two of seven layers lost a seventh, and one gained 4 % (races on a Zen 2).
    const bool are_pairs = f.parts > 1 && f.lanes < 16;
    if (!f.core.fetches_for_winograd || are_pairs || !shares_winograd_panels(f, b)) return false;
    if (f.output_vectors() <= f.core.few_winograd_vectors) return false;
    constexpr double least_cycles = 16;
    const auto steps = double(f.summed_channels() / f.parts), vector_bytes = 4.0 * f.lanes;
    const double panel_bytes = steps * double(b.vectors) * vector_bytes;
    const double products = double(register_tiles_of_block(b) * tiles_of_tile(b) * b.vectors);
    const double lines = double(b.vectors) * vector_bytes / double(f.core.line_bytes);
    const bool is_in_time = products / f.core.multiply_adds / lines >= least_cycles;
    return is_in_time && panel_bytes * 4 <= double(f.core.l2_bytes) && f.weight_bytes() * 2 > double(f.core.l2_bytes);
}

// The cheapest one, with whole panels fetched where that is cheaper by more than the estimate is wrong.
WinogradKnobs best_blocking(const WinogradFacts &f, const WinogradDomains &domains, const WinogradKnobs &k) {
    struct Best {
        WinogradKnobs knobs;
        double cost = std::numeric_limits<double>::max();
        void meet(const WinogradFacts &of, const WinogradKnobs &other) {
            const double other_cost = winograd_cost(of, other);
            if (other_cost < cost * 0.999) cost = other_cost, knobs = other;
        }
    };
    Best best{k}, with_panels{k};
    for_every_blocking(f, domains, k, [&](WinogradKnobs blocking) {
        best.meet(f, blocking);
        if (!panels_may_pay(f, blocking)) return;
        blocking.fetch_panels = domains.fetch_panels.back();
        if (blocking.fetch_panels) with_panels.meet(f, blocking);
    });
    return with_panels.cost < 0.97 * best.cost ? with_panels.knobs : best.knobs;
}

// Images from memory or from the far side of a large cache. A tile takes a tenth of a microsecond and more, as long as memory
// does to answer; one of few channels takes less. In front of a network's first layer nobody has used the memory of its result for long.
int64_t default_winograd_prefetch(const WinogradFacts &f, const WinogradDomains &domains) {
    const auto l2 = double(f.core.l2_bytes), l3 = double(f.core.l3_bytes);
    const bool is_far = f.image_bytes() > std::min(8 * l2, std::max(l2, l3));
    const bool is_first = f.core.fetches_for_winograd && f.side_by_side() > 0 && f.result_bytes() > 2 * l2;
    const int64_t tiles = 4 * f.input_step() < 1024 ? 2 : 1;
    return (is_far || is_first) && std::ranges::count(domains.prefetch, tiles) > 0 ? tiles : 0;
}

// Whether vectors of a channel's columns, or parts of them, are copied in less time than tiles gather them element by element. Channels
// that share a set of the L1 cache push each other out of it.
bool gathers_rows(const WinogradFacts &f) {
    if (f.turns_input()) return f.lanes == 8 || f.core.copies_winograd_rows;
    const StoredActivation &stored = f.shape.stored_input;
    const int64_t plane_bytes = 4 * stored.space[0] * stored.space[1];
    return f.core.copies_winograd_rows && f.may_stage_input() && stored.block == 1 && !f.shape.converts &&
           !f.core.shares_l1_sets(plane_bytes);
}

// Raced with AVX2 on a Zen 3, and with AVX-512 on a Zen 5 (docs/measurements/layouts.md).
bool stages_input(const WinogradFacts &f, WinogradKnobs k) {
    if (!gathers_rows(f) || k.parallel == 3) return false;
    k.stage_input = 1;
    if (winograd_workspace(f, k) > winograd_workspace_limit(f)) return false;  // long rows of many channels
    const auto blocks = double(ceil_div(f.tiles[1], k.block_y));
    const double copied = blocks * double(winograd_copied_rows(f, k) * winograd_copied_width(f, k));
    // Times the image: small ones have more columns and rows that are copied in vain.
    const double most = f.lanes == 8 ? 1.6 : 3;
    return copied <= most * double(f.shape.stored_input.space[0] * f.shape.stored_input.space[1]);
}

}  // namespace

double winograd_slowness(const WinogradFacts &f) {
    const double steps = double(f.summed_channels() / f.parts);
    const RegisterTileLimits most = most_of_register_tile(f);
    double least = std::numeric_limits<double>::max();
    WinogradKnobs k;
    const auto compare = [&] {
        const auto vectors = double(ceil_div(f.output_vectors(), k.vectors));
        const auto of_image = double(ceil_div(f.tiles[0], k.tiles_x) * ceil_div(f.tiles[1], k.tiles_y));
        const auto tiles = of_image * vectors / double(images_of_tile(k));
        least = std::min(least, tiles * (steps * step_cycles(f, k) + cycles_around_steps(k)));
    };
    for (k.vectors = 1; k.vectors <= most.vectors; k.vectors++) {
        if (!f.panels_fill_groups(k.vectors)) continue;
        for (k.tile_images = 1; k.tile_images <= most.images; k.tile_images++) {
            for (k.tiles_y = 1; k.tiles_y <= most.tiles_y; k.tiles_y++) {
                for (k.tiles_x = 1; k.tiles_x <= most.tiles_x && winograd_fits_registers(f, k); k.tiles_x++) compare();
            }
        }
    }
    const auto products = steps * double(f.tiles[0] * f.tiles[1] * f.output_vectors());
    return least * f.core.multiply_adds / products;
}

WinogradKnobs default_winograd_knobs(const WinogradFacts &f, const WinogradDomains &domains) {
    WinogradKnobs k;
    const int64_t most = unrolled_without_spills(4, f.registers, f.parts, f.tiles[0] * f.tiles[1] * f.images());
    // LLVM unrolls a loop of three steps completely, and then the sums spill.
    for (int64_t unroll : domains.unroll) {
        const int64_t steps = f.channel_step() / f.parts;
        if (unroll <= most && (steps <= 8 || steps / unroll >= 4)) k.unroll = unroll;
    }
    WinogradKnobs best = best_blocking(f, domains, k);
    best.stage_input = stages_input(f, best) ? domains.stage_input.back() : 0;
    best.prefetch = default_winograd_prefetch(f, domains);
    // Wide vectors have masks for free, and the code takes twice as long to compile.
    best.partition = f.lanes < 16 ? domains.partition.back() : 0;
    if (!best.fetch_panels) {
        best.fetch_weights =
            default_fetched_kilobytes(domains.fetch_weights, f.weight_bytes(), tiles_of_tile(best), f.core);
    }
    return best;
}

}  // namespace kiln
