// Where the skeleton applies, its space, and its row.
#include "catalog/catalog.h"
#include "catalog/conv_checks.h"
#include "schedules/spaces/cpu_tile_space.h"

namespace kiln {
namespace {

Status skeleton_applies(std::string_view, const Workload &w, const Target &) {
    if (Status s = convolution_applies(w, {Operation::conv}); !s) return s;
    if (w.dtype != DType::f32 || w.output_dtype != DType::f32) return unsupported("dtype and output_dtype must be f32");
    if (w.input_layout != ActivationLayout{} || w.output_layout != ActivationLayout{}) {
        return unsupported("input_layout and output_layout must be NHWC");
    }
    if (w.kernel_layout != KernelLayout::hwio) return unsupported("kernel_layout must be HWIO");
    if (w.feature_group_count > 1 || w.batch_group_count > 1) return unsupported("groups are not supported");
    for (int d = 0; d < w.spatial_rank; d++) {
        if (w.lhs_dilation[d] > 1 || w.rhs_dilation[d] > 1) return unsupported("dilation is not supported");
    }
    if (!w.epilogue.empty()) return unsupported("an epilogue is not supported");
    return {};
}

Space skeleton_space(const Candidate &base, const Workload &w, const Target &target, const Core &core) {
    return cpu_tile_space(base, conv_loops(w), target, core);
}

constexpr Algorithm algorithms[] = {
    {"skeleton", 1, "the definition as it is written", skeleton_applies, skeleton_space},
};

}  // namespace

std::span<const Algorithm> catalog() { return algorithms; }

}  // namespace kiln
