// The operands of a call placed in guarded memory, as the kernel's arguments.
#pragma once

#include <HalideRuntime.h>

#include <memory>
#include <span>
#include <vector>

#include "runtime/kernel_abi.h"
#include "tuner/protocol/runner_protocol.h"
#include "tuner/reference/operands.h"
#include "tuner/runner/guarded_buffer.h"
#include "tuner/runner/kernel.h"
#include "workload/result.h"

namespace kiln {

class Call {
public:
    enum class Place {
        end_at_guard,    // with no more alignment than the element type has
        start_at_guard,  // page-aligned
        scattered,       // for timing: cache-line aligned, each at another offset in its page
    };

    // Copies the operands from their files; from then on they are read-only.
    static Result<std::unique_ptr<Call>> create(const RunnerKernel &kernel, const Workload &workload,
                                                const OperandPaths &operands, Place place);

    // Once, before compute(): pack and prepare where the kernel has them. Answers the kernel's code, 0 for success.
    int prepare(const LoadedKernel &kernel, KernelContext &context);
    int compute(const LoadedKernel &kernel, KernelContext &context);

    void poison_output();

    // Copies an operand into the output's memory, where compute() reads it from then on. Precondition: the workload has it, and it has as
    // many bytes.
    void lay_on_output(Role role);
    std::span<const std::byte> output() const { return output_->memory.data(); }

    // The weights as compute() reads them, empty where it has none, and everything else that it reads or writes.
    std::span<const std::byte> weights() const;
    std::vector<std::span<const std::byte>> activations() const;

private:
    struct Argument {
        GuardedBuffer memory;
        std::vector<halide_dimension_t> dimensions;
        halide_buffer_t buffer = {};
    };
    using ArgumentPointer = std::unique_ptr<Argument>;  // buffers point into their argument, which must not move

    const ArgumentPointer *operand(Role role) const;  // null where the workload has none

    static Result<ArgumentPointer> make_tensor(const char *name, const Tensor &tensor, Place place, size_t index);
    static Result<ArgumentPointer> make_bytes(const char *name, int64_t bytes, Place place, size_t index);
    static Result<ArgumentPointer> make_argument(const BufferRequest &request, halide_type_t type,
                                                 std::vector<halide_dimension_t> dimensions);

    std::vector<Role> roles_;
    std::vector<ArgumentPointer> operands_;  // in the order of `roles_`
    ArgumentPointer packed_, prepared_, output_;
};

}  // namespace kiln
