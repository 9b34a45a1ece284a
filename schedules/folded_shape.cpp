#include "schedules/folded_shape.h"

#include <algorithm>
#include <string>
#include <utility>

namespace kiln {
namespace {

int64_t product(const Blocks &blocks) { return blocks[0] * blocks[1] * blocks[2]; }

std::vector<int64_t> divisors_up_to(int64_t value, int64_t most) {
    std::vector<int64_t> divisors;
    for (int64_t d = 1; d <= std::min(value, most); d++) {
        if (value % d == 0) divisors.push_back(d);
    }
    return divisors;
}

FoldKnobs fold_knobs(const Blocks &b) { return {b[0], b[1], b[2]}; }

}  // namespace

int64_t folded_front(const ConvShape &whole, const Blocks &blocks, int d) {
    const int64_t b = blocks[d];
    return ((-whole.pad_lo[d]) % b + b) % b;
}

ConvShape folded_shape(const ConvShape &whole, const Blocks &blocks) {
    ConvShape s = whole;
    for (int d = 0; d < 3; d++) {
        const int64_t b = blocks[d], front = folded_front(whole, blocks, d);
        s.input[d] = (whole.input[d] + b - 1) / b;
        s.kernel[d] = (whole.kernel[d] + front + b - 1) / b;
        s.stride[d] = whole.stride[d] / b;
        s.pad_lo[d] = (whole.pad_lo[d] + front) / b;
        s.pad_hi[d] = s.reach(s.output[d], d) - s.pad_lo[d] - s.input[d];
    }
    s.stored_input = s.input;
    s.input_channels *= product(blocks);
    s.folded = true;
    // Rows of NCHW are folded to rows, everything else to neighbouring channels.
    if (whole.input_block > 1 || whole.input_channels == 1) s.input_block = s.input_channels;
    return s;
}

ConvShape prepared_shape(const ConvShape &whole, const Blocks &blocks) {
    ConvShape s = folded_shape(whole, blocks);
    s.folded = false;
    s.input_block = s.input_channels;
    for (int d = 0; d < 3; d++) {
        s.input[d] = s.reach(s.output[d], d);
        s.pad_lo[d] = s.pad_hi[d] = 0;
    }
    s.stored_input = s.input;
    return s;
}

std::vector<Blocks> possible_blocks(const ConvShape &whole) {
    std::vector<Blocks> all;
    for (int64_t z : divisors_up_to(whole.stride[2], whole.input[2])) {
        for (int64_t y : divisors_up_to(whole.stride[1], whole.input[1])) {
            for (int64_t x : divisors_up_to(whole.stride[0], whole.input[0])) {
                if (x * y * z > 1) all.push_back({x, y, z});
            }
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const Blocks &a, const Blocks &b) { return product(a) > product(b); });
    return all;
}

Status folds(const Workload &w, const ConvShape &whole) {
    if (whole.groups > 1) return unsupported("groups: blocks of pixels would mix the channels of several");
    if (whole.has_holes()) return unsupported("lhs_dilation: blocks of pixels would have holes");
    if (std::any_of(w.rhs_dilation.begin(), w.rhs_dilation.end(), [](int64_t d) { return d > 1; })) {
        return unsupported("rhs_dilation: the taps of a kernel with holes fill no blocks");
    }
    if (w.special_values == SpecialValues::exact) {
        return unsupported("special_values exact: kernels filled up with zeros multiply inputs by them");
    }
    if (std::all_of(w.strides.begin(), w.strides.end(), [](int64_t s) { return s == 1; })) {
        return unsupported("stride 1: a block has to divide the stride, and only blocks of one pixel do");
    }
    if (possible_blocks(whole).empty()) {
        return unsupported("every block of pixels that divides the strides is larger than the input");
    }
    return {};
}

Space folded_space(const Candidate &base, const ConvShape &whole, bool prepared,
                   const std::function<Space(const ConvShape &)> &space_of) {
    const std::vector<Blocks> choices = possible_blocks(whole);
    std::vector<Alternative> alternatives;
    Candidate standard = base;
    for (const Blocks &blocks : choices) {
        const Space space = space_of(prepared ? prepared_shape(whole, blocks) : folded_shape(whole, blocks));
        if (alternatives.empty()) standard = space.default_candidate();
        alternatives.push_back({encode_knobs(fold_knobs(blocks)), space.knobs(), space.constraints()});
    }
    standard.knobs.merge(encode_knobs(fold_knobs(choices.front())));
    auto [knobs, constraints] = join_alternatives(std::move(alternatives));
    const std::string names[] = {knob_name(&FoldKnobs::block_w), knob_name(&FoldKnobs::block_h),
                                 knob_name(&FoldKnobs::block_d)};
    for (Knob &knob : knobs) {
        standard.knobs.try_emplace(knob.name, 0);
        const auto d = std::find(std::begin(names), std::end(names), knob.name) - std::begin(names);
        if (d == 3) continue;
        knob.why = "a block has to divide the stride, " + std::to_string(whole.stride[d]) +
                   ", and be no larger than the input, " + std::to_string(whole.input[d]);
    }
    constraints.push_back(
        constraint(std::vector<Limit<FoldKnobs>>{{"blocks of one pixel leave the convolution as it is",
                                                  [](const FoldKnobs &k) { return product(k.blocks()) > 1; }}}));
    return Space(std::move(standard), std::move(knobs), std::move(constraints));
}

}  // namespace kiln
