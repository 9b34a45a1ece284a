#include "tests/drawn_workloads.h"

#include <algorithm>
#include <array>
#include <string>

#include "workload/signature.h"

namespace kiln {

Workload ConvolutionDrawer::next() {
    for (;;) {
        const Workload w = workload();
        if (!validate(w) || flop_count(w) > sizes_.flops) continue;
        if (w.op != Operation::conv || elements(output_shape(w)) <= sizes_.elements) return w;
    }
}

ActivationLayout ConvolutionDrawer::layout() {
    const std::array layouts{ActivationLayout{}, ActivationLayout{}, ActivationLayout{ActivationLayout::Kind::nchw, 0},
                             ActivationLayout{ActivationLayout::Kind::nchwc, static_cast<int>(draw(2, 20))}};
    return layouts[draw(0, 3)];
}

EpilogueStep ConvolutionDrawer::activation() {
    for (;;) {
        const auto last = static_cast<int64_t>(epilogue_forms().size()) - 1;
        const EpilogueForm &form = epilogue_forms()[static_cast<size_t>(draw(0, last))];
        if (form.operand != EpilogueForm::Operand::none || form.requantizes()) continue;
        EpilogueStep step{form.kind};
        if (form.number_count() > 0) step.lo = 0.25f;
        if (form.number_count() > 1) step.hi = 0.5f;
        return step;
    }
}

Workload ConvolutionDrawer::next_quantized() {
    for (;;) {
        Workload w = next();
        if (w.op != Operation::conv) continue;
        w.special_values = SpecialValues::finite;
        w.epilogue.clear();
        w.dtype = draw(0, 1) ? DType::i8 : DType::u8;
        w.kernel_dtype = rarely() ? DType::u8 : DType::i8;
        w.kernel_zero_point = rarely();
        w.output_dtype = std::array{DType::i8, DType::u8, DType::i32}[draw(0, 2)];
        if (draw(0, 1)) w.epilogue.push_back({EpilogueStep::Kind::bias});
        if (w.output_dtype != DType::i32) {
            w.epilogue.push_back(
                {draw(0, 1) ? EpilogueStep::Kind::requantize_litert : EpilogueStep::Kind::requantize_onnx});
            if (rarely()) w.epilogue.push_back({EpilogueStep::Kind::add});
        }
        if (validate(w)) return w;
    }
}

Workload ConvolutionDrawer::next_separable() {
    for (;;) {
        Workload w = next();
        if (w.op != Operation::conv || w.feature_group_count * w.batch_group_count > 1) continue;
        if (w.input_layout.kind == ActivationLayout::Kind::nchw) continue;
        if (w.dtype != DType::f32 && w.input_layout.kind == ActivationLayout::Kind::nchwc) w.input_layout.block = 8;
        w.depthwise.assign(w.kernel.begin(), w.kernel.begin() + w.spatial_rank);
        std::fill_n(w.kernel.begin(), w.spatial_rank, 1);
        w.lhs_dilation.assign(w.spatial_rank, 1);
        if (rarely()) w.prologue.push_back({EpilogueStep::Kind::bias});
        if (rarely()) w.prologue.push_back(activation());
        if (rarely()) w.prologue.push_back({EpilogueStep::Kind::scale});
        if (elements(w.depthwise) <= 64 && validate(w) && elements(output_shape(w)) > 0) return w;
    }
}

void ConvolutionDrawer::add_epilogue(Workload *w) {
    if (rarely()) w->epilogue.push_back({EpilogueStep::Kind::bias});
    if (rarely()) w->epilogue.push_back({EpilogueStep::Kind::add});
    if (rarely()) w->epilogue.push_back({EpilogueStep::Kind::relu});
    if (rarely()) w->epilogue.push_back(activation());
    const auto last = static_cast<int64_t>(w->epilogue.size());
    if (rarely()) w->epilogue.insert(w->epilogue.begin() + draw(0, last), {EpilogueStep::Kind::prelu});
}

Workload ConvolutionDrawer::next_strided() {
    for (;;) {
        Workload w;
        const int rank = w.spatial_rank = rarely() ? (draw(0, 1) ? 1 : 3) : 2;
        const bool is_gradient = rarely();
        w.op = is_gradient ? Operation::conv_backprop_input : Operation::conv;
        w.input = {draw(1, 3)};
        for (int d = 0; d < rank; d++) {
            w.input.push_back(draw(1, rank == 3 && d > 0 ? sizes_.side / 2 : sizes_.side));
            w.kernel.push_back(rank == 3 && d == 0 ? 1 : draw(1, rarely() ? 7 : 4));
            const int64_t step = draw(1, 4);  // of a gradient of the input, the holes of the forward convolution
            w.strides.push_back(is_gradient ? 1 : step), w.lhs_dilation.push_back(is_gradient ? step : 1);
            w.rhs_dilation.push_back(rarely() ? draw(1, 4) : 1);
            const int64_t window = (w.kernel[d] - 1) * w.rhs_dilation[d];
            w.padding.push_back({draw(rarely() ? -2 : 0, window), draw(rarely() ? -2 : 0, window)});
        }
        w.input.push_back(count(sizes_.channels));
        w.kernel.push_back(w.input.back()), w.kernel.push_back(count(sizes_.channels));
        w.input_layout = layout(), w.output_layout = layout();
        w.kernel_layout = draw(0, 1) ? KernelLayout::hwio : KernelLayout::hwoi;
        constexpr std::array dtypes{DType::f32, DType::f32, DType::f32, DType::f16, DType::bf16};
        w.dtype = dtypes[draw(0, 4)], w.output_dtype = dtypes[draw(0, 4)];
        if (!is_gradient) add_epilogue(&w);
        fill_defaults(&w);
        if (validate(w) && flop_count(w) <= sizes_.flops) return w;
    }
}

Workload ConvolutionDrawer::workload() {
    const int rank = rarely() ? (draw(0, 1) ? 1 : 3) : 2;
    const int64_t groups = rarely() ? count(32) : 1, batch_groups = groups == 1 && rarely() ? draw(2, 4) : 1;
    const bool has_many = groups == 1 && draw(0, 7) == 0;
    const int64_t group_inputs = has_many ? draw(128, sizes_.many_channels) : count(sizes_.channels),
                  outputs = groups * batch_groups * count(groups > 1 ? 12 : sizes_.channels);
    Workload w;
    w.spatial_rank = rank;
    w.op = std::array{Operation::conv, Operation::conv_backprop_input, Operation::conv_backprop_kernel}[draw(0, 2)];
    w.input = {batch_groups * draw(1, 2)};
    for (int d = 0; d < rank; d++) {
        const bool has_one_plane = rank == 3 && d == 0 && rarely();
        w.input.push_back(has_one_plane ? 1 : draw(1, rank == 3 ? sizes_.side * 2 / 5 : sizes_.side));
        w.kernel.push_back(attribute());
        w.strides.push_back(attribute()), w.lhs_dilation.push_back(attribute()), w.rhs_dilation.push_back(attribute());
        const int64_t window = (w.kernel[d] - 1) * w.rhs_dilation[d];
        w.padding.push_back({draw(-2, window + 2), draw(-2, window + 2)});
    }
    w.input.push_back(groups * group_inputs);
    w.kernel.push_back(group_inputs), w.kernel.push_back(outputs);
    w.feature_group_count = groups, w.batch_group_count = batch_groups;
    w.input_layout = layout(), w.output_layout = layout();
    w.kernel_layout = draw(0, 1) ? KernelLayout::hwio : KernelLayout::hwoi;
    constexpr std::array dtypes{DType::f32, DType::f32, DType::f16, DType::bf16};
    w.dtype = dtypes[draw(0, 3)], w.output_dtype = dtypes[draw(0, 3)];
    if (rarely()) w.special_values = SpecialValues::exact;
    if (w.op == Operation::conv) add_epilogue(&w);
    fill_defaults(&w);
    return w;
}

Workload drawn_transform(Rng &rng) {
    const auto draw = [&](int64_t lo, int64_t hi) { return lo + int64_t(rng() % uint64_t(hi - lo + 1)); };
    Workload w;
    w.op = std::array{Operation::winograd_input_transform, Operation::winograd_filter_transform,
                      Operation::winograd_output_transform}[draw(0, 2)];
    w.tile = {draw(1, 6), draw(1, 6)};
    const std::vector<int64_t> window{draw(1, 5), draw(1, 5)};
    w.dtype = std::array{DType::f32, DType::f16, DType::bf16}[draw(0, 2)];
    w.output_dtype = std::array{DType::f32, DType::f16, DType::bf16}[draw(0, 2)];
    w.points = draw(0, 1);
    const auto layout = [&](bool blocks) {
        const std::array layouts{ActivationLayout{}, ActivationLayout{ActivationLayout::Kind::nchw, 0},
                                 ActivationLayout{ActivationLayout::Kind::nchwc, static_cast<int>(draw(2, 20))}};
        return layouts[draw(0, blocks ? 2 : 1)];
    };
    if (w.op == Operation::winograd_filter_transform) {
        w.kernel = {window[0], window[1], draw(1, 40), draw(1, 40)};
        w.kernel_layout = draw(0, 1) ? KernelLayout::hwio : KernelLayout::hwoi;
        w.tile_dimensions = {draw(0, 3), draw(0, 3)};
    } else {
        const bool is_input = w.op == Operation::winograd_input_transform;
        w.window = window;
        w.batch = draw(0, 1);
        w.input = {w.batch ? draw(1, 2) : 1, draw(1, is_input ? 20 : 5), draw(1, is_input ? 40 : 9), draw(1, 40)};
        if (is_input) w.padding = {{draw(-1, 4), draw(-1, 4)}, {draw(-1, 4), draw(-1, 4)}};
        if (!is_input && draw(0, 1)) {
            for (int d = 0; d < 2; d++) w.output.push_back(w.input[d + 1] * w.tile[d] - draw(0, w.tile[d] - 1));
        }
        w.input_layout = layout(is_input), w.output_layout = layout(!is_input);
        w.tile_dimensions = {draw(0, w.batch ? 5 : 4), draw(0, w.batch ? 5 : 4)};
    }
    fill_defaults(&w);
    return w;
}

Workload drawn_movement(Rng &rng) {
    const auto draw = [&](int64_t lo, int64_t hi) { return lo + int64_t(rng() % uint64_t(hi - lo + 1)); };
    const auto one_of = [&](auto... values) { return std::array{std::string(values)...}[rng() % sizeof...(values)]; };
    Workload w;
    w.spatial_rank = static_cast<int>(draw(1, 3));
    w.dtype = w.output_dtype = std::array{DType::f32, DType::f16, DType::bf16, DType::i8}[draw(0, 3)];
    w.op = std::array{Operation::layout_transform, Operation::space_to_depth, Operation::depth_to_space}[draw(0, 2)];
    std::vector<int64_t> shape;
    for (int d = 0; d < w.spatial_rank; d++) shape.push_back(draw(1, w.spatial_rank < 3 ? 40 : 12));
    if (w.op == Operation::layout_transform && draw(0, 2) == 0) {
        w.kernel = shape;
        w.kernel.insert(w.kernel.end(), {draw(1, 40), draw(1, 40)});
        const auto layout = [&] {
            return one_of("OIHW", "HWIO", "HWOI", "OHWI", "OIHW16i16o", "OIHW8o", "OIHW4i8o2i");
        };
        w.from_layout = layout(), w.to_layout = layout();
    } else {
        w.input = shape;
        w.input.insert(w.input.begin(), draw(1, 3));
        w.input.push_back(draw(0, 1) ? draw(1, 8) : draw(1, 70));
    }
    const auto layout = [&] { return one_of("NHWC", "NCHW", "NCHW4c", "NCHW16c", "NCHW6c"); };
    if (w.op == Operation::layout_transform && w.kernel.empty()) {
        w.from_layout = draw(0, 4) ? layout() : "CHWN", w.to_layout = draw(0, 4) ? layout() : "CHWN";
    } else if (w.op != Operation::layout_transform) {
        for (int d = 0; d < w.spatial_rank; d++) w.block.push_back(draw(1, 4));
        if (w.op == Operation::depth_to_space) w.input.back() = draw(1, 6) * elements(w.block);
        w.input_layout = *parse_activation_layout(layout()), w.output_layout = *parse_activation_layout(layout());
    }
    fill_defaults(&w);
    return w;
}

}  // namespace kiln
