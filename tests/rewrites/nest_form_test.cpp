// Nests as loops over flat memory: which loops are merged, and that every read has the address that the nest states.
#include "rewrites/nest_form.h"

#include <gtest/gtest.h>

#include "workload/workload.h"

namespace kiln {
namespace {

TEST(NestForm, LoopsThatGoOnAreOne) {
    struct Row {
        const char *fields;
        std::vector<int64_t> loops, over;
    };
    const Row rows[] = {
        {"loops:1x56x56x64/operands:1x56x56x64/reads:x0[i0,i1,i2,i3]/term:x0", {200704}, {}},
        {"loops:1x56x56x64/operands:1x56x56x64,64/reads:x0[i0,i1,i2,i3];x1[i3]/term:add(x0,x1)", {3136, 64}, {}},
        {"loops:2x8x8x4/operands:2x8x8x4,2x1x1x4/reads:x0[i0,i1,i2,i3];x1[i0,0,0,i3]/term:mul(x0,x1)", {2, 64, 4}, {}},
        {"loops:8x4/operands:4x8/reads:x0[i1,i0]/term:x0", {8, 4}, {}},
        {"loops:1x1/operands:5/reads:x0[i0]/term:x0", {1}, {}},
        {"loops:2x16/over:7x7/operands:2x7x7x16/reduction:mean/reads:x0[i0,r0,r1,i1]/term:x0", {2, 16}, {49}},
        {"loops:2x3x5/operands:2x3x10/reads:x0[i0,i1,2*i2]/term:x0", {30}, {}},
        {"loops:2x3x5/operands:2x3x10/reads:x0[i0,i1,i2]/term:x0", {6, 5}, {}},
        {"loops:1x4x4x8/over:3x3/operands:1x4x4x8/reduction:maximum/reads:x0[i0,i1+r0-1,i2+r1-1,i3]/term:x0",
         {4, 4, 8},
         {3, 3}},
    };
    for (const Row &row : rows) {
        const auto w = parse_workload_key(std::string("nest/") + row.fields);
        ASSERT_TRUE(w) << w.error().message;
        const NestForm form = nest_form(nest_of(*w));
        EXPECT_EQ(form.loops, row.loops) << row.fields;
        EXPECT_EQ(form.over, row.over) << row.fields;
    }
}

TEST(NestForm, InPlaceWhereAnOperandIsReadAsTheResultIsWritten) {
    struct Row {
        const char *fields;
        bool may_be;
    };
    const Row rows[] = {
        {"loops:2x3x5/operands:2x3x5/reads:x0[i0,i1,i2]/term:exp(x0)", true},
        {"loops:1x3x5/operands:1x3x5,5/reads:x0[i0,i1,i2];x1[i2]/term:add(x0,x1)", true},
        {"loops:2x3/operands:3,2x3/reads:x0[i1];x1[i0,i1]/term:sub(x0,x1)", true},
        {"loops:2x3/operands:3x2/reads:x0[i1,i0]/term:x0", false},
        {"loops:2x3/operands:2x4/reads:x0[i0,i1]/term:x0", false},
        {"loops:4/operands:5/reads:x0[i0+1]/term:x0", false},
        {"loops:4/operands:8/reads:x0[2*i0]/term:x0", false},
        {"loops:4/operands:4/reads:x0[i0];x0[0]/term:sub(x0,x1)", false},
        {"loops:4/over:3/operands:4,3/reduction:sum/reads:x0[i0];x1[r0]/term:mul(x0,x1)", false},
    };
    for (const Row &row : rows) {
        const auto w = parse_workload_key(std::string("nest/") + row.fields);
        ASSERT_TRUE(w) << w.error().message;
        EXPECT_EQ(may_be_in_place(nest_form(nest_of(*w))), row.may_be) << row.fields;
    }
}

// Axes that may leave their operand keep an index of their own; all others are in the address.
TEST(NestForm, OnlyAxesThatMayLeaveAreChecked) {
    const auto w = parse_workload_key(
        "nest/loops:1x4x8/over:3/operands:1x4x8,4x3/reduction:sum/reads:x0[i0,i1+r0-1,i2];x1[i1,r0]/term:mul(x0,x1)");
    ASSERT_TRUE(w) << w.error().message;
    const NestForm form = nest_form(nest_of(*w));
    ASSERT_EQ(form.loops, (std::vector<int64_t>{4, 8}));
    ASSERT_EQ(form.reads.size(), 2u);
    ASSERT_EQ(form.reads[0].checked.size(), 1u);
    const CheckedAxis &axis = form.reads[0].checked[0];
    EXPECT_EQ(axis.index.loops, (std::vector<int64_t>{1, 0}));
    EXPECT_EQ(axis.index.over, (std::vector<int64_t>{1}));
    EXPECT_EQ(axis.index.offset, -1);
    EXPECT_EQ(axis.extent, 4);
    EXPECT_EQ(axis.stride, 8);
    EXPECT_EQ(form.reads[0].address.loops, (std::vector<int64_t>{0, 1}));
    EXPECT_EQ(form.reads[0].stride(0), 8);
    EXPECT_EQ(form.reads[0].stride(1), 1);
    EXPECT_EQ(form.reads[0].stride_over(0), 8);
    EXPECT_TRUE(form.reads[1].checked.empty());
    EXPECT_EQ(form.reads[1].address.loops, (std::vector<int64_t>{3, 0}));
    EXPECT_EQ(form.reads[1].address.over, (std::vector<int64_t>{1}));
}

TEST(NestForm, ATableHasNoStride) {
    const auto w = parse_workload_key("nest/loops:6x8/operands:4x8,6/reads:x0[x1[i0],i1]/term:x0");
    ASSERT_TRUE(w) << w.error().message;
    const NestForm form = nest_form(nest_of(*w));
    EXPECT_EQ(form.reads[0].stride(0), std::nullopt);
    EXPECT_EQ(form.reads[0].stride(1), 1);
}

}  // namespace
}  // namespace kiln
