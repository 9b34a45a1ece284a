// A case of a whole network: an ONNX model, the shapes of its inputs, and tensors by the names that the model gives them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "check/tolerance.h"
#include "workload/expression/element.h"

namespace kiln {

class JsonFields;

struct NetworkTensor {
    std::string name, path;
    scalar::Element type = scalar::Element::f32;
    std::vector<int64_t> shape;
    Tolerance tolerance;  // of an expected one
};

struct NetworkCase {
    std::string model;                                         // the path of a file
    std::map<std::string, std::vector<int64_t>> input_shapes;  // those that the model leaves open
    std::vector<NetworkTensor> inputs, expected;
};

// What a manifest says of tolerances. `quanta` is absolute; `relative_or_absolute`, and `seed` of convolutions, are relative where
// the expected value is large. Another `kind` is a problem.
Tolerance parse_tolerance(JsonFields fields);

// The tensors of a case whose operation is `onnx_graph`; file names are relative to `folder`. Problems are those of `fields`: a
// role that nobody knows is one, and so is a case that expects nothing, since both would pass whatever kiln computes.
NetworkCase parse_network_case(JsonFields &fields, const std::string &folder);

}  // namespace kiln
