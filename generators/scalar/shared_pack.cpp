// What code that layers share reads beside the input: numbers of the call (shared_sizes.h), a record for each channel
// (scalar_requantize.h), and weights in the order in which sums read them.
#include <Halide.h>

#include "generators/scalar/pack_conv.h"
#include "generators/scalar/shared_sizes.h"

namespace kiln {
namespace {

using namespace Halide;

class SharedPack : public PackConv<SharedPack, SharedTileKnobs> {
public:
    Output<Buffer<int32_t, 1>> numbers_of_call{"numbers_of_call"};
    Output<Buffer<int32_t, 1>> records{"records"};
    Output<Buffer<int8_t, 3>> packed{"packed"};  // k, tap, panel

    void configure() { add_operands(); }

    void generate() {
        const ScalarRequantization requantization(terms(), requantization_of(workload)->kind, is_depthwise());
        define_sums(width(), requantization);
        const OfCall call = of_call();
        // One by one: a compiler makes a table of constants of a choice by index.
        std::vector<Expr> values = {call.all_fit, call.input_zero_point, call.least, call.span};
        for (const SharedSize &listed : sizes()) values.emplace_back(extent(listed.value));
        numbers_of_call(at) = undef<int32_t>();
        for (size_t i = 0; i < values.size(); i++) numbers_of_call(static_cast<int>(i)) = values[i];
        constexpr int words = ScalarRequantization::record_size;
        records(at) = requantization.record(at % words, channel(at / words), all_fit() == 1);
        // Taps of a row, filled up, are taps of a row.
        const int row_taps = taps_of_row(), known = extent(loops.kernel[0] * loops.input_channels);
        const Expr in_row = tap % row_taps;
        packed(k, tap, panel) =
            cast<int8_t>(select(in_row < known, weight(k, min(in_row, known - 1) + tap / row_taps * known, panel), 0));
    }

    void schedule() {
        fix_operands();
        fix(numbers_of_call, {numbers()});
        fix(records, {loops.output_channels * ScalarRequantization::record_size});
        fix(packed, {width(), taps_of_row() * loops.kernel[1], loops.output_channels / width()});
    }

private:
    bool is_depthwise() const { return knobs.rows > 0; }
    int width() const { return is_depthwise() ? 1 : extent(knobs.channels); }
    int taps_of_row() const { return extent(is_depthwise() ? loops.kernel[0] : shared_row_taps(loops)); }
    std::vector<SharedSize> sizes() const {
        return is_depthwise() ? shared_depthwise_sizes(loops, knobs) : shared_dense_sizes(loops, knobs);
    }
    int64_t numbers() const { return static_cast<int64_t>(std::size(shared_operand_numbers) + sizes().size()); }
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::SharedPack, shared_depthwise_pack)
HALIDE_REGISTER_GENERATOR(kiln::SharedPack, shared_dense_pack)
