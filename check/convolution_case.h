// A case of a convolution or of one of its gradients, from attributes and tensors to a workload and its files.
#pragma once

#include "check/case_tensors.h"

namespace kiln {

// Problems are reported as those of `attributes`. The result is complete if there are none and the case is mapped.
Mapped map_convolution(Operation op, JsonFields &attributes, CaseTensors &tensors, ConformanceCase *result);

}  // namespace kiln
