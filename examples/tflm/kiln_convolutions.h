// Convolutions of a kiln package in TensorFlow Lite Micro. Layers that the package has run its kernels, all others TFLM's own:
//
//   tflite::MicroMutableOpResolver<2> resolver;
//   resolver.AddConv2D(kiln_tflm::Register_CONV_2D());
//   resolver.AddDepthwiseConv2D(kiln_tflm::Register_DEPTHWISE_CONV_2D());
//
// Compile kiln_convolutions.cc with -DKILN_PACKAGE=NAME and the package's include folder. A layer's weights are packed into the
// arena when the interpreter allocates its tensors; its workspace is scratch memory of the arena.
#pragma once

#include "tensorflow/lite/micro/micro_common.h"

namespace kiln_tflm {

TFLMRegistration Register_CONV_2D();
TFLMRegistration Register_DEPTHWISE_CONV_2D();

}  // namespace kiln_tflm
