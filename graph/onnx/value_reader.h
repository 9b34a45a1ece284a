// ValueInfoProto: what a model declares of an input or an output.
#pragma once

#include <string>
#include <string_view>

#include "graph/onnx/model.h"
#include "graph/onnx/reading.h"

namespace kiln::graph::onnx {

struct ReadValue {
    ValueInfo value;
    std::string unread;  // why kiln cannot read such values, "a sequence"
};

// An error names the value.
Result<ReadValue> read_value_info(std::string_view message, Reading &reading);

}  // namespace kiln::graph::onnx
