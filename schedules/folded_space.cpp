#include "schedules/folded_space.h"

#include <algorithm>
#include <string>
#include <utility>

namespace kiln {
namespace {

int64_t product(const Blocks &blocks) { return blocks[0] * blocks[1] * blocks[2]; }

FoldKnobs fold_knobs(const Blocks &b) { return {b[0], b[1], b[2]}; }

}  // namespace

Space folded_space(const Candidate &base, const ConvShape &whole,
                   const std::function<Space(const Blocks &)> &space_of) {
    const std::vector<Blocks> choices = possible_blocks(whole);
    std::vector<Alternative> alternatives;
    Candidate standard = base;
    for (const Blocks &blocks : choices) {
        const Space space = space_of(blocks);
        if (alternatives.empty()) standard = space.default_candidate();
        alternatives.push_back({encode_knobs(fold_knobs(blocks)), space.knobs(), space.constraints()});
    }
    standard.knobs.merge(encode_knobs(fold_knobs(choices.front())));
    auto [knobs, constraints] = join_alternatives(std::move(alternatives));
    const std::string names[] = {knob_name(&FoldKnobs::block_w), knob_name(&FoldKnobs::block_h),
                                 knob_name(&FoldKnobs::block_d)};
    for (Knob &knob : knobs) {
        if (!knob.zero_left_out) standard.knobs.try_emplace(knob.name, 0);
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
