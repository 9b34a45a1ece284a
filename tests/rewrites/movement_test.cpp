#include "rewrites/movement.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

Movement movement_of(const char *key) {
    const auto w = parse_workload_key(key);
    EXPECT_TRUE(w) << w.error().message;
    return movement(*w);
}

// "20*1 35*20": extent * read stride, outermost first; of 16 values only 3 exist: "16(3)*1".
std::string text(const Movement &m) {
    std::string result = m.is_regular ? "" : "irregular";
    for (const MovedDigit &d : m.digits) {
        if (!m.is_regular) continue;
        result += (result.empty() ? "" : " ") + std::to_string(d.extent);
        if (d.valid != d.extent) result += "(" + std::to_string(d.valid) + ")";
        result += "*" + std::to_string(d.read_stride);
    }
    for (const MovedLimit &limit : m.limits) {
        result += " [";
        for (int64_t step : limit.steps) result += (result.back() == '[' ? "" : ",") + std::to_string(step);
        result += "<" + std::to_string(limit.extent) + "]";
    }
    return result;
}

TEST(Movement, Digits) {
    struct Row {
        const char *key, *digits;
    };
    constexpr Row rows[] = {
        {"layout_transform/input:2x5x7x20/from_layout:NHWC/to_layout:NHWC", "1400*1"},
        {"layout_transform/input:1x1x1x1/from_layout:NHWC/to_layout:NCHW", "1*0"},
        {"layout_transform/input:2x5x7x20/from_layout:NHWC/to_layout:NCHW", "2*700 20*1 35*20"},
        {"layout_transform/input:1x5x7x20/from_layout:NCHW/to_layout:NHWC", "35*1 20*35"},
        {"layout_transform/input:2x5x7x20/from_layout:NHWC/to_layout:CHWN", "20*1 35*20 2*700"},
        {"layout_transform/input:2x5x7x32/from_layout:NHWC/to_layout:NCHW16c", "2*1120 2*16 35*32 16*1"},
        {"layout_transform/input:2x5x7x3/from_layout:NHWC/to_layout:NCHW16c", "70*3 16(3)*1"},
        {"layout_transform/input:1x5x7x20/from_layout:NHWC/to_layout:NCHW16c", "2*16 35*20 16*1 [16,0,1<20]"},
        {"layout_transform/input:1x5x7x32/from_layout:NCHW16c/to_layout:NCHW8c", "2*560 2*8 35*16 8*1"},
        {"layout_transform/input:1x5x7x20/from_layout:NCHW8c/to_layout:NCHW16c", "2*560 35*8 2*280 8*1 [16,0,8,1<20]"},
        {"layout_transform/input:1x5x7x40/from_layout:NCHW16c/to_layout:NCHW8c", "irregular"},
        {"layout_transform/input:1x5x7x40/from_layout:NCHW12c/to_layout:NCHW8c", "irregular"},
        {"layout_transform/input:1x5x7x17/from_layout:NCHW16c/to_layout:NHWC", "irregular"},
        {"layout_transform/input:1x5x7x3/from_layout:NCHW16c/to_layout:NHWC", "35*16 3*1"},
        {"layout_transform/kernel:3x3x17x32/from_layout:OIHW/to_layout:OIHW16o", "2*2448 153*1 16*153"},
        {"space_to_depth/input:2x6x8x3/block:2x4", "6*48 2*12 2*24 12*1"},
        {"space_to_depth/input:1x6x8x3/input_layout:NCHW/output_layout:NCHW/block:2x4", "2*8 4*1 9*16 2*4"},
        {"space_to_depth/input:1x5x8x3/block:2x4", "3*48 2*12 2*24 12*1 [2,0,1,0<5]"},
        {"space_to_depth/input:1x6x8x3/output_layout:NCHW16c/block:2x2", "irregular"},
        {"space_to_depth/input:1x6x8x4/output_layout:NCHW16c/block:2x2", "3*64 4*8 2*32 8*1"},
        {"space_to_depth/input:1x6x8x8/output_layout:NCHW16c/block:2x2", "2*64 3*128 64*1"},
        {"depth_to_space/input:2x3x2x24/block:2x4", "6*48 2*12 2*24 12*1"},
        {"depth_to_space/input:1x3x2x24/input_layout:NCHW/output_layout:NCHW/block:2x4", "9*2 2*72 2*1 4*18"},
        {"space_to_depth/input:2x24x3/block:4", "144*1"},
    };
    for (const Row &row : rows) EXPECT_EQ(text(movement_of(row.key)), row.digits) << row.key;
}

}  // namespace
}  // namespace kiln
