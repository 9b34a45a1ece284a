// Looking kernels up: by descriptor, by key, by what the CPU offers.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "runtime/struct_size.h"
#include "tests/runtime/fake_package.h"

namespace kiln {
namespace {

TEST(Dispatch, FindsEveryWorkloadByDescriptorAndByKey) {
    const FakePackage package;
    for (const int64_t batch : {plain_batch, packed_batch, full_batch, parallel_batch, fails_batch}) {
        const kiln_descriptor d = fake_descriptor(batch);
        const kiln_kernel *found = nullptr, *by_key = nullptr;
        EXPECT_EQ(kiln_find(*package, &d, &found).code, KILN_OK);
        EXPECT_EQ(found, package.kernel(batch));
        EXPECT_EQ(kiln_find_key(*package, fake_key(batch).c_str(), &by_key).code, KILN_OK);
        EXPECT_EQ(by_key, found);
        EXPECT_EQ(kiln_info(found)->key, fake_key(batch));
        EXPECT_EQ(kiln_info(found)->workload->batch, batch);
    }
}

TEST(Dispatch, OtherWorkloadsAreNotFound) {
    const FakePackage package;
    using Change = std::function<void(kiln_descriptor &)>;
    const Change changes[] = {
        [](auto &d) { d.batch = 99; },
        [](auto &d) { d.spatial[1] = 2; },
        [](auto &d) { d.spatial_rank = 1; },
        [](auto &d) { d.operation = KILN_CONV_BACKPROP_INPUT; },
        [](auto &d) { d.dtype = KILN_F16; },
        [](auto &d) { d.output_dtype = KILN_F16; },
        [](auto &d) { d.padding_hi[0] = 1; },
        [](auto &d) { d.rhs_dilation[1] = 2; },
        [](auto &d) { d.batch_group_count = 2; },
        [](auto &d) { d.output_layout = KILN_NCHW; },
        [](auto &d) { d.kernel_layout = KILN_HWOI; },
        [](auto &d) { d.special_values = KILN_EXACT; },
        [](auto &d) { d.epilogue_count = 1, d.epilogue[0].kind = KILN_EPILOGUE_RELU; },
        [](auto &d) { std::strcpy(d.from_layout, "NHWC"); },
    };
    for (size_t i = 0; i < std::size(changes); i++) {
        kiln_descriptor d = fake_descriptor(plain_batch);
        changes[i](d);
        const kiln_kernel *kernel = package.kernel(plain_batch);
        EXPECT_EQ(kiln_find(*package, &d, &kernel).code, KILN_NOT_FOUND) << i;
        EXPECT_EQ(kernel, nullptr);
    }
    for (const char *key : {"", "conv2d", "conv2d/input:99x1x1x2/kernel:1x1x2x2", "zzz", "conv2d/input:1x1x1x2/"}) {
        const kiln_kernel *kernel = nullptr;
        EXPECT_EQ(kiln_find_key(*package, key, &kernel).code, KILN_NOT_FOUND) << key;
    }
}

TEST(Dispatch, WhatDoesNotCountIsIgnored) {
    const FakePackage package;
    kiln_descriptor d = fake_descriptor(plain_batch);
    d.spatial[2] = d.kernel[2] = d.strides[2] = 77;  // beyond the rank
    d.input_layout_block = 8;                        // only for NCHWC
    d.epilogue[3].kind = -1;                         // beyond epilogue_count
    std::strcpy(d.from_layout + 1, "after its end");
    const kiln_kernel *kernel = nullptr;
    EXPECT_EQ(kiln_find(*package, &d, &kernel).code, KILN_OK);
    EXPECT_EQ(kernel, package.kernel(plain_batch));
}

TEST(Dispatch, RefusesBadDescriptors) {
    const FakePackage package;
    struct Row {
        const char *word;  // of the detail
        std::function<void(kiln_descriptor &)> change;
    };
    const Row rows[] = {
        {"operation", [](auto &d) { d.operation = 0; }},
        {"operation", [](auto &d) { d.operation = 11; }},
        {"spatial_rank", [](auto &d) { d.spatial_rank = 0; }},
        {"spatial_rank", [](auto &d) { d.spatial_rank = 4; }},
        {"dtype", [](auto &d) { d.dtype = 0; }},
        {"output_dtype", [](auto &d) { d.output_dtype = 9; }},
        {"input_layout", [](auto &d) { d.input_layout = 4; }},
        {"output_layout", [](auto &d) { d.output_layout = -1; }},
        {"kernel_layout", [](auto &d) { d.kernel_layout = 3; }},
        {"special_values", [](auto &d) { d.special_values = 0; }},
        {"epilogue_count", [](auto &d) { d.epilogue_count = -1; }},
        {"epilogue_count", [](auto &d) { d.epilogue_count = KILN_MAX_EPILOGUE + 1; }},
        {"epilogue step", [](auto &d) { d.epilogue_count = 1; }},
        {"spatial x tile",
         [](auto &d) { d.operation = KILN_WINOGRAD_OUTPUT_TRANSFORM, d.spatial[1] = d.tile[1] = int64_t(1) << 62; }},
    };
    for (const Row &row : rows) {
        kiln_descriptor d = fake_descriptor(plain_batch);
        row.change(d);
        const kiln_kernel *kernel = nullptr;
        const kiln_status status = kiln_find(*package, &d, &kernel);
        EXPECT_EQ(status.code, KILN_BAD_DESCRIPTOR) << row.word;
        EXPECT_NE(std::strstr(status.detail, row.word), nullptr) << status.detail;
        EXPECT_EQ(kernel, nullptr);
    }
}

TEST(Dispatch, TellsDescriptorsOfOtherVersionsFromBadOnes) {
    const FakePackage package;
    kiln_descriptor d = fake_descriptor(plain_batch);
    for (const size_t bytes : {size_t(0), size_t(8), first_descriptor_bytes - 1, sizeof d + 1, SIZE_MAX}) {
        d.struct_size = bytes;
        const kiln_kernel *kernel = package.kernel(plain_batch);
        const kiln_status status = kiln_find(*package, &d, &kernel);
        EXPECT_EQ(status.code, KILN_BAD_VERSION) << bytes;
        EXPECT_NE(std::strstr(status.detail, "struct_size"), nullptr) << status.detail;
        EXPECT_EQ(kernel, nullptr) << bytes;
    }
    d.struct_size = first_descriptor_bytes;
    const kiln_kernel *kernel = nullptr;
    EXPECT_EQ(kiln_find(*package, &d, &kernel).code, KILN_OK);
    EXPECT_EQ(kernel, package.kernel(plain_batch));
}

TEST(Dispatch, TakesTheFirstKernelThatTheCpuRuns) {
    const FakePackage package;
    struct Row {
        uint64_t features;
        const char *target;
    };
    const Row rows[] = {{wide_feature | narrow_feature, "wide"},
                        {narrow_feature, "narrow"},
                        {wide_feature, "any"},
                        {0, "any"},
                        {~uint64_t(0), "wide"}};
    const kiln_descriptor d = fake_descriptor(dispatched_batch);
    for (const Row &row : rows) {
        const kiln_kernel *kernel = nullptr;
        ASSERT_EQ(kiln_find_for(*package, &d, row.features, &kernel).code, KILN_OK);
        EXPECT_STREQ(kiln_info(kernel)->target, row.target);
    }
}

TEST(Dispatch, TellsAMissingFeatureFromAMissingWorkload) {
    const FakePackage package;
    const kiln_descriptor d = fake_descriptor(foreign_batch);
    const kiln_kernel *kernel = package.kernel(plain_batch);
    EXPECT_EQ(kiln_find(*package, &d, &kernel).code, KILN_UNSUPPORTED_CPU);
    EXPECT_EQ(kernel, nullptr);
    EXPECT_EQ(kiln_find_for(*package, &d, missing_feature, &kernel).code, KILN_OK);
}

TEST(Dispatch, ListsAllKernels) {
    const FakePackage package;
    EXPECT_EQ(kiln_kernel_count(*package), 9u);
    for (size_t i = 0; i < 9; i++) EXPECT_NE(kiln_kernel_at(*package, i), nullptr);
    EXPECT_EQ(kiln_kernel_at(*package, 9), nullptr);
}

TEST(Dispatch, RefusesNull) {
    const FakePackage package;
    const kiln_descriptor d = fake_descriptor(plain_batch);
    const std::function<kiln_status(const kiln_kernel **)> calls[] = {
        [&](const kiln_kernel **kernel) { return kiln_find(nullptr, &d, kernel); },
        [&](const kiln_kernel **kernel) { return kiln_find(*package, nullptr, kernel); },
        [&](const kiln_kernel **kernel) { return kiln_find_for(nullptr, &d, 0, kernel); },
        [&](const kiln_kernel **kernel) { return kiln_find_for(*package, nullptr, 0, kernel); },
        [&](const kiln_kernel **kernel) { return kiln_find_key(nullptr, "", kernel); },
        [&](const kiln_kernel **kernel) { return kiln_find_key(*package, nullptr, kernel); },
    };
    for (const auto &call : calls) {
        const kiln_kernel *kernel = package.kernel(plain_batch);  // of an earlier call
        EXPECT_EQ(call(&kernel).code, KILN_NULL_ARGUMENT);
        EXPECT_EQ(kernel, nullptr) << "null where the call is refused";
        EXPECT_EQ(call(nullptr).code, KILN_NULL_ARGUMENT);
    }
    EXPECT_EQ(kiln_find(*package, &d, nullptr).code, KILN_NULL_ARGUMENT);
    EXPECT_EQ(kiln_find_key(*package, "", nullptr).code, KILN_NULL_ARGUMENT);
    EXPECT_EQ(kiln_info(nullptr), nullptr);
    EXPECT_EQ(kiln_workspace_bytes(nullptr, 1), 0u);
    EXPECT_EQ(kiln_kernel_count(nullptr), 0u);
    EXPECT_EQ(kiln_kernel_at(nullptr, 0), nullptr);
}

TEST(CpuFeatures, AreReadOnceAndConsistent) {
    EXPECT_EQ(enabled_cpu_features(), read_cpu_features());
    EXPECT_EQ(enabled_cpu_features() & missing_feature, 0u);
}

// The system gives tile registers to whoever asks, for good.
TEST(CpuFeatures, TileRegistersAreThereForWhoAsks) {
    const uint64_t without = enabled_cpu_features_without_tiles();
    EXPECT_EQ(without, read_cpu_features(Tiles::left_alone));
    EXPECT_EQ(without & features_with_tiles(), 0u);
    EXPECT_EQ(without & ~enabled_cpu_features(), 0u);
    std::string names;
    for (const CpuFeature &feature : cpu_features) {
        if (features_with_tiles() & feature.bit) names += feature.name;
    }
    EXPECT_EQ(names, "avx512_sapphirerapids");
}

}  // namespace
}  // namespace kiln
