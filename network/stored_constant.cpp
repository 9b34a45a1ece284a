#include "network/stored_constant.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "graph/rewriting/moved_constant.h"

namespace kiln::network {

graph::ConstantData as_stored(const graph::Value &constant, const graph::Storage &storage) {
    // An axis in blocks is two axes, the outer one first.
    const std::vector<graph::MemoryLoop> loops = graph::memory_loops(constant.form.shape, storage.order);
    std::vector<int> logical(loops.size());
    std::iota(logical.begin(), logical.end(), 0);
    std::ranges::stable_sort(logical, {}, [&](int loop) { return std::pair(loops[size_t(loop)].axis, loop); });
    graph::Value split = constant;
    split.form.shape.clear();
    graph::Transpose movement{std::vector<int>(loops.size())};
    for (size_t axis = 0; axis < logical.size(); axis++) {
        split.form.shape.push_back(loops[size_t(logical[axis])].extent);
        movement.permutation[size_t(logical[axis])] = int(axis);
    }
    return *graph::moved_constant(movement, split);
}

}  // namespace kiln::network
