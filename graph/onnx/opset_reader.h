// OperatorSetIdProto: which version of a domain's operators a model or a function means.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "workload/result.h"

namespace kiln::graph::onnx {

// Adds an import, by domain. Two versions of one domain are an error.
Status read_opset(std::string_view message, std::map<std::string, int64_t> *opsets);

}  // namespace kiln::graph::onnx
