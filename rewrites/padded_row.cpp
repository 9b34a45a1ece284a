#include "rewrites/padded_row.h"

#include <algorithm>
#include <set>

#include "workload/division.h"

namespace kiln {

PaddedRow padded_row(const ConvShape &s, int64_t outputs) {
    const int64_t stride = s.stride[0], dilation = s.dilation[0], pad = s.pad_lo[0];
    PaddedRow row;
    row.columns = outputs + (s.kernel[0] - 1) * dilation / stride;
    std::set<int64_t> phases;
    for (int64_t tap = 0; tap < std::min(s.kernel[0], stride); tap++) phases.insert(tap * dilation % stride);
    for (const int64_t phase : phases) {
        // Columns x with 0 <= x * stride + phase - pad < input.
        const int64_t before = pad - phase, behind = s.input[0] + pad - phase;
        const int64_t first = before > 0 ? ceil_div(before, stride) : 0,
                      end = behind > 0 ? ceil_div(behind, stride) : 0;
        const int64_t last = std::min(end, row.columns);
        row.phases.push_back({phase, std::min(first, last), last});
    }
    return row;
}

}  // namespace kiln
