// Convolutions of one tap by Strassen's algorithm in Winograd's form: A B = C, in quarters. A row of A and C is a pixel, a tile has one
// pixel of the upper and one of the lower half; columns are channels, in halves.
//
//   S1 = A21 + A22   S2 = S1 - A11   S3 = A11 - A21   S4 = A12 - S2
//   T1 = B12 - B11   T2 = B22 - T1   T3 = B22 - B12   T4 = T2 - B21        (packed: strassen_pack.cpp)
//   P1 = A11 B11   P2 = A12 B21   P3 = S4 B22   P4 = A22 T4   P5 = S1 T1   P6 = S2 T2   P7 = S3 T3
//   C11 = P1 + P2   C12 = P1 + P6 + P5 + P3   C21 = P1 + P6 + P7 - P4   C22 = P1 + P6 + P7 + P5
//
//   transformed(ci; tile; product) = the left operand, ci of a half
//   sum(co; tile; product)         = sum over ci of weights(co; ci; product) * transformed(ci; tile; product)
//   output(co; pixel)              = epilogue(C)
#include <Halide.h>

#include <vector>

#include "generators/winograd/float_products.h"
#include "generators/winograd/strassen_generator.h"
#include "generators/winograd/transform.h"

namespace kiln {
namespace {

using namespace Halide;

class StrassenConv : public FloatProducts<StrassenGenerator, StrassenConv> {
public:
    void define_transformed() {
        const Expr ci = s.channels * extent(facts.channel_step()) + s.lane;
        s.input_tile(s.lane, s.in_tile, s.in_tile_y, s.tile_x, s.tile_y, s.channels, s.z, s.n) =
            element(ci, s.in_tile_y, s.tile_x * 2 + s.in_tile, s.tile_y);
        s.input_columns(s.lane, s.in_tile, s.row_frequency, s.tile_x, s.tile_y, s.channels, s.z, s.n) =
            s.input_tile(s.lane, s.in_tile, s.row_frequency, s.tile_x, s.tile_y, s.channels, s.z, s.n);
        const auto quarter = [&](int pixel, int half) {
            return Expr(s.input_columns(s.lane, pixel, half, s.tile_x, s.tile_y, s.channels, s.z, s.n));
        };
        const Expr a11 = quarter(0, 0), a12 = quarter(0, 1), a21 = quarter(1, 0), a22 = quarter(1, 1);
        const Expr s1 = a21 + a22, s2 = s1 - a11, s3 = a11 - a21, s4 = a12 - s2;
        s.transformed(s.lane, s.tile_x, s.tile_y, s.channels, s.frequency, s.z, s.n) =
            entry_at(s.frequency, {a11, a12, s4, a22, s1, s2, s3});
    }

    void define_output() {
        const int lanes = facts.lanes, half = extent(facts.shape.output_channels);
        // Loops over the channels of a half say which products a block needs; those over all channels would hide it.
        s.halves_and_channels = RDom(0, 2, 0, half, "halves");
        const RVar of_half(s.halves_and_channels[0]), in_half(s.halves_and_channels[1]);
        const Expr channel = of_half * half + in_half;
        if (2 * half != loops.output_channels) s.halves_and_channels.where(channel < extent(loops.output_channels));
        std::vector<Expr> p;
        for (int i = 0; i < int{strassen_products}; i++)
            p.emplace_back(s.products(in_half % lanes, (in_half / lanes) % vectors, in_half / (lanes * vectors),
                                      s.x / 2, s.y, i, s.z, s.n));
        const Expr u2 = p[0] + p[5], u3 = u2 + p[6];
        const Expr c11 = p[0] + p[1], c12 = u2 + p[4] + p[2], c21 = u3 - p[3], c22 = u3 + p[4];
        update_result(s, channel, entry_at(s.x % 2 + 2 * of_half, {c11, c21, c12, c22}));
    }

private:
    // Of a half of the channels; the last pixel of a row may have no neighbour, and the second half one channel less.
    Expr element(const Expr &ci, const Expr &half, const Expr &x, const Expr &y) const {
        const int channels = extent(loops.input_channels);
        const bool ends_early = 2 * facts.summed_channels() > loops.input_channels;
        const Expr channel = ci + half * extent(facts.shape.input_channels);
        const Expr exists = ci < extent(facts.shape.input_channels) && channel < channels;
        ElementMap map = loops.input_map;
        map[input_index::x].outside = Outside::zero;
        const Expr value = loaded(input, map, {ends_early ? min(channel, channels - 1) : channel, x, y, s.z, s.n},
                                  tests_of(this->knobs.partition));
        return ends_early ? select(likely(exists), value, 0.0f) : value;
    }
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::StrassenConv, strassen)
