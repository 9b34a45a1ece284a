// TensorProto.DataType: the numbers that ONNX gives types of elements.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "graph/element.h"

namespace kiln::graph::onnx {

std::optional<Element> element_of(int64_t data_type);

// "float8e4m3fn", also for types that kiln does not read.
std::string data_type_name(int64_t data_type);

}  // namespace kiln::graph::onnx
