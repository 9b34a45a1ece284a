// TensorProto: a constant.
#pragma once

#include <string>
#include <string_view>

#include "graph/onnx/model.h"
#include "graph/onnx/reading.h"

namespace kiln::graph::onnx {

inline constexpr size_t most_axes = 64;  // as in NumPy

struct ReadTensor {
    Tensor tensor;
    std::string unread;  // why kiln does not read it, "of type int4"; its type, shape and data mean nothing then
};

// An error names the tensor. A tensor of a type that kiln does not read is none, for it may be that nothing needs it.
Result<ReadTensor> read_tensor(std::string_view message, Reading &reading);

}  // namespace kiln::graph::onnx
