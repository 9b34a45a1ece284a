// What the generators of convolutions share: their parameters, read once, and how buffers get their compiled-in shapes.
#pragma once

#include <Halide.h>

#include <array>
#include <string>
#include <vector>

#include "generators/halide_type.h"
#include "rewrites/conv_shape.h"
#include "schedules/candidate.h"
#include "schedules/spaces/cpu_tile_space.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

// A generator named after an algorithm makes kiln_compute, one with the suffix _pack makes kiln_pack. Both take the
// same three parameters; the main program has validated them against the catalog before.
template<typename Derived>
class ConvGenerator : public Halide::Generator<Derived> {
public:
    Halide::GeneratorParam<std::string> workload_key{"workload", ""};
    Halide::GeneratorParam<std::string> candidate_text{"candidate", ""};
    Halide::GeneratorParam<std::string> target_text{"kiln_target", ""};

protected:
    void read_parameters() {
        workload = *parse_workload_key(workload_key.value());
        candidate = *parse_candidate(candidate_text.value());
        target_of_kiln = {target_text.value(), 1};
        shape = conv_shape(workload);
    }

    int panel_lanes() const { return tile_lanes(checked_knobs<CpuTileKnobs>(candidate.knobs), target_of_kiln); }

    // Extents of the packed weights, innermost first.
    std::vector<int64_t> packed_extents(const ConvShape &s) const {
        const int64_t lanes = panel_lanes(), vectors = candidate.knob("vectors");
        return {lanes, vectors, s.input_channels, s.kernel[0], s.kernel[1], s.kernel[2], s.panels(lanes * vectors)};
    }

    // Dense, from 0, with these extents, innermost first: all of it is known when compiling.
    template<typename BufferParameter>
    static void fix(BufferParameter &buffer, const std::vector<int64_t> &extents) {
        int64_t stride = 1;
        for (size_t d = 0; d < extents.size(); d++) {
            buffer.dim(static_cast<int>(d)).set_bounds(0, static_cast<int>(extents[d]));
            buffer.dim(static_cast<int>(d)).set_stride(static_cast<int>(stride));
            stride *= extents[d];
        }
    }

    // NHWC with the channels of a group apart from each other: c in group, x, y, z, group, n.
    template<typename BufferParameter>
    void fix_grouped_activation(BufferParameter &buffer, int64_t channels, const std::array<int64_t, 3> &space) {
        fix(buffer, {channels, space[0], space[1], space[2], shape.groups, shape.batch});
        int64_t stride = channels * shape.groups;
        for (int d : {1, 2, 3, 5}) {
            buffer.dim(d).set_stride(static_cast<int>(stride));
            if (d < 4) stride *= space[d - 1];
        }
        buffer.dim(4).set_stride(static_cast<int>(channels));
    }

    // Blocks of channels; whatever the layout, this is the order in memory: c in block, x, y, z, block, n. The batch is
    // that of one group times `batch_groups`.
    template<typename BufferParameter>
    void fix_activation(BufferParameter &buffer, int64_t channels, int64_t block, const std::array<int64_t, 3> &space,
                        int64_t batch_groups = 1) {
        fix(buffer, {block, space[0], space[1], space[2], (channels + block - 1) / block, images() * batch_groups});
    }

    // Where `shape` is that of the phases of the input (InputPhases), its images are phases of so many.
    int64_t images() const { return shape.batch / shape.all_input_phases(); }
    Halide::Expr image_of(const Halide::Expr &n) const {
        return shape.all_input_phases() == 1 ? n : n / static_cast<int>(shape.all_input_phases());
    }

    // Position u of dimension d of image n, a phase, in the input.
    Halide::Expr place_of(const Halide::Expr &u, const Halide::Expr &n, int d) const {
        const InputPhases &p = shape.input_phases[d];
        if (p == InputPhases{}) return u;
        Halide::Expr rest = n;
        for (int inner = 0; inner < d; inner++) rest = rest / static_cast<int>(shape.input_phases[inner].count);
        return u * static_cast<int>(p.step) + rest % static_cast<int>(p.count) * static_cast<int>(p.shift) -
               static_cast<int>(p.lead);
    }

    // The other way round, for results: makes places of image n those in their phase, and answers its image.
    Halide::Expr to_phases(std::array<Halide::Expr, 3> *at, Halide::Expr n) const {
        for (int d = 2; d >= 0; d--) {
            const int count = static_cast<int>(shape.input_phases[d].count);
            if (count == 1) continue;
            n = n * count + (*at)[d] % count;
            (*at)[d] = (*at)[d] / count;
        }
        return n;
    }

    Workload workload;
    Candidate candidate;
    Target target_of_kiln;
    ConvShape shape;
};

}  // namespace kiln
