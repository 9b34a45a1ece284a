#include "schedules/spaces/scalar/scalar_tile_space.h"

#include <algorithm>
#include <set>

#include "schedules/compiler_flags.h"
#include "schedules/spaces/scalar/scalar_tile_knobs.h"

namespace kiln {
namespace {

// Products and results of a depthwise tile, which are written out. More do not fit an instruction cache of some KiB, and take the
// compiler long: 0.3 s for 6 results of 3x3 products, 0.7 for 16, 1.1 for 24. No winner of person_detect has more than 6.
constexpr int64_t most_products = 256, most_results = 16;

// Those of 16 of the 19 winners of person_detect.
constexpr int64_t usual_flags = 1;

// Those of most strided and large depthwise layers there.
constexpr int64_t unspilled_flags = 4;

std::vector<int64_t> all_flags() {
    std::vector<int64_t> rows;
    for (int64_t row = 0; row < compiler_flag_rows; row++) rows.push_back(row);
    return rows;
}

std::vector<int64_t> divisors(int64_t n, int64_t most) {
    std::vector<int64_t> values;
    for (int64_t v = 1; v <= std::min(n, most); v++) {
        if (n % v == 0) values.push_back(v);
    }
    return values;
}

int64_t largest_up_to(const std::vector<int64_t> &values, int64_t wanted) {
    int64_t best = values.front();
    for (const int64_t v : values) {
        if (v <= wanted) best = v;
    }
    return best;
}

Space made(Candidate base, const ScalarTileKnobs &standard, const ScalarTileDomains &domains,
           std::vector<Limit<ScalarTileKnobs>> limits) {
    std::vector<Knob> knobs = knob_list(domains);
    for (Knob &knob : knobs) knob.zero_left_out = knob.name == knob_name(&ScalarTileKnobs::tiles);
    base.schedule = scalar_tile_name;
    base.schedule_version = scalar_tile_version;
    base.knobs = present(encode_knobs(standard), knobs);
    return Space(std::move(base), std::move(knobs), {constraint(std::move(limits))});
}

}  // namespace

Space scalar_depthwise_space(Candidate base, const ConvLoops &loops) {
    const int64_t taps = loops.taps(), columns = loops.output[0], rows = loops.output[1];
    const auto fits = [=](const ScalarTileKnobs &k) {
        const int64_t results = k.pixels * k.rows;
        return results == 1 || (results <= most_results && results * taps <= most_products);
    };
    ScalarTileDomains d;
    d.channels = divisors(loops.output_channels, 128);
    d.pixels = up_to(std::clamp<int64_t>(columns, 1, 12));
    d.rows = up_to(std::clamp<int64_t>(rows, 1, 2));
    d.partition = {0, 1, 2};
    d.flags = all_flags();
    ScalarTileKnobs k;
    k.channels = largest_up_to(d.channels, 32), k.rows = 1, k.partition = 1, k.flags = usual_flags, k.pixels = 6;
    // Winners of person_detect. The inside of large images is worth code of its own, and so is that of strided ones, whose pixels share
    // few inputs. The smallest have padding in nearly all of their windows.
    const bool strides = loops.stride[0] > 1;
    if (taps <= 9 && (strides || columns >= 24 || columns <= 3)) {
        k.partition = 2, k.flags = unspilled_flags, k.pixels = strides || columns <= 3 ? 3 : 4;
    }
    for (k.pixels = largest_up_to(d.pixels, k.pixels); k.pixels > 1 && !fits(k);) k.pixels--;
    return made(std::move(base), k, d, {{"the tile has more products or results than are written out", fits}});
}

Space scalar_dense_space(Candidate base, const ConvLoops &loops) {
    using K = ScalarTileKnobs;
    const int64_t outputs = loops.output_channels, taps = loops.taps() * loops.input_channels;
    const int64_t pixels = loops.output[0] * loops.output[1] * loops.output[2] * loops.batch;
    ScalarTileDomains d;
    d.channels = up_to(std::clamp<int64_t>(outputs, 1, 5));
    d.pixels = up_to(std::clamp<int64_t>(pixels, 1, 8));
    d.paired = {0, 1};
    d.unroll = {1, 2, 4};
    d.flags = all_flags();
    d.tiles = {0};
    for (const int64_t tiles : {2, 3, 4}) {
        if (tiles <= pixels) d.tiles.push_back(tiles);
    }
    ScalarTileKnobs k;
    k.channels = largest_up_to(d.channels, 2), k.pixels = largest_up_to(d.pixels, 6), k.unroll = 1;
    k.flags = usual_flags;
    k.paired = k.pixels % 2 == 0 ? 1 : 0;
    if (pixels == 9) {
        // Of the last layers of small networks. Two tiles of 6 would compute a third of their results for nothing.
        k.channels = largest_up_to(d.channels, 4), k.pixels = 3, k.tiles = 3, k.paired = 0;
    }
    return made(
        std::move(base), k, d,
        {{"pairs need an even number of pixels", [](const K &x) { return !x.paired || x.pixels % 2 == 0; }},
         {"the tile has more sums than the core has registers", [](const K &x) { return x.channels * x.pixels <= 20; }},
         {"a block has more pixels than there are",
          [=](const K &x) { return !x.tiles || (x.tiles - 1) * x.pixels < pixels; }},
         {"more taps are written out than there are",
          [=](const K &x) { return x.unroll * (x.paired ? 2 : 1) <= std::max<int64_t>(taps, x.paired ? 2 : 1); }}});
}

}  // namespace kiln
