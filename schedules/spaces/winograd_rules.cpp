#include "schedules/spaces/winograd_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rewrites/panels.h"
#include "schedules/spaces/fetched_weights.h"
#include "schedules/spaces/spilled_sums.h"
#include "schedules/turned_columns.h"
#include "workload/division.h"

namespace kiln {

int64_t WinogradFacts::channel_step() const {
    const int64_t channels = shape.input_channels;
    if (parts > 1) return lanes * parts;
    // Half vectors without channels of zeros, whose products would be as many as those of the others.
    const bool fills_halves = lanes > 1 && channels % lanes != 0 && channels % (lanes / 2) == 0;
    return fills_halves && channels < 2 * lanes ? lanes / 2 : std::min<int64_t>(lanes, channels);
}

int64_t WinogradFacts::summed_channels() const {
    return ceil_div(shape.input_channels, channel_step()) * channel_step();
}

bool WinogradFacts::skips_pixels() const {
    const bool some = pixels[0].to_last_tap < pixels[0].all || pixels[1].to_last_tap < pixels[1].all;
    return some && shape.input_channels % (channel_step() * pixels[0].all * pixels[1].all) == 0;
}

double WinogradFacts::products_left() const {
    double left = 1;
    for (int d = 0; d < 2 && skips_pixels(); d++) {
        const auto [all, to_last_tap] = pixels[d];
        left *= double(all * (a(d) - 1) + to_last_tap) / double(all * a(d));
    }
    return left;
}

double WinogradFacts::weight_bytes() const {
    return double(operand_bytes()) * double(frequencies() * summed_channels()) * double(output_vectors() * lanes);
}

double WinogradFacts::image_bytes() const {
    const auto elements = [](const StoredActivation &of) {
        return double(of.channels * of.space[0] * of.space[1]) * double(of.space[2] * of.images);
    };
    return 4 * (elements(shape.stored_input) + elements(shape.stored_result));
}

int64_t WinogradFacts::input_step() const {
    const int64_t block = shape.stored_input.block;
    return block > 1 ? block * m[0] * pixels[0].all : 0;
}

int64_t WinogradFacts::result_step() const {
    const int64_t block = shape.stored_result.block;
    return block > 1 ? block * m[0] : 0;
}

bool WinogradFacts::may_stage_input() const {
    const Place &column = shape.input_map[input_index::x];
    const bool is_apart = shape.stored_input.block < channel_step();
    return is_apart && parts == 1 && !shape.folds() && column.form.is_index(input_index::x) && column.hole == 1;
}

bool WinogradFacts::turns_input() const {
    const bool fills_vectors = lanes >= 8 && channel_step() == lanes;
    return may_stage_input() && fills_vectors && shape.stored_input.block == 1 && !shape.converts;
}

int64_t WinogradFacts::output_vectors() const { return ceil_div(shape.stored_channels(), lanes); }

WinogradFacts winograd_facts(const ConvLoops &shape, int m, const Target &target, const Core &core, int parts) {
    WinogradFacts f;
    f.parts = parts;
    f.shape = rows_of_one_image(shape);
    for (int d = 0; d < 2; d++) {
        f.m[d] = f.shape.kernel[d] == 1 ? 1 : m;
        f.tiles[d] = ceil_div(f.shape.output[d], f.m[d]);
        f.pixels[d] = folded_pixels(f.shape, d);
    }
    f.lanes = vector_lanes(target), f.registers = vector_registers(target);
    f.core = core;
    f.threads = target.threads;
    return f;
}

namespace {

// Of a transformed input.
int64_t bytes_of_transformed(const WinogradFacts &f, const WinogradKnobs &b) {
    return b.demote == 2 ? 2 : f.operand_bytes();
}

}  // namespace

int64_t winograd_copied_width(const WinogradFacts &f, const WinogradKnobs &b) {
    const int64_t columns = ceil_div(f.tiles[0], b.block_x) * b.block_x * f.m[0] + f.shape.kernel[0] - 1;
    const int64_t in_tile = f.turns_input() ? turned_columns(f.lanes) : 1;
    return ceil_div(columns, in_tile) * in_tile;
}

int64_t winograd_copied_rows(const WinogradFacts &f, const WinogradKnobs &b) {
    return b.block_y * f.m[1] + f.shape.kernel[1] - 1;
}

int64_t winograd_workspace(const WinogradFacts &f, const WinogradKnobs &b) {
    const TilesInMemory in = transformed_tiles(f, b), out = product_tiles(b);
    const int64_t input = in.x * in.y * f.summed_channels() * bytes_of_transformed(f, b);
    const int64_t products = out.x * out.y * out.vectors * f.lanes * 4;
    const int64_t pixels = winograd_copied_width(f, b) * winograd_copied_rows(f, b);
    const int64_t copied = b.stage_input ? 4 * pixels * f.summed_channels() : 0;
    return (f.frequencies() * (input + products) + copied) * images_of_block(b);
}

TilesInMemory transformed_tiles(const WinogradFacts &f, const WinogradKnobs &b) {
    return {b.stage_rows ? f.tiles[0] : b.block_x, b.block_y, f.summed_channels() / f.channel_step()};
}

TilesInMemory product_tiles(const WinogradKnobs &b) { return {b.block_x, b.block_y, b.panel_block * b.vectors}; }

int64_t winograd_workspace_limit(const WinogradFacts &f) {
    constexpr int64_t limit = int64_t{16} << 20;
    return std::max(limit, winograd_workspace(f, WinogradKnobs{}));
}

namespace {

constexpr int64_t least_stride = 1024;  // 4 of 64 sets of lines of 64 bytes: 48 lines in 12 ways, 32 in 8
constexpr int64_t most_places = 16;

// One more along as few dimensions as make the bytes no multiple of `least_stride`; `of`, where none do.
TilesInMemory moved_apart(const WinogradFacts &f, const TilesInMemory &of, int64_t vector_bytes, bool may_add_vectors) {
    const auto collides = [&](const TilesInMemory &t) {
        return t.x * t.y * t.vectors * vector_bytes % least_stride == 0;
    };
    if (f.frequencies() <= most_places || !collides(of)) return of;
    constexpr TilesInMemory more[] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {1, 0, 1}, {0, 1, 1}, {1, 1, 0}, {1, 1, 1}};
    for (const auto &[x, y, vectors] : more) {
        const TilesInMemory moved{of.x + x, of.y + y, of.vectors + vectors};
        if ((may_add_vectors || vectors == 0) && !collides(moved)) return moved;
    }
    return of;
}

}  // namespace

TilesInMemory stored_transformed(const WinogradFacts &f, const WinogradKnobs &b) {
    return moved_apart(f, transformed_tiles(f, b), f.channel_step() * bytes_of_transformed(f, b), true);
}

TilesInMemory stored_products(const WinogradFacts &f, const WinogradKnobs &b) {
    return moved_apart(f, product_tiles(b), int64_t{4} * f.lanes, false);
}

bool winograd_fits_registers(const WinogradFacts &f, const WinogradKnobs &b) {
    // Sums, the vectors of weights of one step, and an input; products of pairs before they are added.
    return b.vectors * tiles_of_tile(b) + b.vectors + f.parts <= f.registers;
}

double winograd_waste(const WinogradKnobs &b) {
    const int64_t x = ceil_div(b.block_x, b.tiles_x) * b.tiles_x, y = ceil_div(b.block_y, b.tiles_y) * b.tiles_y;
    const int64_t in_block = images_of_block(b), in_tile = images_of_tile(b), n = ceil_div(in_block, in_tile) * in_tile;
    return double(x * y * n) / double(b.block_x * b.block_y * in_block);
}

bool winograd_gives_all_threads_work(const WinogradFacts &f, const WinogradKnobs &b) {
    const int64_t threads = f.threads, images = f.images() / images_of_block(b);
    if (b.parallel == 1) {
        return images * ceil_div(f.tiles[1], b.block_y) >= std::min(threads, f.images() * f.tiles[1]);
    }
    if (b.parallel == 3) {
        const int64_t blocks = images * ceil_div(f.tiles[0], b.block_x) * ceil_div(f.tiles[1], b.block_y);
        return blocks >= std::min(threads, f.images() * f.tiles[0] * f.tiles[1]);
    }
    if (b.parallel == 2) {
        const int64_t blocks = ceil_div(ceil_div(f.output_vectors(), b.vectors), b.panel_block);
        return blocks >= std::min(threads, f.output_vectors());
    }
    return true;
}

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
            cycles_a_vector * f.frequencies() * images * tiles * double(f.summed_channels()) / f.lanes;
        return 1.1 * cycles * imbalance(f, std::ceil(vectors / each), each, vectors) +
               double(f.threads - 1) * transform;
    }
    return cycles;
}

}  // namespace

// The product: multiply-adds, loads competing with them, and the weights, transformed input and products that come
// from beyond the L1 cache. The transforms cost the same whatever the knobs.
double winograd_cost(const WinogradFacts &f, const WinogradKnobs &b) {
    const double steps = double(f.summed_channels() / f.parts), frequencies = double(f.frequencies());
    const double vectors = double(b.vectors), tiles = double(tiles_of_tile(b));
    const double together = double(images_of_block(b)), images = double(f.images()) / together;
    const int64_t panel_count = ceil_div(f.output_vectors(), b.vectors);
    const double panels = double(panel_count), channel_blocks = double(ceil_div(panel_count, b.panel_block));
    const double tiles_a_panel = images * double(ceil_div(images_of_block(b), images_of_tile(b))) *
                                 register_tiles(f.tiles[0], b.block_x, b.tiles_x) *
                                 register_tiles(f.tiles[1], b.block_y, b.tiles_y);
    const double loads = vectors + tiles;
    const double step =
        std::max({vectors * tiles / f.core.multiply_adds, loads / f.core.loads, double(f.core.latency)}) +
        0.05 * loads + (b.unroll < 2 ? 0 : double(spilled_sums(f.registers, b.vectors, int64_t(tiles))));
    const double product = steps * step + 2 * vectors * tiles + 10;  // of a register tile

    const double blocks = images * ceil_div(f.tiles[0], b.block_x) * ceil_div(f.tiles[1], b.block_y);
    const double block_tiles = double(b.block_x * b.block_y) * together;
    const double input_bytes = 4 * frequencies * block_tiles * steps;
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
    // Transformed input passes once a block of channels; products are written and read.
    const double held = input_bytes + product_bytes + 2 * panel_bytes;
    cycles += blocks * (channel_blocks + 1) * input_bytes / bytes_a_cycle(f.core, held, false);
    cycles += blocks * channel_blocks * 2 * product_bytes / bytes_a_cycle(f.core, 2 * product_bytes, false);
    return cycles_of_threads(f, b, cycles);
}

namespace {

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

// Images from memory or from the far side of a large cache. A tile takes a tenth of a microsecond and more, as long as memory
// does to answer; one of few channels takes less.
int64_t default_winograd_prefetch(const WinogradFacts &f, const WinogradDomains &domains) {
    const auto l2 = double(f.core.l2_bytes), l3 = double(f.core.l3_bytes);
    const bool is_far = f.image_bytes() > std::min(8 * l2, std::max(l2, l3));
    const int64_t tiles = 4 * f.input_step() < 1024 ? 2 : 1;
    return is_far && std::ranges::count(domains.prefetch, tiles) > 0 ? tiles : 0;
}

// Raced with AVX2 alone (docs/measurements/layouts.md).
bool stages_input(const WinogradFacts &f, WinogradKnobs k) {
    if (f.lanes != 8 || !f.turns_input() || k.parallel == 3) return false;
    k.stage_input = 1;
    if (winograd_workspace(f, k) > winograd_workspace_limit(f)) return false;  // long rows of many channels
    const auto blocks = double(ceil_div(f.tiles[1], k.block_y));
    const double copied = blocks * double(winograd_copied_rows(f, k) * winograd_copied_width(f, k));
    constexpr double most = 1.6;  // times the image; small ones have more columns and rows that are copied in vain
    return copied <= most * double(f.shape.stored_input.space[0] * f.shape.stored_input.space[1]);
}

}  // namespace

WinogradKnobs default_winograd_knobs(const WinogradFacts &f, const WinogradDomains &domains) {
    WinogradKnobs k;
    // LLVM unrolls a loop of three steps completely, and then the sums spill.
    for (int64_t unroll : domains.unroll) {
        const int64_t steps = f.channel_step() / f.parts;
        if (unroll <= 4 && (steps <= 8 || steps / unroll >= 4)) k.unroll = unroll;
    }
    double least = std::numeric_limits<double>::max();
    WinogradKnobs best = k;
    for_every_blocking(f, domains, k, [&](const WinogradKnobs &blocking) {
        const double cost = winograd_cost(f, blocking);
        if (cost < least * 0.999) least = cost, best = blocking;
    });
    best.stage_input = stages_input(f, best) ? domains.stage_input.back() : 0;
    best.prefetch = default_winograd_prefetch(f, domains);
    // Wide vectors have masks for free, and the code takes twice as long to compile.
    best.partition = f.lanes < 16 ? domains.partition.back() : 0;
    best.fetch_weights =
        default_fetched_kilobytes(domains.fetch_weights, f.weight_bytes(), tiles_of_tile(best), f.core);
    return best;
}

}  // namespace kiln
