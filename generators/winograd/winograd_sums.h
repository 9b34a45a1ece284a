// What Winograd convolutions in f32 and in integers have in common, and Strassen's in part: their stages, tiles of the input transformed, the loops of the
// sum, and its transform back.
#pragma once

#include <Halide.h>

#include <vector>

#include "generators/activation.h"
#include "generators/winograd/transform.h"
#include "rewrites/fold.h"
#include "schedules/apply/extent.h"
#include "schedules/apply/winograd.h"

namespace kiln {

// Adds them to a generator of winograd_generator.h.
template<typename Generator>
class WinogradSums : public Generator {
protected:
    using Expr = Halide::Expr;

    // bt_y D bt_x^T at the stages' variables, D what `element` answers for a channel, a column and a row of the input.
    template<typename Element>
    Expr transformed_tile(const Element &element) {
        std::vector<Expr> column, row;
        const Expr ci = s.channels * extent(this->facts.channel_step()) + s.lane;
        const Expr ix = s.tile_x * this->along_x.m + s.in_tile - extent(this->loops.pad_lo[0]);
        const Expr iy = s.tile_y * this->along_y.m + s.in_tile_y - extent(this->loops.pad_lo[1]);
        s.input_tile(s.lane, s.in_tile, s.in_tile_y, s.tile_x, s.tile_y, s.channels, s.z, s.n) = element(ci, ix, iy);
        for (int j = 0; j < this->ay; j++) {
            column.push_back(s.input_tile(s.lane, s.in_tile, j, s.tile_x, s.tile_y, s.channels, s.z, s.n));
        }
        s.input_columns(s.lane, s.in_tile, s.row_frequency, s.tile_x, s.tile_y, s.channels, s.z, s.n) =
            entry_at(s.row_frequency, winograd_transform(this->along_y.bt, column));
        for (int i = 0; i < this->ax; i++) {
            row.push_back(s.input_columns(s.lane, i, s.frequency / this->ax, s.tile_x, s.tile_y, s.channels, s.z, s.n));
        }
        return entry_at(s.frequency % this->ax, winograd_transform(this->along_x.bt, row));
    }

    // The loops of the sum at a frequency: steps of a vector of channels, vectors; of blocks of pixels also columns and rows of a
    // block; and the parts of a step, where it has several. At the last frequency, the one at infinity, a transformed kernel is its
    // last tap, so pixels without that tap have no products there.
    Halide::RDom summed_loops() const {
        const int step = extent(this->facts.channel_step()),
                  vectors_of_taps = extent(this->facts.summed_channels()) / step;
        const auto [x, y] = this->facts.pixels;
        std::vector<Halide::Range> ranges{{0, step / this->facts.parts}, {0, vectors_of_taps}};
        if (this->facts.skips_pixels()) {
            ranges[1] = {0, vectors_of_taps / extent(x.all * y.all)};
            ranges.insert(ranges.end(), {{0, extent(x.all)}, {0, extent(y.all)}});
        }
        if (this->facts.parts > 1) ranges.emplace_back(0, this->facts.parts);
        Halide::RDom taps(ranges, "taps");
        if (this->facts.skips_pixels()) {
            const auto reaches = [](const FoldedPixels &pixels, const Halide::Expr &at_infinity) {
                return select(at_infinity, extent(pixels.to_last_tap), extent(pixels.all));
            };
            const int ax = extent(this->facts.a(0)), ay = extent(this->facts.a(1));
            taps.where(taps[2] < reaches(x, s.frequency % ax == ax - 1));
            taps.where(taps[3] < reaches(y, s.frequency / ax == ay - 1));
        }
        return taps;
    }

    // The vector of channels that a step of the sum reads.
    Halide::Expr summed_vector() const {
        if (!this->facts.skips_pixels()) return s.taps[1];
        const auto [x, y] = this->facts.pixels;
        const int of_pixel = extent(this->facts.summed_channels() / (this->facts.channel_step() * x.all * y.all));
        return (s.taps[3] * extent(x.all) + s.taps[2]) * of_pixel + s.taps[1];
    }

    // The first vector of channels of the panel's group. Panels that fill up the last block of the output are of no group.
    Expr channels_of_group() const {
        if (this->loops.groups == 1) return 0;
        const int64_t panels_of_group = this->facts.group_vectors() / this->vectors;
        const Expr group = min(s.panel / extent(panels_of_group), extent(this->loops.groups - 1));
        return group * extent(this->facts.summed_channels() / this->facts.channel_step());
    }

    // The sum of floats, and its products in memory.
    template<typename Weights>
    void define_float_sum(const Weights &weights) {
        s.taps = summed_loops();
        const Halide::RVar lane(s.taps[0]);
        const Expr channels = summed_vector(), ci = channels * extent(this->facts.channel_step()) + lane;
        const Expr weight = weights(s.lane, s.vector, ci, s.panel % this->panels, s.frequency, s.panel / this->panels);
        const Expr value =
            s.transformed(lane, s.tile_x, s.tile_y, channels_of_group() + channels, s.frequency, s.z, s.n);
        s.sum(s.lane, s.vector, s.panel, s.tile_x, s.tile_y, s.frequency, s.z, s.n) +=
            Halide::cast<float>(weight) * Halide::cast<float>(value);
        define_products();
    }

    // The sum in memory.
    void define_products() {
        s.products(s.lane, s.vector, s.panel, s.tile_x, s.tile_y, s.frequency, s.z, s.n) =
            s.sum(s.lane, s.vector, s.panel, s.tile_x, s.tile_y, s.frequency, s.z, s.n);
    }

    Expr output_channel() const {
        return channel_of({this->loops.output_channels, this->loops.output_block}, s.c, s.b);
    }

    // at_y P at_x^T at the output's variables, P the products as `element` converts them.
    template<typename Element>
    Expr transformed_back(const Element &element) {
        const int lanes = this->facts.lanes;
        std::vector<Expr> column, row;
        for (int j = 0; j < this->ay; j++) {
            column.push_back(
                element(s.products(s.c % lanes, (s.c / lanes) % this->vectors, s.c / (lanes * this->vectors), s.tile_x,
                                   s.tile_y, j * this->ax + s.in_tile, s.z, s.n)));
        }
        s.output_columns(s.c, s.in_tile, s.out_row, s.tile_x, s.tile_y, s.z, s.n) =
            entry_at(s.out_row, winograd_transform(this->along_y.at, column));
        const int mx = this->along_x.m, my = this->along_y.m;
        for (int i = 0; i < this->ax; i++) {
            row.push_back(s.output_columns(output_channel(), i, s.y % my, s.x / mx, s.y / my, s.z, s.n));
        }
        return entry_at(s.x % mx, winograd_transform(this->along_x.at, row));
    }

    WinogradStages s;
};

}  // namespace kiln
