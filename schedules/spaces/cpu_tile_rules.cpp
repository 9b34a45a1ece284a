#include "schedules/spaces/cpu_tile_rules.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "schedules/spaces/cpu_tile_cases.h"
#include "schedules/spaces/cpu_tile_space.h"

namespace kiln {

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

const std::vector<int64_t> &domain_of(const std::vector<Knob> &knobs, std::string_view name) {
    const auto found = std::find_if(knobs.begin(), knobs.end(), [&](const Knob &k) { return k.name == name; });
    assert(found != knobs.end());
    return found->values;
}

int64_t TileFacts::channel_vectors() const {
    return ceil_div(shape.group_panels ? shape.group_outputs() : shape.stored_channels(), lanes);
}

TileFacts tile_facts(const ConvShape &shape, int lanes, const Target &target, const Machine &machine) {
    return {panel_shape(shape, lanes), lanes,         vector_registers(target), machine.l1_bytes,
            machine.l2_bytes,          target.threads};
}

bool fits_registers(const TileFacts &f, const RegisterTile &tile, bool inline_sum) {
    // Written out, a sum is one chain an output: what is live at once is the compiler's choice, code size the limit.
    if (inline_sum) return tile.sums() * f.shape.taps() <= 512;
    // Sums, the vectors of weights of one step, and an input.
    return tile.sums() + tile.vectors + 1 <= f.registers;
}

int64_t unrolled_steps(const ConvShape &s, const Knobs &k) {
    auto at = [&](const char *name) { return value_of(k, name); };
    if (at("inline_sum")) return s.taps() * at("vectors") * at("pixels") * at("rows");
    const int64_t columns = at("unroll_columns") ? s.kernel[0] : 1, tiles = at("unroll_tiles") ? at("x_block") : 1;
    const int64_t rows = at("unroll_rows") ? s.kernel[1] + (at("share_rows") ? (at("rows") - 1) * s.stride[1] : 0) : 1;
    return at("unroll") * columns * rows * tiles * at("vectors") * at("pixels") * at("rows");
}

bool shuffles_in_place(const TileFacts &f, const RegisterTile &tile) {
    return f.spreads_densely(tile.vectors) && f.shape.input_channels <= 4 && f.shape.group_outputs() <= 4;
}

bool keeps_spread_inputs(const TileFacts &f, const RegisterTile &tile) {
    if (tile.sums() == 1 || !(f.spreads() || f.holds_groups())) return true;
    // Dense vectors do so for all channels of a group, because the compiler loads each only once.
    const int64_t inputs = tile.vectors * f.shape.reach(tile.pixels, 0);
    return tile.sums() + inputs * (shuffles_in_place(f, tile) ? 2 : 1) <= f.registers;
}

// Multiply-adds dominate; loads compete with them a little; weights come from L2 when a panel does not stay in L1; few
// independent sums leave the multipliers waiting for results.
double tile_cost(const TileFacts &f, const RegisterTile &tile) {
    const ConvShape &s = f.shape;
    const double sums = tile.sums(), pixels = double(tile.pixels) * tile.rows;
    const double tiles =
        double(f.panels(tile.vectors)) * ceil_div(s.output[0], tile.pixels) * ceil_div(s.output[1], tile.rows);
    if (f.depthwise()) {
        // Inputs of a tile are loaded once for all its outputs, weights once a tile.
        const double input_loads = double(s.reach(tile.pixels, 0)) * s.reach(tile.rows, 1) * s.kernel[2];
        // Pixels lie channels apart: where that is a multiple of many cache lines, they crowd into few of the 64 sets
        // of an 8-way L1 cache.
        const int64_t apart = std::max<int64_t>(1, s.groups * 4 / 64);
        const bool crowded = input_loads > 8.0 * 64 / std::gcd<int64_t>(64, apart);
        const double loads = tile.vectors * (input_loads * (crowded ? 6 : 1) + s.taps());
        return tiles * (std::max(sums * s.taps() / 2, loads / 2) + 0.25 * loads + sums + 4);
    }
    double inputs = pixels, products = sums;
    if (f.spreads() || f.holds_groups()) {
        // Lanes that need different inputs: a shuffle for each, on a port that multiplies too; the kernel's columns
        // share them. Single floats are more work than dense vectors: the rows of a tile share them too.
        const bool in_place = shuffles_in_place(f, tile), shared = f.spreads() && !in_place && f.shares_rows();
        const double rows = shared ? double(s.reach(tile.rows, 1)) / s.kernel[1] : double(tile.rows);
        inputs = double(tile.vectors) * rows * s.reach(tile.pixels, 0) / s.kernel[0];
        if (f.spreads()) products += inputs * (in_place ? 1 : 3);
    } else if (s.groups > 1 && !s.group_panels) {
        // A panel that reaches into another group needs other inputs there.
        const int64_t panel = tile.vectors * f.lanes, outputs = s.group_outputs();
        inputs *= double(panel) / outputs + (outputs % panel == 0 || panel % outputs == 0 ? 0 : 1);
        inputs = std::max(inputs, pixels);
    }
    const double loads = tile.vectors + inputs;
    const double panel_bytes = 4.0 * tile.vectors * f.lanes * s.input_channels * s.taps();
    const double weights = panel_bytes > f.l1_bytes / 2 ? tile.vectors * f.lanes * 4 / 32.0 : 0;  // 32 bytes a cycle
    const double stores = sums / double(s.input_channels * s.taps());
    // Pixels whose addresses differ by multiples of 4 KiB share the 8 to 12 ways of one L1 set.
    const bool aliased = s.input_channels * s.groups * s.stride[0] * 4 % 4096 == 0 && tile.pixels > 8;
    return tiles * (std::max({products / 2, loads / 2, latency_sums / 2.0}) * (aliased ? 1.3 : 1) + 0.1 * loads +
                    0.3 * weights + stores);
}

namespace {

// Largest value up to the wanted one; the smallest where there is none.
int64_t nearest(const std::vector<int64_t> &values, double wanted) {
    int64_t best = values.front();
    for (int64_t v : values) {
        if (v <= wanted) best = v;
    }
    return best;
}

int64_t nearest_divisor(const std::vector<int64_t> &values, int64_t length, int64_t wanted) {
    int64_t best = 1;
    for (int64_t v : values) {
        if (v <= wanted && length % v == 0) best = v;
    }
    return best;
}

// The largest register tile that the domains have room for.
int64_t most_sums(const TileFacts &f, const std::vector<Knob> &knobs) {
    int64_t most = 1;
    for (int64_t v : domain_of(knobs, "vectors")) {
        for (int64_t p : domain_of(knobs, "pixels")) {
            for (int64_t r : domain_of(knobs, "rows")) {
                const RegisterTile tile{v, p, r};
                if (fits_registers(f, tile, false) && keeps_spread_inputs(f, tile)) most = std::max(most, tile.sums());
            }
        }
    }
    return most;
}

RegisterTile cheapest_tile(const TileFacts &f, const std::vector<Knob> &knobs, bool inline_sum) {
    RegisterTile best;
    double least = 1e300;
    const int64_t fewest = inline_sum ? 1 : fewest_sums(f, knobs);
    bool enough = false;  // sums to hide the latency; where no tile has them, the best of the others
    for (int64_t v : domain_of(knobs, "vectors")) {
        for (int64_t r : domain_of(knobs, "rows")) {
            for (int64_t p : domain_of(knobs, "pixels")) {
                const RegisterTile tile{v, p, r};
                if (!fits_registers(f, tile, inline_sum)) continue;
                if (tile.sums() < fewest || !keeps_spread_inputs(f, tile)) continue;
                const bool has_enough = tile.sums() >= latency_sums;
                const double cost = has_enough ? tile_cost(f, tile) : tile_cost(f, tile) / tile.sums();
                if ((has_enough && !enough) || (has_enough == enough && cost < least * 0.999)) {
                    least = cost, best = tile, enough = has_enough;
                }
            }
        }
    }
    return best;
}

// Row blocks in parallel, small enough that every thread gets some; panels where there are too few rows.
void split_over_threads(const TileFacts &f, const std::vector<Knob> &knobs, Knobs *k) {
    const int64_t images = f.shape.batch * f.shape.output[2];
    const int64_t y_tiles = ceil_div(f.shape.output[1], (*k)["rows"]);
    if (images * y_tiles >= 2 * f.threads) {
        (*k)["parallel"] = 1;
        const double share = std::max<double>(1, double(images * y_tiles) / f.threads);
        (*k)["row_block"] = nearest(domain_of(knobs, "row_block"), std::min<double>((*k)["row_block"], share));
    } else {
        (*k)["parallel"] = 2;
        const int64_t panels = f.panels((*k)["vectors"]);
        (*k)["panel_block"] = nearest(domain_of(knobs, "panel_block"), double(ceil_div(panels, f.threads)));
    }
}

}  // namespace

int64_t fewest_sums(const TileFacts &f, const std::vector<Knob> &knobs) {
    return std::min(latency_sums * 3 / 4, most_sums(f, knobs));
}

Knobs default_tile_knobs(const TileFacts &f, const std::vector<Knob> &knobs) {
    const ConvShape &s = f.shape;
    auto values = [&](const char *name) -> const std::vector<int64_t> & { return domain_of(knobs, name); };
    Knobs k;
    k["inline_sum"] = values("inline_sum").back();
    const RegisterTile tile = cheapest_tile(f, knobs, k["inline_sum"]);
    const TileCase &kind = tile_case(f, tile);
    k["vectors"] = tile.vectors, k["pixels"] = tile.pixels, k["rows"] = tile.rows;

    const int64_t x_tiles = ceil_div(s.output[0], tile.pixels), y_tiles = ceil_div(s.output[1], tile.rows);
    const int64_t panels = f.panels(tile.vectors);
    auto block = [&](const char *name, int64_t tiles, double wanted) {
        k[name] = nearest(values(name), std::min<double>(tiles, wanted));
    };
    block("panel_block", panels, panels);
    if (kind.block == TileCase::Block::one_tile) {
        block("x_block", 1, 1), block("row_block", 1, 1);
    } else {
        // A block of pixels stays in a quarter of the L2 cache while the panels pass, beside the panel and the output.
        const double room = f.l2_bytes / 4.0;
        const double row_bytes = 4.0 * s.input_channels * s.input[0] * s.stride[1];
        const double tile_bytes = 4.0 * s.input_channels * s.stride[0] * tile.pixels;
        block("row_block", y_tiles, room / row_bytes / tile.rows);
        block("x_block", x_tiles, s.output[1] > 1 ? x_tiles : room / tile_bytes);
    }

    // Neighbouring pixels share joined floats; unrolled beyond the stride, LLVM keeps them in registers and spills the
    // sums.
    const bool join = kind.sum == TileCase::Sum::joined_columns;
    k["join_columns"] = join;
    k["unroll"] =
        join ? nearest_divisor(values("unroll"), s.input_channels * s.kernel[0],
                               std::min(kind.unroll, s.stride[0] * s.input_channels))
             : nearest_divisor(values("unroll"), s.input_channels, kind.unroll ? kind.unroll : s.input_channels);
    k["unroll_columns"] = kind.sum == TileCase::Sum::columns_unrolled ? values("unroll_columns").back() : 0;
    k["spread"] = nearest(values("spread"), kind.spread);
    k["share_rows"] = k["unroll_rows"] = kind.share_rows && f.shares_rows() && tile.rows > 1;

    // Where the tests for padding can fold away, they cost nothing; else a padded copy of the block is cheaper.
    const bool padded = values("stage_input").size() > 1;
    const bool folds = s.groups == 1 && !join && tile.rows == 1 && k["x_block"] == x_tiles && x_tiles <= 4;
    k["unroll_tiles"] = folds ? values("unroll_tiles").back() : 0;
    k["skip_rows"] = !k["inline_sum"] && (tile.rows == 1 || k["share_rows"]) ? values("skip_rows").back() : 0;
    // Columns that are unrolled apart cannot be left out by the phases that do not have them.
    if (s.skips_missing_taps(tile.vectors * f.lanes)) k["unroll_columns"] = k["unroll_tiles"] = 0;
    if (unrolled_steps(s, k) > most_unrolled_steps(s)) k["unroll_tiles"] = 0;
    if (unrolled_steps(s, k) > most_unrolled_steps(s)) k["unroll_columns"] = 0;
    if (unrolled_steps(s, k) > most_unrolled_steps(s)) k["unroll_rows"] = k["share_rows"] = 0;
    if (tile.rows > 1 && !k["share_rows"]) k["skip_rows"] = 0;
    const bool wants_copy =  // conversions, the search for holes and for channels in blocks are done once for all taps
        s.converts || s.has_holes() || (f.spreads() && !f.is_nhwc()) ||
        (kind.copies_padding && !(folds && k["unroll_columns"]));
    k["stage_input"] = s.folded ? 1 : f.needs_copy() ? 2 : padded && wants_copy ? 1 : 0;

    k["parallel"] = values("parallel").front();
    if (f.threads > 1) split_over_threads(f, knobs, &k);
    return k;
}

}  // namespace kiln
