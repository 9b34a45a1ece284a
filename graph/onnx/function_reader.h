// FunctionProto: an operator that a model defines by other operators.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "graph/onnx/model.h"
#include "graph/onnx/reading.h"

namespace kiln::graph::onnx {

struct Function {
    Body body;                        // its inputs and outputs have names alone
    std::vector<Attribute> defaults;  // of attributes that a call may leave out
    std::map<std::string, int64_t> opsets;
};

using FunctionName = std::tuple<std::string, std::string, std::string>;  // domain, name, overload
using Functions = std::map<FunctionName, Function>;

// Adds a function; two of one name are an error. Its nodes are in order.
Status read_function(std::string_view message, Functions *functions, Reading &reading);

}  // namespace kiln::graph::onnx
