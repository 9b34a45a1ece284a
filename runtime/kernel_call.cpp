// pack, prepare and run check every argument before they touch any memory. Then the kernel gets its buffers and its
// contexts, which lie on the stack or in the caller's workspace.
#include "runtime/kernel_call.h"

#include <HalideRuntime.h>

#include <new>

#include "runtime/byte_range.h"
#include "runtime/call_contexts.h"
#include "runtime/dispatch.h"
#include "runtime/kernel_table.h"
#include "runtime/quantized_values.h"
#include "runtime/struct_size.h"
#include "runtime/subnormals_as_zeros.h"
#include "runtime/thread_pool.h"

namespace kiln {
namespace {

constexpr kiln_status ok = {KILN_OK, KILN_NO_OPERAND, -1, "ok"};

// The names by number. A status names the operand in a sentence that needs no memory of its own.
struct OperandNames {
    const char *of[tensor_operands];
};
constexpr OperandNames named_operands() {
    OperandNames names = {};
    for (const TensorArgument &argument : tensor_arguments) names.of[argument.operand] = argument.name;
    names.of[KILN_PACKED] = "packed";
    names.of[KILN_PREPARED] = "prepared";
    names.of[KILN_WORKSPACE] = "workspace";
    return names;
}
constexpr OperandNames operand_names = named_operands();

struct Problem {
    int32_t code;
    char detail[tensor_operands][72];
};

constexpr Problem problem(int32_t code, const char *what) {
    Problem p = {code, {}};
    for (int i = 0; i < tensor_operands; i++) {
        int length = 0;
        for (const char *c = operand_names.of[i]; *c != 0; c++)
            p.detail[i][length++] = *c;  // a number without a name does not compile
        p.detail[i][length++] = ' ';
        for (const char *c = what; *c != 0; c++)
            p.detail[i][length++] = *c;  // a text that does not fit does not compile
        p.detail[i][length] = 0;
    }
    return p;
}

constexpr Problem null_data = problem(KILN_NULL_ARGUMENT, "is null");
constexpr Problem bad_dtype = problem(KILN_BAD_DTYPE, "has another dtype than the workload's");
constexpr Problem bad_rank = problem(KILN_BAD_RANK, "has another rank than the workload's, as stored");
constexpr Problem bad_shape = problem(KILN_BAD_SHAPE, "has another shape than the workload's, as stored");
constexpr Problem bad_stride = problem(KILN_BAD_STRIDE, "is not dense");
constexpr Problem bad_device = problem(KILN_BAD_DEVICE, "is not on the host, or has a stream");
constexpr Problem bad_alignment = problem(KILN_BAD_ALIGNMENT, "is not aligned as it must be");
constexpr Problem too_small = problem(KILN_BUFFER_TOO_SMALL, "is smaller than the kernel needs");
constexpr Problem bad_value = problem(KILN_BAD_VALUE, "has a value out of its range");
constexpr Problem overlap = problem(KILN_OVERLAP, "overlaps with memory that the call writes");

kiln_status refuse(const Problem &why, int operand, int dimension = -1) {
    return {why.code, static_cast<int16_t>(operand), static_cast<int16_t>(dimension), why.detail[operand]};
}

// A range of bytes that a call reads or writes.
struct Range : ByteRange {
    int operand = KILN_NO_OPERAND;
};

kiln_status check_tensor(const kiln_tensor &tensor, const OperandShape &expected, int operand, Range *range) {
    if (tensor.dtype != expected.dtype) return refuse(bad_dtype, operand);
    if (tensor.rank != expected.rank) return refuse(bad_rank, operand);
    for (int d = 0; d < expected.rank; d++) {
        if (tensor.shape[d] != expected.shape[d]) return refuse(bad_shape, operand, d);
    }
    const size_t bytes = operand_bytes(expected);
    bool has_strides = false;
    for (int d = 0; d < expected.rank; d++) has_strides = has_strides || (tensor.strides[d] != 0 && bytes > 0);
    uint64_t dense = 1;
    for (int d = expected.rank - 1; has_strides && d >= 0; d--) {
        // The stride of a dimension of one element is never used, and none of an empty tensor.
        const bool is_dense = static_cast<uint64_t>(tensor.strides[d]) == dense || expected.shape[d] <= 1;
        if (!is_dense) return refuse(bad_stride, operand, d);
        dense *= static_cast<uint64_t>(expected.shape[d]);
    }
    if (tensor.device != KILN_HOST || tensor.stream != nullptr) return refuse(bad_device, operand);
    const size_t element = element_bytes(expected.dtype);
    *range = {{tensor.data, bytes}, operand};
    if (range->bytes > 0 && tensor.data == nullptr) return refuse(null_data, operand);
    if (!is_aligned(tensor.data, element)) return refuse(bad_alignment, operand);
    return ok;
}

kiln_status check_bytes(const void *data, size_t bytes, size_t needed, size_t alignment, int operand, Range *range) {
    if (data == nullptr && needed > 0) return refuse(null_data, operand);
    if (bytes < needed || needed == no_such_size) return refuse(too_small, operand);
    if (!is_aligned(data, alignment)) return refuse(bad_alignment, operand);
    *range = {{data, needed}, operand};
    return ok;
}

// The buffers of one call in the order in which the kernel takes them; the last is written.
class Call {
public:
    explicit Call(const KernelRow &row) : row_(row) {}

    kiln_status begin(const kiln_arguments *given) {
        if (given == nullptr) return {KILN_NULL_ARGUMENT, KILN_NO_OPERAND, -1, "arguments is null"};
        arguments_ = in_this_version(given, first_arguments_bytes, &longer_arguments_);
        if (arguments_ == nullptr) {
            return {KILN_BAD_VERSION, KILN_NO_OPERAND, -1,
                    "struct_size is none that this package knows; use kiln_arguments_init and this package's headers"};
        }
        if ((row_.info.cpu_features & ~row_.handle.package->cpu_features()) != 0) {
            return {KILN_UNSUPPORTED_CPU, KILN_NO_OPERAND, -1, "this CPU lacks features that the kernel needs"};
        }
        if (!is_valid(arguments_->parallel)) {
            return {KILN_BAD_THREADS, KILN_NO_OPERAND, -1, "parallel needs a function and 1 to 1024 threads"};
        }
        return ok;
    }

    const kiln_arguments &arguments() const { return *arguments_; }

    kiln_status tensor(int operand, const kiln_tensor &tensor) {
        const kiln_status status = check_tensor(tensor, row_.operands[operand], operand, &ranges_[count_]);
        if (status.code == KILN_OK) add(tensor.data);
        return status;
    }

    kiln_status opaque(int operand, const void *data, size_t bytes, size_t needed) {
        const kiln_status status = check_bytes(data, bytes, needed, row_.info.alignment, operand, &ranges_[count_]);
        if (status.code == KILN_OK) add(data);
        return status;
    }

    bool writes_nothing() const { return ranges_[count_ - 1].bytes == 0; }

    // Checks the workspace and what overlaps with what, then calls.
    kiln_status finish(ArgvFunction function) {
        Range workspace;
        const kiln_status status = check_bytes(arguments_->workspace, arguments_->workspace_bytes,
                                               kernel_workspace_bytes(&row_.handle, thread_count(arguments_->parallel)),
                                               1, KILN_WORKSPACE, &workspace);
        if (status.code != KILN_OK) return status;
        const Range &written = ranges_[count_ - 1];
        for (int i = 0; i < count_; i++) {
            if (i != count_ - 1 && ranges_[i].meets(written)) return refuse(overlap, ranges_[i].operand);
            if (ranges_[i].meets(workspace)) return refuse(overlap, ranges_[i].operand);
        }
        if (writes_nothing()) return ok;
        return run(function);
    }

private:
    // All extents and strides are compiled in: a kernel reads nothing but the host pointers.
    void add(const void *data) {
        buffers_[count_].host = static_cast<uint8_t *>(const_cast<void *>(data));
        count_++;
    }

    kiln_status run(ArgvFunction function) {
        const Arena memory = make_arena(arguments_->workspace, arguments_->workspace_bytes);
        KernelContext context =
            make_contexts(memory.base, {row_.workspace_bytes, row_.workspace_bytes_per_thread}, arguments_->parallel);
        KernelContext *user_context = &context;
        void *argv[1 + most_tensors] = {&user_context};
        for (int i = 0; i < count_; i++) argv[1 + i] = &buffers_[i];
        const SubnormalsAsZeros mode;
        const int error = row_.generic != nullptr ? row_.generic(row_.workload, argv) : function(argv);
        if (error == 0) return ok;
        return {KILN_KERNEL_FAILED, KILN_NO_OPERAND, -1, "the kernel reported an error; the output is undefined"};
    }

    const KernelRow &row_;
    const kiln_arguments *arguments_ = nullptr;
    kiln_arguments longer_arguments_;  // where those of an older kiln.h were given
    int count_ = 0;
    halide_buffer_t buffers_[most_tensors] = {};
    Range ranges_[most_tensors];
};

}  // namespace

size_t kernel_workspace_bytes(const kiln_kernel *kernel, int threads) {
    if (!is_valid_thread_count(threads)) return 0;
    const auto &row = *reinterpret_cast<const KernelRow *>(kernel);
    const size_t bytes = contexts_bytes({row.workspace_bytes, row.workspace_bytes_per_thread}, threads);
    return bytes > no_such_size - (arena_alignment - 1) ? no_such_size : bytes + arena_alignment - 1;
}

kiln_status pack_weights(const kiln_kernel *kernel, const kiln_arguments *arguments) {
    const auto &row = *reinterpret_cast<const KernelRow *>(kernel);
    Call call(row);
    kiln_status status = call.begin(arguments);
    if (status.code != KILN_OK || row.pack == nullptr) return status;
    const kiln_arguments &a = call.arguments();
    if (status = call.tensor(KILN_WEIGHTS, a.weights); status.code != KILN_OK) return status;
    status = call.opaque(KILN_PACKED, a.packed, a.packed_bytes, row.info.packed_bytes);
    return status.code != KILN_OK ? status : call.finish(row.pack);
}

kiln_status prepare_input(const kiln_kernel *kernel, const kiln_arguments *arguments) {
    const auto &row = *reinterpret_cast<const KernelRow *>(kernel);
    Call call(row);
    kiln_status status = call.begin(arguments);
    if (status.code != KILN_OK || row.prepare == nullptr) return status;
    const kiln_arguments &a = call.arguments();
    if (status = call.tensor(KILN_INPUT, a.input); status.code != KILN_OK) return status;
    status = call.opaque(KILN_PREPARED, a.prepared, a.prepared_bytes, row.info.prepared_bytes);
    return status.code != KILN_OK ? status : call.finish(row.prepare);
}

kiln_status run_kernel(const kiln_kernel *kernel, const kiln_arguments *arguments) {
    const auto &row = *reinterpret_cast<const KernelRow *>(kernel);
    Call call(row);
    kiln_status status = call.begin(arguments);
    if (status.code != KILN_OK) return status;
    const kiln_arguments &a = call.arguments();
    for (const TensorArgument &argument : tensor_arguments) {
        if (row.operands[argument.operand].rank == 0) continue;
        if (argument.operand == KILN_INPUT && row.prepare != nullptr) {
            status = call.opaque(KILN_PREPARED, a.prepared, a.prepared_bytes, row.info.prepared_bytes);
        } else if (argument.operand == KILN_WEIGHTS && row.pack != nullptr) {
            status = call.opaque(KILN_PACKED, a.packed, a.packed_bytes, row.info.packed_bytes);
        } else {
            status = call.tensor(argument.operand, a.*argument.tensor);
            if (status.code == KILN_OK && !values_hold(row.workload, argument.operand, (a.*argument.tensor).data)) {
                status = refuse(bad_value, argument.operand);
            }
        }
        if (status.code != KILN_OK) return status;
    }
    return call.finish(row.compute);
}

kiln_status create_pool(int threads, kiln_parallel *pool) {
    if (pool == nullptr) return {KILN_NULL_ARGUMENT, KILN_NO_OPERAND, -1, "pool is null"};
    if (!is_valid_thread_count(threads)) {
        return {KILN_BAD_THREADS, KILN_NO_OPERAND, -1, "threads is not 1 to 1024"};
    }
    ThreadPool *made = ThreadPool::create(threads);
    if (made == nullptr) return {KILN_NO_RESOURCES, KILN_NO_OPERAND, -1, "the system refused memory or threads"};
    const ParallelFor loop = made->parallel_for();
    *pool = {loop.run, loop.pool, loop.threads};
    return ok;
}

void destroy_pool(kiln_parallel *pool) {
    if (pool == nullptr) return;
    ThreadPool::destroy(static_cast<ThreadPool *>(pool->pool));
    *pool = {};
}

}  // namespace kiln
