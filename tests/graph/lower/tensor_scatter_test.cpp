// TensorScatter.
#include "tests/graph/lower/rule_cases.h"

namespace kiln::graph {
namespace {

TEST(TensorScatter, CachesFromAPlaceOn) {
    const Numbers cache = counted({2, 1, 4, 2});
    const Numbers two = floats({2, 1, 2, 2}, {-1, -2, -3, -4, -5, -6, -7, nan});
    const Numbers one = floats({2, 1, 1, 2}, {-1, -2, -3, -4});
    const Numbers circular = floats({2, 1, 4, 2}, {-3, -4, 3, 4, 5, 6, -1, -2, 9, 10, -5, -6, -7, nan, 15, 16});
    const std::vector<RuleCase> rows{
        {"TensorScatter",
         24,
         {},
         {cache, two},
         {floats({2, 1, 4, 2}, {-1, -2, -3, -4, 5, 6, 7, 8, -5, -6, -7, nan, 13, 14, 15, 16})}},
        {"TensorScatter",
         24,
         {},
         {cache, two, list({2, 2})},
         {floats({2, 1, 4, 2}, {1, 2, 3, 4, -1, -2, -3, -4, 9, 10, 11, 12, -5, -6, -7, nan})}},
        {"TensorScatter",
         24,
         {},
         {cache, two, list({0, 1})},
         {floats({2, 1, 4, 2}, {-1, -2, -3, -4, 5, 6, 7, 8, 9, 10, -5, -6, -7, nan, 15, 16})}},
        {"TensorScatter",
         24,
         {integer("axis", 2), text("mode", "linear")},
         {cache, one, list({3, 0})},
         {floats({2, 1, 4, 2}, {1, 2, 3, 4, 5, 6, -1, -2, -3, -4, 11, 12, 13, 14, 15, 16})}},
        {"TensorScatter", 24, {text("mode", "circular")}, {cache, two, list({3, 9})}, {circular}},
        {"TensorScatter", 24, {text("mode", "circular")}, {cache, two, list({-1, -3})}, {circular}},
        {"TensorScatter",
         24,
         {integer("axis", -1)},
         {counted({2, 3}), floats({2, 1}, {-1, -2}), list({1, 2})},
         {floats({2, 3}, {1, -1, 3, 4, 5, -2})}},
        {"TensorScatter", 24, {}, {cache, floats({2, 1, 0, 2}, {}), list({3, 1})}, {cache}},
    };
    for (RuleCase row : rows) {
        for (const size_t inputs : {1, 2, 3}) {
            row.network_inputs = inputs;
            expect_outputs(row);
        }
    }
    // What lies behind the end of the cache is not written.
    expect_outputs({.op_type = "TensorScatter",
                    .opset = 24,
                    .attributes = {},
                    .inputs = {cache, two, list({3, -1})},
                    .outputs = {floats({2, 1, 4, 2}, {1, 2, 3, 4, 5, 6, -1, -2, -7, nan, 11, 12, 13, 14, 15, 16})},
                    .network_inputs = 3});
}

TEST(TensorScatter, Refused) {
    struct Bad {
        RuleCase node;
        std::string message;
    };
    const Numbers cache = counted({2, 4, 1});
    const std::vector<Bad> rows{
        {{"TensorScatter", 24, {}, {cache, counted({2, 5, 1})}, {}},
         "its update of shape 2x5x1 does not fit into its cache of shape 2x4x1 along axis 1"},
        {{"TensorScatter", 24, {}, {cache, counted({1, 1, 1})}, {}}, "does not fit"},
        {{"TensorScatter", 24, {}, {cache, counted({2, 1})}, {}}, "does not fit"},
        {{"TensorScatter", 24, {}, {cache, counted({2, 1, 1}), list({0})}, {}},
         "its write_indices of shape 1 are not 2"},
        {{"TensorScatter", 24, {}, {cache, counted({2, 1, 1}), line({0, 0})}, {}}, "its write_indices are f32"},
        {{"TensorScatter", 24, {}, {cache, whole({2, 1, 1}, {0, 0})}, {}}, "another type"},
        {{"TensorScatter", 24, {integer("axis", 0)}, {cache, cache}, {}}, "the axis of the batch"},
        {{"TensorScatter", 24, {text("mode", "ring")}, {cache, cache}, {}},
         "its attribute 'mode' is 'ring', which must be linear or circular"},
    };
    for (const Bad &bad : rows) {
        RuleCase node = bad.node;
        node.outputs = {counted({1})};
        node.network_inputs = 3;
        expect_refused(model_of(node), bad.message);
    }
    const RuleCase beyond{.op_type = "TensorScatter",
                          .opset = 24,
                          .attributes = {},
                          .inputs = {cache, counted({2, 2, 1}), list({1, 3})},
                          .outputs = {counted({1})},
                          .network_inputs = 2};
    expect_refused(model_of(beyond), "its write index 3 leaves no room for 2 elements along axis 1, which has 4");
}

}  // namespace
}  // namespace kiln::graph
