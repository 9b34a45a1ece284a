// Convolutions and both gradients with attributes drawn over the whole range. What is drawn follows from the seed
// alone.
#pragma once

#include <array>
#include <cstdint>

#include "schedules/space.h"
#include "workload/signature.h"

namespace kiln {

class ConvolutionDrawer {
public:
    explicit ConvolutionDrawer(uint64_t seed) : rng_(seed) {}

    // Valid, and small enough for the reference loops. The result may be empty.
    Workload next() {
        for (;;) {
            const Workload w = workload();
            if (!validate(w) || flop_count(w) > 20'000'000) continue;
            if (w.op != Operation::conv || elements(output_shape(w)) <= 200'000) return w;
        }
    }

    int64_t draw(int64_t lo, int64_t hi) { return lo + int64_t(rng_() % uint64_t(hi - lo + 1)); }
    bool rarely() { return draw(0, 3) == 0; }
    Rng &rng() { return rng_; }

private:
    // The whole range, but small numbers and 1 more often: that is where algorithms differ.
    int64_t attribute() { return rarely() ? draw(1, 13) : rarely() ? draw(1, 3) : 1; }
    int64_t count(int64_t most) { return draw(0, 1) ? draw(1, 8) : draw(1, most); }

    ActivationLayout layout() {
        const std::array layouts{ActivationLayout{}, ActivationLayout{},
                                 ActivationLayout{ActivationLayout::Kind::nchw, 0},
                                 ActivationLayout{ActivationLayout::Kind::nchwc, static_cast<int>(draw(2, 20))}};
        return layouts[draw(0, 3)];
    }

    Workload workload() {
        const int rank = rarely() ? (draw(0, 1) ? 1 : 3) : 2;
        const int64_t groups = rarely() ? count(32) : 1, batch_groups = groups == 1 && rarely() ? draw(2, 4) : 1;
        const int64_t group_inputs = count(40), outputs = groups * batch_groups * count(groups > 1 ? 12 : 40);
        Workload w;
        w.spatial_rank = rank;
        w.op = std::array{Operation::conv, Operation::conv_backprop_input, Operation::conv_backprop_kernel}[draw(0, 2)];
        w.input = {batch_groups * draw(1, 2)};
        for (int d = 0; d < rank; d++) {
            w.input.push_back(draw(1, rank == 3 ? 8 : 20));
            w.kernel.push_back(attribute());
            w.strides.push_back(attribute()), w.lhs_dilation.push_back(attribute()),
                w.rhs_dilation.push_back(attribute());
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
        if (w.op == Operation::conv) {
            if (rarely()) w.epilogue.push_back({EpilogueStep::Kind::bias});
            if (rarely()) w.epilogue.push_back({EpilogueStep::Kind::add});
            if (rarely()) w.epilogue.push_back({EpilogueStep::Kind::relu});
        }
        fill_defaults(&w);
        return w;
    }

    Rng rng_;
};

}  // namespace kiln
