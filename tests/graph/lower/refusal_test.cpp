// Models that kiln cannot lower: what it says of them.
#include <gtest/gtest.h>

#include "graph/lower/lower.h"
#include "tests/graph/lower/built_model.h"

namespace kiln::graph {
namespace {

// A model of one node that computes y from x, 1x4x6x6, and the constant w, 4x4x3x3.
BuiltModel one_node(const char *op_type, int64_t opset, std::vector<std::string> inputs,
                    std::vector<onnx::Attribute> attributes = {}) {
    BuiltModel model(opset);
    model.input("x", {1, 4, 6, 6}).input("n", {2}, Element::i64).constant("w", counted({4, 4, 3, 3}));
    model.node(op_type, std::move(inputs), {"y"}, std::move(attributes)).output("y");
    return model;
}

struct Row {
    BuiltModel model;
    ErrorCode code;
    const char *message;  // a part of it
};

TEST(LowerRefuses, NodesByName) {
    const Row rows[] = {
        {one_node("NonMaxSuppression", 17, {"x"}), ErrorCode::unsupported,
         "node 'NonMaxSuppression_0' (NonMaxSuppression): kiln has no operator 'NonMaxSuppression'"},
        {one_node("QLinearConv", 17, {"x"}), ErrorCode::bad_input,
         "its input 1, which the operator requires, is missing"},
        {one_node("DequantizeLinear", 17, {"x", "w"}), ErrorCode::unsupported,
         "its input is f32; i8, u8, i16, u16 and i32 are dequantized"},
        {one_node("QuantizeLinear", 17, {"x", "w"}), ErrorCode::bad_input,
         "its parameter of shape 4x4x3x3 does not fit the value of shape"},
        {one_node("ConvInteger", 17, {"x", "w"}), ErrorCode::unsupported,
         "its input is f32; kiln multiplies i8 and u8"},
        {one_node("Scan", 17, {"x"}), ErrorCode::bad_input, "it has no attribute 'body'"},
        {one_node("Scan", 8, {"x"}), ErrorCode::unsupported, "convert the model to opset 9 or later"},
        {one_node("Gelu", 17, {"x"}), ErrorCode::bad_input,
         "opset 17 has no such operator, which begins with opset 20"},
        {one_node("Relu", 29, {"x"}), ErrorCode::unsupported,
         "the model is of opset 29, and the newest that kiln knows is 28"},
        {one_node("Conv", 17, {"x", "w"}, {integer("axis", 1)}), ErrorCode::bad_input,
         "has no attribute 'axis' (it has auto_pad"},
        {one_node("AveragePool", 6, {"x"}, {integer("count_include_pad", 1)}), ErrorCode::bad_input,
         "in opset 6 the operator has no attribute 'count_include_pad'"},
        {one_node("Conv", 17, {"x", "w"}, {real("group", 1)}), ErrorCode::bad_input,
         "its attribute 'group' must be an integer"},
        {one_node("Conv", 17, {"x", "w"}, {integers("pads", {1})}), ErrorCode::bad_input, "'pads' has 1 entries"},
        {one_node("Conv", 17, {"x", "w"}, {integers("strides", {0, 1})}), ErrorCode::bad_input,
         "'strides' has an entry 0"},
        {one_node("Conv", 17, {"x", "w"}, {integers("kernel_shape", {5, 5})}), ErrorCode::bad_input, "windows of 3x3"},
        {one_node("Conv", 17, {"x", "w"}, {text("auto_pad", "SOME")}), ErrorCode::bad_input, "which must be NOTSET"},
        {one_node("Conv", 17, {"x"}), ErrorCode::bad_input, "its input 1, which the operator requires, is missing"},
        {one_node("Conv", 17, {"x", "w", "w"}), ErrorCode::bad_input,
         "the operand of the epilogue's bias has shape 4x4x3x3; needs 4"},
        {one_node("Relu", 17, {"x", "w"}), ErrorCode::bad_input, "it has 2 inputs, and the operator takes 1"},
        {one_node("Add", 17, {"x", "w"}), ErrorCode::bad_input, "1x4x6x6"},
        {one_node("Add", 6, {"x", "w"}), ErrorCode::bad_input, "needs the attribute 'broadcast'"},
        {one_node("Add", 17, {"x", "n"}), ErrorCode::bad_input, ""},
        {one_node("Unsqueeze", 12, {"x"}), ErrorCode::bad_input,
         "it has no attribute 'axes', which the operator requires"},
        {one_node("Slice", 9, {"x"}), ErrorCode::bad_input, "it has no attribute 'starts'"},
        {one_node("Slice", 9, {"x"}, {integers("starts", {0})}), ErrorCode::bad_input, "it has no attribute 'ends'"},
        {one_node("Reshape", 4, {"x"}), ErrorCode::bad_input, "it has no attribute 'shape'"},
        {one_node("Pad", 1, {"x"}), ErrorCode::bad_input, "it has no attribute 'paddings'"},
        {one_node("Pad", 10, {"x"}), ErrorCode::bad_input, "it has no attribute 'pads'"},
        {one_node("Softmax", 17, {"x"}, {integer("axis", 4)}), ErrorCode::bad_input,
         "axis 4 does not exist in a value of rank 4"},
        {one_node("Reshape", 17, {"x", "n"}), ErrorCode::unsupported,
         "its input 'shape' (value 'n') is known only when the network runs"},
        {one_node("Cast", 17, {"x"}, {integer("to", 8)}), ErrorCode::unsupported, "it casts to string"},
        {BuiltModel().input("x", {1, 4, 6, 6}).input("v", {4, 4, 0, 3}).node("Conv", {"x", "v"}, {"y"}).output("y"),
         ErrorCode::bad_input, "its weights have windows of 0x3"},
        {BuiltModel().input("x", {4}).constant("s", list({2, -2})).node("Reshape", {"x", "s"}, {"y"}).output("y"),
         ErrorCode::bad_input, "its shape 2x-2 has an extent of -2"},
        {BuiltModel().input("x", {4}).constant("s", list({-1, -1})).node("Reshape", {"x", "s"}, {"y"}).output("y"),
         ErrorCode::bad_input, "its shape -1x-1 has more than one open extent"},
        {one_node("DeformConv", 19, {"x", "w", "x"}), ErrorCode::bad_input,
         "its offset of shape 1x4x6x6 has not 4 windows along spatial axis 0"},
        {one_node("DeformConv", 17, {"x", "w", "x"}), ErrorCode::bad_input,
         "opset 17 has no such operator, which begins with opset 19"},
        {one_node("RoiAlign", 16, {"x", "w", "n"}), ErrorCode::bad_input,
         "its rois of shape 4x4x3x3 and batch_indices of shape 2 are not Rx4 and R"},
        {one_node("Relu", 17, {"nothing"}), ErrorCode::unsupported, "it needs 'nothing', which nothing computes"},
    };
    for (const Row &row : rows) {
        SCOPED_TRACE(row.model.lowered() ? "accepted" : row.model.lowered().error().message);
        const auto graph = row.model.lowered();
        ASSERT_FALSE(graph);
        EXPECT_EQ(graph.error().code, row.code);
        EXPECT_NE(graph.error().message.find(row.message), std::string::npos) << row.message;
    }
}

TEST(LowerRefuses, NamesWhereTheNetworkCouldEnd) {
    const auto message = [](const BuiltModel &model) {
        const auto graph = model.lowered();
        return graph ? "accepted" : graph.error().message;
    };
    const std::string long_name(200, 'n');
    const auto detector = [](const std::string &scores) {
        BuiltModel model;
        model.input("x", {1, 4, 6}).constant("most", list({10})).constant("w", counted({4, 6, 6}));
        model.node("MatMul", {"x", "w"}, {"boxes"}).node("Sigmoid", {"boxes"}, {scores}).node("Relu", {"x"}, {"side"});
        model.node("NonMaxSuppression", {"boxes", scores, "most"}, {"kept"}).node("Gather", {"boxes", "kept"}, {"y"});
        return model.output("y").output("side");
    };
    EXPECT_TRUE(message(detector("scores"))
                    .ends_with("\nas far as these nodes the network can be computed with --outputs boxes --outputs "
                               "scores --outputs side"))
        << message(detector("scores"));
    EXPECT_EQ(message(detector(long_name)).find("--outputs "), std::string::npos);
    // Nothing that a shell would obey.
    for (const char *name : {"'; echo; '", "a b", "$(id)", "-o", "a`b`"})
        EXPECT_EQ(message(detector(name)).find("--outputs "), std::string::npos) << name;
    // In front of the first node there is nothing, and an input is no end of a network beside other ends.
    EXPECT_EQ(message(one_node("NonMaxSuppression", 17, {"x"})).find("--outputs "), std::string::npos);
    const std::string beside =
        message(BuiltModel(detector("scores")).node("Unknown", {"x", "side"}, {"z"}).output("z"));
    EXPECT_TRUE(beside.ends_with("--outputs boxes --outputs scores --outputs side")) << beside;
    // A model that is wrong must be put right first.
    BuiltModel wrong = detector("scores");
    wrong.node("Relu", {"side"}, {"z"}, {integer("gain", 1)}).output("z");
    EXPECT_EQ(message(wrong).find("--outputs "), std::string::npos);
}

TEST(LowerRefuses, EverythingAtOnceButNotWithoutEnd) {
    BuiltModel model;
    model.input("x", {4}).node("SequenceMap", {"x"}, {"a"}).node("Relu", {"a"}, {"b"}, {integer("gain", 1)});
    for (int i = 0; i < 30; i++)
        model.node("Unknown", {"b"}, {"b" + std::to_string(i)}).output("b" + std::to_string(i));
    const auto graph = model.lowered();
    ASSERT_FALSE(graph);
    const std::string &message = graph.error().message;
    EXPECT_EQ(graph.error().code, ErrorCode::bad_input);
    EXPECT_NE(message.find("node 'SequenceMap_0' (SequenceMap): kiln has no operator"), std::string::npos) << message;
    EXPECT_NE(message.find("\nnode 'Relu_1' (Relu): in opset 17 the operator has no attribute 'gain'"),
              std::string::npos)
        << message;
    EXPECT_NE(message.find("\nand 12 more"), std::string::npos) << message;
    EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 20);
}

}  // namespace
}  // namespace kiln::graph
