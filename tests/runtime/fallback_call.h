// The fallback called as a program calls it: through the C interface, on workloads and operands of the tuner's.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "package/kernel_descriptor.h"
#include "runtime/descriptor.h"
#include "runtime/make_package.h"
#include "tuner/reference/comparison.h"
#include "tuner/reference/operands.h"
#include "tuner/reference/reference.h"

namespace kiln {

// A package without a kernel of its own.
class FallbackPackage {
public:
    FallbackPackage() : package_(make_package({"fallback", "none", "{}"}, &table_, make_fallback)) {}
    FallbackPackage(const FallbackPackage &) = delete;
    const kiln_package *operator*() const { return &package_; }

private:
    const KernelTable table_ = {nullptr, 0, nullptr, 0};
    const kiln_package package_;
};

// A kernel that was made for a workload, arguments that suit it, and the memory behind them; the output is poisoned.
class FallbackCall {
public:
    // Null `operands`: none. `offset`: elements by which tensors miss the alignment of a cache line.
    FallbackCall(const kiln_package *package, const Workload &w, const Operands &given, int threads = 1)
        : operands(given) {
        kiln_arguments_init(&arguments);
        const auto descriptor = descriptor_of(w);
        if (!descriptor) return;
        made = kiln_find_or_fallback(package, &*descriptor, &memory, &kernel);
        if (kernel == nullptr) return;
        const CallShapes shapes = call_shapes(w);
        const auto tensor = [&](int operand, void *data) {
            const OperandShape &shape = shapes.operands[operand];
            return shape.rank == 0 ? kiln_tensor{} : kiln_tensor_dense(data, shape.dtype, shape.rank, shape.shape);
        };
        for (const NamedOperand &operand : operand_list(w)) {
            const int code = interface_code(operand.role);
            const auto *argument = std::ranges::find(tensor_arguments, code, &TensorArgument::operand);
            arguments.*argument->tensor = tensor(code, (operands.*operand.place).data.data());
        }
        output = {w.output_dtype, stored_result_shape(w), {}};
        output.data.resize(output.elements() * size_of(w.output_dtype));
        fill_with_poison(output.data);
        arguments.output = tensor(KILN_OUTPUT, output.data.data());
        workspace.resize(kiln_workspace_bytes(kernel, threads));
        arguments.workspace = workspace.data();
        arguments.workspace_bytes = workspace.size();
    }
    FallbackCall(const FallbackCall &) = delete;

    kiln_status run() const { return kiln_run(kernel, &arguments); }

    Operands operands;
    kiln_fallback memory;
    const kiln_kernel *kernel = nullptr;
    kiln_status made = {};
    Tensor output;
    std::vector<char> workspace;
    kiln_arguments arguments;
};

// What is wrong with the fallback's result; empty where nothing is.
inline std::string fallback_problem(const kiln_package *package, const Workload &w, const Operands &operands,
                                    const kiln_parallel *parallel = nullptr) {
    FallbackCall call(package, w, operands, parallel ? parallel->threads : 1);
    if (call.kernel == nullptr) return call.made.detail;
    call.arguments.parallel = parallel;
    if (const kiln_status status = call.run(); status.code != KILN_OK) return status.detail;
    const auto expected = reference(w, operands);
    if (!expected) return expected.error().message;
    return compare({w, call.output.data, expected->expected, expected->magnitude, 1e-5}).problem;
}

}  // namespace kiln
