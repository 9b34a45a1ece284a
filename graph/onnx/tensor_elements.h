// The elements of a TensorProto that stand in one of its typed fields: float_data, int32_data, int64_data, double_data,
// uint64_data.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "graph/constant_data.h"
#include "graph/element.h"
#include "workload/result.h"

namespace kiln::graph::onnx {

// `count` elements of `type`; a view of the message, which `owner` keeps alive, where they lie there as they are in memory.
Result<ConstantData> typed_elements(std::string_view message, Element type, int64_t count,
                                    const std::shared_ptr<const void> &owner);

}  // namespace kiln::graph::onnx
