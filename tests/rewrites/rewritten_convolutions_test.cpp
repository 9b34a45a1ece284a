// Every rewrite, followed with plain loops through its maps, gives what the definition gives: in memory, for every
// layout, over drawn convolutions and gradients of the input.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "rewrites/fold.h"
#include "rewrites/input_phases.h"
#include "rewrites/output_phases.h"
#include "rewrites/panels.h"
#include "tests/drawn_workloads.h"
#include "tests/test_seed.h"

namespace kiln {
namespace {

using Memory = std::vector<int64_t>;  // integers: sums are exact
using Index = std::vector<int64_t>;

int64_t block_in(const ActivationLayout &layout, int64_t channels) {
    if (layout.kind == ActivationLayout::Kind::nhwc) return channels;
    return layout.kind == ActivationLayout::Kind::nchw ? 1 : layout.block;
}

// An activation's place in memory by its logical index N, spatial..., C.
int64_t place(const Index &shape, const ActivationLayout &layout, const Index &at) {
    const int64_t block = block_in(layout, shape.back()), blocks = (shape.back() + block - 1) / block;
    int64_t offset = at.front() * blocks + at.back() / block;
    for (size_t d = 1; d + 1 < shape.size(); d++) offset = offset * shape[d] + at[d];
    return offset * block + at.back() % block;
}

int64_t memory_size(const Index &shape, const ActivationLayout &layout) {
    Index last = shape;
    for (int64_t &i : last) i--;
    const int64_t block = block_in(layout, shape.back());
    return place(shape, layout, last) / block * block + block;
}

void for_each(const Index &extents, const std::function<void(const Index &)> &visit) {
    for (int64_t e : extents) {
        if (e == 0) return;
    }
    Index at(extents.size(), 0);
    for (;;) {
        visit(at);
        size_t d = extents.size();
        while (d > 0 && ++at[d - 1] == extents[d - 1]) at[--d] = 0;
        if (d == 0) return;
    }
}

// Calls visit(input, output, kernel) for every product of the definition, with logical indices.
void for_each_product(const Workload &w,
                      const std::function<void(const Index &, const Index &, const Index &)> &visit) {
    const Index output = output_shape(w);
    const int64_t groups = w.feature_group_count * w.batch_group_count, inputs = w.kernel[w.spatial_rank];
    for_each(output, [&](const Index &out) {
        for_each({w.kernel.begin(), w.kernel.end() - 1}, [&](const Index &tap) {
            const int64_t group = out.back() / (w.kernel.back() / groups);
            Index in{out.front() + (w.batch_group_count > 1 ? group * output.front() : 0)};
            for (int d = 0; d < w.spatial_rank; d++) {
                const int64_t u = out[d + 1] * w.strides[d] + tap[d] * w.rhs_dilation[d] - w.padding[d].lo;
                if (u < 0 || u % w.lhs_dilation[d] || u / w.lhs_dilation[d] >= w.input[d + 1]) return;
                in.push_back(u / w.lhs_dilation[d]);
            }
            in.push_back((w.feature_group_count > 1 ? group * inputs : 0) + tap.back());
            Index kernel = tap;
            kernel.push_back(out.back());
            visit(in, out, kernel);
        });
    });
}

int64_t place_in_kernel(const Workload &w, const Index &at) {
    int64_t offset = 0;
    for (size_t d = 0; d < at.size(); d++) offset = offset * w.kernel[d] + at[d];
    return offset;
}

struct Operands {
    Memory input, kernel;
};

Operands random_operands(const Workload &w, Rng &rng) {
    const bool backwards = w.op == Operation::conv_backprop_input;
    const Index shape = backwards ? output_shape(w) : w.input;
    Operands o{Memory(memory_size(shape, backwards ? w.output_layout : w.input_layout)), Memory(elements(w.kernel))};
    for (Memory *memory : {&o.input, &o.kernel}) {
        for (int64_t &value : *memory) value = int64_t(rng() % 19) - 9;
    }
    return o;
}

Memory defined_result(const Workload &w, const Operands &o) {
    const bool backwards = w.op == Operation::conv_backprop_input;
    const Index output = output_shape(w);
    Memory result(backwards ? memory_size(w.input, w.input_layout) : memory_size(output, w.output_layout));
    for_each_product(w, [&](const Index &in, const Index &out, const Index &kernel) {
        const int64_t weight = o.kernel[place_in_kernel(w, kernel)];
        const int64_t x = place(w.input, w.input_layout, in), y = place(output, w.output_layout, out);
        backwards ? result[x] += o.input[y] * weight : result[y] += o.input[x] * weight;
    });
    return result;
}

int64_t place(const StoredActivation &stored, const Index &at) {  // channel, x, y, z, image
    const int64_t blocks = (stored.channels + stored.block - 1) / stored.block;
    int64_t offset = at[4] * blocks + at[0] / stored.block;
    for (int d : {2, 1, 0}) offset = offset * stored.space[d] + at[d + 1];
    return offset * stored.block + at[0] % stored.block;
}

// What a kernel does that knows nothing but loops and maps.
class Followed {
public:
    explicit Followed(const ConvLoops &loops) : s_(loops) {}

    int64_t input(const Memory &memory, const Index &at) const {
        const auto stored = locate(s_.input_map, at);
        if (stored) return memory.at(place(s_.stored_input, *stored));
        for (int d = 0; d < 3; d++) outside_[d] |= !lies_inside(d, at);
        return 0;
    }

    Memory result(const Operands &o) const {
        const StoredActivation &to = s_.stored_result;
        Memory memory(place(to, {to.channels - 1, to.space[0] - 1, to.space[1] - 1, to.space[2] - 1, to.images - 1}) /
                          to.block * to.block +
                      to.block);
        for_each({to.channels, to.space[0], to.space[1], to.space[2], to.images}, [&](const Index &at) {
            Index of;
            for (const Form &form : s_.result) of.push_back(value_of(form, at));
            for (const PhasesWithTaps &phases : s_.phases_with_taps) {
                const int64_t phase = value_of(phases.place.form, at);
                if (phase < 0 || phase >= phases.place.extent) return;  // a sum of nothing
                of[result_index::co] += phase * phases.channels;
            }
            memory.at(place(to, at)) = sum(o, of);
        });
        return memory;
    }

    void expect_reads_outside_only_where_said() const {
        for (int d = 0; d < 3; d++) EXPECT_TRUE(!outside_[d] || s_.input_map[1 + d].outside == Outside::zero) << d;
    }

private:
    bool lies_inside(int d, const Index &at) const {
        const Place &p = s_.input_map[1 + d];
        const int64_t form = value_of(p.form, at);
        return form >= 0 && form < p.dilated() && form % p.hole == 0;
    }

    int64_t sum(const Operands &o, const Index &of) const {
        const int64_t group = of[result_index::group], co = of[result_index::co];
        EXPECT_TRUE(group >= 0 && group < s_.groups && co >= 0 && co < s_.group_outputs());
        int64_t total = 0;
        for_each({s_.input_channels, s_.kernel[0], s_.kernel[1], s_.kernel[2]}, [&](const Index &tap) {
            Index at{group * s_.input_channels + tap[0]};
            for (int d = 0; d < 3; d++) {
                EXPECT_TRUE(of[result_index::x + d] >= 0 && of[result_index::x + d] < s_.output[d]);
                at.push_back(of[result_index::x + d] * s_.stride[d] + tap[1 + d] * s_.dilation[d] - s_.pad_lo[d]);
            }
            at.push_back(of[result_index::n]);
            Index kernel{group, co, tap[0], tap[1], tap[2], tap[3]};
            if (s_.joined) {  // a column is so many channels
                kernel[kernel_index::ci] = tap[0] % s_.joined, kernel[kernel_index::s] = tap[0] / s_.joined;
                at[0] = tap[0] + at[1] * s_.joined, at[1] = 0;
            }
            total += weight(o, kernel) * input(o.input, at);
        });
        return total;
    }

    int64_t weight(const Operands &o, const Index &at) const {
        const auto stored = locate(s_.kernel_map, at);
        if (!stored) return 0;
        int64_t offset = 0;  // from the outermost dimension to the innermost: planes, rows, columns, ci, co
        for (const int i : {stored_kernel_index::t, stored_kernel_index::r, stored_kernel_index::s,
                            stored_kernel_index::ci, stored_kernel_index::co}) {
            offset = offset * s_.kernel_map[i].extent + (*stored)[i];
        }
        return o.kernel.at(offset);
    }

    const ConvLoops &s_;
    mutable std::array<bool, 3> outside_{};
};

struct Rewrite {
    std::string name;
    ConvLoops loops;
    Operands operands;
};

std::vector<Rewrite> rewrites_of(const Workload &w, const Operands &o) {
    const ConvLoops whole = conv_loops(w);
    std::vector<Rewrite> all{{"none", whole, o}, {"panels", panelled(gathered(whole), 4), o}};
    if (whole.has_holes()) all.push_back({"output phases", output_phases(whole), o});
    if (!whole.has_holes()) all.push_back({"input phases", panelled(gathered(input_phases(whole)), 4), o});
    all.push_back({"pixels that are read", panelled(gathered(read_pixels(whole)), 4), o});
    all.push_back({"pixels of one row", panelled(gathered(pixels_of_one_row(whole)), 4), o});
    if (!whole.has_holes()) all.push_back({"rows of one image", rows_of_one_image(input_phases(whole)), o});
    if (!whole.has_holes() && whole.groups == 1) {
        const ConvLoops s = unit_strides(whole);
        EXPECT_EQ(s.stride, (std::array<int64_t, 3>{1, 1, 1}));
        EXPECT_EQ(s.dilation, s.stride);
        all.push_back({"unit strides", rows_of_one_image(gathered(s)), o});
    }
    const auto joins = [](const ConvLoops &s) {
        return s.groups == 1 && s.is_nhwc() && s.dilation[0] == 1 && s.hole[0] == 1 && s.kernel[0] > 1;
    };
    if (joins(whole)) all.push_back({"joined columns", joined_columns(whole), o});
    if (w.op != Operation::conv || !folds(w, whole)) return all;
    for (const Blocks &blocks : possible_blocks(whole)) {
        const ConvLoops s = folded(whole, blocks), p = prepared(whole, blocks);
        all.push_back({"folded", s, o});
        if (joins(s)) all.push_back({"folded, joined columns", joined_columns(s), o});
        Operands done{Memory(elements({p.input_channels, p.input[0], p.input[1], p.input[2], p.batch})), o.kernel};
        const ElementMap from = preparation(whole, blocks);
        for_each({p.input_channels, p.input[0], p.input[1], p.input[2], p.batch}, [&](const Index &at) {
            const auto stored = locate(from, at);
            done.input.at(place(p.stored_input, at)) = stored ? o.input.at(place(whole.stored_input, *stored)) : 0;
        });
        all.push_back({"prepared", p, done});
    }
    return all;
}

// Small numbers of everything: the loops through the maps take their time.
Workload drawn(ConvolutionDrawer &drawer) {
    for (;;) {
        Workload w = drawer.next();
        if (w.op == Operation::conv_backprop_kernel || elements(output_shape(w)) == 0) continue;
        if (flop_count(w) <= 30'000) return w;
    }
}

void expect_what_the_definition_gives(const Workload &w, Rng &rng) {
    const Operands operands = random_operands(w, rng);
    const Memory expected = defined_result(w, operands);
    for (const Rewrite &rewrite : rewrites_of(w, operands)) {
        const Followed followed(rewrite.loops);
        ASSERT_EQ(followed.result(rewrite.operands), expected) << rewrite.name << " of " << key(w);
        followed.expect_reads_outside_only_where_said();
    }
}

TEST(RewrittenConvolutions, GiveWhatTheDefinitionGives) {
    ConvolutionDrawer drawer(test_seed());
    for (int i = 0; i < 80; i++) expect_what_the_definition_gives(drawn(drawer), drawer.rng());
}

// Windows of one tap over long sums, with strides, and with padding that cuts off: what is rarely drawn of all.
Workload drawn_pixels(ConvolutionDrawer &drawer) {
    for (;;) {
        Workload w = drawer.next();
        if (w.op != Operation::conv || w.feature_group_count * w.batch_group_count > 1) continue;
        for (int d = 0; d < w.spatial_rank; d++) {
            w.kernel[d] = w.lhs_dilation[d] = 1;
            w.padding[d] = {drawer.draw(-2, drawer.rarely()), drawer.draw(-2, drawer.rarely())};
        }
        w.input.back() = w.kernel[w.spatial_rank] = drawer.draw(128, 131);
        w.kernel.back() = drawer.draw(1, 3);
        if (validate(w) && elements(output_shape(w)) > 0 && flop_count(w) <= 30'000) return w;
    }
}

TEST(RewrittenConvolutions, OfSinglePixels) {
    ConvolutionDrawer drawer(test_seed());
    int rows = 0;
    for (int i = 0; i < 40 || (rows < 3 && i < 1000); i++) {
        const Workload w = drawn_pixels(drawer);
        rows += !(pixels_of_one_row(conv_loops(w)).output == conv_loops(w).output);
        expect_what_the_definition_gives(w, drawer.rng());
    }
    EXPECT_GE(rows, 3);
}

// Groups of the batch, dilations beside strides, holes with strides, ranks and every rewrite: each at least once,
// whatever is drawn.
constexpr const char *chosen[] = {
    "conv2d/input:2x2x9x3/kernel:2x3x3x4/strides:2x2",  // images of one block of rows
    "conv2d/input:3x1x9x2/kernel:3x3x2x4/strides:3x2/padding:1,1x1,1",
    "conv2d/input:6x7x5x2/kernel:3x2x2x6/padding:1,1x0,1/batch_group_count:3",
    "conv2d_backprop_input/input:1x9x16x3/kernel:1x2x3x4/strides:4x5",  // phases without taps
    "conv2d/input:2x2x3x4/kernel:2x1x2x4/padding:3,1x0,2/lhs_dilation:5x3/feature_group_count:2",
    "conv1d/input:1x7x2/kernel:3x2x3/strides:4/padding:2,1/lhs_dilation:6",
    "conv2d/input:4x7x9x2/kernel:3x3x2x6/padding:2,2x2,1/rhs_dilation:2x3/batch_group_count:2",
    "conv2d_backprop_input/input:6x7x5x2/kernel:3x2x2x6/strides:2x1/padding:1,1x0,1/batch_group_count:3",
    "conv2d_backprop_input/input:2x9x8x4/kernel:3x4x2x6/strides:2x3/padding:1,1x0,1/feature_group_count:2",
    "conv2d/input:1x9x8x4/kernel:3x4x2x6/strides:2x3/padding:1,1x0,1/rhs_dilation:4x2/feature_group_count:2",
    "conv2d/input:1x5x6x3/kernel:3x4x3x4/strides:2x3/padding:3,1x4,4/lhs_dilation:3x4/rhs_dilation:1x3",
    "conv2d/input:1x13x11x3/kernel:5x3x3x4/strides:4x2/padding:1,2x1,0/input_layout:NCHW2c/output_layout:NCHW3c",
    "conv3d/input:1x7x8x6x2/kernel:3x2x3x2x3/strides:2x2x2/padding:1,1x0,1x2,0/input_layout:NCHW",
    "conv1d/input:2x23x3/kernel:5x3x4/strides:3/padding:2,2",
    "conv2d/input:2x9x11x3/kernel:3x4x3x4/strides:2x2/padding:1,1x-1,2/input_layout:NCHW/output_layout:NCHW2c",
    "conv2d/input:2x9x12x3/kernel:3x1x3x4/strides:2x3/padding:1,0x2,1/input_layout:NCHW2c",
    "conv2d/input:2x9x12x3/kernel:1x1x3x4/strides:2x3/padding:-1,0x0,-2",
    "conv2d/input:2x12x19x2/kernel:3x3x2x3/strides:2x2/padding:2,2x3,1/rhs_dilation:1x3",
    "conv2d/input:2x5x7x128/kernel:1x1x128x6/strides:2x3/input_layout:NCHW2c/output_layout:NCHW3c",
    "conv3d/input:2x5x4x7x129/kernel:1x1x1x129x4/strides:2x1x3",
    "conv1d/input:4x1x2/kernel:3x2x3/strides:2/padding:1,1",
    "conv2d/input:3x1x9x2/kernel:1x3x2x3/strides:2x2/padding:0,0x1,1/input_layout:NCHW2c",
    "conv2d/input:3x2x9x2/kernel:1x3x2x3/strides:2x2/padding:0,0x1,1",
    "conv2d_backprop_input/input:2x9x8x4/kernel:3x4x4x3/padding:1,1x0,2/lhs_dilation:2x3",
    // One plane on one side and several on the other: rows of images are no neighbours there.
    "conv3d/input:2x1x4x4x8/kernel:1x1x1x8x8/padding:1,1x0,0x0,0",
    "conv3d/input:1x1x4x4x8/kernel:1x1x3x8x8/padding:1,1x0,0x1,1",
    "conv3d/input:2x1x1x5x4/kernel:1x1x3x4x3/padding:1,0x0,0x1,1",
    "conv3d_backprop_input/input:1x3x4x4x8/kernel:3x1x3x8x8",
    "conv3d_backprop_input/input:2x2x4x4x8/kernel:1x1x1x8x8/strides:2x1x1",
    // Images of one column: rows are columns, and planes rows.
    "conv2d/input:2x9x1x3/kernel:3x1x3x4/padding:1,1x0,0",
    "conv2d/input:2x9x1x3/kernel:3x1x3x4/strides:2x3/padding:1,1x0,2/input_layout:NCHW2c/output_layout:NCHW",
    "conv2d/input:4x7x1x2/kernel:3x1x2x6/padding:2,2x0,0/rhs_dilation:2x1/batch_group_count:2",
    "conv2d/input:1x9x1x130/kernel:1x1x130x3/strides:2x2/padding:-1,0x0,0",
    "conv3d/input:2x5x6x1x3/kernel:3x2x1x3x4/strides:2x1x1/padding:1,1x0,1x0,0/rhs_dilation:1x2x3",
    "conv3d/input:2x7x1x1x3/kernel:3x1x1x3x4/strides:3x1x2/padding:1,2x0,0x0,0/lhs_dilation:2x1x2/kernel_layout:HWOI",
    "conv3d_backprop_input/input:2x5x6x1x4/kernel:3x2x1x2x6/strides:2x2x1/padding:1,1x0,1x0,0/feature_group_count:2",
    // Single pixels, and what padding cuts off where there is no stride.
    "conv2d/input:1x9x9x128/kernel:1x1x128x4/strides:1x2/padding:-1,-1x0,0",
    "conv3d/input:2x4x9x5x128/kernel:1x1x1x128x2/strides:1x2x1/padding:-2,0x0,-1x-1,-1",
};

TEST(RewrittenConvolutions, OfChosenKinds) {
    Rng rng(test_seed());
    std::set<std::string> names;
    for (const char *text : chosen) {
        const auto w = parse_workload_key(text);
        ASSERT_TRUE(w) << text << ": " << w.error().message;
        const Operands operands = random_operands(*w, rng);
        const Memory expected = defined_result(*w, operands);
        for (const Rewrite &rewrite : rewrites_of(*w, operands)) {
            ASSERT_EQ(Followed(rewrite.loops).result(rewrite.operands), expected) << rewrite.name << " of " << text;
            names.insert(rewrite.name);
        }
    }
    EXPECT_EQ(names.size(), 12u);
}

TEST(PixelsOfOneRow, AreThoseOfStrides) {
    const struct {
        const char *what, *key;
        int64_t row;  // pixels of the row; 0: nothing changes
    } table[] = {
        {"rows of 7", "conv2d/input:1x14x14x1024/kernel:1x1x1024x512/strides:2x2", 49},
        {"images, too", "conv2d/input:3x14x14x256/kernel:1x1x256x512/strides:2x2", 147},
        {"blocks of channels have images apart",
         "conv2d/input:3x14x14x256/kernel:1x1x256x64/strides:2x2/input_layout:NCHW8c", 49},
        {"padding that cuts off", "conv2d/input:1x15x15x256/kernel:1x1x256x512/strides:2x2/padding:-1,0x-1,0", 49},
        {"and where there is no stride", "conv2d/input:1x9x9x128/kernel:1x1x128x16/strides:1x2/padding:-1,-1x0,0", 35},
        {"tiles of four fill a row", "conv2d/input:1x56x56x256/kernel:1x1x256x512/strides:2x2", 0},
        {"short sums", "conv2d/input:1x33x33x40/kernel:1x1x40x56/strides:2x2", 0},
        {"columns side by side", "conv2d/input:1x14x14x256/kernel:1x1x256x64/strides:2x2/output_layout:NCHW", 0},
        {"padding", "conv2d/input:1x13x13x256/kernel:1x1x256x64/strides:2x2/padding:1,0x1,0", 0},
        {"groups", "conv2d/input:1x14x14x256/kernel:1x1x128x64/strides:2x2/feature_group_count:2", 0},
        {"a window", "conv2d/input:1x14x14x256/kernel:3x3x256x64/strides:2x2", 0},
        {"no strides", "conv2d/input:1x7x7x256/kernel:1x1x256x64", 0},
    };
    for (const auto &row : table) {
        const auto w = parse_workload_key(row.key);
        ASSERT_TRUE(w) << row.what << ": " << w.error().message;
        const ConvLoops whole = conv_loops(*w), s = pixels_of_one_row(whole);
        if (row.row == 0) {
            EXPECT_EQ(s.output, whole.output) << row.what;
            EXPECT_EQ(s.stride, whole.stride) << row.what;
            EXPECT_EQ(s.input_map, whole.input_map) << row.what;
        } else {
            EXPECT_EQ(s.output, (std::array<int64_t, 3>{row.row, 1, 1})) << row.what;
            EXPECT_EQ(s.input, s.output) << row.what;
            EXPECT_EQ(s.stored_result.space, s.output) << row.what;
        }
    }
}

// Every element of the kernel is where its sum for the gradient says.
TEST(RewrittenConvolutions, SumsOfTheGradientAreThoseOfTheKernel) {
    const auto w = parse_workload_key("conv3d/input:1x9x8x10x3/kernel:3x4x5x3x6/strides:2x2x4/padding:1,1x0,0x-1,1");
    ASSERT_TRUE(w) << w.error().message;
    const ConvLoops whole = conv_loops(*w);
    std::vector<ConvLoops> all{whole};
    for (const Blocks &blocks : possible_blocks(whole)) all.push_back(folded(whole, blocks));
    EXPECT_EQ(all.size(), 12u);
    for (const ConvLoops &s : all) {
        for_each({6, 3, 5, 4, 3}, [&](const Index &stored) {
            Index at{0, stored[0]};
            for (const Form &form : s.gradient) at.push_back(value_of(form, stored));
            const auto back = locate(s.kernel_map, at);
            ASSERT_TRUE(back);
            EXPECT_EQ(*back, stored);
        });
    }
}

}  // namespace
}  // namespace kiln
