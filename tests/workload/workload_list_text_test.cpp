// What is written reads back equal.
#include "workload/lists/workload_list_text.h"

#include <gtest/gtest.h>

#include "tests/build_paths.h"

namespace kiln {
namespace {

Workload parsed(std::string_view key) {
    const Result<Workload> w = parse_workload_key(key);
    EXPECT_TRUE(w) << key << ": " << w.error().message;
    return w ? *w : Workload();
}

TEST(WorkloadListText, ReadsBackEqual) {
    const char *keys[] = {
        "conv2d/input:1x56x56x64/kernel:3x3x64x64",
        "conv2d/input:1x32x32x8/kernel:3x3x2x16/strides:2x1/padding:1,2x-1,0/lhs_dilation:1x2/rhs_dilation:3x1/"
        "feature_group_count:4/epilogue:bias,add,clamp:-0.5:6",
        "conv1d_backprop_kernel/input:1x9x4/kernel:3x4x4/dtype:f16/output_dtype:f32",
        "conv2d/input:1x8x8x16/kernel:1x1x16x16/input_layout:NCHW16c/output_layout:NCHW/kernel_layout:HWOI/"
        "special_values:exact",
        "space_to_depth/input:1x8x10x3/dtype:i8/block:1x2",
        "layout_transform/kernel:3x3x64x64/from_layout:OIHW/to_layout:OIHW16i16o",
        "winograd_output_transform/input:1x14x14x64/window:3x3/tile:4x4/batch:false/output:55x54",
    };
    std::vector<NamedWorkload> workloads;
    for (const char *key : keys) {
        workloads.push_back(
            {"net", "a \"name\" \\ of " + std::string(key), int64_t(workloads.size()) + 1, parsed(key)});
    }
    const Result<std::vector<NamedWorkload>> read = parse_workload_list(workload_list_text("net", workloads), "text");
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->size(), workloads.size());
    for (size_t i = 0; i < workloads.size(); i++) {
        EXPECT_EQ((*read)[i].list, "net");
        EXPECT_EQ((*read)[i].name, workloads[i].name);
        EXPECT_EQ((*read)[i].count, workloads[i].count);
        EXPECT_EQ(key((*read)[i].workload), keys[i]);
    }
}

TEST(WorkloadListText, IsWrittenAsAPersonWould) {
    const Workload w = parsed("conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1/epilogue:bias,clamp:0:6");
    EXPECT_EQ(workload_list_text("net", {{"", "a", 1, w}, {"", "b", 2, w}}),
              R"({"format": "workloads/1", "name": "net", "workloads": [
  {"name": "a", "count": 1, "op": "conv2d", "input": [1, 56, 56, 64], "kernel": [3, 3, 64, 64], "padding": [[1, 1], [1, 1]], "epilogue": ["bias", {"clamp": [0.0, 6.0]}]},
  {"name": "b", "count": 2, "op": "conv2d", "input": [1, 56, 56, 64], "kernel": [3, 3, 64, 64], "padding": [[1, 1], [1, 1]], "epilogue": ["bias", {"clamp": [0.0, 6.0]}]}]}
)");
}

TEST(WorkloadListText, ListsOfTheRepositoryReadBack) {
    for (const char *name : {"resnet50", "stems"}) {
        const Result<std::vector<NamedWorkload>> list =
            read_workload_list(source_dir() + "/workloads/" + name + ".json");
        ASSERT_TRUE(list) << list.error().message;
        const Result<std::vector<NamedWorkload>> again = parse_workload_list(workload_list_text(name, *list), "again");
        ASSERT_TRUE(again) << again.error().message;
        ASSERT_EQ(again->size(), list->size());
        for (size_t i = 0; i < list->size(); i++) EXPECT_EQ(key((*again)[i].workload), key((*list)[i].workload));
    }
}

}  // namespace
}  // namespace kiln
