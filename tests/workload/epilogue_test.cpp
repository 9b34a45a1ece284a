// The steps of epilogues: names, numbers, functions.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "runtime/kiln.h"
#include "workload/workload.h"

namespace kiln {
namespace {

using Kind = EpilogueStep::Kind;

TEST(EpilogueStep, names) {
    for (const char *text :
         {"bias", "add", "relu", "clamp:0:6", "clamp:-1e-07:1e+30", "clamp:-inf:6", "clamp:0:inf", "leaky_relu:0.01",
          "leaky_relu:-1e-20", "hard_sigmoid:0.2:0.5", "hard_sigmoid:0.16666667:0.5", "hard_swish", "sigmoid", "tanh",
          "silu", "gelu", "gelu_tanh", "prelu", "scale"}) {
        const auto step = parse_epilogue_step(text);
        ASSERT_TRUE(step) << text;
        EXPECT_EQ(name(*step), text);
    }
    for (const char *text : {"",
                             "clamp",
                             "clamp:1",
                             "clamp:a:b",
                             "clamp:nan:1",
                             "clamp:0:6:",
                             "clamp:0:1e99",
                             "relu6",
                             "relu:0",
                             "leaky_relu",
                             "leaky_relu:",
                             "leaky_relu:0.01:0",
                             "leaky_relu:nan",
                             "hard_sigmoid",
                             "hard_sigmoid:0.2",
                             "hard_sigmoid:0.2:nan",
                             "gelu:tanh",
                             "prelu:0.25",
                             "scale:0.25",
                             "Gelu",
                             "silu ",
                             ":",
                             "gelu,relu"}) {
        EXPECT_FALSE(parse_epilogue_step(text)) << text;
    }
}

// They are in packages and in programs.
TEST(EpilogueStep, codes_stay) {
    const struct {
        Kind kind;
        int32_t code;
    } rows[] = {{Kind::bias, 1},
                {Kind::add, 2},
                {Kind::relu, 3},
                {Kind::clamp, 4},
                {Kind::leaky_relu, 5},
                {Kind::hard_sigmoid, 6},
                {Kind::hard_swish, 7},
                {Kind::sigmoid, 8},
                {Kind::tanh, 9},
                {Kind::silu, 10},
                {Kind::gelu, 11},
                {Kind::gelu_tanh, 12},
                {Kind::prelu, 13},
                {Kind::requantize_litert, 14},
                {Kind::requantize_onnx, 15},
                {Kind::affine, 16},
                {Kind::scale, 17}};
    EXPECT_EQ(std::size(rows), epilogue_forms().size()) << "a row for each step";
    for (const auto &row : rows) EXPECT_EQ(interface_code(row.kind), row.code);
}

TEST(EpilogueStep, rows_are_well_formed) {
    std::set<std::string_view> names;
    const scalar::Element floats[] = {scalar::Element::f32, scalar::Element::f32};
    for (const EpilogueForm &form : epilogue_forms()) {
        EXPECT_TRUE(names.insert(form.name).second) << form.name;
        EXPECT_TRUE(form.operand == EpilogueForm::Operand::none || form.number_count() == 0) << form.name;
        if (form.requantizes()) continue;
        const scalar::Expression function = function_of({form.kind, 0.25f, 0.5f});
        const auto type = scalar::type_of(function, floats);
        ASSERT_TRUE(type) << form.name << ": " << type.error().message;
        EXPECT_EQ(*type, scalar::Element::f32) << form.name;
        EXPECT_EQ(scalar::operand_count(function), form.operand == EpilogueForm::Operand::none ? 1 : 2) << form.name;
    }
}

TEST(EpilogueStep, functions) {
    const struct {
        EpilogueStep step;
        const char *function;
    } rows[] = {
        {{Kind::bias}, "add(x0,x1)"},
        {{Kind::add}, "add(x0,x1)"},
        {{Kind::relu}, "select(less(x0,0),0,x0)"},
        {{Kind::clamp, -1, 6}, "select(less(6,select(less(x0,-1),-1,x0)),6,select(less(x0,-1),-1,x0))"},
        {{Kind::clamp, -INFINITY, 6}, "select(less(6,x0),6,x0)"},
        {{Kind::clamp, -1, INFINITY}, "select(less(x0,-1),-1,x0)"},
        {{Kind::clamp, -INFINITY, INFINITY}, "x0"},
        {{Kind::prelu}, "select(less(x0,0),mul(x0,x1),x0)"},
        {{Kind::scale}, "mul(x0,x1)"},
        {{Kind::leaky_relu, 0.25f}, "select(less(x0,0),mul(x0,0.25),x0)"},
        {{Kind::hard_sigmoid, 0.25f, 0.5f}, "min(max(add(mul(x0,0.25),0.5),0),1)"},
        {{Kind::hard_swish}, "mul(x0,min(max(add(mul(x0,0.1666666716337204),0.5),0),1))"},  // 1/6 as a float
    };
    for (const auto &row : rows) EXPECT_EQ(scalar::to_text(function_of(row.step)), row.function);
}

}  // namespace
}  // namespace kiln
