#include "schedules/spaces/winograd/winograd_rules.h"

#include <algorithm>

#include "rewrites/panels.h"
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

int64_t WinogradFacts::transformed_channels() const { return shape.groups * summed_channels(); }

bool WinogradFacts::skips_pixels() const {
    const bool some = pixels[0].to_last_tap < pixels[0].all || pixels[1].to_last_tap < pixels[1].all;
    return some && shape.input_channels % (channel_step() * pixels[0].all * pixels[1].all) == 0;
}

int64_t WinogradFacts::side_by_side() const {
    const StoredActivation &stored = shape.stored_input;
    const int64_t row = stored.channels * pixels[0].all, step = channel_step();
    const bool is_dense = shape.input_phases == 1 && shape.input_step[0] == 1;  // pixels of a block are neighbours
    const bool is_row =
        shape.folds() && is_dense && parts == 1 && stored.block == stored.channels && row > stored.channels;
    const bool reaches_over_pixels = stored.channels % step != 0;
    return is_row && reaches_over_pixels && (step % row == 0 || row % step == 0) ? row : 0;
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

namespace {

double bytes_of(const StoredActivation &of) {  // of f32
    return 4 * double(of.channels * of.space[0] * of.space[1]) * double(of.space[2] * of.images);
}

}  // namespace

double WinogradFacts::image_bytes() const { return bytes_of(shape.stored_input) + result_bytes(); }

double WinogradFacts::result_bytes() const { return bytes_of(shape.stored_result); }

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

int64_t WinogradFacts::group_vectors() const {
    return shape.groups == 1 ? output_vectors() : shape.group_outputs() / lanes;
}

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

WinogradFacts strassen_facts(const ConvLoops &shape, const Target &target, const Core &core) {
    ConvLoops half = shape;
    half.input_channels = ceil_div(shape.input_channels, 2);
    const int64_t vectors = ceil_div(shape.output_channels, int64_t{2} * vector_lanes(target));
    half.output_channels = half.output_block = vectors * vector_lanes(target);
    WinogradFacts f = winograd_facts(half, 1, target, core);
    f.halves_channels = true;
    f.m[0] = 2, f.tiles[0] = ceil_div(f.shape.output[0], 2);
    return f;
}

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
    const int64_t input = in.x * in.y * f.transformed_channels() * bytes_of_transformed(f, b);
    const int64_t products = out.x * out.y * out.vectors * f.lanes * 4;
    const int64_t pixels = winograd_copied_width(f, b) * winograd_copied_rows(f, b);
    const int64_t copied = b.stage_input ? 4 * pixels * f.transformed_channels() : 0;
    return (f.frequencies() * (input + products) + copied) * images_of_block(b);
}

TilesInMemory transformed_tiles(const WinogradFacts &f, const WinogradKnobs &b) {
    return {b.stage_rows ? f.tiles[0] : b.block_x, b.block_y, f.transformed_channels() / f.channel_step()};
}

TilesInMemory product_tiles(const WinogradKnobs &b) { return {b.block_x, b.block_y, b.panel_block * b.vectors}; }

int64_t winograd_workspace_limit(const WinogradFacts &f) {
    constexpr int64_t limit = int64_t{16} << 20;
    return std::max(limit, winograd_workspace(f, WinogradKnobs{}));
}

namespace {

constexpr int64_t least_stride = 1024;  // 4 of 64 sets of lines of 64 bytes: 48 lines in 12 ways, 32 in 8
constexpr int64_t most_places = 16;
constexpr int64_t least_stride_of_halves = 512;  // of the vectors of channels of a tile, of which there are dozens

// One more along as few dimensions as make the bytes no multiple of `least_stride`; `of`, where none do.
TilesInMemory moved_apart(const WinogradFacts &f, const TilesInMemory &of, int64_t vector_bytes, bool may_add_vectors) {
    const auto collides = [&](const TilesInMemory &t) {
        return t.x * t.y * t.vectors * vector_bytes % least_stride == 0;
    };
    // Strassen's products are few, and each reads all channels of a tile.
    if (f.halves_channels) {
        const bool shares_sets = of.x * of.y * vector_bytes % least_stride_of_halves == 0;
        return {of.x + (shares_sets ? 1 : 0), of.y, of.vectors};
    }
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

RegisterTileLimits most_of_register_tile(const WinogradFacts &f) {
    return {.vectors = std::min<int64_t>(4, f.group_vectors()),
            .tiles_x = std::min<int64_t>(f.tiles[0], f.registers - 2),
            .tiles_y = std::min<int64_t>(f.tiles[1], 8),
            .images = shares_blocks(f) ? std::min<int64_t>(8, f.shape.batch) : 1};
}

bool winograd_fits_registers(const WinogradFacts &f, const WinogradKnobs &b) {
    // Sums, the vectors of weights of one step, and an input; products of pairs before they are added.
    return b.vectors * tiles_of_tile(b) + b.vectors + f.parts <= f.registers;
}

int64_t register_tiles_of_block(const WinogradKnobs &b) {
    return ceil_div(b.block_x, b.tiles_x) * ceil_div(b.block_y, b.tiles_y) *
           ceil_div(images_of_block(b), images_of_tile(b));
}

bool shares_winograd_panels(const WinogradFacts &f, const WinogradKnobs &b) {
    const bool are_whole = f.tiles[0] % b.block_x == 0 && f.tiles[1] % b.block_y == 0;
    return are_whole && register_tiles_of_block(b) > 1;
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

}  // namespace kiln
