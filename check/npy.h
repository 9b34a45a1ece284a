// NumPy's .npy files, versions 1 and 2, C order, little endian. Conformance suites keep their tensors in them.
//
// Arrays are raw here and have the file's own name of the element type. A suite says how to read the numbers (bfloat16
// is stored as uint16), and some arrays are no operands at all. Every error names the source and its fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/reference/tensor.h"
#include "workload/expression/element.h"
#include "workload/result.h"

namespace kiln {

struct NpyArray {
    std::string descr;  // "<f4", "<i8", "|b1", ...
    std::vector<int64_t> shape;
    std::vector<std::byte> data;
    bool operator==(const NpyArray &) const = default;
};

Result<NpyArray> parse_npy(std::string_view bytes, const std::string &source);
std::string npy_bytes(const NpyArray &array);                                       // version 1
std::string npy_header(std::string_view descr, const std::vector<int64_t> &shape);  // what stands before the data

Result<NpyArray> read_npy(const std::string &path);
Status write_npy(const std::string &path, const NpyArray &array);
Status write_elements(const std::string &path, const NpyArray &array);  // without a header

// The element type of a stored tensor; bf16 is "<u2".
std::string_view npy_descr(DType dtype);
std::string_view npy_descr(scalar::Element type);
Result<Tensor> to_tensor(NpyArray array, DType dtype, const std::string &source);
NpyArray to_npy(const Tensor &tensor);

}  // namespace kiln
