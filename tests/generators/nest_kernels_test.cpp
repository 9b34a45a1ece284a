// Nests built by the real generator and judged by the real runner: defaults, and candidates drawn from the space.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "tests/generators/built_kernels.h"
#include "tests/generators/tensor_elements.h"
#include "tests/test_seed.h"
#include "tuner/reference/operands.h"

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

// Loops that are merged and that are not, ragged ones, single elements; reads that leave on each side; every reduction, in
// lanes of the result and of its own; tables; every function.
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
    "nest/loops:2x2x3x2x3x2x2x3/operands:2x3x2x3x3x2x2x2/reads:x0[i0,i7,i1,i4,i2,i5,i3,i6]/term:x0",
    "nest/loops:4x30/operands:6x35/reads:x0[i0+1,-i1+33]/term:x0",
    "nest/loops:5x70/operands:3x64/reads:x0[i0-1,i1-3]/term:x0",
    "nest/loops:100/operands:100,100/reads:x0[i0];x1[i0]/"
    "term:add(tanh(x0),mul(erf(x1),sigmoid(add(x0,x1))))",
    "nest/loops:100/operands:100/reads:x0[i0]/term:sigmoid(mul(x0,1e+10))",
    "nest/loops:100/operands:100/reads:x0[i0]/term:add(sqrt(abs(x0)),mul(log1p(abs(x0)),pow(abs(x0),1.5)))",
    "nest/loops:100/operands:100/reads:x0[i0]/term:mul(x0,tanh(add(max(x0,0),log1p(exp(neg(abs(x0)))))))",
    "nest/loops:100/operands:100,100/reads:x0[i0];x1[i0]/"
    "term:select(or(less(x0,x1),not(less_or_equal(x0,0.5))),div(x0,add(abs(x1),1)),reciprocal(add(abs(x0),2)))",
    // As a tree larger than the memory: functions of functions that use their arguments several times.
    "nest/dtype:u8/loops:72/operands:72,72/operand_dtypes:u8,f32/reads:x0[i0];x1[i0]/"
    "term:u8(min(max(round(div(mul(f32(i8(min(max(round(div(mul(x1,mul(f32(u8(min(max(round(div(add(log1p(exp(neg(abs("
    "mul(f32(x0),"
    "0.01))))),max(mul(f32(x0),0.01),0)),0.1)),0),255))),0.1)),0.02)),-128),127))),0.02),0.25)),0),255))",
    // Roots and logarithms of negative numbers stay NaN behind minima and maxima.
    "nest/loops:100/operands:100/reads:x0[i0]/term:max(sqrt(x0),0.001)",
    "nest/loops:100/operands:100/reads:x0[i0]/term:min(max(0.001,mul(log(x0),0.5)),2)",
    "nest/loops:20/over:7/operands:20x7/reduction:sum/reads:x0[i0,r0]/term:x0/finish:max(pow(x1,0.5),1e-06)",
    "nest/loops:100/operands:100,100/reads:x0[i0];x1[i0]/term:min(log1p(mul(x0,3)),sqrt(x1))",
    "nest/loops:100/operands:100,100/reads:x0[i0];x1[i0]/term:max(f32(f16(sqrt(x0))),select(less(x1,0.3),log(x1),x1))",
    "nest/loops:100/operands:100/reads:x0[i0]/term:f32(sqrt(f16(x0)))",
    // ... and behind reductions.
    "nest/loops:31/over:6/operands:6x31/reduction:maximum/reads:x0[r0,i0]/term:sqrt(x0)",
    "nest/loops:2x14x15x19/over:3x3/operands:2x28x29x19/reduction:minimum/reads:x0[i0,2*i1+r0-1,2*i2+r1-1,i3]/"
    "term:log(x0)",
    "nest/loops:40/over:37/operands:40x37/reduction:maximum/reads:x0[i0,r0]/term:pow(add(x0,0.97),0.5)/"
    "finish:max(x1,0.5)",
    "nest/loops:40/over:37/operands:40x37/reduction:minimum/reads:x0[i0,r0]/term:pow(add(x0,0.97),0.5)",
    "nest/loops:1x8x9x33/over:3x2/operands:1x8x9x33/reduction:mean/reads:x0[i0,i1+r0-1,i2+r1-1,i3]/"
    "term:sqrt(add(x0,0.9))/finish:max(x1,0.5)",
    // Terms that are equal along a loop of the reduction, or along all of them.
    "nest/loops:7/over:3/operands:7/reduction:product/reads:x0[i0]/term:x0",
    "nest/loops:3x2/over:5x37/operands:3x37/reduction:sum/reads:x0[i0,r1]/term:x0",
    "nest/loops:40/over:5x20/operands:40/reduction:mean/reads:x0[i0]/term:x0",
    "nest/loops:40/over:25/operands:1/reduction:maximum/reads:x0[0]/term:x0",
    "nest/loops:9/over:37/operands:9/reduction:minimum/reads:x0[i0]/term:x0",
    "nest/loops:9/over:37/operands:9/reduction:sum/reads:x0[i0]/term:mul(x0,x0)/finish:sqrt(x1)",
    "nest/loops:6x20/over:3x4/operands:6x20/reduction:mean/reads:x0[i0+r0-1,i1]/term:x0",
    "nest/dtype:i8/output_dtype:i32/loops:1/over:3/operands:1/reduction:sum/reads:x0[0]/term:i32(x0)",
    // Integers, alone and beside floats, and what is rounded to them.
    "nest/dtype:i8/loops:2x14x15x19/over:3x3/operands:2x28x29x19/reduction:maximum/"
    "reads:x0[i0,2*i1+r0-1,2*i2+r1-1,i3]/term:x0",
    "nest/dtype:u8/output_dtype:i32/loops:7x130/over:5/operands:7x5x130/reduction:sum/reads:x0[i0,r0,i1]/"
    "term:sub(i32(x0),i32:3)",
    "nest/dtype:u8/output_dtype:i32/loops:17x18/over:40/operands:17x40,40x18/reduction:sum/reads:x0[i0,r0];x1[r0,i1]/"
    "term:mul(sub(i32(x0),i32:7),i32(x1))",
    "nest/dtype:i8/output_dtype:f32/loops:9x37/operands:9x37,37,37/operand_dtypes:i8,i8,f32/"
    "reads:x0[i0,i1];x1[i1];x2[i1]/"
    "term:mul(f32(sub(i32(x0),i32(x1))),x2)",
    "nest/output_dtype:u8/loops:9x37/operands:9x37/reads:x0[i0,i1]/"
    "term:u8(min(max(add(round(div(x0,0.013)),128),0),255))",
    "nest/dtype:i8/loops:5x300/operands:5x300,5x300/reads:x0[i0,i1];x1[i0,i1]/"
    "term:i8(min(max(add(round(div(add(mul(f32(x0),0.1),mul(f32(x1),0.03)),0.07)),-4),-128),127))",
    "nest/dtype:u8/loops:130/operands:130/reads:x0[i0]/"
    "term:u8(min(max(round(div(sigmoid(mul(f32(sub(i32(x0),i32:128)),0.05)),0.00390625)),0),255))",
    // Bytes in a table of all: whole loops, ragged rows, rows with gaps between them, turned ones, a table of fewer, and of wider numbers.
    "nest/dtype:u8/loops:5x6x64/operands:5x6x64,256/reads:x1[x0[i0,i1,i2]]/term:x0",
    "nest/dtype:u8/loops:7x100/operands:7x100,256/reads:x1[x0[i0,i1]]/term:x0",
    "nest/dtype:i8/loops:4x5x20/operands:4x5x20,256/operand_dtypes:u8,i8/reads:x1[x0[i0,i1,i2]]/term:x0",
    "nest/dtype:u8/loops:6x64/operands:6x96,256/reads:x1[x0[i0,i1]]/term:x0",
    "nest/dtype:u8/loops:6x64/operands:6x96,256/reads:x1[x0[i0,i1+32]]/term:x0",
    "nest/dtype:u8/loops:64x48/operands:48x64,256/reads:x1[x0[i1,i0]]/term:x0",
    "nest/dtype:u8/loops:3x64/operands:3x64,17/reads:x1[x0[i0,i1]]/term:x0",
    "nest/loops:3x64/operands:3x64,256/operand_dtypes:u8,f32/reads:x1[x0[i0,i1]]/term:x0",
    // Halves in every tenth result: a product and a sum that are rounded together come out on their other side.
    "nest/dtype:u8/loops:80x100/operands:80x100,80x100/reads:x0[i0,i1];x1[i0,i1]/"
    "term:u8(min(max(round(add(mul(f32(x0),0.1),mul(f32(x1),0.3))),0),255))",
    "nest/dtype:i8/loops:80x101/operands:80x101,80x101/reads:x0[i0,i1];x1[i0,i1]/"
    "term:i8(round(min(max(add(mul(f32(x0),0.1),mul(f32(x1),0.3)),-128),127)))",
    "nest/dtype:i8/output_dtype:u8/loops:8000/operands:8000,1/operand_dtypes:i8,f32/reads:x0[i0];x1[0]/"
    "term:u8(add(round(min(max(mul(f32(x0),x1),-1),254)),1))",
    "nest/dtype:u8/loops:4x33/operands:256,4x33/operand_dtypes:u8,u8/reads:x0[x1[i0,i1]]/term:x0",
    "nest/dtype:i8/loops:26x20/operands:20x20,26/reads:x0[x1[i0],i1]/term:x0",
    // Few columns of many rows: vectors lie along the rows.
    "nest/output_dtype:u8/loops:121x3/operands:3x121/reads:x0[i1,i0]/"
    "term:u8(min(max(add(round(div(x0,0.0078)),128),0),255))",
    "nest/loops:5x70x3/operands:5x3x70,3/reads:x0[i0,i2,i1];x1[i2]/term:mul(x0,x1)",
    "nest/dtype:i8/loops:200x2/operands:2x200/reads:x0[i1,i0]/term:x0",
    // Heuristics of the default: operands that are copied, gathered by rows, partial sums with a rest.
    "nest/loops:3x21x38/over:29/operands:3x21x29,3x38x29/reduction:sum/reads:x0[i0,i1,r0];x1[i0,i2,r0]/term:mul(x0,x1)",
    "nest/loops:2x9x50/over:3x8/operands:9x2x3x8,50x2x3x8/reduction:maximum/reads:x0[i1,i0,r0,r1];x1[i2,i0,r0,r1]/"
    "term:add(x0,x1)",
    "nest/loops:3x35x41/operands:3x41x35/reads:x0[i0,i2,i1]/term:mul(x0,2)",
    "nest/loops:37/over:100/operands:37x100,37/reduction:mean/reads:x0[i0,r0];x1[i0]/term:mul(sub(x0,x1),sub(x0,x1))/"
    "finish:reciprocal(sqrt(add(x2,0.001)))",
    "nest/loops:40/over:23/operands:40x20/reduction:maximum/reads:x0[i0,r0-1]/term:x0",
    // What finish takes is outside at an end.
    "nest/loops:64/over:3/operands:66,64/reduction:sum/reads:x0[i0+r0];x1[i0-1]/term:x0/finish:add(x1,x2)",
    "nest/dtype:i8/output_dtype:i32/loops:5x70/over:3/operands:5x72,70/reduction:maximum/"
    "reads:x0[i0,i1+r0];x1[i1+2]/term:i32(x0)/finish:add(i32(x1),max(x2,i32:-200))",
    "nest/loops:100/operands:100,100/reads:x0[i0];x1[i0]/term:add(mul(sin(mul(x0,50)),cos(mul(x1,9))),mod(x0,x1))",
    "nest/loops:100/operands:100/reads:x0[i0]/term:f32(mod(div(i64(mul(x0,1024)),i64:7),i64:-5))",
    "nest/loops:100/operands:100/reads:x0[i0]/term:f32(add(mul(u8(i32(mul(x0,1024))),u8:3),u8(mul(x0,256))))",
    "nest/loops:100/operands:100/reads:x0[i0]/"
    "term:f32(xor(bool(i32(mul(x0,2))),not(and(less(x0,0.3),not(or(is_nan(x0),is_inf(x0)))))))",
    "nest/loops:100/operands:100/reads:x0[i0]/term:f32(and(or(bool(x0),bool:0),xor(bool:1,less(x0,0.3))))",
    "nest/loops:100/operands:100/reads:x0[i0]/term:f32(or(bool:0,and(bool:1,select(less(x0,0.3),bool:1,bool(x0)))))",
    "nest/loops:100/operands:100/reads:x0[i0]/term:add(f32(f16(mul(x0,0.015625))),f32(sqrt(f64(abs(x0)))))",
    "nest/dtype:f16/loops:9x33/operands:9x33,33/reads:x0[i0,i1];x1[i1]/term:add(x0,x1)",
    "nest/dtype:bf16/output_dtype:f32/loops:40/over:25/operands:25x40/reduction:sum/reads:x0[r0,i0]/term:x0",
};

TEST_F(NestKernels, AreRightOnThisMachine) {
    for (size_t i = 0; i < std::size(nests); i++)
        expect_right(nests[i], {machine_.halide_target, 1}, is_turn(i) ? 2 : 0);
}

TEST_F(NestKernels, AreRightWithThreads) {
    for (size_t i = 0; i < std::size(nests); i++) {
        if (is_turn(i, 2)) expect_right(nests[i], {machine_.halide_target, 2}, 1);
    }
}

TEST_F(NestKernels, AreRightWithoutWideVectors) {
    for (size_t i = 0; i < std::size(nests); i++) {
        if (is_turn(i)) expect_right(nests[i], {"x86-64-linux-sse41", 1}, 1);
    }
}

double to_i32(double x) { return std::isnan(x) ? 0 : std::trunc(std::clamp(x, -2147483648.0, 2147483647.0)); }
double negated_i32(double x) { return to_i32(x) == -2147483648.0 ? to_i32(x) : -to_i32(x); }  // it wraps around

double among_finite(double x) {
    constexpr double largest = std::numeric_limits<float>::max();
    return std::isnan(x) ? x : std::clamp(x, -largest, largest);
}

template<int lo, int hi>
double clamped(double x) {
    return std::isnan(x) ? x : std::clamp<double>(x, lo, hi);
}

// Where libm has its corners: the function of each number, in a single vector.
TEST_F(NestKernels, FunctionsKeepToLibmAtTheirCorners) {
    struct Row {
        const char *term;
        double (*expected)(double);
        float tolerance = 1e-6f;
    };
    const Row rows[] = {
        {"exp(x0)", std::exp},
        {"log1p(x0)", std::log1p},
        {"tanh(x0)", std::tanh},
        {"erf(x0)", std::erf},
        {"sigmoid(x0)", [](double x) { return 1 / (1 + std::exp(-x)); }},
        {"sin(x0)", std::sin},
        {"cos(x0)", std::cos},
        {"mod(x0,3)", [](double x) { return x - 3 * std::floor(x / 3); }},
        {"mod(x0,-3)", [](double x) { return x + 3 * std::floor(x / -3); }},
        {"f32(is_nan(x0))", [](double x) { return double(std::isnan(x)); }},
        {"f32(is_inf(x0))", [](double x) { return double(std::isinf(x)); }},
        {"f32(is_nan(add(x0,1)))", [](double x) { return double(std::isnan(x)); }},
        {"f32(i32(x0))", to_i32},
        {"f32(u8(x0))", [](double x) { return std::isnan(x) ? 0 : std::trunc(std::clamp(x, 0.0, 255.0)); }},
        {"sign(x0)", [](double x) { return x > 0   ? 1
                                           : x < 0 ? -1
                                                   : x; }},
        {"log(x0)", std::log},
        {"floor(x0)", std::floor},
        {"ceil(x0)", std::ceil},
        {"round(x0)", std::nearbyint},
        {"mul(sqrt(x0),sqrt(x0))", [](double x) { return std::sqrt(x) * std::sqrt(x); }},
        {"pow(sqrt(x0),2)", [](double x) { return std::sqrt(x) * std::sqrt(x); }},
        {"pow(x0,2.5)", [](double x) { return std::pow(x, 2.5); }},
        {"pow(x0,0.5)", [](double x) { return std::pow(x, 0.5); }},
        {"pow(x0,0.75)", [](double x) { return std::pow(x, 0.75); }},
        {"pow(x0,1.25)", [](double x) { return std::pow(x, 1.25); }},
        {"pow(x0,-0.75)", [](double x) { return std::pow(x, -0.75); }},
        {"pow(x0,-1.5)", [](double x) { return std::pow(x, -1.5); }},
        {"pow(x0,3)", [](double x) { return std::pow(x, 3); }},
        {"pow(x0,-5)", [](double x) { return std::pow(x, -5); }, 2e-5f},
        {"pow(x0,-4.5)", [](double x) { return std::pow(x, -4.5); }, 2e-5f},
        {"pow(x0,select(less(x0,1e+09),-1,-2))", [](double x) { return std::pow(x, x < 1e9 ? -1 : -2); }, 4e-6f},
        {"reciprocal(pow(x0,5))", [](double x) { return 1 / std::pow(x, 5); }, 2e-5f},
        {"pow(x0,2.4)", [](double x) { return std::pow(x, 2.4); }, 4e-6f},
        {"f32(div(i32(x0),i32:-1))", negated_i32},
        // The largest number bounds infinities.
        {"min(max(x0,-3.4028234663852886e+38),3.4028234663852886e+38)", among_finite},
        {"min(max(mul(x0,1e+38),-3.4028234663852886e+38),3.4028234663852886e+38)",
         [](double x) { return among_finite(x * 1e38); }},
        {"mul(x0,inf)", [](double x) { return x * HUGE_VAL; }},
        {"add(x0,inf)", [](double x) { return x + HUGE_VAL; }},
        {"sub(x0,inf)", [](double x) { return x - HUGE_VAL; }},
        {"div(x0,0)", [](double x) { return x * HUGE_VAL; }},
        {"div(add(x0,1),-0)", [](double x) { return (x + 1) * -HUGE_VAL; }},
        // What holds of numbers does not of infinities and NaN.
        {"sub(x0,x0)", [](double x) { return x - x; }},
        {"div(x0,x0)", [](double x) { return x / x; }},
        {"mul(x0,0)", [](double x) { return x * 0; }},
        {"select(less_or_equal(0,x0),x0,7)", [](double x) { return x >= 0 ? x : 7; }},
        {"select(less_or_equal(x0,1),x0,7)", [](double x) { return x <= 1 ? x : 7; }},
        {"select(less_or_equal(x0,x0),1,0)", [](double x) { return double(x <= x); }},
        {"select(equal(x0,x0),x0,7)", [](double x) { return x == x ? x : 7; }},
        {"select(not(or(less(x0,1),less(1,x0))),1,0)", [](double x) { return double(!(x < 1) && !(x > 1)); }},
        {"div(0,x0)", [](double x) { return 0 / x; }},
        {"mul(div(2,x0),x0)", [](double x) { return 2 / x * x; }},
        {"div(mul(x0,3),x0)", [](double x) { return x * 3 / x; }},
        {"sub(1,select(less(x0,2),1,0))", [](double x) { return 1 - double(x < 2); }},
        {"pow(x0,div(x0,x0))", [](double x) { return std::pow(x, x / x); }, 4e-6f},
        // A zero has a sign.
        {"reciprocal(select(is_inf(x0),0,-0))", [](double x) { return std::isinf(x) ? HUGE_VAL : -HUGE_VAL; }},
        {"div(3,select(is_inf(x0),-0,0))", [](double x) { return std::isinf(x) ? -HUGE_VAL : HUGE_VAL; }},
        // NaN stays, whichever argument the constant is.
        {"max(x0,0)", [](double x) { return std::isnan(x) ? x : std::max(x, 0.0); }},
        {"min(6,max(-1,x0))", clamped<-1, 6>},
        {"min(max(add(x0,0),-1),6)", clamped<-1, 6>},
        {"div(min(max(mul(x0,0.5),0),1),2)", [](double x) { return clamped<0, 1>(x / 2) / 2; }},
        {"max(x0,neg(abs(x0)))", [](double x) { return x; }},
        {"min(x0,abs(x0))", [](double x) { return x; }},
        // A product with the reciprocal is another whole number.
        {"floor(div(x0,0.3))", [](double x) { return double(std::floor(float(x) / 0.3f)); }},
    };
    constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> numbers{0,      -0.0f,    0.5f,      -0.5f,      1.5f,       2.5f,       -2.5f, 1e-6f,
                                     -1e-6f, 0.1f,     3,         -3,         88.5f,      -87,        89,    -104,
                                     20,     -20,      1e5f,      -1e5f,      7.5f,       255.5f,     300,   4e9f,
                                     nan,    infinity, -infinity, 3.1415927f, 1.5707964f, 0.7853982f, -0.9f, 9};
    const std::string names[] = {machine_.halide_target, "x86-64-linux"};
    for (size_t i = 0; i < std::size(rows); i++) {
        const Row &row = rows[i];
        const auto w = parse_workload_key("nest/loops:32/operands:32/reads:x0[i0]/term:" + std::string(row.term));
        ASSERT_TRUE(w) << row.term << ": " << w.error().message;
        Operands operands = make_operands(*w, Data::ordinary, 1);
        for (size_t n = 0; n < numbers.size(); n++) set(operands.first, static_cast<int64_t>(n), numbers[n]);
        for (size_t t = 0; t < std::size(names); t++) {
            if (!is_turn(i + t, 2)) continue;
            const Target target{names[t], 1};
            const auto untuned = default_candidate(*w, target, core_of(machine_, target), default_error_budget);
            ASSERT_TRUE(untuned) << row.term << ": " << untuned.error().message;
            const auto got = result_of(*w, target, *untuned, operands);
            ASSERT_TRUE(got) << row.term << ": " << got.error().message;
            for (size_t n = 0; n < numbers.size(); n++) {
                const auto right = static_cast<float>(row.expected(numbers[n]));
                const auto value = get<float>(*got, static_cast<int64_t>(n));
                const float most = std::isinf(right) ? 0 : row.tolerance * std::fabs(right) + 1e-37f;
                const bool same =
                    std::isnan(right) ? std::isnan(value) : value == right || std::fabs(value - right) <= most;
                EXPECT_TRUE(same) << row.term << " of " << numbers[n] << " is " << value << ", not " << right << ", "
                                  << names[t];
            }
        }
    }
}

// Quotients of f64 are divided, too: 49 times the reciprocal of 49 is less than 1.
TEST_F(NestKernels, RemaindersOfMultiplesAreZero) {
    const auto w = *parse_workload_key("nest/loops:64/operands:64/reads:x0[i0]/term:mod(x0,49)");
    Operands operands = make_operands(w, Data::ordinary, 1);
    for (int64_t i = 0; i < 64; i++) set(operands.first, i, 49 * float(i - 20));
    const Target target = *parse_target("host", 1, machine_.halide_target);
    const auto untuned = default_candidate(w, target, core_of(machine_, target), default_error_budget);
    ASSERT_TRUE(untuned) << untuned.error().message;
    const auto got = result_of(w, target, *untuned, operands);
    ASSERT_TRUE(got) << got.error().message;
    for (int64_t i = 0; i < 64; i++) EXPECT_EQ(get<float>(*got, i), 0) << 49 * (i - 20);
}

// Divided by the number of terms: a product with the reciprocal of 41 is a little less than a whole number.
TEST_F(NestKernels, MeansOfWholeNumbersAreWhole) {
    const Target target = *parse_target("host", 1, machine_.halide_target);
    for (const char *reads : {"x0[i0,r0]", "x0[r0,i0]"}) {
        const bool is_row = reads[3] == 'i';
        const auto w =
            parse_workload_key(std::string("nest/loops:64/over:41/operands:") + (is_row ? "64x41" : "41x64") +
                               "/reduction:mean/reads:" + reads + "/term:x0/finish:floor(x1)");
        ASSERT_TRUE(w) << w.error().message;
        Operands operands = make_operands(*w, Data::ordinary, 1);
        for (int64_t i = 0; i < 64; i++) {
            for (int64_t r = 0; r < 41; r++) set(operands.first, is_row ? i * 41 + r : r * 64 + i, float(i));
        }
        const auto untuned = default_candidate(*w, target, core_of(machine_, target), default_error_budget);
        ASSERT_TRUE(untuned) << untuned.error().message;
        const auto got = result_of(*w, target, *untuned, operands);
        ASSERT_TRUE(got) << got.error().message;
        for (int64_t i = 0; i < 64; i++) EXPECT_EQ(get<float>(*got, i), float(i)) << reads;
    }
}

// A difference of large numbers keeps the digits of what is subtracted next.
TEST_F(NestKernels, SumsAreAddedUpInTheirOrder) {
    struct Row {
        const char *term;
        float expected;
    };
    const Row rows[] = {
        {"sub(sub(x0,x1),x2)", -0.25f - 0x1p-9f},         {"add(sub(x0,x1),x2)", -0.25f + 0x1p-9f},
        {"sub(x2,sub(x0,x1))", 0.25f + 0x1p-9f},          {"add(x2,add(neg(x1),x0))", -0.25f + 0x1p-9f},
        {"sub(sub(sub(x0,x1),x2),x2)", -0.25f - 0x1p-8f}, {"sub(sub(x0,x1),add(x2,x2))", -0.25f - 0x1p-8f},
    };
    const Target target = *parse_target("host", 1, machine_.halide_target);
    for (const Row &row : rows) {
        const auto w =
            parse_workload_key("nest/loops:9/operands:9,9,9/reads:x0[i0];x1[i0];x2[i0]/term:" + std::string(row.term));
        ASSERT_TRUE(w) << row.term << ": " << w.error().message;
        Operands operands = make_operands(*w, Data::ordinary, 1);
        for (int64_t i = 0; i < 9; i++) {
            set(operands.first, i, 0x1p20f);
            set(operands.operand_1, i, 0x1p20f + 0.25f);
            set(operands.operand_2, i, 0x1p-9f);
        }
        const auto untuned = default_candidate(*w, target, core_of(machine_, target), default_error_budget);
        ASSERT_TRUE(untuned) << row.term << ": " << untuned.error().message;
        const auto got = result_of(*w, target, *untuned, operands);
        ASSERT_TRUE(got) << row.term << ": " << got.error().message;
        for (int64_t i = 0; i < 9; i++) EXPECT_EQ(get<float>(*got, i), row.expected) << row.term;
    }
}

}  // namespace
}  // namespace kiln
