#include "rewrites/output_phases.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>
#include <vector>

namespace kiln {
namespace {

// What the taps of some phases of one dimension reach, in inputs from that of output 0. Taps of one phase lie evenly apart; the step
// divides that distance and those from phase to phase.
struct Window {
    int64_t first = 0, last = 0, step = 1;
    int64_t taps() const { return (last - first) / step + 1; }
};

Window joined(const Window &a, const Window &b) {
    return {std::min(a.first, b.first), std::max(a.last, b.last),
            std::gcd(std::gcd(a.step, b.step), a.first - b.first)};
}

// A phase that has taps.
struct Phase {
    int64_t phase = 0, taps = 0;
    Window window;
};

// The number below `modulus` whose product with `value` is 1 modulo `modulus`. Precondition: they have no common divisor.
int64_t inverse(int64_t value, int64_t modulus) {
    int64_t a = value % modulus, b = modulus, of_a = 1,
            of_b = 0;  // a = of_a * value, b = of_b * value, modulo `modulus`
    while (a > 1) {
        of_b -= b / a * of_a, b %= a;
        std::swap(a, b), std::swap(of_a, of_b);
    }
    return modulus == 1 ? 0 : (of_a % modulus + modulus) % modulus;
}

// Inputs from one tap of a phase to the next.
int64_t apart_in_input(const ConvShape &s, int d) { return s.dilation[d] / std::gcd(s.dilation[d], s.hole[d]); }

// Phases that have taps, in their order. Of the many phases of a large hole few have one, so taps are asked for their phase: tap k is
// of the phase f with f * stride + k * dilation = pad (mod hole), and taps `apart` from each other are of the same.
std::vector<Phase> phases_with_taps(const ConvShape &s, int d, int64_t phases) {
    const int64_t hole = s.hole[d], common = std::gcd(s.stride[d], hole), apart = hole / std::gcd(s.dilation[d], hole);
    const int64_t of_one = inverse(s.stride[d] / common, phases), step = apart_in_input(s, d);
    std::vector<Phase> found;
    for (int64_t k = 0; k < std::min(s.kernel[d], apart); k++) {
        const int64_t needed = s.pad_lo[d] - k * s.dilation[d];
        if (needed % common != 0) continue;
        const int64_t f = (needed / common % phases + phases) % phases * of_one % phases;
        const int64_t first = (f * s.stride[d] - needed) / hole, more = (s.kernel[d] - 1 - k) / apart;
        found.push_back({f, more + 1, {first, first + more * step, step}});
    }
    std::ranges::sort(found, {}, &Phase::phase);
    return found;
}

// All phases of one dimension: f runs from -origin to phases - 1 - origin, with the origin for which the window is smallest.
struct Phases {
    int64_t count = 1, origin = 0;
    Window window;
    int64_t first = 0, summed = 1;  // which of them have sums, counted from -origin; the others have no taps
    bool misses_taps = false;       // some phase that has sums has fewer taps than the window
};

// A window changes only where the origin passes a phase with taps, which then is one of the outputs before: its inputs are those of
// the last ones, `turn` before.
Phases best_phases(const ConvShape &s, int d) {
    Phases best{.count = s.hole[d] / std::gcd(s.stride[d], s.hole[d])};
    const std::vector<Phase> some = phases_with_taps(s, d, best.count);
    if (some.empty()) return {best.count, 0, {.step = apart_in_input(s, d)}, 0, best.count, true};
    const int64_t turn = best.count * s.stride[d] / s.hole[d];
    std::vector<Window> before;  // before[i]: of the phases 0 to i
    for (const Phase &p : some) before.push_back(before.empty() ? p.window : joined(before.back(), p.window));
    best.window = before.back();
    Window behind;  // of those that are passed
    for (size_t i = some.size(); i-- > 1;) {
        const Window moved{some[i].window.first - turn, some[i].window.last - turn, some[i].window.step};
        behind = i + 1 == some.size() ? moved : joined(behind, moved);
        const Window all = joined(before[i - 1], behind);
        if (all.taps() < best.window.taps()) best.window = all, best.origin = best.count - some[i].phase;
    }
    std::vector<int64_t> places;
    for (const Phase &p : some) places.push_back((p.phase + best.origin) % best.count);
    const auto [first, last] = std::ranges::minmax(places);
    best.first = first, best.summed = last - first + 1;
    const int64_t fewest = std::ranges::min_element(some, {}, &Phase::taps)->taps;
    best.misses_taps = std::ssize(some) < best.summed || fewest < best.window.taps();
    return best;
}

// Puts the taps of the window in place of the kernel's along dimension d. Tap m of phase f is the kernel's tap
//   (m * step * hole + first * hole - f * stride + pad) / dilation
// where that is a whole number of the kernel. `phase` counts f from the origin.
void map_taps(const ConvShape &whole, int d, const Window &window, const Form &phase, int64_t origin, Place *tap) {
    const int64_t hole = whole.hole[d], dilation = whole.dilation[d];
    const int64_t shift = whole.pad_lo[d] + window.first * hole + origin * whole.stride[d];
    const Form reach =
        index_form(kernel_index::s + d) * (window.step * hole) + Form{{}, shift} + phase * -whole.stride[d];
    assert(tap->form.digits.size() == 1 && tap->hole == 1);
    tap->form = reach * tap->form.digits.front().factor + Form{{}, tap->form.constant * dilation};
    tap->hole = dilation;
    tap->outside = Outside::zero;
}

}  // namespace

ConvLoops output_phases(ConvLoops s) {
    const int64_t outputs = s.group_outputs();
    if (!s.has_holes()) return s;
    for (int d = 0; d < 3; d++) {
        if (s.hole[d] == 1) continue;
        const ConvShape whole = s;
        const auto [phases, origin, window, first, summed, misses_taps] = best_phases(whole, d);
        s.output[d] = (s.output[d] + origin + phases - 1) / phases;
        s.stride[d] = phases * s.stride[d] / s.hole[d];
        s.hole[d] = 1;
        s.dilation[d] = window.step;
        s.kernel[d] = window.taps();
        s.taps_missing |= misses_taps;
        s.pad_lo[d] = -window.first;
        s.pad_hi[d] = (s.output[d] - 1) * s.stride[d] + window.last + 1 - s.input[d];

        const int64_t channels = outputs * s.phases;  // from one phase to the next
        const Form phase = summed == 1 ? Form{} : digit_of(index_form(kernel_index::co), channels, summed);
        map_taps(whole, d, window, phase, origin - first, &s.kernel_map[stored_kernel_index::s + d]);
        Form &at = s.result[result_index::x + d];
        const Form phase_of_result = digit_of(at, 1, phases, origin);
        if (summed == phases) {
            s.result[result_index::co] = s.result[result_index::co] + phase_of_result * channels;
        } else {
            const Place place{.form = phase_of_result + Form{{}, -first}, .extent = summed, .outside = Outside::zero};
            s.phases_with_taps.push_back({place, channels});
        }
        at = digit_of(at, phases, 0, origin);
        s.outside[d] = s.leaves_input(d);
        Place &input = s.input_map[input_index::x + d];
        input.hole = 1, input.outside = s.outside[d] ? Outside::zero : Outside::never;
        s.phases *= summed;
    }
    s.output_channels *= s.phases;
    for (int i : {stored_kernel_index::co, stored_kernel_index::ci}) {
        if (s.phases == 1) break;
        std::vector<Form> inner;
        for (int j = 0; j <= kernel_index::t; j++) inner.push_back(index_form(j));
        inner[kernel_index::co] = digit_of(index_form(kernel_index::co), 1, outputs);
        s.kernel_map[i].form = put_into(s.kernel_map[i].form, inner);
    }
    return s;
}

}  // namespace kiln
