// The reference of data movement on small tensors, worked out by hand.
#include <gtest/gtest.h>

#include <cstring>

#include "tuner/reference/reference.h"
#include "workload/signature.h"

namespace kiln {
namespace {

// The operand's stored elements are 1, 2, 3, ...
TEST(MovementReference, StoredElements) {
    struct Row {
        const char *key;
        std::vector<double> expected;
    };
    const Row rows[] = {
        {"layout_transform/input:1x1x3x2/from_layout:NHWC/to_layout:NCHW", {1, 3, 5, 2, 4, 6}},
        {"layout_transform/input:2x1x2x3/from_layout:NCHW/to_layout:NCHW2c",
         {1, 3, 2, 4, 5, 0, 6, 0, 7, 9, 8, 10, 11, 0, 12, 0}},
        // What fills the last block, here 6, is not read.
        {"layout_transform/input:1x1x2x3/from_layout:NCHW2c/to_layout:NHWC", {1, 2, 5, 3, 4, 7}},
        {"layout_transform/input:2x1x2x2/from_layout:NHWC/to_layout:CHWN", {1, 5, 3, 7, 2, 6, 4, 8}},
        {"layout_transform/kernel:1x2x2x3/from_layout:OIHW/to_layout:HWIO", {1, 5, 9, 3, 7, 11, 2, 6, 10, 4, 8, 12}},
        {"layout_transform/kernel:1x1x2x3/from_layout:OIHW/to_layout:OIHW2i2o", {1, 3, 2, 4, 5, 0, 6, 0}},
        {"space_to_depth/input:1x2x4x1/block:2x2", {1, 2, 5, 6, 3, 4, 7, 8}},
        {"space_to_depth/input:1x2x2x2/dtype:i8/input_layout:NCHW/output_layout:NCHW/block:1x2",
         {1, 3, 5, 7, 2, 4, 6, 8}},
        {"space_to_depth/input:1x3x2/block:2", {1, 2, 3, 4, 5, 6, 0, 0}},
        {"depth_to_space/input:1x1x2x4/block:2x2", {1, 2, 5, 6, 3, 4, 7, 8}},
        {"depth_to_space/input:1x2x4/block:2", {1, 2, 3, 4, 5, 6, 7, 8}},
    };
    for (const Row &row : rows) {
        const auto w = parse_workload_key(row.key);
        ASSERT_TRUE(w) << w.error().message;
        const TensorForm form = signature(*w).operands[0];
        Tensor operand{form.dtype, form.shape(), {}};
        operand.data.resize(size_t(operand.elements()) * size_of(form.dtype));
        for (int64_t i = 0; i < operand.elements(); i++) {
            if (form.dtype == DType::i8) {
                operand.data[i] = std::byte(i + 1);
            } else {
                const float value = float(i + 1);
                std::memcpy(operand.data.data() + 4 * i, &value, 4);
            }
        }
        Operands operands;
        (form.role == Role::weights ? operands.second : operands.first) = operand;
        const auto r = reference(*w, operands);
        ASSERT_TRUE(r) << r.error().message;
        EXPECT_EQ(r->expected, row.expected) << row.key;
        EXPECT_EQ(r->magnitude, row.expected) << row.key;
    }
}

}  // namespace
}  // namespace kiln
