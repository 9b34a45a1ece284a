#include "network/stored_constant.h"

#include "graph/rewriting/moved_constant.h"

namespace kiln::network {

graph::ConstantData as_stored(const graph::Value &constant, const graph::Storage &storage) {
    const graph::Transpose movement{storage.order};
    return *graph::moved_constant(movement, constant);
}

}  // namespace kiln::network
