#include "catalog/winograd/quantized_winograd.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "catalog/conv_checks.h"
#include "catalog/conv_rewrites.h"
#include "catalog/winograd/winograd_algorithm.h"
#include "rewrites/panels.h"
#include "schedules/spaces/winograd/winograd_rules.h"
#include "schedules/spaces/winograd/winograd_space.h"
#include "workload/division.h"
#include "workload/quantization/quantization.h"

namespace kiln {
namespace {

constexpr int most_points = 5;  // 0, 1, -1, 2, -2; the next one is no integer
constexpr double largest_i16 = std::numeric_limits<int16_t>::max(), largest_i32 = std::numeric_limits<int32_t>::max();

// How many times as large as a number a sum of such numbers with the factors of a row can be.
double growth(const std::vector<double> &row) {
    return std::accumulate(row.begin(), row.end(), 0.0, [](double sum, double v) { return sum + std::fabs(v); });
}

// The largest of these along one axis.
struct Growth {
    double input = 1, weight = 1, product = 1;
    int64_t power_of_two = 1;  // of the scale
};

Growth growth_along(const IntegerWinograd &w) {
    Growth most;
    for (size_t i = 0; i < w.matrices.bt.size(); i++) {
        const double input = growth(w.matrices.bt[i]), weight = growth(w.matrices.g[i]);
        most.input = std::max(most.input, input), most.weight = std::max(most.weight, weight);
        most.product = std::max(most.product, input * weight);
    }
    most.power_of_two = w.scale & -w.scale;
    return most;
}

// Dilations become phases of the input, strides blocks of pixels.
ConvLoops unit_loops(const Workload &w, const Target &target) { return loops_of("quantized_winograd_2", w, target); }

double largest_size(const ValueRange &range) { return double(std::max(-range.lo, range.hi)); }

Status numbers_fit(int m, const Workload &w, const ConvLoops &loops) {
    const ConvLoops stated = conv_loops(w);
    const Growth x = growth_along(quantized_winograd_matrices(m, loops, 0)),
                 y = growth_along(quantized_winograd_matrices(m, loops, 1));
    const double input = 255, weight = largest_size(range_of(w.kernel_dtype));  // less its zero point; as stored
    if (input * x.input * y.input > largest_i16 || weight * x.weight * y.weight > largest_i16)
        return unsupported("numbers that Winograd transforms would leave 16 bits");
    const double product = input * weight, products = product * double(loops.input_channels);
    const double sum = product * double(stated.taps() * stated.input_channels);
    const double scaled = sum * double(x.power_of_two * y.power_of_two);
    if (products * x.product * y.product > largest_i32 || scaled > largest_i32)
        return unsupported("sums of so many channels of what Winograd transforms could leave 32 bits");
    return {};
}

// Cycles of direct sums, in pairs or in steps of four, and of those of F(m, r), in pairs, with their transforms. What is added for each
// vector of operands and results fits 36 layers on a Zen 3, with 8 to 512 channels, and 20 on a Zen 4 with VNNI, with 16 to 256.
double cycles_of_sums(const ConvLoops &s, const Target &target, const Core &core) {
    const bool has_fours = has_dot_products(target);
    const auto outputs = double(s.batch * s.output[0] * s.output[1] * s.output[2]);
    const auto steps = double(s.taps() * ceil_div(s.input_channels, has_fours ? 4 : quantized_winograd_parts));
    const double added = has_fours ? 4 : 10;
    return outputs * double(ceil_div(s.output_channels, vector_lanes(target))) * (steps + added) /
           core.vectors_a_cycle();
}

double integer_cycles(int m, const Workload &w, const Target &target, const Core &core) {
    const WinogradFacts f = winograd_facts(gathered(unit_loops(w, target)), m, target, core, quantized_winograd_parts);
    const auto places = double(f.frequencies()), tiles = double(f.images() * f.tiles[0] * f.tiles[1]);
    const auto in = double(f.summed_channels() / f.channel_step()), out = double(f.output_vectors());
    const double products = in * f.lanes * out * f.products_left();
    const double added = has_dot_products(target) ? (m == 2 ? 5 : 8) : (m == 2 ? 6 : 11);
    const double cycles = tiles * places * (products + added * (in + out)) / core.vectors_a_cycle();
    return beside_weights(cycles, f.weight_bytes(), core);
}

}  // namespace

IntegerWinograd quantized_winograd_matrices(int m, const ConvLoops &loops, int d) {
    const int r = static_cast<int>(loops.kernel[d]), outputs = r == 1 ? 1 : m, count = outputs + r - 2;
    return integer_winograd(winograd_matrices(outputs, r, winograd_points(count, winograd_point_choices(count) - 1)));
}

Status quantized_winograd_applies(std::string_view name, const Workload &w, const Target &target) {
    if (!is_quantized(w))
        return unsupported("dtype " + std::string(kiln::name(w.dtype)) + " is not quantized; needs i8 or u8");
    if (Status s = result_can_be_computed(w); !s) return s;
    if (vector_lanes(target) == 1) return unsupported("a core without vectors: transforms cost more than they save");
    if (w.kernel_zero_point) return unsupported("kernel_zero_point is not supported by Winograd in integers");
    if (w.feature_group_count != 1)
        return unsupported("feature_group_count above 1 is not supported by Winograd in integers");
    const int m = winograd_m(name);
    if (Status s = winograd_form_applies(m, w, target); !s) return s;
    const ConvLoops loops = unit_loops(w, target);
    for (int d = 0; d < 2; d++) {
        if (loops.kernel[d] > 1 && m + loops.kernel[d] - 2 > most_points)
            return unsupported("tiles with m + taps - 1 above 6 need points that are fractions");
    }
    return numbers_fit(m, w, loops);
}

Space quantized_winograd_space(const Candidate &base, const Workload &w, const Target &target, const Core &core) {
    const WinogradTransform transform{.m = winograd_m(base.algorithm), .parts = quantized_winograd_parts};
    return winograd_space(base, transform, gathered(unit_loops(w, target)), target, core);
}

bool quantized_winograd_pays(int m, const Workload &w, const Target &target, const Core &core) {
    // A direct sum has four products a lane there. Winograd's pairs gain on a Zen 4 and a Zen 5 all the same; other CPUs are not measured.
    if (has_dot_products(target) && !core.gains_by_pairs) return false;
    const ConvLoops stated = conv_loops(w);
    // Direct sums of few channels have several columns in a step.
    if (unit_loops(w, target).folds() && stated.input_channels < 16) return false;
    const double cycles = integer_cycles(m, w, target, core);
    const auto applies = [&](int other) {
        return quantized_winograd_applies("quantized_winograd_" + std::to_string(other), w, target).ok();
    };
    return cycles < 0.95 * cycles_of_sums(stated, target, core) &&
           std::ranges::none_of(std::array{2, 3}, [&](int other) {
               return other != m && applies(other) && integer_cycles(other, w, target, core) < cycles;
           });
}

}  // namespace kiln
