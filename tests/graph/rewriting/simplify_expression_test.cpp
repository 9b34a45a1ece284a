// Texts of expressions before and after, and that both compute the same.
#include "graph/rewriting/simplify_expression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "graph/evaluate/evaluate.h"
#include "graph/rewriting/named_functions.h"

namespace kiln::graph {
namespace {

struct Row {
    const char *before, *after;
};

std::vector<double> computed(const Term &term, const std::vector<Numbers> &inputs) {
    std::vector<const Numbers *> pointers;
    for (const Numbers &numbers : inputs) pointers.push_back(&numbers);
    const auto result = evaluate(Operator(Elementwise{to_expression(term), {9}}), pointers);
    EXPECT_TRUE(result) << result.error().message;
    return std::get<0>(result->elements);
}

void expect_simplified(const Row &row, bool with_specials) {
    SCOPED_TRACE(row.before);
    const Term before = parse_term(row.before), after = simplify(before);
    EXPECT_EQ(to_text(to_expression(after)), row.after);
    EXPECT_EQ(simplify(after), after);
    constexpr double inf = std::numeric_limits<double>::infinity();
    std::vector<Numbers> inputs;
    for (double factor : {1.0, 0.25}) {
        std::vector<double> numbers{0.5, 1, 1.75, -0.25, -3, 8, 0.001, -7, 3};
        if (with_specials) numbers = {0.5, -3, inf, -inf, std::nan(""), 0, 1e30, -1e30, 2};
        for (double &number : numbers) number *= factor;
        inputs.push_back(Numbers{{Element::f32, {9}}, numbers});
    }
    const auto a = computed(before, inputs), b = computed(after, inputs);
    for (size_t i = 0; i < a.size(); i++) {
        if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
        EXPECT_NEAR(a[i], b[i], 1e-6 * std::max(1.0, std::abs(a[i]))) << "element " << i;
    }
}

// These keep NaN and infinities, too.
TEST(Simplify, keeps_special_values) {
    const Row rows[] = {
        {"add(x0,0)", "x0"},
        {"sub(x0,0)", "x0"},
        {"sub(0,x0)", "neg(x0)"},
        {"add(0,x0)", "x0"},
        {"mul(x0,1)", "x0"},
        {"mul(1,x0)", "x0"},
        {"div(x0,1)", "x0"},
        {"mul(x0,-1)", "neg(x0)"},
        {"mul(x0,0)", "mul(x0,0)"},
        {"sub(x0,x0)", "sub(x0,x0)"},
        {"div(x0,x0)", "div(x0,x0)"},
        {"neg(neg(x0))", "x0"},
        {"neg(sub(x0,x1))", "sub(x1,x0)"},
        {"add(x0,neg(x1))", "sub(x0,x1)"},
        {"add(neg(x0),x1)", "sub(x1,x0)"},
        {"sub(x0,neg(x1))", "add(x0,x1)"},
        {"sub(x0,3)", "add(x0,-3)"},
        {"div(x0,4)", "mul(x0,0.25)"},
        {"div(x0,-0.5)", "mul(x0,-2)"},
        {"div(x0,3)", "div(x0,3)"},
        {"div(x0,inf)", "div(x0,inf)"},
        {"div(x0,0)", "div(x0,0)"},
        {"div(1,x0)", "reciprocal(x0)"},
        {"mul(x0,reciprocal(x1))", "div(x0,x1)"},
        {"mul(x0,x0)", "pow(x0,2)"},
        {"mul(mul(x0,x0),x0)", "pow(x0,3)"},
        {"pow(x0,1)", "x0"},
        {"pow(x0,-1)", "reciprocal(x0)"},
        {"add(mul(2,3),x0)", "add(x0,6)"},
        {"add(add(x0,1),2)", "add(x0,3)"},
        {"add(sub(x0,100000000),100000000)", "add(add(x0,-1e+08),1e+08)"},
        {"max(max(x0,0),0)", "max(x0,0)"},
        {"max(max(x0,-1),2)", "max(x0,2)"},
        {"min(6,max(0,x0))", "min(max(x0,0),6)"},
        {"max(min(x0,6),0)", "min(max(x0,0),6)"},
        {"max(min(x0,-1),2)", "max(min(x0,-1),2)"},
        {"max(min(max(min(x0,9),-9),6),0)", "min(max(x0,0),6)"},
        {"min(max(x0,-inf),inf)", "x0"},
        {"min(max(x0,0),inf)", "max(x0,0)"},
        {"max(x0,inf)", "max(x0,inf)"},
        {"min(max(x0,0),3.4028234663852886e38)", "min(max(x0,0),3.4028234663852886e+38)"},
        {"max(x0,-3.4028234663852886e38)", "max(x0,-3.4028234663852886e+38)"},
        {"max(x0,x0)", "x0"},
        {"abs(neg(abs(x0)))", "abs(x0)"},
        {"select(not(less(x0,x1)),x0,x1)", "select(less(x0,x1),x1,x0)"},
        {"select(less(x0,x1),x0,x0)", "x0"},
        {"reciprocal(select(less(x0,x1),0,-0))", "reciprocal(select(less(x0,x1),0,-0))"},
        {"select(less(1,2),x0,x1)", "x0"},
        {"f32(x0)", "x0"},
        {"add(x1,x0)", "add(x0,x1)"},
        {"div(1,add(1,exp(neg(x0))))", "sigmoid(x0)"},
        {"div(x0,add(exp(mul(x0,-1)),1))", "mul(x0,sigmoid(x0))"},
        {"max(x0,mul(x0,0.1))", "select(less(x0,0),mul(x0,0.1),x0)"},
    };
    for (const Row &row : rows) {
        expect_simplified(row, false);
        expect_simplified(row, true);
    }
}

TEST(Simplify, rounds_otherwise) {
    const Row rows[] = {
        {"mul(mul(x0,0.5),3)", "mul(x0,1.5)"},
        {"div(mul(x0,2),8)", "mul(x0,0.25)"},
        {"neg(mul(x0,3))", "mul(x0,-3)"},
        {"pow(abs(x0),0.5)", "sqrt(abs(x0))"},
        {"pow(abs(x0),-0.5)", "reciprocal(sqrt(abs(x0)))"},
        {"mul(mul(x0,1e30),1e30)", "mul(mul(x0,1e+30),1e+30)"},
        {"add(max(x0,0),mul(min(x0,0),0.1))", "select(less(x0,0),mul(x0,0.1),x0)"},
        {"sub(max(x0,0),mul(x1,max(neg(x0),0)))", "select(less(x0,0),mul(x0,x1),x0)"},
    };
    for (const Row &row : rows) expect_simplified(row, false);
}

// Numbers that become quanta on the way to other ones are whole, within bounds that the quanta have; others are changed by them. Where no
// quantum comes of it, kernels may round as they like, and quanta stay.
TEST(Simplify, leaves_out_quanta_of_which_others_are_computed) {
    const Row rows[] = {
        {"f32(u8(min(max(round(x0),0),255)))", "min(max(round(x0),0),255)"},
        {"f32(i32(u8(min(max(add(round(x0),3),0),255))))", "min(max(add(round(x0),3),0),255)"},
        {"f32(sub(i32(u8(min(max(round(x0),0),255))),i32:7))", "sub(min(max(round(x0),0),255),7)"},
        {"f32(sub(i32(i8(min(max(round(x0),-128),127))),i32:-7))", "sub(min(max(round(x0),-128),127),-7)"},
        {"f32(add(i32(i8(min(max(round(x0),-5),5))),i32:1))", "f32(add(i32(min(max(round(x0),-5),5)),i32:1))"},
        {"f32(u8(min(max(x0,0),255)))", "f32(u8(min(max(x0,0),255)))"},
        {"f32(u8(min(max(round(x0),-1),255)))", "f32(u8(min(max(round(x0),-1),255)))"},
        {"f32(i8(min(max(round(x0),-5),128)))", "f32(i8(min(max(round(x0),-5),128)))"},
        {"f32(u8(min(max(round(x0),0.5),255)))", "f32(u8(min(max(round(x0),0.5),255)))"},
        {"f32(u8(min(max(round(x0),x1),255)))", "f32(u8(min(max(x1,round(x0)),255)))"},
        {"f32(u8(max(round(x0),0)))", "f32(u8(max(round(x0),0)))"},
    };
    for (const Row &row : rows) {
        const auto in_quantum = [](const char *number) { return "f32(u8(" + std::string(number) + "))"; };
        const std::string before = in_quantum(row.before), after = in_quantum(row.after);
        expect_simplified({before.c_str(), after.c_str()}, false);
    }
    expect_simplified({"f32(u8(min(max(round(x0),0),255)))", "f32(u8(min(max(round(x0),0),255)))"}, false);
}

// A step decides by the last place, in the same expression or in a node that reads it.
TEST(Simplify, keeps_quotients_before_steps) {
    for (const char *text :
         {"div(x0,41)", "floor(div(x0,41))", "ceil(div(x0,-41))", "round(sub(div(x0,41),0.5))", "f32(i32(div(x0,41)))",
          "f32(less(div(x0,41),1))", "f32(bool(sub(1,div(x0,41))))", "mod(div(x0,41),1)"}) {
        const Term before = parse_term(text);
        const std::vector<Numbers> inputs{
            {{Element::f32, {9}}, std::vector<double>{41, 82, 123, 164, 205, 246, 287, 328, 369}}};
        EXPECT_EQ(computed(simplify(before), inputs), computed(before, inputs)) << text;
    }
}

// Every spelling of a function gets the same name, and the form computes the same.
TEST(NamedFunctions, are_known_in_all_spellings) {
    struct Spelling {
        const char *name, *text;
    };
    const Spelling spellings[] = {
        {"sigmoid", "reciprocal(add(1,exp(neg(x0))))"},
        {"sigmoid", "mul(0.5,add(1,tanh(mul(0.5,x0))))"},
        {"sigmoid", "add(mul(tanh(div(x0,2)),0.5),0.5)"},
        {"silu", "mul(sigmoid(x0),x0)"},
        {"silu", "div(x0,add(1,exp(neg(x0))))"},
        {"hard_sigmoid", "div(min(max(add(x0,3),0),6),6)"},
        {"hard_sigmoid", "max(0,min(1,add(mul(x0,0.16666667),0.5)))"},
        {"hard_swish", "mul(x0,div(min(max(add(x0,3),0),6),6))"},
        {"hard_swish", "div(mul(x0,min(max(add(x0,3),0),6)),6)"},
        {"hard_swish", "mul(mul(x0,0.16666667),max(min(add(3,x0),6),0))"},
        {"hard_swish", "mul(x0,max(0,min(1,add(mul(0.16666667,x0),0.5))))"},
        {"gelu", "mul(mul(x0,0.5),add(erf(div(x0,1.4142135)),1))"},
        {"gelu", "mul(0.5,mul(x0,add(1,erf(mul(x0,0.70710677)))))"},
        {"gelu", "mul(x0,mul(0.5,add(erf(div(x0,1.41421356237)),1)))"},
        {"gelu", "mul(add(0.5,mul(erf(div(x0,1.4142135)),0.5)),x0)"},
        {"gelu_tanh", "mul(x0,add(0.5,mul(0.5,tanh(mul(0.7978845608,add(x0,mul(0.044715,pow(x0,3))))))))"},
        {"gelu_tanh", "mul(mul(0.5,x0),add(1,tanh(mul(0.7978845608,add(x0,mul(0.044715,pow(x0,3)))))))"},
        {"gelu_tanh", "mul(mul(0.5,x0),add(1,tanh(mul(0.7978845608,add(x0,mul(0.044715,mul(x0,mul(x0,x0))))))))"},
        {"gelu_tanh", "mul(mul(x0,add(1,tanh(mul(mul(x0,0.7978845608),add(1,mul(0.044715,mul(x0,x0))))))),0.5)"},
        {"sigmoid", "div(exp(x0),add(1,exp(x0)))"},
        {"softplus", "log(add(1,exp(x0)))"},
        {"softplus", "add(max(x0,0),log1p(exp(neg(abs(x0)))))"},
        {"log_sigmoid", "log(sigmoid(x0))"},
        {"log_sigmoid", "log(reciprocal(add(1,exp(neg(x0)))))"},
        {"mish", "mul(x0,tanh(log(add(exp(x0),1))))"},
    };
    for (const auto &[name, text] : spellings) {
        SCOPED_TRACE(text);
        const Term term = simplify(parse_term(text));
        const NamedFunction *function = named_function(term);
        ASSERT_TRUE(function) << to_text(to_expression(term));
        EXPECT_EQ(function->name, name);
        const Term form = form_of(*function, parse_term("x0"));
        ASSERT_TRUE(named_function(form));
        EXPECT_EQ(named_function(form)->name, name);
        for (double x : {-8.0, -3.0, -2.5, -0.125, 0.0, 0.75, 2.0, 3.5, 9.0}) {
            const std::vector<Numbers> inputs{{{Element::f32, {9}}, std::vector<double>(9, x)}};
            EXPECT_NEAR(computed(parse_term(text), inputs)[0], computed(form, inputs)[0], 1e-6) << x;
        }
    }
}

TEST(NamedFunctions, others_have_no_name) {
    for (const char *text : {"x0", "add(x0,1)", "mul(x0,sigmoid(x1))", "mul(x0,min(max(add(x0,3),0),6))",
                             "div(mul(x0,min(max(add(x0,3),0),6)),5)", "mul(x0,sigmoid(mul(x0,1.702)))",
                             "mul(mul(x0,0.5),add(erf(div(x0,1.4)),1))", "div(mul(x0,min(max(add(x1,3),0),6)),6)"}) {
        EXPECT_EQ(named_function(simplify(parse_term(text))), nullptr) << text;
    }
}

}  // namespace
}  // namespace kiln::graph
