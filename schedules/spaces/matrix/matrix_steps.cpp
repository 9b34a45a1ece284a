#include "schedules/spaces/matrix/matrix_steps.h"

#include <algorithm>

#include "workload/division.h"

namespace kiln {

MatrixSteps matrix_steps(const ConvLoops &s, int64_t bytes) {
    constexpr int64_t most_steps = 16;  // rows of a tile register
    const int64_t step_channels = 4 / bytes, steps = ceil_div(s.input_channels, step_channels);
    const int64_t chunks = ceil_div(steps, most_steps);
    // Of a single step Halide 21 would not see the rows.
    const int64_t chunk_steps = std::max<int64_t>(2, ceil_div(steps, chunks));
    return {chunks, chunk_steps * step_channels, step_channels, s.taps(), bytes == 1};
}

bool reads_in_place(const ConvLoops &s, int64_t bytes) {
    if (!is_one_row(s) || s.taps() != 1 || s.folds() || s.output[0] % matrix_positions != 0) return false;
    if (matrix_steps(s, bytes).channels() != s.input_channels || s.stored_input.channels != s.input_channels)
        return false;
    for (int d = 0; d < 3; d++) {
        const Place &place = s.input_map[input_index::x + d];
        if (s.outside[d] || s.pad_lo[d] != 0 || !place.form.is_index(input_index::x + d)) return false;
    }
    return true;
}

int64_t block_units(const ConvLoops &s) {
    return is_one_row(s) ? ceil_div(s.output[0], matrix_positions) : s.output[1];
}

int64_t block_positions(const ConvLoops &s, int64_t block) {
    if (is_one_row(s)) return block * matrix_positions;
    const int64_t positions = (block - 1) * row_positions(s) + s.output[0];
    return ceil_div(positions, matrix_positions) * matrix_positions;
}

}  // namespace kiln
