// What nests run untuned.
#include "schedules/spaces/nest_tile_space.h"

#include <gtest/gtest.h>

#include <string>

#include "workload/workload.h"

namespace kiln {
namespace {

constexpr const char *of_16_registers = "x86-64-linux-avx-avx2-f16c-fma-sse41";
constexpr const char *of_32_registers = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41";

Space space_of(const char *fields, int threads, const char *target) {
    const auto w = parse_workload_key(std::string("nest/") + fields);
    EXPECT_TRUE(w) << w.error().message;
    return nest_tile_space({}, nest_of(*w), Target{target, threads});
}

NestTileKnobs default_of(const char *fields, int threads, const char *target = of_32_registers) {
    const Space space = space_of(fields, threads, target);
    const Candidate candidate = space.default_candidate();
    EXPECT_TRUE(space.check(candidate)) << fields << " " << to_text(candidate);
    return *decode_knobs<NestTileKnobs>(candidate.knobs);
}

TEST(NestTileSpace, DefaultsFollowMemory) {
    struct Row {
        const char *fields;
        int64_t lanes, vectors, rows, copied;
    };
    const Row rows[] = {
        {"loops:56x56x64/operands:56x56x64/reads:x0[i0,i1,i2]/term:neg(x0)", 0, 4, 1, 0},
        // The reduction goes along memory, whatever else is read.
        {"loops:196/over:768/operands:196x768,196/reduction:sum/reads:x0[i0,r0];x1[i0]/term:sub(x0,x1)", 1, 4, 1, 0},
        {"loops:2048/over:7x7/operands:7x7x2048/reduction:sum/reads:x0[r0,r1,i0]/term:x0", 0, 4, 1, 0},
        // One more vector is enough for the last 4 of 196.
        {"loops:50/over:196/operands:50x196/reduction:maximum/reads:x0[i0,r0]/term:x0", 1, 2, 1, 0},
        // Columns of the second operand are contiguous, or made so; a single row is not worth it.
        {"loops:196x196/over:64/operands:196x64,64x196/reduction:sum/reads:x0[i0,r0];x1[r0,i1]/term:mul(x0,x1)", 0, 4,
         4, 0},
        {"loops:196x196/over:64/operands:196x64,196x64/reduction:sum/reads:x0[i0,r0];x1[i1,r0]/term:mul(x0,x1)", 0, 4,
         4, 1},
        {"loops:2x196/over:64/operands:2x64,196x64/reduction:sum/reads:x0[i0,r0];x1[i1,r0]/term:mul(x0,x1)", 1, 4, 1,
         0},
        {"loops:196x196/over:2000/operands:196x2000,196x2000/reduction:sum/reads:x0[i0,r0];x1[i1,r0]/term:mul(x0,x1)",
         0, 1, 4, 1},
        // A line of memory that a vector gathers from is read again by the next rows.
        {"loops:64x3136/operands:3136x64/reads:x0[i1,i0]/term:x0", 0, 1, 16, 0},
        {"loops:3x50/operands:50x3/reads:x0[i1,i0]/term:x0", 0, 1, 2, 0},
    };
    for (const Row &row : rows) {
        const NestTileKnobs k = default_of(row.fields, 1);
        EXPECT_EQ(k.lanes, row.lanes) << row.fields;
        EXPECT_EQ(k.vectors, row.vectors) << row.fields;
        EXPECT_EQ(k.rows, row.rows) << row.fields;
        EXPECT_EQ(k.copied, row.copied) << row.fields;
    }
}

TEST(NestTileSpace, VectorsAreTogetherWhereRegistersKeepNoConstants) {
    const struct {
        const char *fields, *target;
        int64_t together;
    } rows[] = {
        {"loops:8x100/operands:8x100,8/reads:x0[i0,i1];x1[i0]/term:exp(sub(x0,x1))", of_16_registers, 1},
        {"loops:8x100/operands:8x100,8/reads:x0[i0,i1];x1[i0]/term:exp(sub(x0,x1))", of_32_registers, 0},
        {"loops:8x100/operands:8x100/reads:x0[i0,i1]/term:mul(x0,sigmoid(x0))", of_16_registers, 1},
        {"loops:8x100/operands:8x100/reads:x0[i0,i1]/term:max(x0,0)", of_16_registers, 0},
        // One vector, elements that lie apart, or some that may lie outside.
        {"loops:8x8/operands:8x8,8/reads:x0[i0,i1];x1[i0]/term:exp(sub(x0,x1))", of_16_registers, 0},
        {"loops:8x100/operands:100x8/reads:x0[i1,i0]/term:exp(x0)", of_16_registers, 0},
        {"loops:8x100/operands:8x98/reads:x0[i0,i1-1]/term:exp(x0)", of_16_registers, 0},
        {"loops:100/over:9/operands:9x100/reduction:sum/reads:x0[r0,i0]/term:exp(x0)", of_16_registers, 0},
    };
    for (const auto &row : rows) EXPECT_EQ(default_of(row.fields, 1, row.target).together, row.together) << row.fields;
}

TEST(NestTileSpace, SoftCoresHaveNoVectorsToJoin) {
    const Space space = space_of("loops:100/operands:100/reads:x0[i0]/term:exp(x0)", 1, "riscv-32-noos");
    Candidate candidate = space.default_candidate();
    EXPECT_EQ(decode_knobs<NestTileKnobs>(candidate.knobs)->together, 0);
    candidate.knobs["together"] = 1;
    EXPECT_FALSE(space.check(candidate));
}

TEST(NestTileSpace, ThreadsShareWhatIsWorthIt) {
    EXPECT_EQ(default_of("loops:1x56x56x64/operands:1x56x56x64/reads:x0[i0,i1,i2,i3]/term:neg(x0)", 4).parallel, 1);
    EXPECT_EQ(default_of("loops:16x16/operands:16x16/reads:x0[i1,i0]/term:neg(x0)", 4).parallel, 0);
}

}  // namespace
}  // namespace kiln
