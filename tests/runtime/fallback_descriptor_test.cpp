// What kiln_find_or_fallback answers: kernels for everything valid, a sentence for everything else.
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "tests/drawn_workloads.h"
#include "tests/runtime/fake_package.h"
#include "tests/runtime/fallback_call.h"

namespace kiln {
namespace {

constexpr int64_t huge = INT32_MAX;

kiln_descriptor plain() {
    kiln_descriptor d;
    kiln_descriptor_init(&d, KILN_CONV, 2);
    d.batch = 4, d.spatial[0] = 9, d.spatial[1] = 8, d.channels = 6;
    d.kernel[0] = 3, d.kernel[1] = 2, d.output_channels = 12;
    return d;
}

struct BadDescriptor {
    int32_t code;
    const char *words;  // of the detail; the field is one of them
    std::function<void(kiln_descriptor &)> change;
};

const BadDescriptor bad_descriptors[] = {
    {KILN_BAD_VERSION, "struct_size", [](auto &d) { d.struct_size = 0; }},
    {KILN_BAD_VERSION, "struct_size", [](auto &d) { d.struct_size++; }},
    {KILN_BAD_DESCRIPTOR, "operation is unknown", [](auto &d) { d.operation = 99; }},
    {KILN_BAD_DESCRIPTOR, "spatial_rank is not 1 to 3", [](auto &d) { d.spatial_rank = 4; }},
    {KILN_BAD_DESCRIPTOR, "batch is not 1", [](auto &d) { d.batch = 0; }},
    {KILN_BAD_DESCRIPTOR, "batch is not 1", [](auto &d) { d.batch = huge + 1; }},
    {KILN_BAD_DESCRIPTOR, "spatial has an extent", [](auto &d) { d.spatial[1] = -1; }},
    {KILN_BAD_DESCRIPTOR, "channels is not 1", [](auto &d) { d.channels = INT64_MIN; }},
    {KILN_BAD_DESCRIPTOR, "kernel has an extent", [](auto &d) { d.kernel[0] = 0; }},
    {KILN_BAD_DESCRIPTOR, "output_channels is not 1", [](auto &d) { d.output_channels = 0; }},
    {KILN_BAD_DESCRIPTOR, "strides has an entry", [](auto &d) { d.strides[0] = 0; }},
    {KILN_BAD_DESCRIPTOR, "strides has an entry", [](auto &d) { d.strides[1] = -1; }},
    {KILN_BAD_DESCRIPTOR, "lhs_dilation has an entry", [](auto &d) { d.lhs_dilation[0] = 0; }},
    {KILN_BAD_DESCRIPTOR, "rhs_dilation has an entry", [](auto &d) { d.rhs_dilation[1] = INT64_MAX; }},
    {KILN_BAD_DESCRIPTOR, "padding_lo has an entry", [](auto &d) { d.padding_lo[0] = huge + 1; }},
    {KILN_BAD_DESCRIPTOR, "padding_hi has an entry", [](auto &d) { d.padding_hi[1] = INT64_MIN; }},
    {KILN_BAD_DESCRIPTOR, "feature_group_count is not 1", [](auto &d) { d.feature_group_count = 0; }},
    {KILN_BAD_DESCRIPTOR, "batch_group_count is not 1", [](auto &d) { d.batch_group_count = -2; }},
    {KILN_BAD_DESCRIPTOR, "both above 1", [](auto &d) { d.feature_group_count = d.batch_group_count = 2; }},
    {KILN_BAD_DESCRIPTOR, "feature_group_count does not divide channels", [](auto &d) { d.feature_group_count = 4; }},
    {KILN_BAD_DESCRIPTOR, "feature_group_count does not divide output_channels",
     [](auto &d) { d.feature_group_count = 6, d.output_channels = 8; }},
    {KILN_BAD_DESCRIPTOR, "batch_group_count does not divide output_channels",
     [](auto &d) { d.batch_group_count = 4, d.output_channels = 6; }},
    {KILN_BAD_DESCRIPTOR, "batch_group_count does not divide batch", [](auto &d) { d.batch_group_count = 3; }},
    {KILN_BAD_DESCRIPTOR, "input_layout is unknown", [](auto &d) { d.input_layout = 0; }},
    {KILN_BAD_DESCRIPTOR, "input_layout_block is not 2", [](auto &d) { d.input_layout = KILN_NCHWC; }},
    {KILN_BAD_DESCRIPTOR, "output_layout_block is not 2",
     [](auto &d) { d.output_layout = KILN_NCHWC, d.output_layout_block = 1025; }},
    {KILN_BAD_DESCRIPTOR, "kernel_layout is unknown", [](auto &d) { d.kernel_layout = 3; }},
    {KILN_BAD_DESCRIPTOR, "dtype is unknown", [](auto &d) { d.dtype = KILN_I32 + 1; }},
    {KILN_BAD_DESCRIPTOR, "block has no meaning", [](auto &d) { d.block[0] = 2; }},
    {KILN_BAD_DESCRIPTOR, "from_layout has no meaning", [](auto &d) { std::strcpy(d.from_layout, "NHWC"); }},
    {KILN_BAD_DESCRIPTOR, "to_layout has no meaning", [](auto &d) { std::strcpy(d.to_layout, "NHWC"); }},
    {KILN_BAD_DESCRIPTOR, "epilogue_count is not 0 to 8", [](auto &d) { d.epilogue_count = 9; }},
    {KILN_BAD_DESCRIPTOR, "a gradient has no epilogue",
     [](auto &d) { d.operation = KILN_CONV_BACKPROP_INPUT, d.epilogue_count = 1, d.epilogue[0].kind = 3; }},
    {KILN_BAD_DESCRIPTOR, "clamp needs lo <= hi",
     [](auto &d) {
         d.epilogue_count = 1, d.epilogue[0] = {KILN_EPILOGUE_CLAMP, 1, 0};
     }},
    {KILN_BAD_DESCRIPTOR, "clamp needs lo <= hi",
     [](auto &d) {
         d.epilogue_count = 1, d.epilogue[0] = {KILN_EPILOGUE_CLAMP, NAN, 0};
     }},
    {KILN_BAD_DESCRIPTOR, "a step needs finite numbers",
     [](auto &d) {
         d.epilogue_count = 1, d.epilogue[0] = {KILN_EPILOGUE_LEAKY_RELU, NAN, 0};
     }},
    {KILN_BAD_DESCRIPTOR, "a step needs finite numbers",
     [](auto &d) {
         d.epilogue_count = 1, d.epilogue[0] = {KILN_EPILOGUE_HARD_SIGMOID, 1, INFINITY};
     }},
    {KILN_BAD_DESCRIPTOR, "an epilogue step is unknown", [](auto &d) { d.epilogue_count = 1; }},
    {KILN_BAD_DESCRIPTOR, "an epilogue step is unknown",
     [](auto &d) { d.epilogue_count = 1, d.epilogue[0].kind = KILN_EPILOGUE_SCALE + 1; }},
    {KILN_BAD_DESCRIPTOR, "bias more than once",
     [](auto &d) { d.epilogue_count = 2, d.epilogue[0].kind = d.epilogue[1].kind = KILN_EPILOGUE_BIAS; }},
    {KILN_BAD_DESCRIPTOR, "add more than once",
     [](auto &d) { d.epilogue_count = 2, d.epilogue[0].kind = d.epilogue[1].kind = KILN_EPILOGUE_ADD; }},
    {KILN_BAD_DESCRIPTOR, "prelu more than once",
     [](auto &d) { d.epilogue_count = 2, d.epilogue[0].kind = d.epilogue[1].kind = KILN_EPILOGUE_PRELU; }},
    {KILN_BAD_DESCRIPTOR, "scale more than once",
     [](auto &d) { d.epilogue_count = 2, d.epilogue[0].kind = d.epilogue[1].kind = KILN_EPILOGUE_SCALE; }},
    {KILN_BAD_DESCRIPTOR, "the kernel for any sizes has no prologue",
     [](auto &d) { d.prologue_count = 1, d.prologue[0].kind = KILN_EPILOGUE_RELU; }},
    {KILN_BAD_DESCRIPTOR, "the kernel for any sizes has no convolution in front", [](auto &d) { d.depthwise[0] = 3; }},
    {KILN_BAD_DESCRIPTOR, "prologue_count is not 0 to 8", [](auto &d) { d.prologue_count = -1; }},
    {KILN_BAD_DESCRIPTOR, "a step is none of a prologue", [](auto &d) { d.prologue_count = 1; }},
    {KILN_BAD_DESCRIPTOR, "a step is none of a prologue",
     [](auto &d) { d.prologue_count = 1, d.prologue[0].kind = KILN_EPILOGUE_PRELU; }},
    // byte and operation counts beyond 62 bits
    {KILN_BAD_DESCRIPTOR, "batch, spatial and channels", [](auto &d) { d.batch = d.spatial[0] = huge; }},
    {KILN_BAD_DESCRIPTOR, "batch, spatial and channels",
     [](auto &d) { d.batch = d.spatial[0] = d.spatial[1] = d.channels = huge; }},
    {KILN_BAD_DESCRIPTOR, "kernel and channels",
     [](auto &d) { d.kernel[0] = d.kernel[1] = huge, d.padding_hi[0] = d.padding_hi[1] = huge; }},
    {KILN_BAD_DESCRIPTOR, "output (from spatial", [](auto &d) { d.lhs_dilation[0] = d.lhs_dilation[1] = huge; }},
    {KILN_BAD_DESCRIPTOR, "operation count",
     [](auto &d) { d.padding_hi[0] = d.padding_hi[1] = 1 << 24, d.kernel[0] = d.kernel[1] = 1 << 10; }},
    // quantized
    {KILN_BAD_DESCRIPTOR, "needs a requantization", [](auto &d) { d.dtype = d.output_dtype = KILN_I8; }},
    {KILN_BAD_DESCRIPTOR, "integers need a forward convolution", [](auto &d) { d.output_dtype = KILN_I8; }},
    {KILN_BAD_DESCRIPTOR, "integers need a forward convolution", [](auto &d) { d.output_dtype = KILN_U8; }},
    {KILN_BAD_DESCRIPTOR, "integers need a forward convolution",
     [](auto &d) { d.operation = KILN_CONV_BACKPROP_INPUT, d.dtype = d.output_dtype = KILN_I8; }},
    {KILN_BAD_DESCRIPTOR, "integers need a forward convolution", [](auto &d) { d.dtype = KILN_I32; }},
    {KILN_BAD_DESCRIPTOR, "needs sums of integers",
     [](auto &d) { d.epilogue_count = 1, d.epilogue[0].kind = KILN_EPILOGUE_REQUANTIZE_LITERT; }},
    {KILN_BAD_DESCRIPTOR, "output_dtype of a quantized convolution", [](auto &d) { d.dtype = KILN_I8; }},
    {KILN_BAD_DESCRIPTOR, "kernel_dtype",
     [](auto &d) { d.dtype = KILN_I8, d.output_dtype = KILN_I32, d.kernel_dtype = KILN_F32; }},
    {KILN_BAD_DESCRIPTOR, "special_values",
     [](auto &d) { d.dtype = KILN_U8, d.output_dtype = KILN_I32, d.special_values = KILN_EXACT; }},
    {KILN_BAD_DESCRIPTOR, "result_bounds clamps",
     [](auto &d) {
         d.dtype = KILN_U8, d.output_dtype = KILN_I32, d.epilogue_count = 1, d.epilogue[0].kind = KILN_EPILOGUE_RELU;
     }},
    {KILN_BAD_DESCRIPTOR, "leave i32",
     [](auto &d) { d.dtype = KILN_U8, d.output_dtype = KILN_I32, d.channels = 1 << 20, d.feature_group_count = 1; }},
    // nothing computes it
    {KILN_NOT_FOUND, "convolutions and their gradients only", [](auto &d) { d.operation = KILN_SPACE_TO_DEPTH; }},
    {KILN_NOT_FOUND, "convolutions and their gradients only", [](auto &d) { d.operation = KILN_LAYOUT_TRANSFORM; }},
    {KILN_NOT_FOUND, "convolutions and their gradients only",
     [](auto &d) { d.operation = KILN_WINOGRAD_OUTPUT_TRANSFORM; }},
};

bool is_untouched(const kiln_fallback &memory) {
    for (const uint64_t word : memory.memory) {
        if (word != 0x5a5a5a5a5a5a5a5a) return false;
    }
    return true;
}

TEST(FallbackDescriptor, RefusesWhatIsNotValid) {
    const FallbackPackage package;
    for (const BadDescriptor &row : bad_descriptors) {
        kiln_descriptor d = plain();
        row.change(d);
        kiln_fallback memory;
        std::memset(&memory, 0x5a, sizeof memory);
        const kiln_kernel *kernel = reinterpret_cast<const kiln_kernel *>(&memory);
        const kiln_status status = kiln_find_or_fallback(*package, &d, &memory, &kernel);
        EXPECT_EQ(status.code, row.code) << row.words << ": " << status.detail;
        EXPECT_NE(std::strstr(status.detail, row.words), nullptr) << row.words << ": " << status.detail;
        EXPECT_EQ(kernel, nullptr) << row.words;
        EXPECT_TRUE(is_untouched(memory)) << row.words;
    }
}

// The largest that is allowed is only described, not run.
TEST(FallbackDescriptor, AcceptsExtremesThatFit) {
    const FallbackPackage package;
    const std::function<void(kiln_descriptor &)> changes[] = {
        [](auto &d) { d.batch = huge; },
        [](auto &d) { d.spatial[0] = huge, d.strides[0] = huge; },
        [](auto &d) { d.kernel[0] = huge, d.rhs_dilation[0] = huge; },                    // an empty output
        [](auto &d) { d.padding_lo[0] = -huge, d.padding_hi[0] = -huge; },                // another
        [](auto &d) { d.spatial[0] = huge, d.lhs_dilation[0] = huge, d.kernel[1] = 9; },  // empty, and long
        [](auto &d) { d.lhs_dilation[0] = d.strides[0] = huge; },
        [](auto &d) {
            d.epilogue_count = 1, d.epilogue[0] = {KILN_EPILOGUE_CLAMP, -INFINITY, INFINITY};
        },
    };
    for (const auto &change : changes) {
        for (const int32_t operation : {KILN_CONV, KILN_CONV_BACKPROP_INPUT, KILN_CONV_BACKPROP_KERNEL}) {
            kiln_descriptor d = plain();
            change(d);
            d.operation = operation;
            if (operation != KILN_CONV) d.epilogue_count = 0;
            kiln_fallback memory;
            const kiln_kernel *kernel = nullptr;
            const kiln_status status = kiln_find_or_fallback(*package, &d, &memory, &kernel);
            EXPECT_EQ(status.code, KILN_OK) << status.detail;
            EXPECT_NE(kernel, nullptr);
        }
    }
}

// The tables of packages come from the tuner, those of the fallback from the descriptor: they must agree.
TEST(FallbackDescriptor, OperandsAreThoseOfTheSignature) {
    const FallbackPackage package;
    for (uint64_t seed = 0; seed < 300; seed++) {
        const Workload w = ConvolutionDrawer(seed).next();
        const kiln_descriptor d = *descriptor_of(w);
        kiln_fallback memory;
        const kiln_kernel *kernel = nullptr;
        ASSERT_EQ(kiln_find_or_fallback(*package, &d, &memory, &kernel).code, KILN_OK) << key(w);
        const CallShapes expected = call_shapes(w);
        const auto &row = *reinterpret_cast<const KernelRow *>(kernel);
        for (int i = 0; i < tensor_operands; i++) {
            const OperandShape &a = row.operands[i], &b = expected.operands[i];
            ASSERT_EQ(a.rank, b.rank) << key(w) << " operand " << i;
            if (a.rank == 0) continue;
            ASSERT_EQ(a.dtype, b.dtype) << key(w) << " operand " << i;
            ASSERT_TRUE(std::equal(a.shape, a.shape + a.rank, b.shape)) << key(w) << " operand " << i;
        }
    }
}

TEST(FallbackDescriptor, InformationSaysWhatItIs) {
    const FallbackPackage package;
    kiln_descriptor d = plain();
    d.spatial[2] = 77;  // beyond the rank
    kiln_fallback memory;
    const kiln_kernel *kernel = nullptr;
    ASSERT_EQ(kiln_find_or_fallback(*package, &d, &memory, &kernel).code, KILN_OK);
    const kiln_kernel_info &info = *kiln_info(kernel);
    EXPECT_EQ(info.struct_size, sizeof info);
    EXPECT_STREQ(info.key, "");
    EXPECT_STREQ(info.candidate, "fallback@1");
    for (const char *text : {info.name, info.trial, info.object_hash, info.target}) EXPECT_NE(text, nullptr);
    EXPECT_NE(std::strstr(info.why_place, "made at run time"), nullptr);
    EXPECT_EQ(info.place, 0);
    EXPECT_EQ(info.tuned, 0);
    EXPECT_EQ(info.packed_bytes + info.prepared_bytes, 0u);
    EXPECT_EQ(info.cpu_features, 0u);
    EXPECT_EQ(info.workload->spatial[1], 8);
    EXPECT_EQ(info.workload->spatial[2], 0);
    EXPECT_EQ(kernel->package, *package);
    EXPECT_GT(kiln_workspace_bytes(kernel, 2), kiln_workspace_bytes(kernel, 1));
    EXPECT_EQ(kiln_workspace_bytes(kernel, 0), 0u);
    EXPECT_EQ(kiln_kernel_count(*package), 0u) << "it is none of the package's kernels";
}

TEST(FallbackDescriptor, ThePackagesOwnKernelComesFirst) {
    const FakePackage without;
    kiln_package with = **without;
    with.fallback = make_fallback;
    kiln_package of_before = with;  // a structure that ends before the field, whatever lies behind it
    of_before.struct_size = offsetof(kiln_package, fallback);
    struct Row {
        const char *what;
        const kiln_package *package;
        int64_t batch;
        int32_t code;
        const char *words;
        const char *candidate;
    };
    const Row rows[] = {
        {"own kernel", &with, plain_batch, KILN_OK, "ok", ""},
        {"own kernel, no fallback", *without, plain_batch, KILN_OK, "ok", ""},
        {"no kernel", &with, 99, KILN_OK, "ok", "fallback@1"},
        {"none that this CPU runs", &with, foreign_batch, KILN_OK, "ok", "fallback@1"},
        {"no kernel, no fallback", *without, 99, KILN_NOT_FOUND, "built without --fallback", nullptr},
        {"an older package", &of_before, 99, KILN_NOT_FOUND, "built without --fallback", nullptr},
        {"none that runs, no fallback", *without, foreign_batch, KILN_UNSUPPORTED_CPU, "CPU features", nullptr},
    };
    for (const Row &row : rows) {
        kiln_fallback memory;
        std::memset(&memory, 0x5a, sizeof memory);
        const kiln_descriptor d = fake_descriptor(row.batch);
        const kiln_kernel *kernel = nullptr;
        const kiln_status status = kiln_find_or_fallback(row.package, &d, &memory, &kernel);
        EXPECT_EQ(status.code, row.code) << row.what;
        EXPECT_NE(std::strstr(status.detail, row.words), nullptr) << row.what << ": " << status.detail;
        const bool made = row.candidate != nullptr && *row.candidate != 0;
        EXPECT_EQ(is_untouched(memory), !made) << row.what;
        ASSERT_EQ(kernel == nullptr, row.candidate == nullptr) << row.what;
        const char *candidate = kernel == nullptr ? nullptr : kiln_info(kernel)->candidate;
        EXPECT_STREQ(candidate, row.candidate) << row.what;
    }
}

TEST(FallbackDescriptor, RefusesNullAndMemoryThatIsTooSmall) {
    const FallbackPackage package;
    const kiln_descriptor d = plain();
    kiln_fallback memory;
    std::memset(&memory, 0x5a, sizeof memory);
    const kiln_kernel *kernel = reinterpret_cast<const kiln_kernel *>(&memory);
    EXPECT_EQ(kiln_find_or_fallback(*package, &d, nullptr, &kernel).code, KILN_NULL_ARGUMENT);
    EXPECT_EQ(kernel, nullptr);
    EXPECT_EQ(kiln_find_or_fallback(nullptr, &d, &memory, &kernel).code, KILN_NULL_ARGUMENT);
    EXPECT_EQ(kiln_find_or_fallback(*package, nullptr, &memory, &kernel).code, KILN_NULL_ARGUMENT);
    EXPECT_EQ(kiln_find_or_fallback(*package, &d, &memory, nullptr).code, KILN_NULL_ARGUMENT);
    EXPECT_EQ((*package)->fallback(*package, &d, &memory, sizeof(KernelRow) - 1, &kernel).code, KILN_BAD_VERSION);
    EXPECT_TRUE(is_untouched(memory));
}

}  // namespace
}  // namespace kiln
