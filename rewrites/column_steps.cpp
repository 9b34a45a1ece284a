#include "rewrites/column_steps.h"

#include <numeric>

#include "workload/division.h"

namespace kiln {

// Columns with gaps between them belong to one output, as its neighbour reads those in the gaps.
int64_t most_shared(const ConvShape &s, int64_t parts) {
    if (s.dilation[0] > 1) return 1;
    const int64_t columns = ceil_div(s.kernel[0], parts) * parts;
    return (columns - s.kernel[0]) / s.stride[0] + 1;
}

ColumnSteps column_steps(const ConvShape &s, int64_t parts, int64_t share) {
    ColumnSteps steps{.parts = parts, .share = share};
    steps.groups = ceil_div((share - 1) * s.stride[0] + s.kernel[0], parts);
    const int64_t of_output = share * s.stride[0], of_group = parts * s.dilation[0];
    steps.unit = steps.groups == 1 ? of_output : std::gcd(of_output, of_group);
    steps.of_output = of_output / steps.unit;
    steps.of_group = of_group / steps.unit;
    const bool shares_pairs = 2 * s.dilation[0] % steps.unit == 0;
    steps.of_step = shares_pairs ? 1 : 2;
    steps.between = shares_pairs ? 2 * s.dilation[0] / steps.unit : 1;
    return steps;
}

}  // namespace kiln
