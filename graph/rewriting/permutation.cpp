#include "graph/rewriting/permutation.h"

#include <cstddef>

namespace kiln::graph {

Permutation inverse(const Permutation &permutation) {
    Permutation result(permutation.size());
    for (size_t i = 0; i < permutation.size(); i++) result[permutation[i]] = static_cast<int>(i);
    return result;
}

Permutation composed(const Permutation &first, const Permutation &second) {
    Permutation result;
    for (int axis : second) result.push_back(first[axis]);
    return result;
}

Shape permuted(const Shape &shape, const Permutation &permutation) {
    Shape result;
    for (int axis : permutation) result.push_back(shape[axis]);
    return result;
}

bool moves_nothing(const Shape &shape, const Permutation &permutation) {
    int before = -1;
    for (int axis : permutation) {
        if (shape[axis] == 1) continue;
        if (axis < before) return false;
        before = axis;
    }
    return true;
}

}  // namespace kiln::graph
