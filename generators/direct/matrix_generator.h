// What the generator of products of matrices shares with that of their packed weights: the loops, and steps of channels in the
// order in which they are read (schedules/spaces/matrix/matrix_steps.h). Behind the steps of each panel of integers lies the sum
// of its weights, in i32.
#pragma once

#include <Halide.h>

#include <vector>

#include "generators/conv_generator.h"
#include "schedules/spaces/matrix/matrix_steps.h"
#include "schedules/spaces/matrix/matrix_tile_knobs.h"

namespace kiln {

template<typename Derived>
class MatrixGenerator : public ConvGenerator<Derived, MatrixTileKnobs> {
protected:
    void read_matrix() {
        this->read_convolution();
        steps = matrix_steps(this->loops, size_of(this->workload.dtype));
    }

    int outputs() const { return extent(matrix_outputs); }
    int parts() const { return extent(steps.step_channels); }
    Halide::Type weight_type() const {
        return halide_type(is_quantized(this->workload) ? this->workload.kernel_dtype : this->workload.dtype);
    }
    int panel_steps() const { return extent(steps.of_panel()); }
    int panels() const { return extent(this->loops.panels(matrix_outputs)); }

    // Extents of the packed weights, innermost first: channel of a step, output, step of all panels.
    std::vector<int64_t> packed_steps() const {
        return {steps.step_channels, matrix_outputs, steps.of_panel() * panels()};
    }

    MatrixSteps steps;
};

}  // namespace kiln
