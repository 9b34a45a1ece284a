// A case of data movement, from attributes and tensors to a workload and its files.
#pragma once

#include "check/case_tensors.h"

namespace kiln {

// space_to_depth, depth_to_space or layout_transform. The rest is like map_convolution().
Mapped map_movement(Operation op, JsonFields &attributes, CaseTensors &tensors, ConformanceCase *result);

}  // namespace kiln
