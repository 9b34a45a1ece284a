// What the algorithms for cores without vectors read beside the input: weights in the order in which their sums read them
// (ScalarPanels), and records of their channels (ScalarRecords).
#include <Halide.h>

#include "generators/scalar/pack_conv.h"
#include "generators/scalar/scalar_conv.h"

namespace kiln {
namespace {

using namespace Halide;

class ScalarPack : public PackConv<ScalarPack, ScalarTileKnobs> {
public:
    Output<Buffer<int8_t, 3>> packed{"packed"};     // k, tap, panel
    Output<Buffer<int32_t, 1>> records{"records"};  // of channels, then numbers of the call

    void configure() { add_operands(); }

    void generate() {
        const ScalarPanels panels(loops, knobs);
        const ScalarRequantization requantization(terms(), requantization_of(workload)->kind);
        define_sums(panels.width, requantization);
        packed(k, tap, panel) = cast<int8_t>(select(tap < terms(), weight(k, min(tap, terms() - 1), panel), 0));

        const ScalarRecords form(panels);
        const Expr c = min(at / ScalarRecords::size, form.channels - 1);
        const Expr of_channel = requantization.record(at % ScalarRecords::size, channel(c), all_fit() == 1);
        const auto is = [&](ScalarRecords::OfCall which) { return at == form.of_call(which); };
        const OfCall call = of_call();
        const Expr of_call = select(is(ScalarRecords::all_fit), call.all_fit,                    //
                                    is(ScalarRecords::input_zero_point), call.input_zero_point,  //
                                    is(ScalarRecords::least), call.least,                        //
                                    call.span);
        records(at) = select(at < ScalarRecords::size * form.channels, of_channel, of_call);
    }

    void schedule() {
        const ScalarPanels panels(loops, knobs);
        fix_operands();
        fix(packed, panels.extents());
        fix(records, {ScalarRecords(panels).words()});
    }
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::ScalarPack, scalar_depthwise_pack)
HALIDE_REGISTER_GENERATOR(kiln::ScalarPack, scalar_dense_pack)
