// pack, prepare and run with arguments of any bytes: arguments that suit the kernel are overwritten here and there, and
// pointers are replaced by others of the same call. What stays promised is that each pointer leads to as much memory as
// its role needs; sizes may lie. A refused call must not have touched anything.
#include <vector>

#include "tests/fuzz/fuzz_input.h"
#include "tests/runtime/fake_package.h"

using namespace kiln;

namespace {

constexpr int most_threads = 3;

void run_in_turns(void *pool, int count, kiln_task task, void *argument) {
    const int threads = *static_cast<int *>(pool);
    for (int i = 0; i < count; i++) task(argument, i, i % threads);
}

// Memory of one role that ends where it was said to end, so that AddressSanitizer sees any byte beyond.
class Block {
public:
    Block(size_t bytes, size_t alignment) : bytes_(bytes) {
        const size_t total = (bytes + alignment - 1) / alignment * alignment;
        memory_ = static_cast<char *>(std::aligned_alloc(alignment, total));
        data_ = memory_ + total - bytes;
        std::memset(memory_, 0x3c, total);
    }
    Block() : Block(128, 16) {}
    Block(const Block &) = delete;
    ~Block() { std::free(memory_); }
    char *data() const { return data_; }
    size_t bytes() const { return bytes_; }
    std::vector<char> contents() const { return {data_, data_ + bytes_}; }

private:
    size_t bytes_;
    char *memory_, *data_;
};

struct Memory {
    explicit Memory(const kiln_kernel *kernel)
        : packed(64, 64), prepared(64, 64), workspace(kiln_workspace_bytes(kernel, most_threads), 16) {}

    std::vector<std::vector<char>> contents() const {
        std::vector<std::vector<char>> all;
        for (const Block &block : operands) all.push_back(block.contents());
        for (const Block *block : {&packed, &prepared, &workspace}) all.push_back(block->contents());
        return all;
    }

    Block operands[tensor_operands];  // each large enough for any operand of any kernel, 16 bytes further on too
    Block packed, prepared, workspace;
};

kiln_tensor tensor(const KernelRow &row, int operand, const Memory &memory) {
    const OperandShape &shape = row.operands[operand];
    return kiln_tensor_dense(memory.operands[operand].data(), shape.dtype, shape.rank, shape.shape);
}

kiln_arguments right_arguments(const KernelRow &row, const Memory &memory) {
    kiln_arguments a;
    kiln_arguments_init(&a);
    for (const TensorArgument &argument : tensor_arguments) {
        a.*argument.tensor = tensor(row, argument.operand, memory);
    }
    a.packed = memory.packed.data(), a.packed_bytes = memory.packed.bytes();
    a.prepared = memory.prepared.data(), a.prepared_bytes = memory.prepared.bytes();
    a.workspace = memory.workspace.data(), a.workspace_bytes = memory.workspace.bytes();
    return a;
}

// A tensor's pointer: its own, null, another operand's, or a few bytes further on.
void *choose_pointer(uint8_t choice, void *own, const Memory &memory) {
    if (choice < 128) return own;
    if (choice < 144) return nullptr;
    return memory.operands[choice % tensor_operands].data() + choice % 16;
}

// Overwrites: an offset, a length, the bytes. Pointers are chosen afterwards.
void overwrite(FuzzInput &input, kiln_arguments *arguments) {
    for (int n = input.take<uint8_t>() % 8; n > 0; n--) {
        const size_t offset = input.take<uint16_t>() % sizeof *arguments;
        const size_t length = std::min<size_t>(1 + input.take<uint8_t>() % 8, sizeof *arguments - offset);
        const auto bytes = input.take<uint64_t>();
        std::memcpy(reinterpret_cast<char *>(arguments) + offset, &bytes, length);
    }
}

void restore_pointers(FuzzInput &input, const kiln_arguments &right, const Memory &memory, kiln_arguments *a) {
    for (const TensorArgument &argument : tensor_arguments) {
        (a->*argument.tensor).data = choose_pointer(input.take<uint8_t>(), (right.*argument.tensor).data, memory);
    }
    const auto choice = input.take<uint8_t>();
    a->packed = choice & 1 ? nullptr : choice & 2 ? memory.operands[1].data() + (choice >> 4) : right.packed;
    a->prepared = choice & 4 ? nullptr : right.prepared;
    a->workspace = choice & 8 ? nullptr : right.workspace;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const FakePackage package;
    FuzzInput input(data, size);
    const kiln_kernel *kernel = kiln_kernel_at(*package, input.take<uint8_t>() % kiln_kernel_count(*package));
    const auto &row = *reinterpret_cast<const KernelRow *>(kernel);
    const Memory memory(kernel);
    const kiln_arguments right = right_arguments(row, memory);
    kiln_arguments a = right;
    const auto step = input.take<uint8_t>() % 3;
    const auto loop = input.take<uint8_t>();
    int threads = loop & 2 ? input.take<int32_t>() : 1 + (loop >> 4) % most_threads;
    const kiln_parallel parallel = {loop & 1 ? nullptr : run_in_turns, &threads, threads};
    overwrite(input, &a);
    restore_pointers(input, right, memory, &a);
    a.parallel = loop & 4 ? &parallel : nullptr;
    // A pool of more threads than there is scratch memory for is the caller's lie, unless the size admits it.
    if (a.parallel != nullptr && threads > most_threads)
        a.workspace_bytes = std::min(a.workspace_bytes, memory.workspace.bytes());

    const auto before = memory.contents();
    fake_calls = 0;
    const kiln_status status = (step == 0 ? kiln_pack : step == 1 ? kiln_prepare : kiln_run)(kernel, &a);
    KILN_FUZZ_EXPECT(status.detail != nullptr && *status.detail != 0);
    KILN_FUZZ_EXPECT(status.operand >= KILN_NO_OPERAND && status.operand <= KILN_RESULT_BOUNDS);
    KILN_FUZZ_EXPECT(status.dimension >= -1 && status.dimension < KILN_MAX_RANK);
    const bool called = fake_calls > 0 || status.code == KILN_KERNEL_FAILED;
    if (!called) KILN_FUZZ_EXPECT(memory.contents() == before);
    if (called) KILN_FUZZ_EXPECT(status.code == KILN_OK || status.code == KILN_KERNEL_FAILED);
    return 0;
}
