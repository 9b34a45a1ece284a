// From an ONNX model to a graph of kiln's operators: shapes become static, what depends on constants alone is computed, and
// ONNX's many spellings become few operators.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/lower/node/folding_bounds.h"
#include "graph/onnx/model.h"

namespace kiln::graph {

// The shape that an input has when the network runs, `--shape NAME=1x3x480x480`.
struct InputShape {
    std::string name;
    Shape shape;
};

// An input that always has these elements, `--constant NAME=16000`; one element stands for all.
struct InputConstant {
    std::string name;
    std::vector<double> elements;
};

// Such an input in the form that it has in the model.
struct ConstantInput {
    std::string name;
    TypedShape form;
    ConstantData data;
};

// What the user says of inputs.
struct StatedInputs {
    std::vector<InputShape> shapes;
    std::vector<InputConstant> constants;
};

// The branch of an If whose condition is known takes the place of its node, and so does the body of a Loop or a Scan, as often as it
// is repeated. Of an If whose condition is computed both branches do, and the condition chooses among their elements; one that follows
// from small inputs of integers alone, such as a sampling rate, is refused until the user states these.
//
// An error lists everything that stands in the way, a line each: operators, attributes, opsets and types that kiln does not
// know with the names of their nodes, inputs whose shapes must be stated, stated names that the model does not have.
Result<Graph> lower(const onnx::Model &model, const StatedInputs &stated, const FoldingBounds &bounds = {});

// The constants among the inputs, for what runs the model itself. The errors are some of those of lower().
Result<std::vector<ConstantInput>> constant_inputs(const onnx::Model &model, const StatedInputs &stated);

}  // namespace kiln::graph
