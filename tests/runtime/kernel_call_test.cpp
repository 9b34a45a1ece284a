// Calling kernels: what right calls do, and that wrong ones are refused before any memory is touched.
#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <cstddef>
#include <cstring>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/struct_size.h"
#include "tests/runtime/fake_package.h"

namespace kiln {
namespace {

// Arguments that suit every kernel of the fake package, and the memory behind them.
struct Call {
    explicit Call(const kiln_kernel *called) : kernel(called) {
        kiln_arguments_init(&arguments);
        const int64_t batch = kiln_info(kernel)->workload->batch;
        const int64_t activation[] = {batch, 1, 1, 2}, weight[] = {1, 1, 2, 2}, channels[] = {2};
        for (size_t i = 0; i < std::size(input); i++) input[i] = float(i) + 1;
        arguments.input = kiln_tensor_dense(input, KILN_F32, 4, activation);
        arguments.weights = kiln_tensor_dense(weights, KILN_F32, 4, weight);
        arguments.bias = kiln_tensor_dense(bias, KILN_F32, 1, channels);
        arguments.addend = kiln_tensor_dense(addend, KILN_F32, 4, activation);
        arguments.slope = kiln_tensor_dense(slope, KILN_F32, 1, channels);
        arguments.output = kiln_tensor_dense(output, KILN_F32, 4, activation);
        arguments.packed = packed;
        arguments.packed_bytes = kiln_info(kernel)->packed_bytes;
        workspace.resize(kiln_workspace_bytes(kernel, 3));
        arguments.workspace = workspace.data();
        arguments.workspace_bytes = workspace.size();
    }

    kiln_status run() const { return kiln_run(kernel, &arguments); }

    const kiln_kernel *kernel;
    float input[32] = {}, weights[4] = {100, 200, 300, 400}, bias[2] = {0.5, 0.25}, addend[32] = {1000, 2000};
    float output[32] = {}, slope[2] = {10000, 20000};
    alignas(64) float packed[16] = {};
    std::vector<char> workspace;
    kiln_arguments arguments;
};

TEST(KernelCall, PassesTheOperandsInOrder) {
    const FakePackage package;
    Call plain(package.kernel(plain_batch));
    EXPECT_EQ(plain.run().code, KILN_OK);
    EXPECT_EQ(plain.output[0], 101);
    EXPECT_EQ(plain.output[1], 202);

    Call full(package.kernel(full_batch));
    EXPECT_EQ(full.run().code, KILN_OK);
    EXPECT_EQ(full.output[0], 11101.5);
    EXPECT_EQ(full.output[1], 22202.25);
}

// On x86-64 and AArch64, where a thread has such a mode.
TEST(KernelCall, TakesSubnormalNumbersForZeros) {
    if (!SubnormalsAsZeros::exists) GTEST_SKIP() << "this CPU has no such mode";
    const FakePackage package;
    Call plain(package.kernel(plain_batch));
    volatile const float subnormal = 1e-40f, normal = 1;
    plain.input[0] = subnormal, plain.weights[0] = subnormal;
    EXPECT_EQ(plain.run().code, KILN_OK);
    EXPECT_EQ(plain.output[0], 0);
    EXPECT_NE(subnormal * normal, 0) << "the mode is the caller's again";

    Call packed(package.kernel(packed_batch));
    packed.weights[0] = subnormal;
    EXPECT_EQ(kiln_pack(packed.kernel, &packed.arguments).code, KILN_OK);
    EXPECT_EQ(packed.packed[0], 0);
    EXPECT_NE(subnormal * normal, 0);
    const SubnormalsAsZeros mode;
    EXPECT_EQ(plain.run().code, KILN_OK);
    EXPECT_EQ(subnormal * normal, 0) << "a caller that had the mode keeps it";
}

// Two threads that begin with the mode of the calling one, as all threads do.
void run_on_two_threads(void *, int count, kiln_task task, void *argument) {
    std::thread other([&] {
        for (int i = 1; i < count; i += 2) task(argument, i, 1);
    });
    for (int i = 0; i < count; i += 2) task(argument, i, 0);
    other.join();
}

// 1 + 1e-9 is 1 where numbers are rounded to nearest, and is not exact.
TEST(KernelCall, TheProgramsModeOfArithmeticDoesNotReachKernels) {
    if (!SubnormalsAsZeros::exists) GTEST_SKIP() << "on this CPU kernels compute in the program's mode";
    const FakePackage package;
    const kiln_parallel own = {run_on_two_threads, nullptr, 2};
    kiln_parallel pool;
    ASSERT_EQ(kiln_pool_create(*package, 2, &pool).code, KILN_OK);
    for (const kiln_parallel *parallel : {static_cast<const kiln_parallel *>(nullptr), &own, &std::as_const(pool)}) {
        for (const int64_t batch : {plain_batch, parallel_batch}) {
            Call call(package.kernel(batch));
            call.arguments.parallel = parallel;
            call.input[0] = call.input[1] = 1e-9f;
            call.weights[0] = call.weights[1] = 1;
            std::fesetround(FE_UPWARD);
            const int32_t code = call.run().code;
            const float after = one_and_a_bit();
            std::fesetround(FE_TONEAREST);
            EXPECT_EQ(code, KILN_OK);
            EXPECT_GT(after, 1) << "the mode is the caller's again";
            EXPECT_EQ(call.output[0], 1) << batch;
            EXPECT_EQ(call.output[1], 1) << batch;
#if defined(__GLIBC__) && defined(__x86_64__)
            std::feclearexcept(FE_ALL_EXCEPT);
            feenableexcept(FE_INEXACT);
            const int32_t code_with_traps = call.run().code;
            const unsigned mode = __builtin_ia32_stmxcsr();
            fedisableexcept(FE_ALL_EXCEPT);
            EXPECT_EQ(code_with_traps, KILN_OK);
            EXPECT_EQ(mode >> 7 & FE_INEXACT, 0u) << "it traps again";
#endif
        }
    }
    kiln_pool_destroy(*package, &pool);
}

TEST(KernelCall, PacksOnceAndRunsOnThePackedForm) {
    const FakePackage package;
    Call call(package.kernel(packed_batch));
    EXPECT_EQ(kiln_pack(call.kernel, &call.arguments).code, KILN_OK);
    EXPECT_EQ(call.packed[1], 2000);
    call.arguments.weights = {};  // not looked at any more
    EXPECT_EQ(call.run().code, KILN_OK);
    EXPECT_EQ(call.output[1], 2002);
}

TEST(KernelCall, PackAndPrepareDoNothingWhereThereIsNone) {
    const FakePackage package;
    Call call(package.kernel(plain_batch));
    fake_calls = 0;
    EXPECT_EQ(kiln_pack(call.kernel, &call.arguments).code, KILN_OK);
    EXPECT_EQ(kiln_prepare(call.kernel, &call.arguments).code, KILN_OK);
    EXPECT_EQ(fake_calls, 0);
}

TEST(KernelCall, GivesEachThreadItsWorkspace) {
    const FakePackage package;
    const kiln_kernel *kernel = package.kernel(parallel_batch);
    kiln_parallel pool;
    ASSERT_EQ(kiln_pool_create(*package, 3, &pool).code, KILN_OK);
    fake_tasks_with_subnormals = 0;
    for (const int threads : {1, 3}) {
        for (const size_t offset : {0, 1, 63}) {
            Call call(kernel);
            const size_t bytes = kiln_workspace_bytes(kernel, threads);
            std::vector<char> memory(bytes + 64);  // exactly as much as asked for, wherever it begins
            call.arguments.workspace = memory.data() + offset;
            call.arguments.workspace_bytes = bytes;
            if (threads == 3) call.arguments.parallel = &pool;
            EXPECT_EQ(call.run().code, KILN_OK);
            EXPECT_EQ(call.output[0], 2);
            EXPECT_EQ(call.output[1], 3);
        }
    }
    EXPECT_EQ(fake_tasks_with_subnormals, 0);
    kiln_pool_destroy(*package, &pool);
    EXPECT_EQ(pool.run, nullptr);
    kiln_pool_destroy(*package, &pool);  // nothing is left to destroy
}

TEST(KernelCall, TakesTheCallersOwnThreads) {
    const FakePackage package;
    Call call(package.kernel(parallel_batch));
    int loops = 0;
    kiln_parallel own = {};
    own.pool = &loops;
    own.threads = 2;
    own.run = [](void *pool, int count, kiln_task task, void *argument) {
        ++*static_cast<int *>(pool);
        std::thread other([&] {
            for (int i = 1; i < count; i += 2) task(argument, i, 1);
        });
        for (int i = 0; i < count; i += 2) task(argument, i, 0);
        other.join();
    };
    call.arguments.parallel = &own;
    fake_tasks_with_subnormals = 0;
    EXPECT_EQ(call.run().code, KILN_OK);
    EXPECT_EQ(loops, 1);
    EXPECT_EQ(fake_tasks_with_subnormals, 0);
    EXPECT_EQ(call.output[1], 3);
}

TEST(KernelCall, IsReentrant) {
    const FakePackage package;
    kiln_parallel pool;
    ASSERT_EQ(kiln_pool_create(*package, 2, &pool).code, KILN_OK);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++) {
        threads.emplace_back([&, t] {
            Call call(package.kernel(parallel_batch));
            if (t % 2) call.arguments.parallel = &pool;
            for (int i = 0; i < 200; i++) wrong += call.run().code != KILN_OK || call.output[1] != 3;
        });
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    kiln_pool_destroy(*package, &pool);
}

TEST(KernelCall, AcceptsDenseStridesAndThoseOfSingleElements) {
    const FakePackage package;
    Call call(package.kernel(plain_batch));
    const int64_t strides[] = {123, 7, -1, 1};  // only the last dimension has more than one element
    std::copy(strides, strides + 4, call.arguments.output.strides);
    EXPECT_EQ(call.run().code, KILN_OK);
}

TEST(KernelCall, ReportsAFailingKernel) {
    const FakePackage package;
    EXPECT_EQ(Call(package.kernel(fails_batch)).run().code, KILN_KERNEL_FAILED);
}

// A kernel of the fake package with other sizes.
KernelRow with_workspace(const kiln_kernel *kernel, size_t bytes, size_t bytes_per_thread) {
    KernelRow row = *reinterpret_cast<const KernelRow *>(kernel);
    row.workspace_bytes = bytes;
    row.workspace_bytes_per_thread = bytes_per_thread;
    return row;
}

TEST(KernelCall, SizesThatOverflowAreNoSizes) {
    constexpr size_t most = SIZE_MAX & ~size_t(63), half = most / 2;
    const FakePackage package;
    kiln_parallel threads = {};
    threads.run = [](void *, int, kiln_task, void *) {};
    for (const auto &[bytes, per_thread, count] : {std::tuple{most, size_t(0), 1},
                                                   {size_t(0), most, 1},
                                                   {half, half, 1},
                                                   {half, half, 2},
                                                   {size_t(64), most / 1024, 1024}}) {
        const KernelRow row = with_workspace(package.kernel(parallel_batch), bytes, per_thread);
        EXPECT_EQ(kiln_workspace_bytes(&row.handle, count), SIZE_MAX) << bytes << " " << per_thread << " " << count;
        Call call(package.kernel(parallel_batch));
        call.kernel = &row.handle;
        threads.threads = count;
        call.arguments.parallel = &threads;
        for (const size_t given : {call.workspace.size(), SIZE_MAX}) {
            call.arguments.workspace_bytes = given;
            fake_calls = 0;
            const kiln_status status = call.run();
            EXPECT_EQ(status.code, KILN_BUFFER_TOO_SMALL) << given;
            EXPECT_EQ(status.operand, KILN_WORKSPACE);
            EXPECT_EQ(fake_calls, 0);
        }
    }
}

TEST(KernelCall, EveryDtypeHasASize) {
    for (int32_t dtype = KILN_F32; dtype <= KILN_BOOL; dtype++) EXPECT_GT(element_bytes(dtype), 0u) << dtype;
    EXPECT_EQ(element_bytes(KILN_F64), 8u);
    EXPECT_EQ(element_bytes(KILN_U16), 2u);
    EXPECT_EQ(element_bytes(KILN_BOOL + 1), 0u) << "a new one needs a size";
}

TEST(KernelCall, TensorsThatOverflowAreTooLargeForAnyMemory) {
    const OperandShape huge = {KILN_F32, 3, {int64_t(1) << 31, int64_t(1) << 31, 4}};
    const OperandShape empty = {KILN_F32, 3, {int64_t(1) << 62, int64_t(1) << 62, 0}};
    EXPECT_EQ(operand_bytes(huge), SIZE_MAX);
    EXPECT_EQ(operand_bytes(empty), 0u);
}

TEST(KernelCall, AThreadThatWasNotAnnouncedDoesNotRun) {
    const FakePackage package;
    Call call(package.kernel(parallel_batch));
    for (const int thread : {2, 100, -1}) {
        kiln_parallel own = {};
        own.pool = const_cast<int *>(&thread);
        own.threads = 2;
        own.run = [](void *pool, int count, kiln_task task, void *argument) {
            for (int i = 0; i < count; i++) task(argument, i, *static_cast<int *>(pool));
        };
        call.arguments.parallel = &own;
        call.output[1] = 7;
        EXPECT_EQ(call.run().code, KILN_KERNEL_FAILED) << thread;
        EXPECT_EQ(call.output[1], 7);
    }
}

struct Grown {
    size_t struct_size;
    int64_t first, later;
};

TEST(StructSize, WhatAnOlderHeaderLacksIsZero) {
    constexpr size_t first_bytes = offsetof(Grown, later);
    Grown copy = {1, 2, 3};
    const Grown ours = {sizeof ours, 4, 5}, older = {first_bytes, 4, 77};  // 77 lies behind the caller's
    EXPECT_EQ(in_this_version(&ours, first_bytes, &copy), &ours);
    ASSERT_EQ(in_this_version(&older, first_bytes, &copy), &copy);
    EXPECT_EQ(copy.struct_size, sizeof copy);
    EXPECT_EQ(copy.first, 4);
    EXPECT_EQ(copy.later, 0);
    for (const size_t bytes : {size_t(0), first_bytes - 1, sizeof(Grown) + 1, SIZE_MAX}) {
        const Grown unknown = {bytes, 4, 5};
        EXPECT_EQ(in_this_version(&unknown, first_bytes, &copy), nullptr) << bytes;
    }
}

TEST(KernelCall, TakesArgumentsOfTheFirstVersion) {
    const FakePackage package;
    Call call(package.kernel(full_batch));
    call.arguments.struct_size = first_arguments_bytes;
    EXPECT_EQ(call.run().code, KILN_OK);
    EXPECT_EQ(call.output[0], 11101.5);
}

struct WrongCall {
    const char *what;
    int64_t batch;
    int32_t code;
    int operand, dimension;
    std::function<void(Call &)> change;
};

void *misaligned(void *pointer, int bytes) { return static_cast<char *>(pointer) + bytes; }

const WrongCall wrong_calls[] = {
    {"arguments of no version", plain_batch, KILN_BAD_VERSION, -1, -1,
     [](Call &c) { c.arguments.struct_size = first_arguments_bytes - 1; }},
    {"arguments of a later version", plain_batch, KILN_BAD_VERSION, -1, -1, [](Call &c) { c.arguments.struct_size++; }},
    {"another CPU", foreign_batch, KILN_UNSUPPORTED_CPU, -1, -1, [](Call &) {}},
    {"null input", plain_batch, KILN_NULL_ARGUMENT, KILN_INPUT, -1, [](Call &c) { c.arguments.input.data = nullptr; }},
    {"null weights", plain_batch, KILN_NULL_ARGUMENT, KILN_WEIGHTS, -1,
     [](Call &c) { c.arguments.weights.data = nullptr; }},
    {"null bias", full_batch, KILN_NULL_ARGUMENT, KILN_BIAS, -1, [](Call &c) { c.arguments.bias.data = nullptr; }},
    {"null addend", full_batch, KILN_NULL_ARGUMENT, KILN_ADDEND, -1,
     [](Call &c) { c.arguments.addend.data = nullptr; }},
    {"null slope", full_batch, KILN_NULL_ARGUMENT, KILN_SLOPE, -1, [](Call &c) { c.arguments.slope.data = nullptr; }},
    {"no slope at all", full_batch, KILN_BAD_DTYPE, KILN_SLOPE, -1, [](Call &c) { c.arguments.slope = {}; }},
    {"larger slope", full_batch, KILN_BAD_SHAPE, KILN_SLOPE, 0, [](Call &c) { c.arguments.slope.shape[0] = 3; }},
    {"null output", plain_batch, KILN_NULL_ARGUMENT, KILN_OUTPUT, -1,
     [](Call &c) { c.arguments.output.data = nullptr; }},
    {"null packed", packed_batch, KILN_NULL_ARGUMENT, KILN_PACKED, -1, [](Call &c) { c.arguments.packed = nullptr; }},
    {"null workspace", parallel_batch, KILN_NULL_ARGUMENT, KILN_WORKSPACE, -1,
     [](Call &c) { c.arguments.workspace = nullptr; }},
    {"dtype", plain_batch, KILN_BAD_DTYPE, KILN_INPUT, -1, [](Call &c) { c.arguments.input.dtype = KILN_F16; }},
    {"no tensor at all", full_batch, KILN_BAD_DTYPE, KILN_BIAS, -1, [](Call &c) { c.arguments.bias = {}; }},
    {"rank", plain_batch, KILN_BAD_RANK, KILN_OUTPUT, -1, [](Call &c) { c.arguments.output.rank = 3; }},
    {"negative rank", plain_batch, KILN_BAD_RANK, KILN_OUTPUT, -1, [](Call &c) { c.arguments.output.rank = -1; }},
    {"huge rank", plain_batch, KILN_BAD_RANK, KILN_OUTPUT, -1, [](Call &c) { c.arguments.output.rank = 1 << 30; }},
    {"larger shape", plain_batch, KILN_BAD_SHAPE, KILN_INPUT, 2, [](Call &c) { c.arguments.input.shape[2] = 2; }},
    {"smaller shape", plain_batch, KILN_BAD_SHAPE, KILN_OUTPUT, 3, [](Call &c) { c.arguments.output.shape[3] = 1; }},
    {"negative shape", plain_batch, KILN_BAD_SHAPE, KILN_OUTPUT, 3, [](Call &c) { c.arguments.output.shape[3] = -2; }},
    {"stride", plain_batch, KILN_BAD_STRIDE, KILN_OUTPUT, 3, [](Call &c) { c.arguments.output.strides[3] = 2; }},
    {"stride of weights", plain_batch, KILN_BAD_STRIDE, KILN_WEIGHTS, 2,
     [](Call &c) { c.arguments.weights.strides[3] = 1, c.arguments.weights.strides[2] = 4; }},
    {"device", plain_batch, KILN_BAD_DEVICE, KILN_INPUT, -1, [](Call &c) { c.arguments.input.device = 1; }},
    {"stream", plain_batch, KILN_BAD_DEVICE, KILN_INPUT, -1,
     [](Call &c) { c.arguments.input.stream = c.arguments.input.data; }},
    {"element alignment", plain_batch, KILN_BAD_ALIGNMENT, KILN_OUTPUT, -1,
     [](Call &c) { c.arguments.output.data = misaligned(c.output, 2); }},
    {"packed alignment", packed_batch, KILN_BAD_ALIGNMENT, KILN_PACKED, -1,
     [](Call &c) { c.arguments.packed = misaligned(c.packed, 32); }},
    {"small packed", packed_batch, KILN_BUFFER_TOO_SMALL, KILN_PACKED, -1, [](Call &c) { c.arguments.packed_bytes--; }},
    {"small workspace", parallel_batch, KILN_BUFFER_TOO_SMALL, KILN_WORKSPACE, -1,
     [](Call &c) { c.arguments.workspace_bytes = kiln_workspace_bytes(c.kernel, 1) - 1; }},
    {"in place", plain_batch, KILN_OVERLAP, KILN_INPUT, -1,
     [](Call &c) { c.arguments.output.data = c.arguments.input.data; }},
    {"output over weights' end", plain_batch, KILN_OVERLAP, KILN_WEIGHTS, -1,
     [](Call &c) { c.arguments.output.data = c.weights + 3; }},
    {"workspace over input", plain_batch, KILN_OVERLAP, KILN_INPUT, -1,
     [](Call &c) {
         c.arguments.input.data = c.workspace.data() + (-reinterpret_cast<uintptr_t>(c.workspace.data()) & 63);
     }},
    {"no loop function", parallel_batch, KILN_BAD_THREADS, -1, -1,
     [](Call &c) {
         static const kiln_parallel none = {nullptr, nullptr, 2};
         c.arguments.parallel = &none;
     }},
    {"no threads", parallel_batch, KILN_BAD_THREADS, -1, -1,
     [](Call &c) {
         static const kiln_parallel none = {[](void *, int, kiln_task, void *) {}, nullptr, 0};
         c.arguments.parallel = &none;
     }},
};

TEST(KernelCall, RefusesWrongCallsWithoutTouchingMemory) {
    const FakePackage package;
    for (const WrongCall &wrong : wrong_calls) {
        Call call(package.kernel(wrong.batch));
        wrong.change(call);
        const std::vector<float> output(call.output, call.output + 32), input(call.input, call.input + 32);
        const std::vector<char> workspace = call.workspace;
        fake_calls = 0;
        const kiln_status status = call.run();
        EXPECT_EQ(status.code, wrong.code) << wrong.what << ": " << status.detail;
        EXPECT_EQ(status.operand, wrong.operand) << wrong.what;
        EXPECT_EQ(status.dimension, wrong.dimension) << wrong.what;
        EXPECT_STRNE(status.detail, "") << wrong.what;
        for (const auto &[operand, word] : {std::pair{KILN_SLOPE, "slope "}, {KILN_PACKED, "packed "}}) {
            EXPECT_EQ(wrong.operand == operand, std::strstr(status.detail, word) == status.detail) << status.detail;
        }
        EXPECT_EQ(fake_calls, 0) << wrong.what;
        EXPECT_EQ(output, std::vector<float>(call.output, call.output + 32)) << wrong.what;
        EXPECT_EQ(input, std::vector<float>(call.input, call.input + 32)) << wrong.what;
        EXPECT_EQ(workspace, call.workspace) << wrong.what;
    }
}

TEST(KernelCall, RefusesWrongPacking) {
    const FakePackage package;
    struct Row {
        int32_t code;
        int operand;
        std::function<void(Call &)> change;
    };
    const Row rows[] = {
        {KILN_BAD_SHAPE, KILN_WEIGHTS, [](Call &c) { c.arguments.weights.shape[0] = 3; }},
        {KILN_NULL_ARGUMENT, KILN_PACKED, [](Call &c) { c.arguments.packed = nullptr; }},
        {KILN_BUFFER_TOO_SMALL, KILN_PACKED, [](Call &c) { c.arguments.packed_bytes = 0; }},
        {KILN_OVERLAP, KILN_WEIGHTS, [](Call &c) { c.arguments.weights.data = c.packed; }},
    };
    for (const Row &row : rows) {
        Call call(package.kernel(packed_batch));
        row.change(call);
        fake_calls = 0;
        const kiln_status status = kiln_pack(call.kernel, &call.arguments);
        EXPECT_EQ(status.code, row.code) << status.detail;
        EXPECT_EQ(status.operand, row.operand);
        EXPECT_EQ(fake_calls, 0);
    }
}

TEST(KernelCall, RefusesNull) {
    const FakePackage package;
    Call call(package.kernel(plain_batch));
    for (const auto function : {kiln_run, kiln_pack, kiln_prepare}) {
        EXPECT_EQ(function(call.kernel, nullptr).code, KILN_NULL_ARGUMENT);
        EXPECT_EQ(function(nullptr, &call.arguments).code, KILN_NULL_ARGUMENT);
    }
    kiln_parallel pool;
    EXPECT_EQ(kiln_pool_create(*package, 2, nullptr).code, KILN_NULL_ARGUMENT);
    EXPECT_EQ(kiln_pool_create(nullptr, 2, &pool).code, KILN_NULL_ARGUMENT);
    kiln_pool_destroy(*package, nullptr);
    for (const int threads : {0, -1, 1025}) {
        EXPECT_EQ(kiln_pool_create(*package, threads, &pool).code, KILN_BAD_THREADS);
        EXPECT_EQ(kiln_workspace_bytes(call.kernel, threads), 0u);
    }
}

}  // namespace
}  // namespace kiln
