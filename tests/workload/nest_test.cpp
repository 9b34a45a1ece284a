// Nests as texts: which are refused and why, and that every text reads back equal. Keys are frozen, as all keys.
#include "workload/nest/nest.h"

#include <gtest/gtest.h>

#include "workload/signature.h"
#include "workload/workload.h"

namespace kiln {
namespace {

TEST(NestKey, IsFrozen) {
    struct Row {
        const char *what, *key;
    };
    const Row rows[] = {
        {"sum and ReLU",
         "nest/loops:1x56x56x64/operands:1x56x56x64,1x56x56x64/reads:x0[i0,i1,i2,i3];x1[i0,i1,i2,i3]/"
         "term:max(add(x0,x1),0)"},
        {"bias", "nest/loops:3136x64/operands:3136x64,64/reads:x0[i0,i1];x1[i1]/term:add(x0,x1)"},
        {"max pool",
         "nest/loops:1x28x28x64/over:3x3/operands:1x56x56x64/reduction:maximum/"
         "reads:x0[i0,2*i1+r0-1,2*i2+r1-1,i3]/term:x0"},
        {"global average pool",
         "nest/loops:1x2048/over:49/operands:1x49x2048/reduction:mean/reads:x0[i0,r0,i1]/term:x0"},
        {"product of matrices",
         "nest/loops:12x64x64/over:32/operands:12x64x32,12x32x64/reduction:sum/reads:x0[i0,i1,r0];x1[i0,r0,i2]/"
         "term:mul(x0,x1)/finish:mul(x2,0.125)"},
        {"resize",
         "nest/loops:1x20x5/over:2/operands:1x10x5,20x2,20x2/reduction:sum/reads:x0[i0,x1[i1,r0],i2];x2[i1,r0]/"
         "term:mul(x0,x1)"},
        {"quantized sum of two types",
         "nest/dtype:i8/output_dtype:u8/loops:4/operands:4,4/operand_dtypes:i8,u8/reads:x0[i0];x1[i0]/"
         "term:u8(add(f32(x0),mul(f32(x1),0.5)))"},
        {"maximum of integers", "nest/dtype:u8/loops:4/over:2/operands:8/reduction:maximum/reads:x0[2*i0+r0]/term:x0"},
        {"function by a table of its 256 values",
         "nest/dtype:i8/loops:4/operands:256,4/operand_dtypes:i8,u8/reads:x0[x1[i0]]/term:x0"},
        {"reversed slice in bf16", "nest/dtype:bf16/loops:4/operands:10/reads:x0[-2*i0+9]/term:x0"},
    };
    for (const Row &row : rows) {
        const auto workload = parse_workload_key(row.key);
        ASSERT_TRUE(workload) << row.what << ": " << workload.error().message;
        EXPECT_EQ(key(*workload), row.key) << row.what;
        const Nest nest = nest_of(*workload);
        Workload again = nest_workload(nest);
        again.dtype = workload->dtype, again.output_dtype = workload->output_dtype;
        EXPECT_EQ(again, *workload) << row.what;
    }
}

TEST(NestKey, IsRefusedWithTheReason) {
    struct Row {
        const char *fields, *error;
    };
    const Row rows[] = {
        {"operands:4/reads:x0[i0]/term:x0", "bad value of field `loops`|loops: is empty"},
        {"loops:4/reads:x0[i0]/term:x0", "operands: 0 shapes"},
        {"loops:4/operands:4/reads:x1[i0]/term:x0", "x1 is no operand"},
        {"loops:4/operands:4/reads:x0[i1]/term:x0", "i1 is no loop"},
        {"loops:4/operands:4/reads:x0[r0]/term:x0", "r0 is no loop"},
        {"loops:4/operands:4/reads:x0[i0,i0]/term:x0", "x0 has 1 axes"},
        {"loops:4/operands:4x4/reads:x0[i0]/term:x0", "x0 has 2 axes"},
        {"loops:4/operands:4/reads:x0[99999999999*i0]/term:x0", "beyond 2147483647"},
        {"loops:4/operands:4/reads:x0[2000000000*i0+2000000000*i0]/term:x0", "beyond 2147483647"},
        {"loops:4/operands:4/reads:x0[i0+]/term:x0", "needs one"},
        {"loops:4/operands:4/reads:x0[i0]x/term:x0", "`x` is not expected"},
        {"loops:4/operands:4,4/reads:x0[i0]/term:x0", "nothing reads operand x1"},
        {"loops:4/operands:4/reads:x0[i0]/term:x1", "term: step 1"},
        {"loops:4/operands:4/reads:x0[i0]/term:add(x0", "term: the end is not expected"},
        {"loops:4/operands:4/reads:x0[i0]/term:less(x0,0)", "its result is bool"},
        {"loops:4/over:3/operands:4/reads:x0[i0]/term:x0", "over: there is no reduction"},
        {"loops:4/operands:4/reads:x0[i0]/term:x0/finish:x1", "finish: there is no reduction"},
        {"loops:4/over:4/operands:4/reduction:sum/reads:x0[r0]/term:x0/finish:add(x0,x1)",
         "x0 is a read that depends on r"},
        {"loops:4/over:4/operands:4/reduction:median/reads:x0[r0]/term:x0", "reduction: `median` is none"},
        {"loops:4/operands:4,4/reads:x0[x1[i0]];x1[i0]/term:add(x0,x1)",
         "x1 is a table of indices and read as numbers"},
        {"loops:5/operands:4,4/reads:x0[x1[i0]]/term:x0", "the table x1 is read outside of its shape"},
        {"loops:4/operands:4,4,4/reads:x0[x1[x2[i0]]]/term:x0", "reads:"},
        {"loops:0/operands:4/reads:x0[i0]/term:x0", "loops: an extent of 0"},
        {"loops:2000000000x2000000000/operands:4/reads:x0[i0]/term:x0", "loops: more than 2^40 elements"},
        {"loops:4/operands:4/reads:x0[0+i0]/term:x0", "reads: is written `x0[i0]`"},
        {"loops:4/operands:4/reads:x0[i0]/term:add(x0,0.50)", "term: is written `add(x0,0.5)`"},
        {"dtype:i8/output_dtype:f32/loops:4/operands:4/reads:x0[i0]/term:x0", "term: its result is i8; needs f32"},
        {"dtype:i8/loops:4/over:2/operands:4x2/reduction:mean/reads:x0[i0,r0]/term:x0", "reduction: a mean is of f32"},
        {"dtype:i8/loops:4/over:2/operands:4x2/reduction:sum/reads:x0[i0,r0]/term:i64(x0)/finish:i8(x1)",
         "term: its result is i64, which is not reduced"},
        {"dtype:i8/loops:4/operands:4,4/operand_dtypes:i8/reads:x0[i0];x1[i0]/term:add(x0,x1)",
         "operand_dtypes has 1 entries for 2 operands"},
        {"dtype:i8/loops:4/operands:4,4/operand_dtypes:i8,i8/reads:x0[i0];x1[i0]/term:add(x0,x1)", "leave them out"},
        {"output_dtype:i32/loops:4/operands:4,4/operand_dtypes:u8,f32/reads:x0[i0];x1[i0]/term:i32(x0)",
         "where operand_dtypes are stated it is u8"},
        {"dtype:f32/loops:4/operands:9,4/operand_dtypes:f32,i8/reads:x0[x1[i0]]/term:x0",
         "operand_dtypes: x1 is a table of indices and i8"},
        {"dtype:u8/output_dtype:f32/loops:4/operands:4,4/operand_dtypes:u8,f32/reads:x0[i0];x1[i0]/term:mul(x0,x1)",
         "term: "},
        {"input:1x4x4x4/loops:4/operands:4/reads:x0[i0]/term:x0", "input has no meaning for nest"},
    };
    for (const Row &row : rows) {
        const auto workload = parse_workload_key(std::string("nest/") + row.fields);
        ASSERT_FALSE(workload) << row.fields;
        const std::string wanted = row.error;
        const size_t bar = wanted.find('|');
        const bool is_either =
            bar != std::string::npos && workload.error().message.find(wanted.substr(bar + 1)) != std::string::npos;
        EXPECT_TRUE(is_either || workload.error().message.find(wanted.substr(0, bar)) != std::string::npos)
            << row.fields << ": " << workload.error().message;
    }
}

TEST(NestKey, DeepTextsAreRefused) {
    std::string term, end;
    for (int i = 0; i < 100000; i++) term += "neg(", end += ")";
    const auto workload = parse_workload_key("nest/loops:4/operands:4/reads:x0[i0]/term:" + term + "x0" + end);
    ASSERT_FALSE(workload);
    EXPECT_NE(workload.error().message.find("more than 200 deep"), std::string::npos);
}

TEST(NestSignature, TablesAreIntegersBelowTheirAxis) {
    const auto w =
        parse_workload_key("nest/dtype:f16/loops:6/operands:10,6,8/reads:x0[x1[i0]];x2[x1[i0]]/term:add(x0,x1)");
    ASSERT_TRUE(w) << w.error().message;
    const Signature s = signature(*w);
    ASSERT_EQ(s.operands.size(), 3u);
    EXPECT_EQ(s.operands[0].dtype, DType::f16);
    EXPECT_EQ(s.operands[1].dtype, DType::i32);
    EXPECT_EQ(s.operands[1].index_count, 8);
    EXPECT_EQ(s.operands[2].role, Role::operand_2);
    EXPECT_EQ(s.result.logical, (std::vector<int64_t>{6}));
}

}  // namespace
}  // namespace kiln
