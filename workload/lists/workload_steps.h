// The field `then` of a list's entry: further data movement, each step of what the one before it wrote. All steps together
// are one workload and one pass over memory (workload/movement_composition.h).
#pragma once

#include "json/json_value.h"
#include "workload/workload.h"

namespace kiln {

// `steps` is a list of objects with `op`, and `to_layout`, or `block` and `output_layout`: shapes, dtype and the layout
// that is read follow from `workload`, which becomes the composed one. The problem names the step and the field.
FieldProblem read_then(const Json &steps, Workload *workload);

}  // namespace kiln
