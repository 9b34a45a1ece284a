// Operators that compute in f32 beside numbers of 16 bits, and functions of integers.
#include <initializer_list>
#include <utility>

#include "tests/graph/lower/rule_cases.h"

namespace kiln::graph {
namespace {

Numbers halves(Shape shape, std::vector<double> elements) {
    return floats(std::move(shape), std::move(elements), Element::f16);
}

Numbers i32(Shape shape, std::vector<int64_t> elements) {
    return whole(std::move(shape), std::move(elements), Element::i32);
}

TEST(MixedTypes, Normalizations) {
    const onnx::Attribute exact = real("epsilon", 0);
    const Numbers x = halves({1, 2}, {1, 3});
    const RuleCase rows[] = {
        // Statistics are f32, unless `stash_type` says something else.
        {"LayerNormalization",
         17,
         {exact},
         {x, halves({2}, {1, 2}), halves({2}, {0, 5})},
         {halves({1, 2}, {-1, 7}), floats({1, 1}, {2}), floats({1, 1}, {1})}},
        {"LayerNormalization",
         17,
         {exact, integer("stash_type", 10)},
         {x, halves({2}, {1, 2})},
         {halves({1, 2}, {-1, 2}), halves({1, 1}, {2}), halves({1, 1}, {1})}},
        {"SkipLayerNormalization",
         1,
         {exact},
         {x, halves({1, 2}, {0, 0}), halves({2}, {1, 2}), halves({2}, {0, 5})},
         {halves({1, 2}, {-1, 7}), floats({1, 1}, {2}), floats({1, 1}, {1}), x},
         "com.microsoft"},
        {"BatchNormalization",
         15,
         {exact},
         {halves({1, 2, 1}, {3, 8}), line({2, 1}), line({0, 1}), line({1, 4}), line({4, 16})},
         {halves({1, 2, 1}, {2, 2})}},
        {"BatchNormalization",
         15,
         {exact, integer("training_mode", 1), real("momentum", 0.75F)},
         {halves({2, 1, 1}, {3, 11}), halves({1}, {2}), halves({1}, {0}), line({1}), line({0})},
         {halves({2, 1, 1}, {-2, 2}), line({2.5}), line({4})}},
        // Of the type of the scale.
        {"RMSNormalization", 23, {exact}, {halves({1, 2}, {3, -3}), line({1, 2})}, {floats({1, 2}, {1, -2})}},
    };
    for (const RuleCase &row : rows) expect_outputs(row);
}

TEST(MixedTypes, SamplesOfHalves) {
    const Numbers image = halves({1, 1, 2, 2}, {1, 2, 3, 4});
    RuleCase deformed{"DeformConv",
                      19,
                      {integers("kernel_shape", {1, 1})},
                      {image, halves({1, 1, 1, 1}, {2}), halves({1, 2, 2, 2}, {1, 0, 0, 0, 0, 0, 0, 0})},
                      {halves({1, 1, 2, 2}, {6, 4, 6, 8})}};
    expect_outputs({"GridSample",
                    16,
                    {integer("align_corners", 1)},
                    {image, halves({1, 1, 2, 2}, {0, -1, 1, 1})},
                    {halves({1, 1, 1, 2}, {1.5, 4})}});
    expect_outputs({"RoiAlign",
                    16,
                    {integer("sampling_ratio", 1)},
                    {image, halves({1, 4}, {0, 0, 2, 2}), list({0})},
                    {halves({1, 1, 1, 1}, {2.5})}});
    expect_outputs(deformed);
}

TEST(MixedTypes, MaskOfAttention) {
    const Numbers q = halves({1, 1, 2, 1}, {1, 1}), v = halves({1, 1, 2, 1}, {1, 3});
    // Scores of both keys are equal, but for the mask.
    const Numbers mask = floats({2, 2}, {0, -infinity, 0, 0});
    expect_outputs({"Attention", 23, {}, {q, q, v, mask}, {halves({1, 1, 2, 1}, {1, 2})}});
    expect_outputs({"Attention",
                    23,
                    {},
                    {floats({1, 1, 2, 1}, {1, 1}), floats({1, 1, 2, 1}, {1, 1}), v},
                    {floats({1, 1, 2, 1}, {2, 2})}});
}

TEST(MixedTypes, FunctionsOfIntegers) {
    const Numbers x = i32({5}, {-2, -1, 0, 1, 2});
    const RuleCase rows[] = {
        {"Shrink", 9, {}, {x}, {x}},
        {"Shrink", 9, {real("lambd", 1.5F), real("bias", 1)}, {x}, {i32({5}, {-1, 0, 0, 0, 1})}},
        {"ReduceL2", 18, {}, {i32({1, 2}, {3, 4}), list({1})}, {i32({1, 1}, {5})}},
        {"ReduceL2", 18, {}, {i32({1, 2}, {3, 3}), list({1})}, {i32({1, 1}, {4})}},
        {"ReduceLogSum", 18, {}, {i32({1, 2}, {10, 11}), list({1})}, {i32({1, 1}, {3})}},
        {"ReduceLogSumExp", 18, {}, {i32({1, 2}, {4, 5}), list({1})}, {i32({1, 1}, {5})}},
    };
    for (const RuleCase &row : rows) expect_outputs(row);
}

}  // namespace
}  // namespace kiln::graph
