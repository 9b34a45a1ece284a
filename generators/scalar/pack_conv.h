// What the functions that pack weights for cores without vectors share: weights in panels of output channels, the operands that
// say how results are rounded, and what follows from them for a channel.
//
//   sums(k, panel)   the sum of a channel's weights
//   sizes(k, panel)  the sum of their sizes
//   all_fit()        whether every channel has the short form of requantization
#pragma once

#include <Halide.h>

#include <map>
#include <string>

#include "generators/activation.h"
#include "generators/conv_generator.h"
#include "generators/scalar/scalar_requantize.h"
#include "workload/quantization/quantization.h"
#include "workload/signature.h"

namespace kiln {

template<typename Derived, typename Knobs>
class PackConv : public ConvGenerator<Derived, Knobs> {
public:
    Halide::GeneratorInput<Halide::Buffer<int8_t, 5>> kernel{
        "kernel"};  // as stored, innermost first: (co, ci) or (ci, co), s, r, t

protected:
    using Expr = Halide::Expr;

    void add_operands() {
        this->read_convolution();
        if (has_step(this->workload.epilogue, EpilogueStep::Kind::bias)) bias = add_i32("bias");
        for (const QuantizationOperand &operand : quantization_operands(this->workload)) {
            numbers[operand.role] =
                this->template add_input<Halide::Buffer<>>(std::string(operand.name), halide_type(operand.dtype), 1);
        }
    }

    // `width`: channels of a panel.
    void define_sums(int width, const ScalarRequantization &requantization) {
        width_ = width;
        const Halide::RDom taps(0, terms());
        sums(k, panel) = 0;
        sums(k, panel) += weight(k, taps, panel);
        sizes(k, panel) = 0;
        sizes(k, panel) += abs(weight(k, taps, panel));
        const Halide::RDom all(0, extent(this->loops.output_channels));
        all_fit() = 1;
        all_fit() = all_fit() & Halide::cast<int32_t>(requantization.fits(channel(all)));
    }

    void fix_operands() {
        fix_kernel(kernel, hwio(), this->loops.kernel_map);
        if (bias) fix(*bias, {this->loops.output_channels});
        for (const QuantizationOperand &operand : quantization_operands(this->workload))
            fix(*numbers[operand.role], {operand.count});
        sums.compute_root();
        sizes.compute_root();
        all_fit.compute_root();
    }

    int terms() const { return extent(this->loops.taps() * this->loops.input_channels); }
    Expr number(Role role, const Expr &index) const { return (*numbers.at(role))(index); }

    // A channel of the panels; those behind the last one are like the last one.
    ChannelNumbers channel(const Expr &c) const {
        const int centre = this->workload.dtype == DType::u8 ? 128 : 0;
        const Expr known = min(c, extent(this->loops.output_channels) - 1);
        const Expr start = bias ? (*bias)(known) : Expr(0);
        const bool has_scales = numbers.contains(Role::scale);
        return {start,
                sizes(known % width_, known / width_),
                start - (number(Role::input_zero_point, 0) - centre) * sums(known % width_, known / width_),
                has_scales ? Halide::reinterpret<int32_t>(number(Role::scale, known)) : number(Role::multiplier, known),
                has_scales ? Expr(0) : number(Role::shift, known),
                number(Role::output_zero_point, 0) - number(Role::result_bounds, 1)};
    }

    // Zero behind the last channel. Taps are those of channels, columns, rows and planes.
    Expr weight(const Expr &in_panel, const Expr &of_tap, const Expr &of_panel) const {
        const int channels = extent(this->loops.input_channels), outputs = extent(this->loops.group_outputs());
        const Expr co = of_panel * width_ + in_panel;
        const Expr known = min(co, extent(this->loops.output_channels) - 1);
        Expr rest = of_tap / channels;
        Exprs place{known / outputs, known % outputs, of_tap % channels};
        for (int d = 0; d < 3; d++) {
            place.push_back(rest % extent(this->loops.kernel[d]));
            rest = rest / extent(this->loops.kernel[d]);
        }
        const Expr value = Halide::cast<int32_t>(kernel_element(kernel, hwio(), this->loops.kernel_map, place));
        return select(co < extent(this->loops.output_channels), value, 0);
    }

    // A number of the call that follows from operands.
    struct OfCall {
        Expr all_fit, input_zero_point, least, span;
    };
    OfCall of_call() const {
        return {all_fit(), number(Role::input_zero_point, 0), number(Role::result_bounds, 0),
                number(Role::result_bounds, 1) - number(Role::result_bounds, 0)};
    }

    Halide::Var k{"k"}, tap{"tap"}, panel{"panel"}, at{"at"};
    Halide::Func sums{"sums"}, sizes{"sizes"}, all_fit{"all_fit"};

private:
    bool hwio() const { return this->workload.kernel_layout == KernelLayout::hwio; }
    Halide::GeneratorInput<Halide::Buffer<>> *add_i32(const char *name) {
        return this->template add_input<Halide::Buffer<>>(name, Halide::Int(32), 1);
    }

    int width_ = 1;
    Halide::GeneratorInput<Halide::Buffer<>> *bias = nullptr;
    std::map<Role, Halide::GeneratorInput<Halide::Buffer<>> *> numbers;
};

}  // namespace kiln
