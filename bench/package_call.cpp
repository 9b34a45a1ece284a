#include "bench/package_call.h"

#include <bit>
#include <cstdlib>
#include <random>
#include <string>

#include "runtime/subnormals_as_zeros.h"

namespace kiln {
namespace {

// Numbers that no dtype takes for NaN or denormal: what they are does not matter for time otherwise.
void fill_with_numbers(std::byte *data, size_t bytes, int32_t dtype, std::mt19937_64 &random) {
    if (dtype != KILN_F32) {
        for (size_t i = 0; i < bytes; i++) data[i] = std::byte(random() & 0x3f);
        return;
    }
    auto *values = reinterpret_cast<float *>(data);
    for (size_t i = 0; i < bytes / sizeof(float); i++)
        values[i] = std::bit_cast<float>(0x3f000000u | uint32_t(random() >> 41)) - 0.75f;
}

}  // namespace

void PackageCall::Free::operator()(std::byte *memory) const { std::free(memory); }

PackageCall::PackageCall(const kiln_kernel *kernel, int threads)
    : kernel_(kernel), row_(*reinterpret_cast<const KernelRow *>(kernel)), threads_(threads) {
    kiln_arguments_init(&arguments_);
}

PackageCall::~PackageCall() { kiln_pool_destroy(kernel_->package, &pool_); }

PackageCall::Memory PackageCall::allocate(size_t bytes) {
    if (bytes == 0) return {};
    Memory memory{
        std::unique_ptr<std::byte, Free>(static_cast<std::byte *>(std::aligned_alloc(64, (bytes + 63) / 64 * 64))),
        bytes};
    return memory;
}

Result<std::unique_ptr<PackageCall>> PackageCall::create(const kiln_kernel *kernel, int threads, uint64_t seed) {
    std::unique_ptr<PackageCall> call(new PackageCall(kernel, threads));
    const kiln_status status = call->fill(seed);
    if (status.code != KILN_OK) return bad_input(std::string(kiln_info(kernel)->key) + ": " + status.detail);
    return call;
}

kiln_status PackageCall::fill(uint64_t seed) {
    std::mt19937_64 random(seed);
    for (const TensorArgument &argument : tensor_arguments) {
        const OperandShape &shape = row_.operands[argument.operand];
        if (shape.rank == 0) continue;
        Memory &memory = operands_[argument.operand];
        memory = allocate(operand_bytes(shape));
        fill_with_numbers(memory.data.get(), memory.bytes, shape.dtype, random);
        arguments_.*argument.tensor = kiln_tensor_dense(memory.data.get(), shape.dtype, shape.rank, shape.shape);
    }
    packed_ = allocate(row_.info.packed_bytes);
    prepared_ = allocate(row_.info.prepared_bytes);
    workspace_ = allocate(kiln_workspace_bytes(kernel_, threads_));
    arguments_.packed = packed_.data.get(), arguments_.packed_bytes = packed_.bytes;
    arguments_.prepared = prepared_.data.get(), arguments_.prepared_bytes = prepared_.bytes;
    arguments_.workspace = workspace_.data.get(), arguments_.workspace_bytes = workspace_.bytes;
    if (threads_ > 1) {
        if (const kiln_status s = kiln_pool_create(kernel_->package, threads_, &pool_); s.code != KILN_OK) return s;
        arguments_.parallel = &pool_;
    }
    if (const kiln_status s = kiln_pack(kernel_, &arguments_); s.code != KILN_OK) return s;
    if (const kiln_status s = kiln_prepare(kernel_, &arguments_); s.code != KILN_OK) return s;
    for (const TensorArgument &argument : tensor_arguments) {
        const Memory *memory = &operands_[argument.operand];
        if (argument.operand == KILN_INPUT && row_.prepare) memory = &prepared_;
        if (argument.operand == KILN_WEIGHTS && row_.pack) memory = &packed_;
        if (row_.operands[argument.operand].rank == 0) continue;
        buffers_.push_back({});
        buffers_.back().host = reinterpret_cast<uint8_t *>(memory->data.get());
    }
    return kiln_run(kernel_, &arguments_);
}

void PackageCall::directly(const LoadedKernel &kernel, KernelContext &context) {
    KernelContext *user_context = &context;
    void *argv[1 + tensor_operands] = {&user_context};
    for (size_t i = 0; i < buffers_.size(); i++) argv[1 + i] = &buffers_[i];
    const SubnormalsAsZeros mode;
    kernel.compute()(argv);
}

WorkspaceSize PackageCall::workspace() const { return {row_.workspace_bytes, row_.workspace_bytes_per_thread}; }

std::span<const std::byte> PackageCall::weights() const {
    return row_.pack ? packed_.span() : operands_[KILN_WEIGHTS].span();
}

std::vector<std::span<const std::byte>> PackageCall::activations() const {
    std::vector<std::span<const std::byte>> spans{row_.prepare ? prepared_.span() : operands_[KILN_INPUT].span()};
    for (const TensorArgument &argument : tensor_arguments) {
        if (argument.operand == KILN_INPUT || argument.operand == KILN_WEIGHTS) continue;
        spans.push_back(operands_[argument.operand].span());
    }
    return spans;
}

}  // namespace kiln
