#include "graph/evaluate/walk.h"

namespace kiln::graph {

int64_t product(const Shape &shape) {
    int64_t result = 1;
    for (int64_t extent : shape) result *= extent;
    return result;
}

}  // namespace kiln::graph
