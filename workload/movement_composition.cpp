#include "workload/movement_composition.h"

#include <utility>

#include "workload/signature.h"

namespace kiln {
namespace {

bool is_shuffle(const Workload &w) { return w.op != Operation::layout_transform; }

std::string shown(const Workload &w, const TensorForm &form, const std::string &layout) {
    std::string text(name(w.dtype));
    for (size_t d = 0; d < form.logical.size(); d++) text += (d == 0 ? " " : "x") + std::to_string(form.logical[d]);
    return text + " in " + layout;
}

Status check_follows(const Workload &first, const Workload &second) {
    const std::string written = shown(first, signature(first).result, moved_layouts(first).to),
                      read = shown(second, signature(second).operands[0], moved_layouts(second).from);
    if (written == read && transforms_weights(first) == transforms_weights(second)) return {};
    return bad_input(op_name(second) + " reads " + read + ", but " + op_name(first) + " before it writes " + written);
}

// A movement of `w` between other layouts.
Result<Workload> between(Workload w, const std::string &from, const std::string &to) {
    if (!is_shuffle(w)) {
        w.from_layout = from, w.to_layout = to;
        return w;
    }
    for (const auto &[text, layout] : {std::pair{&from, &w.input_layout}, {&to, &w.output_layout}}) {
        const auto known = parse_activation_layout(*text);
        if (!known) return unsupported(op_name(w) + " has no layout " + *text + "; it has NHWC, NCHW and NCHW<b>c");
        *layout = *known;
    }
    return w;
}

Result<Workload> both_shuffled(const Workload &first, const Workload &second) {
    const MovedLayouts layouts{moved_layouts(first).from, moved_layouts(second).to};
    const size_t rank = first.block.size();
    if (first.op != second.op) {
        bool whole = first.block == second.block;  // and no zeros were filled in, that cropping would have to undo
        for (size_t d = 0; d < rank; d++)
            whole = whole && (first.op == Operation::depth_to_space || first.input[d + 1] % first.block[d] == 0);
        if (!whole) {
            return unsupported(op_name(first) + " and then " + op_name(second) + " of other blocks, or of an image " +
                               "that they do not divide, is no one movement");
        }
        Workload moved;
        moved.op = Operation::layout_transform;
        moved.spatial_rank = first.spatial_rank;
        moved.dtype = moved.output_dtype = first.dtype;
        moved.input = first.input;
        fill_defaults(&moved);
        return between(moved, layouts.from, layouts.to);
    }
    // Channels are ordered by the outer block, then the inner one: a larger block has them so if no dimension of the
    // outer block comes after one of the inner block.
    const bool gathers = first.op == Operation::space_to_depth;
    const std::vector<int64_t> &inner = gathers ? first.block : second.block,
                               &outer = gathers ? second.block : first.block;
    Workload moved = first;
    for (size_t d = 0; d < rank; d++) {
        moved.block[d] *= second.block[d];
        for (size_t e = d + 1; e < rank; e++) {
            if (inner[d] > 1 && outer[e] > 1) {
                return unsupported("blocks of blocks have their channels in another order than larger blocks");
            }
        }
    }
    return between(moved, layouts.from, layouts.to);
}

}  // namespace

MovedLayouts moved_layouts(const Workload &w) {
    if (!is_shuffle(w)) return {w.from_layout, w.to_layout};
    return {name(w.input_layout), name(w.output_layout)};
}

Result<Workload> composed(const Workload &first, const Workload &second) {
    if (Status s = check_follows(first, second); !s) return s.error();
    if (is_shuffle(first) && is_shuffle(second)) return both_shuffled(first, second);
    const std::string from = moved_layouts(first).from, to = moved_layouts(second).to;
    Workload moved = is_shuffle(first) ? first : second;
    if (!is_shuffle(first) && !transforms_weights(first)) moved.input = first.input;
    return between(moved, from, to);
}

}  // namespace kiln
