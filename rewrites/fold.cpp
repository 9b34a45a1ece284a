#include "rewrites/fold.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "rewrites/input_phases.h"

namespace kiln {
namespace {

int64_t product(const Blocks &blocks) { return blocks[0] * blocks[1] * blocks[2]; }

// Zeros in front of the kernel.
int64_t front(int64_t pad_lo, int64_t block) { return ((-pad_lo) % block + block) % block; }

std::vector<int64_t> divisors_up_to(int64_t value, int64_t most) {
    std::vector<int64_t> divisors;
    for (int64_t d = 1; d <= std::min(value, most); d++) {
        if (value % d == 0) divisors.push_back(d);
    }
    return divisors;
}

std::vector<Form> indices(int count) {
    std::vector<Form> forms;
    for (int i = 0; i < count; i++) forms.push_back(index_form(i));
    return forms;
}

}  // namespace

ConvLoops folded(const ConvLoops &loops, const Blocks &blocks) {
    ConvLoops s = loops;
    std::vector<Form> input = indices(5), kernel = indices(6);
    input[input_index::c] = digit_of(index_form(input_index::c), 1, s.input_channels);
    kernel[kernel_index::ci] = digit_of(index_form(kernel_index::ci), 1, s.input_channels);
    int64_t pixels = 1;  // of a block, so far
    for (int d = 0; d < 3; d++) {
        const int64_t b = blocks[d], zeros = front(s.pad_lo[d], b);
        const int x = input_index::x + d, tap = kernel_index::s + d;
        input[x] = index_form(x) * b + digit_of(index_form(input_index::c), s.input_channels * pixels, b);
        kernel[tap] = index_form(tap) * b + digit_of(index_form(kernel_index::ci), s.input_channels * pixels, b) +
                      Form{{}, -zeros};
        s.gradient.front() = s.gradient.front() + digit_of(index_form(stored_kernel_index::s + d), 1, b, zeros) *
                                                      (s.input_channels * pixels);
        s.gradient[1 + d] = digit_of(index_form(stored_kernel_index::s + d), b, 0, zeros);
        s.input_map[x].outside = s.kernel_map[stored_kernel_index::s + d].outside = Outside::zero;
        pixels *= b;
        s.input[d] = (s.input[d] + b - 1) / b;
        s.kernel[d] = (s.kernel[d] + zeros + b - 1) / b;
        s.stride[d] /= b;
        s.pad_lo[d] = (s.pad_lo[d] + zeros) / b;
        s.pad_hi[d] = s.reach(s.output[d], d) - s.pad_lo[d] - s.input[d];
        s.outside[d] = s.leaves_input(d);
    }
    s.input_map = put_into(std::move(s.input_map), input);
    s.kernel_map = put_into(std::move(s.kernel_map), kernel);
    // Rows of NCHW are folded to rows, everything else to neighbouring channels.
    const bool in_rows = s.input_block == 1 && s.input_channels > 1;
    s.input_channels *= pixels, s.image_channels *= pixels;
    if (!in_rows) s.input_block = s.input_channels;
    return s;
}

ConvLoops prepared(const ConvLoops &loops, const Blocks &blocks) {
    ConvLoops s = folded(loops, blocks);
    s.input_block = s.input_channels;
    s.stored_input = {s.input_channels, s.input_channels, {}, s.batch};
    s.input_map = {{index_form(input_index::c), s.input_channels}};
    for (int d = 0; d < 3; d++) {
        s.input[d] = s.stored_input.space[d] = s.reach(s.output[d], d);
        s.pad_lo[d] = s.pad_hi[d] = 0;
        s.outside[d] = false;
        s.input_map.push_back({index_form(input_index::x + d), s.input[d]});
    }
    s.input_map.push_back({index_form(input_index::n), s.batch});
    return s;
}

ElementMap preparation(const ConvLoops &loops, const Blocks &blocks) {
    const ConvLoops s = folded(loops, blocks);
    std::vector<Form> from_first = indices(5);  // positions count from the first that an output reads
    for (int d = 0; d < 3; d++) from_first[input_index::x + d].constant = -s.pad_lo[d];
    return put_into(s.input_map, from_first);
}

ConvLoops unit_strides(const ConvLoops &loops) {
    using namespace input_index;
    ConvLoops s = input_phases(loops);
    Blocks blocks{1, 1, 1};
    std::vector<Form> inner;  // the positions of the input in terms of those that count from the first one read
    for (int i = c; i <= n; i++) inner.push_back(index_form(i));
    for (int d = 0; d < 3; d++) {
        if (s.stride[d] == 1) continue;
        const int64_t step = s.kernel[d] == 1 ? s.stride[d] : 1;
        inner[x + d] = index_form(x + d) * step + Form{{}, -s.pad_lo[d]};
        s.stride[d] /= step;
        s.input_step[d] *= step;
        blocks[d] = s.stride[d];
        s.pad_lo[d] = s.pad_hi[d] = 0;
        s.input[d] = s.reach(s.output[d], d);
        s.input_map[x + d].outside = Outside::zero;
        s.outside[d] = true;
    }
    s.input_map = put_into(std::move(s.input_map), inner);
    return blocks == Blocks{1, 1, 1} ? s : folded(s, blocks);
}

FoldedPixels folded_pixels(const ConvLoops &s, int d) {
    const Place &tap = s.kernel_map[stored_kernel_index::s + d];
    for (const Digit &digit : tap.form.digits) {
        if (digit.index != kernel_index::s + d) continue;
        const int64_t pixels = std::abs(digit.factor);
        return {pixels, tap.extent - (s.kernel[d] - 1) * pixels};
    }
    return {};
}

std::vector<Blocks> possible_blocks(const ConvShape &shape) {
    std::vector<Blocks> all;
    for (int64_t z : divisors_up_to(shape.stride[2], shape.input[2])) {
        for (int64_t y : divisors_up_to(shape.stride[1], shape.input[1])) {
            for (int64_t x : divisors_up_to(shape.stride[0], shape.input[0])) {
                if (x * y * z > 1) all.push_back({x, y, z});
            }
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const Blocks &a, const Blocks &b) { return product(a) > product(b); });
    return all;
}

Status folds(const Workload &w, const ConvShape &shape) {
    if (shape.groups > 1) return unsupported("groups: blocks of pixels would mix the channels of several");
    if (shape.has_holes()) return unsupported("lhs_dilation: blocks of pixels would have holes");
    if (std::any_of(w.rhs_dilation.begin(), w.rhs_dilation.end(), [](int64_t d) { return d > 1; })) {
        return unsupported("rhs_dilation: the taps of a kernel with holes fill no blocks");
    }
    if (w.special_values == SpecialValues::exact) {
        return unsupported("special_values exact: kernels filled up with zeros multiply inputs by them");
    }
    if (std::all_of(w.strides.begin(), w.strides.end(), [](int64_t s) { return s == 1; })) {
        return unsupported("stride 1: a block has to divide the stride, and only blocks of one pixel do");
    }
    if (possible_blocks(shape).empty()) {
        return unsupported("every block of pixels that divides the strides is larger than the input");
    }
    return {};
}

}  // namespace kiln
