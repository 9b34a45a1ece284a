// The parts of result_of(): one function an operator. Types and shapes of the inputs are valid in themselves.
#pragma once

#include <vector>

#include "graph/operator.h"

namespace kiln::graph {

using Forms = std::vector<TypedShape>;

Result<TypedShape> form_of(const Convolution &op, const Forms &inputs);
Result<TypedShape> form_of(const MatrixProduct &op, const Forms &inputs);
Result<TypedShape> form_of(const Pool &op, const Forms &inputs);
Result<TypedShape> form_of(const Elementwise &op, const Forms &inputs);
Result<TypedShape> form_of(const Reduce &op, const Forms &inputs);
Result<TypedShape> form_of(const Normalize &op, const Forms &inputs);
Result<TypedShape> form_of(const Resample &op, const Forms &inputs);
Result<TypedShape> form_of(const Gather &op, const Forms &inputs);
Result<TypedShape> form_of(const Transpose &op, const Forms &inputs);
Result<TypedShape> form_of(const Reshape &op, const Forms &inputs);
Result<TypedShape> form_of(const Concat &op, const Forms &inputs);

Status check_input_count(const Forms &inputs, size_t expected);
Status check_same_types(const Forms &inputs);

}  // namespace kiln::graph
