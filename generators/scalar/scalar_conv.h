// What the generators for cores without vectors share: their operands, how they read the input, and the way from sums to
// results. A constant of a channel is computed once a call, and kept in a record of four numbers.
#pragma once

#include <Halide.h>

#include <map>
#include <string>

#include "generators/activation.h"
#include "generators/conv_generator.h"
#include "generators/scalar/scalar_requantize.h"
#include "schedules/apply/scalar_tile.h"
#include "schedules/spaces/scalar/scalar_tile_knobs.h"
#include "workload/quantization/quantization.h"
#include "workload/signature.h"

namespace kiln {

// Packed weights: k, tap, panel. Taps are those of channels, columns, rows and planes, with one of zeros where pairs need an
// even number. Depthwise ones have panels of one channel.
struct ScalarPanels {
    ScalarPanels(const ConvLoops &loops, const ScalarTileKnobs &knobs)
        : width(loops.input_channels == 1 && knobs.rows > 0 ? 1 : extent(knobs.channels)),
          taps(extent(loops.taps() * loops.input_channels +
                      (knobs.paired ? loops.taps() * loops.input_channels % 2 : 0))),
          panels(extent((loops.output_channels + width - 1) / width)) {}

    std::vector<int64_t> extents() const { return {width, taps, panels}; }

    int width, taps, panels;
};

// What every call needs of the operands beside the weights, as kiln_pack writes it: a record for each channel of the panels
// (scalar_requantize.h), and numbers of the call.
struct ScalarRecords {
    enum OfCall { all_fit, input_zero_point, least, span, numbers };  // span: of results, from the least to the largest
    static constexpr int size = ScalarRequantization::record_size;

    explicit ScalarRecords(const ScalarPanels &panels) : channels(panels.panels * panels.width) {}
    int of_call(OfCall which) const { return size * channels + which; }
    int words() const { return size * channels + numbers; }

    int channels;
};

template<typename Derived>
class ScalarConv : public ConvGenerator<Derived, ScalarTileKnobs> {
protected:
    using Expr = Halide::Expr;

    // Behind the input and the weights: what kiln_pack makes of all other operands (ScalarRecords).
    void add_records_and_output(int output_dimensions) {
        records = this->template add_input<Halide::Buffer<>>("records", Halide::Int(32), 1);
        output = this->template add_output<Halide::Buffer<>>("output", halide_type(this->workload.output_dtype),
                                                             output_dimensions);
    }

    Expr record(int i, const Expr &c) const { return (*records)(ScalarRecords::size * c + i); }
    Expr of_call(ScalarRecords::OfCall which) const {
        const ScalarPanels panels(this->loops, this->knobs);
        return (*records)(ScalarRecords(panels).of_call(which));
    }
    void fix_records() { fix(*records, {ScalarRecords(ScalarPanels(this->loops, this->knobs)).words()}); }

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
        return Halide::select(outside, of_call(ScalarRecords::input_zero_point), Halide::cast<int32_t>(stored)) -
               centre();
    }

    // The same, where only what is inside is read, after a test of each dimension by one comparison of numbers without signs.
    template<typename Input>
    Expr existing_value(const Input &input, const Exprs &at) const {
        using Halide::Internal::Call;
        Exprs index;
        Expr inside = Halide::Internal::const_true();
        for (size_t d = 0; d < this->loops.input_map.size(); d++) {
            const Place &place = this->loops.input_map[d];
            const Expr value = value_of(place.form, at);
            const int end = extent(place.extent);
            if (place.outside == Outside::zero)
                inside = inside && Halide::cast<uint32_t>(value) < Halide::cast<uint32_t>(end);
            index.push_back(place.outside == Outside::never  ? value
                            : place.outside == Outside::zero ? Halide::unsafe_promise_clamped(value, 0, end - 1)
                                                             : clamp(value, 0, end - 1));
        }
        const ChannelPlace channel = place_of_channel(this->loops.stored_input, index[0]);
        const Expr stored =
            Halide::cast<int32_t>(input(channel.in_block, index[1], index[2], index[3], channel.block, index[4]));
        if (Halide::Internal::is_const_one(inside)) return stored - centre();
        return Call::make(Halide::Int(32), Call::if_then_else,
                          {inside, stored, of_call(ScalarRecords::input_zero_point)}, Call::PureIntrinsic) -
               centre();
    }

    // From a tile's sums to what is stored of it. Which form all outputs have is asked once a tile.
    Expr rounded(ScalarResultStages &s, const std::vector<Halide::Var> &at, const Expr &sum,
                 const Expr (&own)[ScalarRequantization::record_size]) const {
        using R = ScalarRequantization;
        s.all_fit = of_call(ScalarRecords::all_fit) != 0;
        s.copied(at) = sum;
        const R requantization(terms(), requantization_of(this->workload)->kind);
        s.general(at) = requantization.general_form(s.copied(at), own);
        s.result(at) = Halide::select(s.all_fit, requantization.short_form(sum, own), s.general(at));
        const Expr bounded = R::bounded(s.result(at), of_call(ScalarRecords::span), of_call(ScalarRecords::least));
        return Halide::cast(halide_type(this->workload.output_dtype), bounded);
    }

    int64_t terms() const { return this->loops.taps() * this->loops.input_channels; }

    Halide::GeneratorInput<Halide::Buffer<>> *records = nullptr;
    Halide::GeneratorOutput<Halide::Buffer<>> *output = nullptr;
};

}  // namespace kiln
