// The loops of each operator. Inputs and results have the forms of result_of(); `elements` are as many as the form says and
// of its kind.
#pragma once

#include <vector>

#include "graph/evaluate/evaluate.h"

namespace kiln::graph {

struct Task {
    std::vector<const Numbers *> inputs;
    Numbers *result;  // all 0
    const Interrupted &interrupted;

    const std::vector<double> &floats(size_t input) const { return *std::get_if<0>(&inputs[input]->elements); }
    std::vector<double> &float_result() const { return *std::get_if<0>(&result->elements); }
    const Shape &shape(size_t input) const { return inputs[input]->form.shape; }
};

Error interrupted_error();
Status check_size(int64_t elements);  // against most_elements_at_once

Status compute(const Convolution &op, const Task &task);
Status compute_quantized(const Convolution &op, const Task &task);  // of i8 and u8
Status compute(const MatrixProduct &op, const Task &task);
Status compute(const Pool &op, const Task &task);
Status compute(const Elementwise &op, const Task &task);
Status compute(const Reduce &op, const Task &task);
Status compute(const Normalize &op, const Task &task);
Status compute(const Resample &op, const Task &task);
Status compute(const Gather &op, const Task &task);
Status compute(const Transpose &op, const Task &task);
Status compute(const Reshape &op, const Task &task);
Status compute(const Concat &op, const Task &task);

// A value of the type as two's complement keeps it; a boolean is 0 or 1.
int64_t wrapped(Element type, int64_t value);
// A float in a type: cut off and saturated where that is an integer, rounded to nearest where it is a float.
int64_t cut_off(Element type, double value);
double rounded(Element type, double value);

// NaN where an argument is.
template<typename T>
T least(T a, T b) {
    return a < b || a != a ? a : b;
}
template<typename T>
T largest(T a, T b) {
    return a > b || a != a ? a : b;
}

}  // namespace kiln::graph
