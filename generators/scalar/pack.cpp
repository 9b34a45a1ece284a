// What the algorithms for cores without vectors read beside the input: weights in the order in which their sums read them
// (ScalarPanels), and records of their channels (ScalarRecords).
//
//   sum(k, panel)   the sum of a channel's weights
//   all_fit()       whether every channel has the short form of requantization
#include <Halide.h>

#include <map>

#include "generators/activation.h"
#include "generators/scalar/scalar_conv.h"

namespace kiln {
namespace {

using namespace Halide;

class ScalarPack : public ConvGenerator<ScalarPack, ScalarTileKnobs> {
public:
    Input<Buffer<int8_t, 5>> kernel{"kernel"};      // as stored, innermost first: (co, ci) or (ci, co), s, r, t
    Output<Buffer<int8_t, 3>> packed{"packed"};     // k, tap, panel
    Output<Buffer<int32_t, 1>> records{"records"};  // of channels, then numbers of the call

    void configure() {
        read_convolution();
        if (has_epilogue(workload, EpilogueStep::Kind::bias)) bias = add_input<Buffer<>>("bias", Int(32), 1);
        for (const QuantizationOperand &operand : quantization_operands(workload)) {
            numbers[operand.role] = add_input<Buffer<>>(std::string(operand.name), halide_type(operand.dtype), 1);
        }
    }

    void generate() {
        const ScalarPanels panels(loops, knobs);
        const RDom taps(0, terms());
        sums(k, panel) = 0;
        sums(k, panel) += weight(k, taps, panel);
        packed(k, tap, panel) = cast<int8_t>(select(tap < terms(), weight(k, min(tap, terms() - 1), panel), 0));

        const ScalarRequantization requantization(terms(), workload.epilogue.back().kind);
        const RDom all(0, extent(loops.output_channels));
        all_fit() = 1;
        all_fit() = all_fit() & cast<int32_t>(requantization.fits(channel(all)));
        const ScalarRecords form(panels);
        const Expr c = min(at / ScalarRecords::size, form.channels - 1);
        const Expr of_channel = requantization.record(at % ScalarRecords::size, channel(c), all_fit() == 1);
        const auto is = [&](ScalarRecords::OfCall which) { return at == form.of_call(which); };
        const Expr of_call = select(is(ScalarRecords::all_fit), all_fit(),                                   //
                                    is(ScalarRecords::input_zero_point), number(Role::input_zero_point, 0),  //
                                    is(ScalarRecords::least), number(Role::result_bounds, 0),                //
                                    number(Role::result_bounds, 1) - number(Role::result_bounds, 0));
        records(at) = select(at < ScalarRecords::size * form.channels, of_channel, of_call);
    }

    void schedule() {
        const ScalarPanels panels(loops, knobs);
        fix_kernel(kernel, hwio(), loops.kernel_map);
        if (bias) fix(*bias, {loops.output_channels});
        for (const QuantizationOperand &operand : quantization_operands(workload))
            fix(*numbers[operand.role], {operand.count});
        fix(packed, panels.extents());
        fix(records, {ScalarRecords(panels).words()});
        sums.compute_root();
        all_fit.compute_root();
    }

private:
    bool hwio() const { return workload.kernel_layout == KernelLayout::hwio; }
    int terms() const { return extent(loops.taps() * loops.input_channels); }
    Expr number(Role role, const Expr &index) const { return (*numbers.at(role))(index); }

    // A channel of the panels; those behind the last one are like the last one.
    ChannelNumbers channel(const Expr &c) const {
        const int width = ScalarPanels(loops, knobs).width, centre = workload.dtype == DType::u8 ? 128 : 0;
        const Expr known = min(c, extent(loops.output_channels) - 1);
        const Expr start = bias ? (*bias)(known) : Expr(0);
        const bool has_scales = numbers.contains(Role::scale);
        return {start, start - (number(Role::input_zero_point, 0) - centre) * sums(known % width, known / width),
                has_scales ? reinterpret<int32_t>(number(Role::scale, known)) : number(Role::multiplier, known),
                has_scales ? Expr(0) : number(Role::shift, known),
                number(Role::output_zero_point, 0) - number(Role::result_bounds, 1)};
    }

    // Zero behind the last channel.
    Expr weight(const Expr &in_panel, const Expr &of_tap, const Expr &of_panel) const {
        const int channels = extent(loops.input_channels), outputs = extent(loops.group_outputs());
        const Expr co = of_panel * ScalarPanels(loops, knobs).width + in_panel;
        const Expr known = min(co, extent(loops.output_channels) - 1);
        Expr rest = of_tap / channels;
        Exprs place{known / outputs, known % outputs, of_tap % channels};
        for (int d = 0; d < 3; d++) {
            place.push_back(rest % extent(loops.kernel[d]));
            rest = rest / extent(loops.kernel[d]);
        }
        const Expr value = cast<int32_t>(kernel_element(kernel, hwio(), loops.kernel_map, place));
        return select(co < extent(loops.output_channels), value, 0);
    }

    Var k{"k"}, tap{"tap"}, panel{"panel"}, at{"at"};
    Func sums{"sums"}, all_fit{"all_fit"};
    GeneratorInput<Buffer<>> *bias = nullptr;
    std::map<Role, GeneratorInput<Buffer<>> *> numbers;
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::ScalarPack, scalar_depthwise_pack)
HALIDE_REGISTER_GENERATOR(kiln::ScalarPack, scalar_dense_pack)
