// What the generators for cores without vectors share: their operands, how they read the input, and the way from sums to
// results. A constant of a channel is computed once a call, and kept in a record of four numbers.
#pragma once

#include <Halide.h>

#include <map>
#include <string>

#include "generators/activation.h"
#include "generators/conv_generator.h"
#include "generators/scalar/scalar_requantize.h"
#include "schedules/spaces/scalar/scalar_tile_knobs.h"
#include "workload/quantization/quantization.h"
#include "workload/signature.h"

namespace kiln {

template<typename Derived>
class ScalarConv : public ConvGenerator<Derived, ScalarTileKnobs> {
protected:
    using Expr = Halide::Expr;

    // Behind the input and the weights, in the order of runtime/kernel_abi.h.
    void add_operands(int output_dimensions) {
        if (has_epilogue(this->workload, EpilogueStep::Kind::bias))
            bias = this->template add_input<Halide::Buffer<>>("bias", Halide::Int(32), 1);
        for (const QuantizationOperand &operand : quantization_operands(this->workload)) {
            numbers[operand.role] =
                this->template add_input<Halide::Buffer<>>(std::string(operand.name), halide_type(operand.dtype), 1);
        }
        output = this->template add_output<Halide::Buffer<>>("output", halide_type(this->workload.output_dtype),
                                                             output_dimensions);
    }

    void fix_operands() {
        if (bias) fix(*bias, {this->loops.output_channels});
        for (const QuantizationOperand &operand : quantization_operands(this->workload))
            fix(*numbers[operand.role], {operand.count});
    }

    Expr number(Role role, const Expr &at) const { return (*numbers.at(role))(at); }

    // What is taken from inputs of u8, so that they are numbers of i8. Of the zero point, too.
    int centre() const { return this->workload.dtype == DType::u8 ? 128 : 0; }

    // At channel, x, y, z and image of the input's map: as i32, and the zero point outside. In the first `partitioned`
    // dimensions Halide makes code of its own for the inside, where nothing is tested.
    template<typename Input>
    Expr input_value(const Input &input, const Exprs &at, int64_t partitioned) const {
        Exprs index;
        Expr outside = Halide::Internal::const_false();
        for (size_t d = 0; d < this->loops.input_map.size(); d++) {
            const Place &place = this->loops.input_map[d];
            const Expr value = value_of(place.form, at);
            const int last = extent(place.extent) - 1;
            if (place.outside == Outside::never) {
                index.push_back(value);
                continue;
            }
            const bool is_partitioned = d >= input_index::x && static_cast<int64_t>(d) < input_index::x + partitioned;
            index.push_back(clamp(is_partitioned ? Halide::likely(value) : value, 0, last));
            if (place.outside == Outside::zero) outside = outside || value < 0 || value > last;
        }
        const ChannelPlace channel = place_of_channel(this->loops.stored_input, index[0]);
        const Expr stored = input(channel.in_block, index[1], index[2], index[3], channel.block, index[4]);
        const Expr zero_point = number(Role::input_zero_point, 0);
        return Halide::select(outside, zero_point, Halide::cast<int32_t>(stored)) - centre();
    }

    // Of a channel whose weights add up to `sum_of_weights`; `known` is one that exists.
    ChannelNumbers numbers_of(const Expr &known, const Expr &sum_of_weights) const {
        const Expr start = bias ? (*bias)(known) : Expr(0);
        return {start, start - (number(Role::input_zero_point, 0) - centre()) * sum_of_weights,
                number(Role::multiplier, known), number(Role::shift, known), number(Role::output_zero_point, 0)};
    }

    // The sum of a channel's weights, which lies behind them in four bytes.
    template<typename Weights>
    static Expr sum_of_weights(const Weights &weights, const Expr &k, int taps, const Expr &panel) {
        Expr sum = Halide::cast<uint32_t>(0);
        for (int byte = 0; byte < 4; byte++) {
            const Expr stored = Halide::reinterpret<uint8_t>(weights(k, taps + byte, panel));
            sum = sum | (Halide::cast<uint32_t>(stored) << Halide::cast<uint32_t>(8 * byte));
        }
        return Halide::reinterpret<int32_t>(sum);
    }

    Expr bounded(const Expr &value) const {
        const Expr lo = number(Role::result_bounds, 0), hi = number(Role::result_bounds, 1);
        return Halide::cast(halide_type(this->workload.output_dtype), clamp(value, lo, hi));
    }

    int64_t terms() const { return this->loops.taps() * this->loops.input_channels; }

    Halide::GeneratorInput<Halide::Buffer<>> *bias = nullptr;
    std::map<Role, Halide::GeneratorInput<Halide::Buffer<>> *> numbers;
    Halide::GeneratorOutput<Halide::Buffer<>> *output = nullptr;
};

// Packed weights: k, tap, panel. Taps are those of channels, columns, rows and planes, with one of zeros where pairs need an
// even number, and four bytes with the sum of a channel's weights behind them. Depthwise ones have panels of one channel.
struct ScalarPanels {
    ScalarPanels(const ConvLoops &loops, const ScalarTileKnobs &knobs)
        : width(loops.input_channels == 1 && knobs.rows > 0 ? 1 : extent(knobs.channels)),
          taps(extent(loops.taps() * loops.input_channels +
                      (knobs.paired ? loops.taps() * loops.input_channels % 2 : 0))),
          panels(extent((loops.output_channels + width - 1) / width)) {}

    std::vector<int64_t> extents() const { return {width, taps + 4, panels}; }

    int width, taps, panels;
};

}  // namespace kiln
