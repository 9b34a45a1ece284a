// Operators as older opsets write them: attributes that became inputs, defaults and meanings that changed.
#include "tests/graph/lower/rule_cases.h"

namespace kiln::graph {
namespace {

TEST(OldForms, Attributes) {
    const Numbers square = counted({1, 1, 2, 2});
    const RuleCase rows[] = {
        {"Add",
         6,
         {integer("broadcast", 1), integer("axis", 0)},
         {counted({2, 2}), line({10, 20})},
         {floats({2, 2}, {11, 12, 23, 24})}},
        {"Add", 6, {integer("broadcast", 1)}, {counted({2, 2}), line({10, 20})}, {floats({2, 2}, {11, 22, 13, 24})}},
        {"Sub",
         1,
         {integer("broadcast", 1), integers("consumed_inputs", {0, 0})},
         {line({1, 2}), floats({}, {1})},
         {line({0, 1})}},
        {"Pow", 6, {integer("broadcast", 1)}, {line({1, 2}), floats({1, 1}, {3})}, {floats({1, 2}, {1, 8})}},
        {"Clip", 6, {real("min", 2), real("max", 3)}, {counted({4})}, {line({2, 2, 3, 3})}},
        {"Clip", 1, {}, {counted({2})}, {counted({2})}},
        {"Reshape", 1, {integers("shape", {0, -1})}, {counted({2, 2, 1})}, {counted({2, 2})}},
        {"Squeeze", 1, {integers("axes", {0})}, {counted({1, 2, 1})}, {counted({2, 1})}},
        {"Unsqueeze", 1, {integers("axes", {0, 2})}, {counted({2})}, {counted({1, 2, 1})}},
        {"Slice", 1, {integers("starts", {-2}), integers("ends", {100})}, {counted({3})}, {line({2, 3})}},
        {"Split", 1, {integer("axis", 0)}, {counted({3}), list({1, 2})}, {line({1}), line({2, 3})}},
        {"Split", 2, {integers("split", {2, 1})}, {counted({3})}, {line({1, 2}), line({3})}},
        {"Pad", 1, {integers("paddings", {1, 0}), real("value", 7)}, {counted({2})}, {line({7, 1, 2})}},
        {"Pad", 2, {integers("pads", {0, 2}), text("mode", "edge")}, {counted({2})}, {line({1, 2, 2, 2})}},
        {"Tile", 1, {}, {counted({2}), whole({}, {2}), whole({}, {0})}, {line({1, 2, 1, 2})}},
        {"Tile", 1, {}, {counted({2}), line({2}), line({0})}, {line({1, 2, 1, 2})}},
        {"Concat", 1, {}, {counted({1, 1}), counted({1, 2}, 5)}, {floats({1, 3}, {1, 5, 6})}},
        {"Cast", 1, {text("to", "INT32")}, {line({1.7, -1.7})}, {whole({2}, {1, -1}, Element::i32)}},
        {"ReduceSum", 11, {integers("axes", {-1}), integer("keepdims", 0)}, {counted({2, 2})}, {line({3, 7})}},
        {"Upsample",
         1,
         {real("height_scale", 1), real("width_scale", 2)},
         {square},
         {floats({1, 1, 2, 4}, {1, 1, 2, 2, 3, 3, 4, 4})}},
        {"Upsample",
         7,
         {reals("scales", {1, 1, 1, 2}), text("mode", "linear")},
         {square},
         {floats({1, 1, 2, 4}, {1, 1.5, 2, 2, 3, 3.5, 4, 4})}},
        // As onnxruntime had it before ONNX.
        {"LayerNormalization",
         12,
         {real("epsilon", 0)},
         {floats({1, 2}, {1, 3}), line({1, 2}), line({0, 5})},
         {floats({1, 2}, {-1, 7})}},
        {"GlobalLpPool", 1, {real("p", 1)}, {floats({1, 1, 3}, {1, -2, 3})}, {floats({1, 1, 1}, {6})}},
        {"PRelu", 6, {}, {floats({1, 2, 2}, {-1, 1, -1, -2}), line({2, 3})}, {floats({1, 2, 2}, {-2, 1, -3, -6})}},
        {"Selu", 1, {real("alpha", 1), real("gamma", 2)}, {line({0, 1})}, {line({0, 2})}},
        {"Dropout", 6, {integer("is_test", 1), real("ratio", 0.9F)}, {counted({2})}, {counted({2}), line({1, 1})}},
        {"Dropout", 10, {}, {counted({2})}, {counted({2}), whole({2}, {1, 1}, Element::boolean)}},
        {"Dropout",
         13,
         {},
         {counted({2}), floats({}, {0}), whole({}, {1}, Element::boolean)},
         {counted({2}), whole({2}, {1, 1}, Element::boolean)}},
    };
    for (const RuleCase &row : rows) expect_outputs(row);
}

// All axes from the stated one on were one.
TEST(OldForms, SoftmaxOfSeveralAxes) {
    const double a = std::exp(-1) / (1 + std::exp(-1));
    const RuleCase rows[] = {
        {"Softmax", 12, {}, {floats({1, 2, 2}, {0, 0, 0, 0})}, {floats({1, 2, 2}, {.25, .25, .25, .25})}},
        {"Softmax", 13, {}, {floats({1, 2, 2}, {0, 0, 0, 0})}, {floats({1, 2, 2}, {.5, .5, .5, .5})}},
        {"Softmax", 12, {integer("axis", 2)}, {floats({1, 2}, {5, 6})}, {floats({1, 2}, {1, 1})}},
        {"Softmax", 11, {integer("axis", -1)}, {floats({1, 2}, {-1, 0})}, {floats({1, 2}, {a, 1 - a})}},
        {"LogSoftmax", 11, {}, {floats({1, 2}, {-1, 0})}, {floats({1, 2}, {std::log(a), std::log(1 - a)})}},
        {"Hardmax", 11, {}, {floats({1, 2, 2}, {1, 2, 9, 9})}, {floats({1, 2, 2}, {0, 0, 1, 0})}},
        {"Hardmax", 13, {}, {floats({1, 2, 2}, {1, 2, 9, 9})}, {floats({1, 2, 2}, {0, 1, 1, 0})}},
    };
    for (const RuleCase &row : rows) expect_outputs(row);
}

// A ratio that is known only when the network runs matters in training alone.
TEST(OldForms, DropoutOfAnyRatio) {
    for (const int64_t training : {0, 1}) {
        BuiltModel model;
        model.input("x", {2}).input("ratio", {}).constant("training", whole({}, {training}, Element::boolean));
        model.node("Dropout", {"x", "ratio", "training"}, {"y"}).output("y");
        EXPECT_EQ(bool(model.lowered()), training == 0);
    }
}

TEST(OldForms, BatchNormalization) {
    const std::vector<std::optional<Numbers>> channels = {floats({1, 2, 1}, {3, 8}), line({2, 1}), line({0, 1}),
                                                          line({1, 4}), line({4, 16})};
    const std::vector<std::optional<Numbers>> places = {floats({1, 2, 1}, {3, 8}), floats({2, 1}, {2, 1}),
                                                        floats({2, 1}, {0, 1}), floats({2, 1}, {1, 4}),
                                                        floats({2, 1}, {4, 16})};
    const Numbers y = floats({1, 2, 1}, {2, 2});
    // Means of 7 and -7, and variances of 16 and 4.
    const std::vector<std::optional<Numbers>> batch = {floats({2, 2, 1}, {3, -5, 11, -9}), line({2, 1}), line({0, 1}),
                                                       line({1, -3}), line({0, 16})};
    const Numbers normal = floats({2, 2, 1}, {-2, 2, 2, 0});
    const onnx::Attribute exact = real("epsilon", 0), training = integer("training_mode", 1);
    const RuleCase rows[] = {
        {"BatchNormalization", 6, {exact, integer("is_test", 1)}, channels, {y}},
        {"BatchNormalization", 7, {exact, integer("spatial", 1)}, channels, {y}},
        {"BatchNormalization", 7, {exact, integer("spatial", 0)}, places, {y}},
        {"BatchNormalization", 9, {exact, real("momentum", 0.5F)}, channels, {y}},
        {"BatchNormalization", 15, {exact, integer("training_mode", 0)}, channels, {y}},
        {"BatchNormalization", 15, {exact, training}, batch, {normal}},
        {"BatchNormalization",
         15,
         {exact, training, real("momentum", 0.75F)},
         batch,
         {normal, line({2.5, -4}), line({4, 13})}},
        {"BatchNormalization",
         15,
         {exact, training},
         {line({1, 3}), line({2}), line({5}), line({0}), line({1})},
         {line({3, 7})}},
    };
    for (const RuleCase &row : rows) expect_outputs(row);

    // Before opset 14 five results say that it trains, even where only the first one is read.
    for (const int64_t opset : {7, 9, 13}) {
        BuiltModel model(opset);
        const char *parameters[] = {"scale", "shift", "mean", "variance"};
        model.input("x", batch[0]->form.shape);
        for (size_t i = 0; i < 4; i++) model.constant(parameters[i], *batch[i + 1]);
        model.node("BatchNormalization", {"x", "scale", "shift", "mean", "variance"},
                   {"y", "new_mean", "new_variance", "own_mean", "own_variance"}, {exact});
        expect_result_of(model.output("y"), {*batch[0]}, normal);
    }
}

// Scale and bias of a group until opset 20, of a channel after.
TEST(OldForms, GroupNormalization) {
    const Numbers x = floats({1, 4, 1}, {1, 3, 5, 7});
    const onnx::Attribute groups = integer("num_groups", 2), exact = real("epsilon", 0);
    const RuleCase rows[] = {
        {"GroupNormalization",
         18,
         {groups, exact},
         {x, line({1, 2}), line({0, 10})},
         {floats({1, 4, 1}, {-1, 1, 8, 12})}},
        {"GroupNormalization",
         21,
         {groups, exact},
         {x, line({1, 2, 3, 4}), line({0, 0, 10, 0})},
         {floats({1, 4, 1}, {-1, 2, 7, 4})}},
    };
    for (const RuleCase &row : rows) expect_outputs(row);
}

}  // namespace
}  // namespace kiln::graph
