#include "schedules/spaces/matrix/matrix_steps.h"

#include <algorithm>

#include "workload/division.h"

namespace kiln {

MatrixSteps matrix_steps(const ConvLoops &s) {
    const int64_t steps = ceil_div(s.input_channels, matrix_step_channels);
    const int64_t chunks = ceil_div(s.input_channels, most_matrix_channels);
    // Of a single step Halide 21 would not see the rows.
    return {chunks, std::max<int64_t>(2, ceil_div(steps, chunks)) * matrix_step_channels, s.taps()};
}

bool reads_in_place(const ConvLoops &s) {
    if (!is_one_row(s) || s.taps() != 1 || s.folds() || s.output[0] % matrix_positions != 0) return false;
    if (matrix_steps(s).channels() != s.input_channels || s.stored_input.channels != s.input_channels) return false;
    for (int d = 0; d < 3; d++) {
        const Place &place = s.input_map[input_index::x + d];
        if (s.outside[d] || !place.form.is_index(input_index::x + d)) return false;
    }
    return true;
}

int64_t block_positions(const ConvLoops &s, int64_t block) {
    if (is_one_row(s)) return block * matrix_positions;
    const int64_t positions = (block - 1) * row_positions(s) + s.output[0];
    return ceil_div(positions, matrix_positions) * matrix_positions;
}

}  // namespace kiln
