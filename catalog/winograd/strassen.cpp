#include "catalog/winograd/strassen.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "catalog/conv_checks.h"
#include "catalog/conv_rewrites.h"
#include "schedules/spaces/winograd/winograd_rules.h"
#include "schedules/spaces/winograd/winograd_space.h"
#include "workload/division.h"

namespace kiln {
namespace {

ConvLoops strassen_loops(const Workload &w, const Target &target) { return loops_of("strassen", w, target); }

bool has_one_tap(const ConvLoops &s) { return s.taps() == 1 && s.groups == 1 && !s.has_holes(); }

bool is_nhwc(const StoredActivation &of) { return of.block == of.channels; }

// With a tenth of what memory and multipliers have to do at once.
double with_weights(double products, double weight_bytes, const Core &core) {
    const double fetch = weight_bytes > double(core.l2_bytes) ? weight_bytes / core.memory_bytes_a_cycle : 0;
    return std::max(products, fetch) + std::min(products, fetch) / 10;
}

double direct_sum_cycles(const ConvLoops &s, const Target &target, const Core &core) {
    const double pixels = double(s.batch * s.output[0]) * double(s.output[1] * s.output[2]);
    const auto vectors = double(ceil_div(s.output_channels, vector_lanes(target)));
    const auto inputs = double(s.input_channels);
    // Functions of several instructions take turns with the products of a tile.
    const double slowness = s.computes_results ? 1.03 : 1;
    return slowness * with_weights(pixels * inputs * vectors / core.vectors_a_cycle(),
                                   4 * inputs * double(s.output_channels), core);
}

// What a tile adds for each vector of operands and of results fits 37 layers on a Zen 5.
double strassen_cycles(const WinogradFacts &f) {
    constexpr double of_operands = 20, of_results = 28;
    const double tiles = double(f.images() * f.tiles[0] * f.tiles[1]);
    const auto inputs = double(f.summed_channels()), outputs = double(f.output_vectors());
    const double products = double(f.frequencies()) * inputs * outputs / f.core.vectors_a_cycle();
    const double added = of_operands * inputs / double(f.channel_step()) + of_results * outputs;
    return with_weights(tiles * (products + added), f.weight_bytes(), f.core);
}

}  // namespace

Status strassen_applies(std::string_view, const Workload &w, const Target &target) {
    if (Status s = convolution_applies(w, {Operation::conv}); !s) return s;
    const ConvLoops stated = conv_loops(w);
    if (!w.depthwise.empty() || w.batch_group_count != 1 || !has_one_tap(stated))
        return unsupported("Strassen's products need a kernel of one tap, one group and no lhs_dilation");
    for (int d = 0; d < 3; d++) {
        if (!every_window_meets_input(stated, d) || stated.pad_lo[d] > 0 || stated.pad_hi[d] > 0)
            return unsupported("Strassen's products have no place for padding");
    }
    if (w.special_values == SpecialValues::exact)
        return unsupported(
            "special_values exact: Strassen's sums spread a NaN or Inf over pairs of pixels and channels");
    if (!is_nhwc(stated.stored_input) || !is_nhwc(stated.stored_result))
        return unsupported("Strassen's products need channels side by side (NHWC) in input and output");
    const int64_t lanes = vector_lanes(target);
    if (lanes == 1 || stated.input_channels < 2 * lanes || stated.output_channels < 2 * lanes)
        return unsupported("Strassen's products need channels of two vectors at least on both sides");
    const ConvLoops loops = strassen_loops(w, target);
    if (Status s = copies_fit(loops); !s) return s;
    const WinogradFacts facts = strassen_facts(loops, target, Core{});
    if (facts.weight_bytes() > double(facts.operand_bytes()) * double(std::numeric_limits<int32_t>::max()))
        return unsupported("packed weights have more than 2^31 elements, which 32-bit indices cannot reach");
    return {};
}

Space strassen_space(const Candidate &base, const Workload &w, const Target &target, const Core &core) {
    const WinogradTransform transform{.m = 1, .halves_channels = true};
    return winograd_space(base, transform, strassen_loops(w, target), target, core);
}

bool strassen_pays(const Workload &w, const Target &target, const Core &core) {
    const ConvLoops loops = strassen_loops(w, target);
    if (!core.gains_by_strassen || vector_lanes(target) == 1) return false;
    const WinogradFacts facts = strassen_facts(loops, target, core);
    constexpr int64_t least_tiles = 20;  // fewer share too few loads of the weights, which are more; 25 gained
    if (facts.images() * facts.tiles[0] * facts.tiles[1] < least_tiles) return false;
    // Of 59 layers raced on a Zen 2 with AVX2, those of 768 and more inputs for 160 and 192 outputs take 0.98 to 1.04 of the time.
    constexpr int64_t few_outputs = 256;
    const bool is_narrow = loops.input_channels >= 4 * loops.output_channels && loops.output_channels < few_outputs;
    if (vector_lanes(target) == 8 && is_narrow) return false;
    return strassen_cycles(facts) < 0.97 * direct_sum_cycles(loops, target, core);
}

}  // namespace kiln
