// Cases `conv_int8` and `depthwise_conv_int8`: quantized convolutions with LiteRT's requantization.
#pragma once

#include "check/case_tensors.h"

namespace kiln {

Mapped map_quantized_convolution(bool depthwise, JsonFields &attributes, CaseTensors &tensors, ConformanceCase *result);

}  // namespace kiln
