#include "workload/winograd_sizes.h"

#include <algorithm>

namespace kiln {

WinogradSizes winograd_sizes(const Workload &w) {
    WinogradSizes s;
    const std::vector<int64_t> &window = w.op == Operation::winograd_filter_transform ? w.kernel : w.window;
    for (int d = 0; d < 2; d++) {
        s.window[d] = window[d];
        s.tile[d] = w.tile[d];
        s.transformed[d] = s.tile[d] + s.window[d] - 1;
        if (w.op == Operation::winograd_input_transform) {
            const int64_t padded = w.input[d + 1] + w.padding[d].lo + w.padding[d].hi;
            s.output[d] = std::max<int64_t>(padded - s.window[d] + 1, 0);
            s.tiles[d] = (s.output[d] + s.tile[d] - 1) / s.tile[d];
        } else if (w.op == Operation::winograd_output_transform) {
            s.tiles[d] = w.input[d + 1];
            s.output[d] = w.output.empty() ? s.tiles[d] * s.tile[d] : w.output[d];
        }
    }
    return s;
}

}  // namespace kiln
