// Two nests as one, told by their keys.
#include "network/joining/joined_nest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "workload/workload.h"

namespace kiln::network {
namespace {

Nest nest(const std::string &text) {
    const auto workload = parse_workload_key("nest/" + text);
    EXPECT_TRUE(workload) << text << ": " << workload.error().message;
    return nest_of(*workload);
}

struct Row {
    const char *what;
    std::string producer, consumer;
    const char *joined;  // "": none
    int operand = 0;
};

TEST(JoinedNest, table) {
    const std::string relu = "loops:24/operands:24/reads:x0[i0]/term:max(x0,0)",
                      pad = "loops:6x3/operands:4x3/reads:x0[i0-1,i1]/term:x0";
    const std::vector<Row> rows{
        {"element-wise behind each other", relu, "loops:24/operands:24,24/reads:x0[i0];x1[i0]/term:add(x0,x1)",
         "nest/loops:24/operands:24,24/reads:x1[i0];x0[i0]/term:add(max(x0,0),x1)"},
        {"as the second operand", relu, "loops:24/operands:24,24/reads:x0[i0];x1[i0]/term:sub(x0,x1)",
         "nest/loops:24/operands:24,24/reads:x0[i0];x1[i0]/term:sub(x0,max(x1,0))", 1},
        {"a transpose behind a pad", pad, "loops:3x6/operands:6x3/reads:x0[i1,i0]/term:x0",
         "nest/loops:3x6/operands:4x3/reads:x0[i1-1,i0]/term:x0"},
        {"rows of pairs behind a pad: an axis becomes two", pad,
         "loops:2x3x3/operands:3x2x3/reads:x0[i1,i0,i2]/term:x0",
         "nest/loops:2x3x3/operands:4x3/reads:x0[i0+2*i1-1,i2]/term:x0"},
        {"a loop over what are two axes for the producer is split", "loops:4x6/operands:6x4/reads:x0[i1,i0]/term:x0",
         "loops:2x24/operands:24/reads:x0[i1]/term:x0", "nest/loops:2x4x6/operands:6x4/reads:x0[i2,i1]/term:x0"},
        {"an index of one element has digits", "loops:4x6/operands:6x4/reads:x0[i1,i0]/term:x0",
         "loops:5/operands:24/reads:x0[20]/term:x0", "nest/loops:5/operands:6x4/reads:x0[2,3]/term:x0"},
        {"a table of the producer", "loops:4x3/operands:6x3,4/reads:x0[x1[i0],i1]/term:x0",
         "loops:2x3/operands:4x3/reads:x0[i0+1,i1]/term:x0",
         "nest/loops:2x3/operands:6x3,4/reads:x0[x1[i0+1],i1]/term:x0"},
        {"what is outside of the result is outside of what it is computed from", relu,
         "loops:30/operands:24/reads:x0[i0-3]/term:x0", "nest/loops:30/operands:24/reads:x0[i0-3]/term:max(x0,0)"},
        {"but not of a part", "loops:20/operands:24/reads:x0[i0+2]/term:x0",
         "loops:30/operands:20/reads:x0[i0-3]/term:x0", ""},
        {"zeros of a pad would become other numbers", pad, "loops:18/operands:18/reads:x0[i0]/term:add(x0,1)", ""},
        {"numbers would be computed twice", relu, "loops:2x24/operands:24/reads:x0[i1]/term:x0", ""},
        {"windows that overlap", relu, "loops:11x4/operands:24/reads:x0[2*i0+i1]/term:x0", ""},
        {"windows side by side", relu, "loops:12x2/operands:24/reads:x0[2*i0+i1]/term:x0",
         "nest/loops:12x2/operands:24/reads:x0[2*i0+i1]/term:max(x0,0)"},
        {"elements may be read twice", "loops:24/operands:30/reads:x0[i0]/term:x0",
         "loops:2x24/operands:24/reads:x0[i1]/term:x0", "nest/loops:2x24/operands:30/reads:x0[i1]/term:x0"},
        {"arithmetic with elements that lie apart", relu, "loops:4x6/operands:6x4/reads:x0[i1,i0]/term:x0",
         "nest/loops:4x6/operands:6x4/reads:x0[i1,i0]/term:max(x0,0)"},
        {"a pad of what merged loops compute", "loops:12x3/operands:12x3,3/reads:x0[i0,i1];x1[i1]/term:mul(x0,x1)",
         "loops:6x5x3/operands:4x3x3/reads:x0[i0-1,i1-1,i2]/term:x0",
         "nest/loops:6x5x3/operands:4x3x3,3/reads:x0[i0-1,i1-1,i2];x1[i2]/term:mul(x0,x1)"},
        {"axes of one element", "loops:4x1x6/operands:4x6/reads:x0[i0,i2]/term:x0",
         "loops:6x4/operands:1x4x6/reads:x0[0,i1,i0]/term:x0", "nest/loops:6x4/operands:4x6/reads:x0[i1,i0]/term:x0"},
        {"axes that cut each other", "loops:4x6/operands:6x4/reads:x0[i1,i0]/term:x0",
         "loops:3x8/operands:3x8/reads:x0[i0,i1]/term:x0", ""},
        {"into a reduction", relu, "loops:4/over:6/operands:4x6/reduction:sum/reads:x0[i0,r0]/term:x0/finish:mul(x1,2)",
         "nest/loops:4/over:6/operands:4x6/reduction:sum/reads:x0[i0,r0]/term:max(x0,0)/finish:mul(x1,2)"},
        {"into a reduction, with operands of its own", "loops:4x6/operands:4,6/reads:x0[i0];x1[i1]/term:mul(x0,x1)",
         "loops:6/over:4/operands:4x6,6/reduction:maximum/reads:x0[r0,i0];x1[i0]/term:add(x0,x1)",
         "nest/loops:6/over:4/operands:6,4,6/reduction:maximum/reads:x1[r0];x2[i0];x0[i0]/term:add(mul(x0,x1),x2)"},
        {"into windows side by side", relu,
         "loops:2x3/over:2x2/operands:4x6/reduction:maximum/reads:x0[2*i0+r0,2*i1+r1]/term:x0",
         "nest/loops:2x3/over:2x2/operands:4x6/reduction:maximum/reads:x0[2*i0+r0,2*i1+r1]/term:max(x0,0)"},
        {"a count of comparisons",
         "output_dtype:i32/loops:2x3x4/operands:4,2x3,2x4/reads:x0[i2];x1[i0,i1];x2[i0,i2]/"
         "term:i32(less(add(x0,x1),x2))",
         "dtype:i32/loops:2x4/over:3/operands:2x3x4/reduction:sum/reads:x0[i0,r0,i1]/term:x0",
         "nest/output_dtype:i32/loops:2x4/over:3/operands:4,2x3,2x4/reduction:sum/reads:x0[i1];x1[i0,r0];x2[i0,i1]/"
         "term:i32(less(add(x0,x1),x2))"},
        {"not into windows that overlap", relu,
         "loops:2x5/over:2x2/operands:4x6/reduction:sum/reads:x0[2*i0+r0,i1+r1]/term:x0", ""},
        {"not into a product, which reads each row often", relu,
         "loops:4x5/over:6/operands:4x6,6x5/reduction:sum/reads:x0[i0,r0];x1[r0,i1]/term:mul(x0,x1)", ""},
        {"not where the end reads what is computed", relu,
         "loops:24/over:1/operands:24/reduction:sum/reads:x0[i0]/term:x0/finish:add(x1,x0)", ""},
        {"not from a reduction", "loops:24/over:6/operands:24x6/reduction:sum/reads:x0[i0,r0]/term:x0",
         "loops:24/operands:24/reads:x0[i0]/term:max(x0,0)", ""},
        {"a table is not computed", "dtype:i32/loops:4/operands:4/reads:x0[i0]/term:x0",
         "loops:4/operands:6,4/reads:x0[x1[i0]]/term:x0", "", 1},
        {"quanta", "dtype:i8/output_dtype:f32/loops:24/operands:24/reads:x0[i0]/term:mul(f32(x0),0.5)",
         "loops:24/operands:24/reads:x0[i0]/term:max(x0,0)",
         "nest/dtype:i8/output_dtype:f32/loops:24/operands:24/reads:x0[i0]/term:max(mul(f32(x0),0.5),0)"},
    };
    for (const Row &row : rows) {
        const auto joined = joined_nest(nest(row.producer), nest(row.consumer), row.operand);
        EXPECT_EQ(joined ? key(nest_workload(joined->nest)) : "", row.joined) << row.what;
    }
}

}  // namespace
}  // namespace kiln::network
