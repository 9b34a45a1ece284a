// What the generators of code that layers share have in common: sizes that come with a call, and channels' records.
#pragma once

#include <Halide.h>

#include <map>
#include <string>

#include "generators/conv_generator.h"
#include "generators/scalar/scalar_requantize.h"
#include "generators/scalar/shared_sizes.h"
#include "schedules/apply/shared_tile.h"
#include "workload/quantization/quantization.h"

namespace kiln {

template<typename Derived>
class SharedConv : public ConvGenerator<Derived, SharedTileKnobs> {
protected:
    using Expr = Halide::Expr;
    template<typename T>
    using In = Halide::GeneratorInput<T>;

    // Behind the input: numbers, a record for each channel, weights; and the output (c, x, y).
    void add_operands(std::vector<SharedSize> sizes) {
        sizes_ = std::move(sizes);
        for (const std::string_view name : shared_operand_numbers) add_number(name);
        for (const SharedSize &listed : sizes_) add_number(listed.name);
        records = this->template add_input<Halide::Buffer<>>("records", Halide::Int(32), 1);
        weights = this->template add_input<Halide::Buffer<>>("weights", Halide::Int(8), 3);
        output = this->template add_output<Halide::Buffer<>>("output", halide_type(this->workload.output_dtype), 3);
    }

    Expr number(std::string_view name) const { return *numbers_.at(std::string(name)); }
    Expr record(int i, const Expr &c) const { return (*records)(ScalarRequantization::record_size * c + i); }
    // What is taken from inputs of u8, so that they are numbers of i8. Of the zero point, too.
    int centre() const { return this->workload.dtype == DType::u8 ? 128 : 0; }

    // `value` where `at` is from 0 to below `end`, else the zero point. The value is read where it exists alone, so its index is
    // not bounded; and one comparison of numbers without signs is enough. That is a third of the code of three loops, for the left,
    // the inside and the right, at few cycles more.
    Expr with_padding(const Expr &at, const Expr &end, const Expr &value) const {
        using Halide::Internal::Call;
        const Expr is_inside = Halide::cast<uint32_t>(at) < Halide::cast<uint32_t>(end);
        const Expr known =
            Call::make(Halide::Int(32), Call::if_then_else,
                       {is_inside, Halide::cast<int32_t>(value), number("input_zero_point")}, Call::PureIntrinsic);
        return Halide::cast<int8_t>(known - centre());
    }

    // From a tile's sums to what is stored of it. Sums of few terms that are compiled in are rounded as a tile, others pixel by
    // pixel, in a loop that finds them in memory.
    enum class Sums { of_known_terms, of_any_terms };
    Expr rounded(ScalarResultStages &s, const std::vector<Halide::Var> &at, const Expr &sum, Sums sums) const {
        using R = ScalarRequantization;
        const bool is_tile = sums == Sums::of_known_terms;
        const Expr own[] = {own_record(0), own_record(1), own_record(2), own_record(3)};
        const R requantization(this->loops.taps() * this->loops.input_channels, requantization_of(this->workload)->kind,
                               is_tile);
        s.all_fit = number("all_fit") != 0;
        s.copied(at) = sum;
        s.general(at) = requantization.general_form(s.copied(at), own);
        s.result(at) =
            Halide::select(s.all_fit, requantization.short_form(is_tile ? sum : s.copied(at), own), s.general(at));
        return Halide::cast(halide_type(this->workload.output_dtype),
                            R::bounded(s.result(at), number("span"), number("least")));
    }
    virtual Expr own_record(int i) const = 0;

    // A dimension of a buffer: its extent, and from one element to the next. Halide takes no step that it has to compute, so each
    // is a number of the call where it is not compiled in.
    struct Along {
        Expr extent, stride;
    };

    void fix_operands(const Expr &channels, const std::vector<Along> &of_weights) {
        for (const SharedSize &s : sizes_) numbers_.at(std::string(s.name))->set_estimate(extent(s.value));
        fix_along(*records, {{channels * ScalarRequantization::record_size, 1}});
        fix_along(*weights, of_weights);
        fix_along(
            *output,
            {{channels, 1}, {number("columns"), number("output_pixel")}, {number("lines"), number("output_line")}});
    }

    template<typename BufferParameter>
    static void fix_along(BufferParameter &buffer, const std::vector<Along> &dimensions) {
        for (size_t d = 0; d < dimensions.size(); d++) {
            buffer.dim(static_cast<int>(d)).set_bounds(0, dimensions[d].extent).set_stride(dimensions[d].stride);
        }
    }

    In<Halide::Buffer<>> *records = nullptr, *weights = nullptr;
    Halide::GeneratorOutput<Halide::Buffer<>> *output = nullptr;

private:
    void add_number(std::string_view name) {
        numbers_[std::string(name)] = this->template add_input<int32_t>(std::string(name));
    }

    std::vector<SharedSize> sizes_;
    std::map<std::string, In<int32_t> *> numbers_;
};

}  // namespace kiln
