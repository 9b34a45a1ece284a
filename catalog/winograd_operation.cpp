#include "catalog/winograd_operation.h"

#include <algorithm>
#include <string>

#include "workload/winograd_sizes.h"

namespace kiln {

Result<std::array<WinogradMatrices, 2>> winograd_matrices_of(const Workload &w) {
    const WinogradSizes sizes = winograd_sizes(w);
    int choices = 1;
    for (int64_t values : sizes.transformed) {
        if (values - 1 > largest_winograd_points) {
            return unsupported("tile and kernel (window) make transformed tiles of " + std::to_string(values) +
                               " values a dimension; there are interpolation points for at most " +
                               std::to_string(largest_winograd_points + 1));
        }
        choices = std::max(choices, winograd_point_choices(static_cast<int>(values) - 1));
    }
    if (w.points >= choices) {
        return unsupported("points is " + std::to_string(w.points) + "; tiles of this size have the choices 0 to " +
                           std::to_string(choices - 1));
    }
    std::array<WinogradMatrices, 2> matrices;
    for (int d = 0; d < 2; d++) {
        const int count = static_cast<int>(sizes.transformed[d]) - 1;
        const int choice = std::min(static_cast<int>(w.points), winograd_point_choices(count) - 1);
        matrices[d] = winograd_matrices(static_cast<int>(sizes.tile[d]), static_cast<int>(sizes.window[d]),
                                        winograd_points(count, choice));
    }
    return matrices;
}

const Matrix &transform_matrix(const WinogradMatrices &matrices, Operation op) {
    switch (op) {
        case Operation::winograd_filter_transform:
            return matrices.g;
        case Operation::winograd_output_transform:
            return matrices.at;
        default:
            return matrices.bt;
    }
}

}  // namespace kiln
