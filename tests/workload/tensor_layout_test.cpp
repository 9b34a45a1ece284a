#include "workload/tensor_layout.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

// "co_block=2/16 kh=3 ...": extent, and the step where it is not 1.
std::string text(const std::vector<StoredDimension> &dimensions) {
    std::string result;
    for (const StoredDimension &d : dimensions) {
        result += (result.empty() ? "" : " ") + d.name + "=" + std::to_string(d.extent);
        if (d.step > 1) result += "/" + std::to_string(d.step);
    }
    return result;
}

TEST(TensorLayout, Dimensions) {
    struct Row {
        const char *layout;
        std::vector<int64_t> logical;
        const char *dimensions;
    };
    const Row rows[] = {
        {"NHWC", {2, 5, 7, 20}, "n=2 h=5 w=7 c=20"},
        {"NCHW", {2, 5, 7, 20}, "n=2 c=20 h=5 w=7"},
        {"CHWN", {2, 5, 7, 20}, "c=20 h=5 w=7 n=2"},
        {"HWNC", {2, 5, 7, 20}, "h=5 w=7 n=2 c=20"},
        {"NCHW16c", {2, 5, 7, 20}, "n=2 c_block=2/16 h=5 w=7 c=16"},
        {"NCHW16c", {2, 5, 7, 3}, "n=2 c_block=1/16 h=5 w=7 c=16"},
        {"NHWC", {2, 7, 20}, "n=2 w=7 c=20"},
        {"NCHW8c", {2, 3, 5, 7, 20}, "n=2 c_block=3/8 d=3 h=5 w=7 c=8"},
        {"NCHW2n4c", {3, 5, 7, 9}, "n_block=2/2 c_block=3/4 h=5 w=7 n=2 c=4"},
        {"OIHW", {3, 5, 17, 20}, "co=20 ci=17 kh=3 kw=5"},
        {"HWIO", {3, 5, 17, 20}, "kh=3 kw=5 ci=17 co=20"},
        {"OIHW16i16o", {3, 5, 17, 20}, "co_block=2/16 ci_block=2/16 kh=3 kw=5 ci=16 co=16"},
        {"OIHW16o", {3, 5, 17, 20}, "co_block=2/16 ci=17 kh=3 kw=5 co=16"},
        {"OIHW4i16o4i", {3, 5, 17, 20}, "co_block=2/16 ci_block=2/16 kh=3 kw=5 ci_block=4/4 co=16 ci=4"},
        {"OHWI", {2, 3, 5, 17, 20}, "co=20 kd=2 kh=3 kw=5 ci=17"},
    };
    for (const Row &row : rows) {
        const auto layout = parse_tensor_layout(row.layout);
        ASSERT_TRUE(layout) << row.layout;
        EXPECT_EQ(layout->weights, row.layout[0] == 'O' || row.layout[3] == 'O') << row.layout;
        EXPECT_EQ(text(layout_dimensions(row.logical, *layout)), row.dimensions) << row.layout;
    }
}

TEST(TensorLayout, RefusesWhatIsNone) {
    for (const char *text : {"",
                             "NHW",
                             "NHWCC",
                             "NWHC",
                             "NHCW",
                             "HWC",
                             "NOHW",
                             "OIHWN",
                             "NIHW",
                             "nhwc",
                             "NHWC ",
                             "NCHWc",
                             "NCHW0c",
                             "NCHW1c",
                             "NCHW08c",
                             "NCHW-8c",
                             "NCHW16",
                             "NCHW16o",
                             "OIHW16c",
                             "OIHW16h",
                             "NCHW1025c",
                             "NCHW64c64c",
                             "NCHW1024c1024c1024c1024c1024c1024c1024c",  // 2^70
                             "NCHW99999999999999999999c",
                             "NCHW16C"}) {
        EXPECT_FALSE(parse_tensor_layout(text)) << text;
    }
}

}  // namespace
}  // namespace kiln
