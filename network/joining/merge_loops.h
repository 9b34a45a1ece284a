// The shortest form of a nest, so that equal work has equal keys whatever the shapes in the model.
#pragma once

#include "workload/nest/nest.h"

namespace kiln::network {

// Two adjacent loops become one where each operand either has neither of them, or has both as two adjacent axes that they walk
// through from end to end.
void merge_loops(Nest *nest);

// Where all numbers are f32 a nest states no types.
void leave_out_types(Nest *nest);

}  // namespace kiln::network
