// The table of a package's kernels: constants that `kiln build` generates and compiles, and that dispatch reads.
//
// Rows are sorted by workload key; rows of one workload (one a target) are next to each other, best first, and dispatch
// takes the first that the CPU can run. An index over the descriptors' hashes makes the lookup by descriptor
// independent of the number of kernels.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include "runtime/kernel_abi.h"
#include "runtime/kiln.h"

namespace kiln {

// The form that an operand of a call must have: dense, as stored. Rank 0 means that the workload has no such operand.
struct OperandShape {
    int32_t dtype = 0, rank = 0;
    int64_t shape[KILN_MAX_RANK] = {};
};

// Also the alignment of an element. 0 for a number that is no dtype.
constexpr size_t element_bytes(int32_t dtype) {
    switch (dtype) {
        case KILN_F64:
        case KILN_I64:
        case KILN_U64:
            return 8;
        case KILN_F32:
        case KILN_I32:
        case KILN_U32:
            return 4;
        case KILN_F16:
        case KILN_BF16:
        case KILN_I16:
        case KILN_U16:
            return 2;
        case KILN_I8:
        case KILN_U8:
        case KILN_BOOL:
            return 1;
        default:
            return 0;
    }
}

// SIZE_MAX if a size_t cannot hold the number. Precondition: there is such an operand.
inline size_t operand_bytes(const OperandShape &operand) {
    size_t bytes = element_bytes(operand.dtype);
    for (int d = 0; d < operand.rank; d++) {
        if (operand.shape[d] == 0) return 0;
    }
    for (int d = 0; d < operand.rank; d++) {
        if (__builtin_mul_overflow(bytes, operand.shape[d], &bytes)) return SIZE_MAX;
    }
    return bytes;
}

// The tensors that a call may take. A kernel takes those that its workload has in the order of these rows; the last row
// is what it writes. A tensor that comes later gets the next number, a member
// at the end of kiln_arguments, and a row before the output: nothing else counts operands.
struct TensorArgument {
    int operand;       // KILN_INPUT, ...
    const char *name;  // of the member
    kiln_tensor kiln_arguments::*tensor;
};
constexpr TensorArgument tensor_arguments[] = {
    {KILN_INPUT, "input", &kiln_arguments::input},
    {KILN_WEIGHTS, "weights", &kiln_arguments::weights},
    {KILN_BIAS, "bias", &kiln_arguments::bias},
    {KILN_ADDEND, "addend", &kiln_arguments::addend},
    {KILN_SLOPE, "slope", &kiln_arguments::slope},
    {KILN_FACTOR, "factor", &kiln_arguments::factor},
    {KILN_INPUT_FACTOR, "input_factor", &kiln_arguments::input_factor},
    {KILN_INPUT_BIAS, "input_bias", &kiln_arguments::input_bias},
    {KILN_DEPTHWISE_KERNEL, "depthwise_kernel", &kiln_arguments::depthwise_kernel},
    {KILN_INPUT_ZERO_POINT, "input_zero_point", &kiln_arguments::input_zero_point},
    {KILN_KERNEL_ZERO_POINT, "kernel_zero_point", &kiln_arguments::kernel_zero_point},
    {KILN_MULTIPLIER, "multiplier", &kiln_arguments::multiplier},
    {KILN_SHIFT, "shift", &kiln_arguments::shift},
    {KILN_SCALE, "scale", &kiln_arguments::scale},
    {KILN_OUTPUT_ZERO_POINT, "output_zero_point", &kiln_arguments::output_zero_point},
    {KILN_RESULT_BOUNDS, "result_bounds", &kiln_arguments::result_bounds},
    {KILN_ADDEND_ZERO_POINT, "addend_zero_point", &kiln_arguments::addend_zero_point},
    {KILN_ADDITION_MULTIPLIER, "addition_multiplier", &kiln_arguments::addition_multiplier},
    {KILN_ADDITION_SHIFT, "addition_shift", &kiln_arguments::addition_shift},
    {KILN_ADDITION_FACTORS, "addition_factors", &kiln_arguments::addition_factors},
    {KILN_ADDITION_ZERO_POINT, "addition_zero_point", &kiln_arguments::addition_zero_point},
    {KILN_ADDITION_BOUNDS, "addition_bounds", &kiln_arguments::addition_bounds},
    {KILN_OPERAND_1, "operand_1", &kiln_arguments::operand_1},
    {KILN_OPERAND_2, "operand_2", &kiln_arguments::operand_2},
    {KILN_OPERAND_3, "operand_3", &kiln_arguments::operand_3},
    {KILN_OPERAND_4, "operand_4", &kiln_arguments::operand_4},
    {KILN_OPERAND_5, "operand_5", &kiln_arguments::operand_5},
    {KILN_OPERAND_6, "operand_6", &kiln_arguments::operand_6},
    {KILN_OPERAND_7, "operand_7", &kiln_arguments::operand_7},
    {KILN_OUTPUT, "output", &kiln_arguments::output},
};

// One more than the largest number of a tensor.
constexpr int count_tensor_operands() {
    int count = 0;
    for (const TensorArgument &argument : tensor_arguments) {
        if (argument.operand >= count) count = argument.operand + 1;
    }
    return count;
}
inline constexpr int tensor_operands = count_tensor_operands();
inline constexpr int most_tensors = sizeof tensor_arguments / sizeof tensor_arguments[0];  // of one call
static_assert(tensor_arguments[most_tensors - 1].operand == KILN_OUTPUT);

// A kernel without compiled sizes: it reads the normalized descriptor.
using GenericFunction = int (*)(const kiln_descriptor &, void **args);

struct KernelRow {
    kiln_kernel handle;  // first: a kiln_kernel is the address of its row
    kiln_kernel_info info;
    kiln_descriptor workload;  // normalized
    ArgvFunction compute, pack, prepare;
    // Arena peaks in whole cache lines: of the calling thread, and of each thread of a parallel loop.
    size_t workspace_bytes, workspace_bytes_per_thread;
    OperandShape operands[tensor_operands];  // by number: KILN_INPUT, ...
    GenericFunction generic;                 // in the place of all three functions; null in the rows of a table
};

struct DescriptorIndex {
    uint64_t hash;  // of the normalized descriptor
    uint32_t row;   // first of its workload
    bool operator<(const DescriptorIndex &other) const { return hash < other.hash; }
};

struct KernelTable {
    const KernelRow *rows;
    size_t row_count;
    const DescriptorIndex *index;  // one for each workload, ascending
    size_t index_count;
};

}  // namespace kiln
