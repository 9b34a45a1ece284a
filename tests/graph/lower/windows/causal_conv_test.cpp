// CausalConvWithState beside plain loops.
#include <functional>

#include "tests/graph/lower/rule_cases.h"

namespace kiln::graph {
namespace {

struct CausalCase {
    int64_t batch = 2, channels = 3, length = 8, taps = 4;
    bool has_bias = false, has_past = false;
    std::string activation = "none";
};

// Numbers that f32 has, from -0.8 to 0.8.
Numbers causal_numbers(Shape shape, int64_t seed) {
    Numbers numbers = counted(std::move(shape));
    int64_t i = seed;
    for (double &number : std::get<0>(numbers.elements)) number = static_cast<double>(i++ * 37 % 101 - 50) / 64;
    return numbers;
}

double causal_element(const Numbers &numbers, int64_t row, int64_t place) {
    return std::get<0>(numbers.elements)[static_cast<size_t>(row * numbers.form.shape[2] + place)];
}

RuleCase causal_row(const CausalCase &c) {
    const Numbers x = causal_numbers({c.batch, c.channels, c.length}, 1),
                  w = causal_numbers({c.channels, 1, c.taps}, 2),
                  past = causal_numbers({c.batch, c.channels, c.taps - 1}, 3), bias = causal_numbers({c.channels}, 4);
    // The place `at` of the past and the input behind it.
    const auto whole = [&](int64_t row, int64_t at) {
        if (at >= c.taps - 1) return causal_element(x, row, at - (c.taps - 1));
        return c.has_past ? causal_element(past, row, at) : 0.0;
    };
    std::vector<double> y, present;
    for (int64_t row = 0; row < c.batch * c.channels; row++) {
        const int64_t channel = row % c.channels;
        for (int64_t place = 0; place < c.length; place++) {
            double sum = c.has_bias ? std::get<0>(bias.elements)[static_cast<size_t>(channel)] : 0;
            for (int64_t tap = 0; tap < c.taps; tap++) sum += whole(row, place + tap) * causal_element(w, channel, tap);
            y.push_back(c.activation == "none" ? sum : sum / (1 + std::exp(-sum)));
        }
        for (int64_t i = 0; i < c.taps - 1; i++) present.push_back(whole(row, c.length + i));
    }
    return {.op_type = "CausalConvWithState",
            .opset = 27,
            .attributes = {text("activation", c.activation)},
            .inputs = {x, w, c.has_bias ? std::optional(bias) : none, c.has_past ? std::optional(past) : none},
            .outputs = {floats(x.form.shape, std::move(y)), floats(past.form.shape, std::move(present))}};
}

TEST(CausalConvWithState, PastsBiasesAndActivations) {
    const std::vector<CausalCase> rows{
        {},
        {.activation = "silu"},
        {.activation = "swish"},
        {.has_bias = true},
        {.has_past = true},
        {.has_bias = true, .has_past = true, .activation = "silu"},
        {.length = 1, .has_bias = true, .has_past = true},
        {.length = 2, .taps = 5},
        {.length = 2, .taps = 5, .has_past = true},
        {.length = 3},
        {.taps = 1},
        {.taps = 1, .has_past = true},
        {.batch = 1, .channels = 1, .length = 6},
    };
    for (const CausalCase &c : rows) {
        RuleCase row = causal_row(c);
        SCOPED_TRACE("length " + std::to_string(c.length) + ", taps " + std::to_string(c.taps));
        for (const size_t inputs : {1, 4}) {
            if (inputs == 4 && c.taps == 1 && c.has_past) continue;  // an input of the network has elements
            row.network_inputs = inputs;
            expect_outputs(row);
        }
    }
    // Without an attribute there is no activation.
    RuleCase plain = causal_row({});
    plain.attributes.clear();
    expect_outputs(plain);
}

TEST(CausalConvWithState, IsOneDepthwiseConvolution) {
    RuleCase row = causal_row({.has_bias = true});
    row.outputs.pop_back();
    const auto graph = model_of(row).lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    ASSERT_EQ(operators(*graph), "convolution");
    const auto &op = std::get<Convolution>(graph->nodes[0].op);
    EXPECT_EQ(op.groups, 3);
    EXPECT_EQ(op.padding, (std::vector<Padding>{{3, 0}}));

    row = causal_row({.has_past = true, .activation = "silu"});
    row.network_inputs = 4;
    const auto joined = model_of(row).lowered();
    ASSERT_TRUE(joined) << joined.error().message;
    for (const char *name : {"concat", "convolution", "elementwise"})
        EXPECT_NE(operators(*joined).find(name), std::string::npos) << operators(*joined);

    // A past of zeros is padding.
    row = causal_row({});
    const auto without = model_of(row).lowered();
    row.inputs[3] = floats({2, 3, 3}, std::vector<double>(18, 0));
    const auto zeros = model_of(row).lowered();
    ASSERT_TRUE(without && zeros);
    EXPECT_EQ(operators(*without), operators(*zeros));
    expect_outputs(row);
}

TEST(CausalConvWithState, Refused) {
    struct Bad {
        std::function<void(RuleCase &)> change;
        std::string message;
    };
    const std::vector<Bad> rows{
        {[](RuleCase &row) { row.attributes = {text("activation", "relu")}; },
         "its attribute 'activation' is 'relu', which must be none, silu or swish"},
        {[](RuleCase &row) {
             row.inputs[0] = counted({2, 3, 2, 4});
         },
         "its input of shape 2x3x2x4 has not three axes"},
        {[](RuleCase &row) {
             row.inputs[1] = counted({3, 4});
         },
         "its weights of shape 3x4 are not 3x1xK, as its input of shape 2x3x8 asks for"},
        {[](RuleCase &row) {
             row.inputs[1] = counted({3, 2, 4});
         },
         "its weights of shape 3x2x4 are not 3x1xK"},
        {[](RuleCase &row) {
             row.inputs[1] = counted({4, 1, 4});
         },
         "its weights of shape 4x1x4 are not 3x1xK"},
        {[](RuleCase &row) {
             row.inputs[1] = floats({3, 1, 0}, {});
         },
         "its weights of shape 3x1x0 are not 3x1xK"},
        {[](RuleCase &row) {
             row.inputs[3] = counted({2, 3, 4});
         },
         "its input 'past_state' of shape 2x3x4 is not 2x3x3"},
        {[](RuleCase &row) { row.inputs[3]->form.type = Element::f16; },
         "its input 'past_state' is f16, and its input f32"},
        {[](RuleCase &row) { row.inputs[2] = counted({4}); }, "bias"},
        {[](RuleCase &row) {
             row.inputs[0] = whole({2, 3, 8}, std::vector<int64_t>(48, 1), Element::i8);
         },
         "its input is i8"},
        {[](RuleCase &row) { row.opset = 26; }, "which begins with opset 27"},
    };
    for (const Bad &bad : rows) {
        RuleCase row = causal_row({.has_bias = true, .has_past = true});
        bad.change(row);
        expect_refused(model_of(row), bad.message);
    }
}

}  // namespace
}  // namespace kiln::graph
