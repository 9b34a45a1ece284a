#include "schedules/spaces/transform_tile_space.h"

#include <algorithm>

#include "workload/signature.h"

namespace kiln {
namespace {

using Innermost = TransformShape::Innermost;

Innermost innermost(const TensorForm &form) {
    const std::string &name = form.stored.back().name;
    if (name == "i" || name == "j") return Innermost::tile;
    return name == "w" ? Innermost::columns : Innermost::channels;
}

std::vector<int64_t> vector_counts(const TransformShape &shape, const Target &target) {
    std::vector<int64_t> counts{1};
    for (int64_t v : {2, 4}) {
        if (v * vector_lanes(target) <= shape.channels) counts.push_back(v);
    }
    return counts;
}

TransformTileKnobs default_knobs(const TransformShape &shape, const Target &target) {
    // Channels are the lanes unless no tensor has them as neighbours.
    const bool planes = shape.read == Innermost::columns && shape.written != Innermost::channels;
    const bool columns = planes && shape.columns > 1;
    const Innermost lanes = columns ? Innermost::columns : Innermost::channels;
    TransformTileKnobs k;
    k.lanes = columns;
    k.stage = shape.written != lanes;
    k.parallel = target.threads > 1;
    return k;
}

TransformTileDomains domains(const TransformShape &shape, const Target &target) {
    TransformTileDomains d;
    if (shape.columns > 1) d.lanes = {0, 1};
    d.vectors = vector_counts(shape, target);
    d.stage = d.channels_outer = {0, 1};
    if (target.threads > 1) d.parallel = {0, 1, 2};
    return d;
}

// Where tiles are neighbours, lanes of channels are written one by one. Of several vectors that takes LLVM up to a minute (8x6 values, 4
// vectors of 8 lanes), and the kernel no less time.
std::vector<Limit<TransformTileKnobs>> limits(const TransformShape &shape) {
    return {{"several vectors a step are of channels, but the lanes are tiles",
             [](const TransformTileKnobs &k) { return k.lanes == 0 || k.vectors == 1; }},
            {"several vectors a step, but no stage: they would be written one by one",
             [written = shape.written](const TransformTileKnobs &k) {
                 return k.stage != 0 || k.vectors == 1 || written != Innermost::tile;
             }}};
}

}  // namespace

TransformShape transform_shape(const Workload &w) {
    const Signature tensors = signature(w);
    const TensorForm &read = tensors.operands[0], &written = tensors.result;
    TransformShape shape;
    shape.read = innermost(read);
    shape.written = innermost(written);
    if (w.op == Operation::winograd_filter_transform) {
        const bool hwio = w.kernel_layout == KernelLayout::hwio;
        shape.channels = hwio ? w.kernel[3] : w.kernel[2];
        shape.columns = hwio ? w.kernel[2] : w.kernel[3];
        return shape;
    }
    const bool is_input = w.op == Operation::winograd_input_transform;
    shape.columns = (is_input ? written : read).logical[4];
    shape.channels = w.input.back();
    const ActivationLayout &layout = w.output_layout;
    if (layout.kind == ActivationLayout::Kind::nchwc) shape.channels = layout.block;
    return shape;
}

int64_t transform_lanes(const TransformTileKnobs &knobs, const TransformShape &shape, const Target &target) {
    return std::min<int64_t>(vector_lanes(target), knobs.lanes ? shape.columns : shape.channels);
}

Space transform_tile_space(Candidate base, const TransformShape &shape, const Target &target) {
    base.schedule = transform_tile_name;
    base.schedule_version = transform_tile_version;
    base.knobs = encode_knobs(default_knobs(shape, target));
    return Space(std::move(base), knob_list(domains(shape, target)), {constraint(limits(shape))});
}

}  // namespace kiln
