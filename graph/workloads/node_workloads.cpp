#include "graph/workloads/node_workloads.h"

#include <algorithm>
#include <string>
#include <utility>

#include "graph/convolution_inputs.h"

namespace kiln::graph {
namespace {

std::optional<DType> dtype_of(Element type) {
    switch (type) {
        case Element::f32:
            return DType::f32;
        case Element::f16:
            return DType::f16;
        case Element::bf16:
            return DType::bf16;
        case Element::i8:
            return DType::i8;
        case Element::u8:
            return DType::u8;
        case Element::i32:
            return DType::i32;
        default:
            return {};
    }
}

// N, C, spatial... as N, spatial..., C.
std::vector<int64_t> channels_last(const Shape &shape) {
    std::vector<int64_t> extents = shape;
    std::rotate(extents.begin() + 1, extents.begin() + 2, extents.end());
    return extents;
}

}  // namespace

Result<Workload> convolution_workload(const Convolution &op, const TypedShape &x, const TypedShape &weights) {
    const int rank = int(x.shape.size()) - 2;
    const std::optional<DType> dtype = dtype_of(x.type);
    if (rank < 1 || rank > 3) return unsupported("with " + std::to_string(rank) + " spatial axes");
    if (!dtype || *dtype == DType::i32) return unsupported("of " + std::string(name(x.type)));
    std::vector<int64_t> kernel(weights.shape.begin() + 2, weights.shape.end());
    kernel.push_back(weights.shape[1]);
    kernel.push_back(weights.shape[0]);
    Workload w = convolution(channels_last(x.shape), std::move(kernel));
    w.dtype = *dtype;
    w.strides = op.strides;
    w.lhs_dilation = op.input_dilation;
    w.rhs_dilation = op.dilations;
    w.padding = op.padding;
    w.feature_group_count = op.groups;
    w.epilogue = op.epilogue;
    w.prologue = op.prologue;
    w.depthwise = op.depthwise;
    w.output_dtype = w.dtype;
    if (op.separate_sums) w.special_values = SpecialValues::exact;
    if (is_quantized(x.type)) {
        w.kernel_dtype = *dtype_of(weights.type);
        w.kernel_zero_point = op.kernel_zero_point;
        w.output_dtype = *dtype_of(op.result_type);
    }
    fill_defaults(&w);
    if (Status status = validate(w); !status) return status.error();
    return w;
}

}  // namespace kiln::graph
