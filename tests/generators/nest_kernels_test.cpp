// Nests built by the real generator and judged by the real runner: defaults, and candidates drawn from the space.
#include <gtest/gtest.h>

#include <string>

#include "catalog/catalog.h"
#include "tests/generators/built_kernels.h"
#include "tests/test_seed.h"

namespace kiln {
namespace {

class NestKernels : public BuiltKernels {
protected:
    void expect_right(const std::string &workload_key, const Target &target, int draws) {
        const auto workload = parse_workload_key(workload_key);
        ASSERT_TRUE(workload) << workload.error().message;
        const Core core = core_of(machine_, target);
        const auto untuned = default_candidate(*workload, target, core, default_error_budget);
        ASSERT_TRUE(untuned) << workload_key << ": " << untuned.error().message;
        EXPECT_EQ(problem(*workload, target, *untuned), "") << workload_key << " " << to_text(*untuned);
        const Space space = find_algorithm("nest")->space(*workload, target, core);
        for (int i = 0; i < draws; i++) {
            const auto candidate = space.sample(rng_);
            ASSERT_TRUE(candidate) << workload_key;
            EXPECT_EQ(problem(*workload, target, *candidate), "") << workload_key << " " << to_text(*candidate);
        }
    }

    Rng rng_{test_seed()};
};

// Loops that are merged and that are not, ragged ones, single elements; reads that leave on each side; every reduction, in lanes of
// the result and of its own; tables; every function.
constexpr const char *nests[] = {
    "nest/loops:1x13x17x20/operands:1x13x17x20,1x13x17x20/reads:x0[i0,i1,i2,i3];x1[i0,i1,i2,i3]/term:max(add(x0,x1),0)",
    "nest/loops:7x9x37/operands:7x9x37,37,7x1x37/reads:x0[i0,i1,i2];x1[i2];x2[i0,0,i2]/term:add(mul(x0,x1),x2)",
    "nest/loops:1/operands:1/reads:x0[i0]/term:neg(x0)",
    "nest/loops:11x3/operands:3x11/reads:x0[i1,i0]/term:x0",
    "nest/loops:2x14x15x19/over:3x3/operands:2x28x29x19/reduction:maximum/reads:x0[i0,2*i1+r0-1,2*i2+r1-1,i3]/term:x0",
    "nest/loops:1x8x9x33/over:3x2/operands:1x8x9x33/reduction:mean/reads:x0[i0,i1+r0-1,i2+r1-1,i3]/term:x0",
    "nest/loops:1x7x130/over:5/operands:1x130x7/reduction:sum/reads:x0[i0,i2+r0-2,i1]/term:abs(x0)",
    "nest/loops:2x40/over:7x7/operands:2x7x7x40/reduction:mean/reads:x0[i0,r0,r1,i1]/term:x0",
    "nest/loops:6/over:211/operands:6x211,6/reduction:sum/reads:x0[i0,r0];x1[i0]/term:exp(sub(x0,x1))/finish:log(x2)",
    "nest/loops:5x3/over:4x67/operands:5x4x3x67/reduction:maximum/reads:x0[i0,r0,i1,r1]/term:x0",
    "nest/loops:9/over:20/operands:9x20/reduction:minimum/reads:x0[i0,r0]/term:x0",
    "nest/loops:31/over:6/operands:6x31/reduction:product/reads:x0[r0,i0]/term:x0",
    "nest/loops:3x21x38/over:29/operands:3x21x29,3x29x38/reduction:sum/reads:x0[i0,i1,r0];x1[i0,r0,i2]/term:mul(x0,x1)/"
    "finish:mul(x2,0.125)",
    "nest/loops:17x18/over:40/operands:17x40,18x40/reduction:sum/reads:x0[i0,r0];x1[i1,r0]/term:mul(x0,x1)",
    "nest/loops:1x9x14x5/over:2x2/operands:1x6x7x5,9x2,9x2,14x2,14x2/reduction:sum/"
    "reads:x0[i0,x1[i1,r0],x3[i2,r1],i3];x2[i1,r0];x4[i2,r1]/term:mul(mul(x0,x1),x2)",
    "nest/loops:26x20/operands:20x20,26/reads:x0[x1[i0],i1]/term:x0",
    "nest/loops:4x30/operands:6x35/reads:x0[i0+1,-i1+33]/term:x0",
    "nest/loops:5x70/operands:3x64/reads:x0[i0-1,i1-3]/term:x0",
    "nest/loops:100/operands:100,100/reads:x0[i0];x1[i0]/"
    "term:add(tanh(x0),mul(erf(x1),sigmoid(add(x0,x1))))",
    "nest/loops:100/operands:100/reads:x0[i0]/term:add(sqrt(abs(x0)),mul(log1p(abs(x0)),pow(abs(x0),1.5)))",
    "nest/loops:100/operands:100/reads:x0[i0]/term:mul(x0,tanh(add(max(x0,0),log1p(exp(neg(abs(x0)))))))",
    "nest/loops:100/operands:100,100/reads:x0[i0];x1[i0]/"
    "term:select(or(less(x0,x1),not(less_or_equal(x0,0.5))),div(x0,add(abs(x1),1)),reciprocal(add(abs(x0),2)))",
    "nest/dtype:f16/loops:9x33/operands:9x33,33/reads:x0[i0,i1];x1[i1]/term:add(x0,x1)",
    "nest/dtype:bf16/output_dtype:f32/loops:40/over:25/operands:25x40/reduction:sum/reads:x0[r0,i0]/term:x0",
};

TEST_F(NestKernels, AreRightOnThisMachine) {
    for (const char *nest : nests) expect_right(nest, {machine_.halide_target, 1}, 2);
}

TEST_F(NestKernels, AreRightWithThreads) {
    for (const char *nest : nests) expect_right(nest, {machine_.halide_target, 2}, 1);
}

TEST_F(NestKernels, AreRightWithoutWideVectors) {
    for (size_t i = 0; i < std::size(nests); i += 3) expect_right(nests[i], {"x86-64-linux-sse41", 1}, 1);
}

}  // namespace
}  // namespace kiln
