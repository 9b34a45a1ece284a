// Two data movements in a row as one. A list may ask for two passes over memory, and kiln computes them in one.
#pragma once

#include "workload/result.h"
#include "workload/workload.h"

namespace kiln {

// The movement that does what `first` and then `second` do. Its result is that of `second`; where the two cancel out
// it is a layout_transform to the same layout. Errors: `second` does not read what `first` writes (bad_input); no one
// operation does both (unsupported): blocks of blocks in two dimensions have their channels in another order than
// larger blocks, and a shuffle of a layout that shuffles do not have. Precondition: both are valid data movement.
Result<Workload> composed(const Workload &first, const Workload &second);

// The layouts that a data movement reads and writes, as texts.
struct MovedLayouts {
    std::string from, to;
};
MovedLayouts moved_layouts(const Workload &movement);

}  // namespace kiln
