// AttributeProto.
#pragma once

#include <string_view>

#include "graph/onnx/model.h"
#include "graph/onnx/reading.h"

namespace kiln::graph::onnx {

// An error names the attribute.
Result<Attribute> read_attribute(std::string_view message, Reading &reading);

}  // namespace kiln::graph::onnx
