#include "tests/package/guarded_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "package/kernel_descriptor.h"
#include "tuner/reference/comparison.h"
#include "tuner/reference/operands.h"
#include "workload/signature.h"

namespace kiln {
namespace {

Status refused(const char *step, const kiln_status &status) {
    return environment_error(fmt::format("{}: status {}, {}", step, status.code, status.detail));
}

Result<const kiln_kernel *> find(const kiln_package *package, const Workload &workload) {
    const Result<kiln_descriptor> descriptor = descriptor_of(workload);
    if (!descriptor) return descriptor.error();
    const kiln_kernel *kernel = nullptr, *by_key = nullptr;
    kiln_status status = kiln_find(package, &*descriptor, &kernel);
    if (status.code != KILN_OK) return refused("kiln_find", status).error();
    status = kiln_find_key(package, key(workload).c_str(), &by_key);
    if (status.code != KILN_OK) return refused("kiln_find_key", status).error();
    if (by_key != kernel) return environment_error("kiln_find_key answers another kernel than kiln_find");
    return kernel;
}

// The buffers of one call.
class Memory {
public:
    explicit Memory(Placement placement) : placement_(placement) {}
    Memory(const Memory &) = delete;

    // At an address that is a multiple of `alignment` and, behind a guard, `offset` bytes into its page.
    Result<std::byte *> take(const char *name, size_t bytes, size_t alignment, size_t offset = 0) {
        Result<GuardedBuffer> buffer = GuardedBuffer::allocate(
            {.name = name, .bytes = bytes, .alignment = alignment, .placement = placement_, .offset = offset});
        if (!buffer) return buffer.error();
        std::byte *data = buffer->data().data();
        buffers_.push_back(std::move(*buffer));
        return data;
    }

    // All buffers so far.
    void protect() {
        for (GuardedBuffer &buffer : buffers_) buffer.set_read_only(true);
    }

private:
    const Placement placement_;
    std::vector<GuardedBuffer> buffers_;
};

kiln_tensor tensor_of(const OperandShape &shape, const void *data) {
    return kiln_tensor_dense(data, shape.dtype, shape.rank, shape.shape);
}

class Caller {
public:
    Caller(const GuardedCall &call, const kiln_kernel *kernel)
        : call_(call),
          kernel_(kernel),
          shapes_(call_shapes(call.workload)),
          operands_(call.placement),
          scratch_(call.placement) {
        kiln_arguments_init(&arguments_);
    }
    Caller(const Caller &) = delete;
    ~Caller() { kiln_pool_destroy(call_.package, &pool_); }

    Status place_operands();
    Status place_workspace();
    Status transform();
    Result<Tensor> compute();

private:
    Status step(const char *name, kiln_status (*function)(const kiln_kernel *, const kiln_arguments *)) const {
        const kiln_status status = function(kernel_, &arguments_);
        return status.code == KILN_OK ? Status() : refused(name, status);
    }

    const GuardedCall &call_;
    const kiln_kernel *kernel_;
    const CallShapes shapes_;
    Memory operands_, scratch_;
    kiln_arguments arguments_;
    kiln_parallel pool_ = {};
};

Status Caller::place_operands() {
    for (const NamedOperand &operand : operand_list(call_.workload)) {
        const Tensor &tensor = call_.operands.*operand.place;
        const int number = interface_code(operand.role);
        const auto argument =
            std::ranges::find(tensor_arguments, number, [](const TensorArgument &a) { return a.operand; });
        const Result<std::byte *> data =
            operands_.take(operand.name.data(), tensor.data.size(), size_of(operand.tensor.dtype));
        if (!data) return data.error();
        if (!tensor.data.empty()) std::memcpy(*data, tensor.data.data(), tensor.data.size());
        arguments_.*argument->tensor = tensor_of(shapes_.operands[number], *data);
    }
    operands_.protect();
    return {};
}

// Weights and input as the kernel wants them.
Status Caller::transform() {
    const kiln_kernel_info *info = kiln_info(kernel_);
    const Result<std::byte *> packed = operands_.take("packed", info->packed_bytes, info->alignment);
    if (!packed) return packed.error();
    const Result<std::byte *> prepared = operands_.take("prepared", info->prepared_bytes, info->alignment);
    if (!prepared) return prepared.error();
    arguments_.packed = *packed, arguments_.packed_bytes = info->packed_bytes;
    arguments_.prepared = *prepared, arguments_.prepared_bytes = info->prepared_bytes;
    fill_with_poison({*packed, info->packed_bytes});
    fill_with_poison({*prepared, info->prepared_bytes});
    if (Status s = step("kiln_pack", kiln_pack); !s) return s;
    if (Status s = step("kiln_prepare", kiln_prepare); !s) return s;
    operands_.protect();
    return {};
}

Status Caller::place_workspace() {
    if (call_.threads > 1) {
        const kiln_status status = kiln_pool_create(call_.package, call_.threads, &pool_);
        if (status.code != KILN_OK) return refused("kiln_pool_create", status);
        arguments_.parallel = &pool_;
    }
    arguments_.workspace_bytes = kiln_workspace_bytes(kernel_, call_.threads);
    // Its size is odd, so that it begins at an odd address where it ends at a guard.
    const Result<std::byte *> workspace = scratch_.take("workspace", arguments_.workspace_bytes, 1, 1);
    if (!workspace) return workspace.error();
    fill_with_poison({*workspace, arguments_.workspace_bytes});
    arguments_.workspace = *workspace;
    return {};
}

Result<Tensor> Caller::compute() {
    Tensor result{call_.workload.output_dtype, stored_result_shape(call_.workload), {}};
    result.data.resize(result.elements() * size_of(result.dtype));
    const Result<std::byte *> output = scratch_.take("output", result.data.size(), size_of(result.dtype));
    if (!output) return output.error();
    fill_with_poison({*output, result.data.size()});
    arguments_.output = tensor_of(shapes_.operands[KILN_OUTPUT], *output);
    if (Status s = step("kiln_run", kiln_run); !s) return s.error();
    std::memcpy(result.data.data(), *output, result.data.size());
    return result;
}

}  // namespace

Result<Tensor> run(const GuardedCall &call) {
    const Result<const kiln_kernel *> kernel = find(call.package, call.workload);
    if (!kernel) return kernel.error();
    Caller caller(call, *kernel);
    if (Status s = caller.place_operands(); !s) return s.error();
    if (Status s = caller.place_workspace(); !s) return s.error();
    if (Status s = caller.transform(); !s) return s.error();
    return caller.compute();
}

}  // namespace kiln
