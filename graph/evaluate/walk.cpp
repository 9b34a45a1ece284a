#include "graph/evaluate/walk.h"

namespace kiln::graph {

int64_t product(const Shape &shape) {
    int64_t result = 1;
    for (int64_t extent : shape) result *= extent;
    return result;
}

std::vector<int64_t> row_major_strides(const Shape &shape) {
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
    return strides;
}

}  // namespace kiln::graph
