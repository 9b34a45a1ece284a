// Winograd convolution F(m x m, r x r) in integers, exact (catalog/winograd/quantized_winograd.h), fused as conv.cpp is:
//
//   transformed(ci; tile; fy, fx) = bt_y D bt_x^T in i16, D the tile's inputs less their zero point, 0 in the padding
//   sum(co; tile; fy, fx)         = sum over ci of weights(co; ci; fy, fx) * transformed(ci; tile; fy, fx) in i32
//   output(co; tile)              = requantized(bias + at_y sum at_x^T / scale), the product modulo 2^32
//   weights(co; ci; fy, fx)       = g_y K g_x^T in i16, by the pack generator
#include <Halide.h>

#include <bit>

#include "generators/conv_result.h"
#include "generators/winograd/quantized_winograd.h"
#include "generators/winograd/winograd_sums.h"
#include "schedules/apply/winograd.h"

namespace kiln {
namespace {

using namespace Halide;

// The number whose product with an odd one is 1 modulo 2^32: each step of Newton's doubles how many bits are right.
uint32_t inverse(uint32_t odd) {
    uint32_t inverse = odd;  // right to three bits
    for (int i = 0; i < 4; i++) inverse *= 2 - odd * inverse;
    return inverse;
}

class QuantizedWinogradConv : public WinogradSums<WithResult<QuantizedWinogradGenerator<QuantizedWinogradConv>>> {
public:
    Input<Buffer<void, 6>> input{"input"};         // c in block, x, y, z, block, n
    Input<Buffer<int16_t, 7>> weights{"weights"};  // part, lane, vector, pair, panel of a block, frequency, block

    void configure() {
        read_quantized_winograd();
        input.set_type(halide_type(workload.dtype));
        add_result_operands();
    }

    void generate() {
        define_transformed();
        define_sum();
        define_output();
    }

    void schedule() {
        fix_activation(input, loops.stored_input);
        fix(weights, packed_pairs());
        give_result_to(&s);
        apply_winograd(s, this->knobs, facts);
    }

private:
    // The input less its zero point, and 0 around it.
    Expr centered(const Expr &ci, const Expr &x, const Expr &y) const {
        const int channels = extent(loops.input_channels);
        const bool filled = facts.summed_channels() != channels;
        ElementMap map = loops.input_map;
        map[input_index::x].outside = map[input_index::y].outside = Outside::zero;  // of the last tiles, too
        const Exprs at{filled ? min(ci, channels - 1) : ci, x, y, s.z, s.n};
        const Expr zero_point = cast<int16_t>((*quantization.at(Role::input_zero_point))(0));
        const Expr value = cast<int16_t>(stored_element(input, loops.stored_input, map, at)) - zero_point;
        const Expr known = zero_outside(map, at, value, tests_of(this->knobs.partition));
        return filled ? select(likely(ci < channels), known, cast<int16_t>(0)) : known;
    }

    void define_transformed() {
        s.transformed(s.lane, s.tile_x, s.tile_y, s.channels, s.frequency, s.z, s.n) =
            transformed_tile([this](const auto &...at) { return centered(at...); });
    }

    void define_sum() {
        const int pairs_a_step = extent(facts.channel_step()) / parts;
        s.taps = summed_loops();
        const RVar pair(s.taps[0]), part(s.taps[s.taps.dimensions() - 1]);
        const Expr channels = summed_vector();
        const Expr weight = weights(part, s.lane, s.vector, channels * pairs_a_step + pair, s.panel % panels,
                                    s.frequency, s.panel / panels);
        const Expr value = s.transformed(pair * parts + part, s.tile_x, s.tile_y, channels, s.frequency, s.z, s.n);
        s.sum(s.lane, s.vector, s.panel, s.tile_x, s.tile_y, s.frequency, s.z, s.n) +=
            cast<int32_t>(weight) * cast<int32_t>(value);
        define_products();
    }

    void define_output() {
        Expr total = without_scale(transformed_back([](const Expr &product) { return cast<uint32_t>(product); }));
        const auto bias = step_inputs.find(EpilogueStep::Kind::bias);
        if (bias != step_inputs.end())
            total += (*bias->second)(min(output_channel(), extent(loops.output_channels - 1)));
        define_result(s, total);
    }

    // `scaled` holds a number times the scale, modulo 2^32.
    Expr without_scale(const Expr &scaled) const {
        const int twos = std::countr_zero(uint64_t(scale));
        const auto odd = uint32_t(scale >> twos);
        const Expr whole = odd == 1 ? scaled : scaled * Expr(inverse(odd));
        return reinterpret<int32_t>(whole) >> twos;
    }
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::QuantizedWinogradConv, quantized_winograd_2)
HALIDE_REGISTER_GENERATOR(kiln::QuantizedWinogradConv, quantized_winograd_3)
