// A call of one of a package's kernels on random operands, through the package and as kiln-runner makes it.
#pragma once

#include <HalideRuntime.h>

#include <memory>
#include <span>
#include <vector>

#include "runtime/kernel_table.h"
#include "tuner/runner/kernel.h"
#include "workload/result.h"

namespace kiln {

// Operands of a kernel in memory of their own, cache-line aligned, packed and prepared once.
class PackageCall {
public:
    // `threads` > 1: a pool of the package's. Errors: a call is refused (bad_input).
    static Result<std::unique_ptr<PackageCall>> create(const kiln_kernel *kernel, int threads, uint64_t seed);
    ~PackageCall();

    void through_package() { kiln_run(kernel_, &arguments_); }
    // The kernel of a shared object of the builder's, on the same operands.
    void directly(const LoadedKernel &kernel, KernelContext &context);

    WorkspaceSize workspace() const;
    std::span<const std::byte> weights() const;  // as the kernel reads them
    std::vector<std::span<const std::byte>> activations() const;

private:
    PackageCall(const kiln_kernel *kernel, int threads);

    struct Free {
        void operator()(std::byte *memory) const;
    };
    struct Memory {
        std::unique_ptr<std::byte, Free> data;
        size_t bytes = 0;
        std::span<const std::byte> span() const { return {data.get(), bytes}; }
    };
    static Memory allocate(size_t bytes);
    kiln_status fill(uint64_t seed);

    const kiln_kernel *kernel_;
    const KernelRow &row_;
    int threads_;
    kiln_arguments arguments_;
    kiln_parallel pool_ = {};
    Memory operands_[tensor_operands], packed_, prepared_, workspace_;
    std::vector<halide_buffer_t> buffers_;  // in the order in which the kernel takes them
};

}  // namespace kiln
