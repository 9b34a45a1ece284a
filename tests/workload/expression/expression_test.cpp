#include "workload/expression/expression.h"

#include <gtest/gtest.h>

#include <cmath>

namespace kiln::scalar {
namespace {

using F = Function;

TEST(Expression, names_are_frozen) {
    const char *names[] = {"operand",       "constant", "cast",  "abs", "neg",    "sign",   "reciprocal", "sqrt",
                           "exp",           "log",      "log1p", "sin", "cos",    "tanh",   "erf",        "sigmoid",
                           "floor",         "ceil",     "round", "not", "is_nan", "is_inf", "add",        "sub",
                           "mul",           "div",      "mod",   "pow", "min",    "max",    "equal",      "less",
                           "less_or_equal", "and",      "or",    "xor", "select"};
    const int arguments[] = {0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                             1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3};
    static_assert(std::size(names) == static_cast<size_t>(F::select) + 1 && std::size(arguments) == std::size(names));
    for (size_t i = 0; i < std::size(names); i++) {
        const auto function = static_cast<F>(i);
        EXPECT_EQ(name(function), names[i]);
        EXPECT_EQ(parse_function(names[i]), function);
        EXPECT_EQ(argument_count(function), arguments[i]) << names[i];
    }
    for (const char *other : {"", "x0", "ADD", "add "}) EXPECT_FALSE(parse_function(other)) << other;
}

TEST(Expression, text) {
    const Expression x = operand(0), y = operand(1);
    const std::pair<Expression, const char *> rows[] = {
        {x, "x0"},
        {apply(F::maximum, apply(F::add, x, y), constant(0)), "max(add(x0,x1),0)"},
        {apply(F::add, cast(y, Element::f32), constant(0.1)), "add(f32(x1),0.1)"},
        {apply(F::equal, operand(12), constant(3, Element::i64)), "equal(x12,i64:3)"},
        {apply(F::select, constant(1, Element::boolean), x, constant(-1e-30)), "select(bool:1,x0,-1e-30)"},
        {apply(F::subtract, constant(INFINITY), apply(F::negate, x)), "sub(inf,neg(x0))"},
        {apply(F::divide, constant(-INFINITY), constant(-0.0)), "div(-inf,-0)"},
        {constant(NAN), "nan"},
    };
    for (const auto &[expression, text] : rows) {
        EXPECT_EQ(to_text(expression), text);
        const auto parsed = parse_expression(text);
        ASSERT_TRUE(parsed) << text << ": " << parsed.error().message;
        EXPECT_EQ(*parsed, expression) << text;
    }
    EXPECT_NE(constant(0.0), constant(-0.0));
    // What is no expression has a text too: errors quote it.
    EXPECT_EQ(to_text(Expression{}), "");
    EXPECT_EQ(to_text(Expression{{{.function = F::add}}}), "add(?,?)");
}

TEST(Expression, texts_that_are_none) {
    std::string nested;
    for (int i = 0; i < 10'000; i++) nested += "neg(";
    const std::string rows[] = {
        "",       " ",      "x",      "x-1",         "x0 ",          "x0,x1",       "add(x0)",    "add(x0,x1,x2)",
        "add x0", "neg()",  "neg(x0", "unknown(x0)", "cast(x0)",     "constant(1)", "operand(0)", "f32:",
        "f33:1",  "i64:x0", "f32()",  "1e",          "x99999999999", "--1",         nested};
    for (const std::string &text : rows) EXPECT_FALSE(parse_expression(text)) << text.substr(0, 40);
}

TEST(Expression, types) {
    const Element types[] = {Element::f32, Element::i64, Element::boolean, Element::f16};
    const Expression f = operand(0), i = operand(1), b = operand(2), h = operand(3);
    const std::pair<Expression, Element> good[] = {
        {f, Element::f32},
        {constant(1, Element::u8), Element::u8},
        {cast(b, Element::i32), Element::i32},
        {apply(F::add, i, i), Element::i64},
        {apply(F::power, f, f), Element::f32},
        {apply(F::less, i, constant(2, Element::i64)), Element::boolean},
        {apply(F::equal, b, b), Element::boolean},
        {apply(F::is_nan, h), Element::boolean},
        {apply(F::sigmoid, h), Element::f16},
        {apply(F::select, b, i, i), Element::i64},
        {apply(F::select, b, b, b), Element::boolean},
        {apply(F::logical_not, b), Element::boolean},
        {constant(NAN), Element::f32},
        {constant(255, Element::u8), Element::u8},
        {constant(-0x1p63, Element::i64), Element::i64},
    };
    for (const auto &[expression, type] : good) {
        const auto result = type_of(expression, types);
        ASSERT_TRUE(result) << to_text(expression) << ": " << result.error().message;
        EXPECT_EQ(*result, type) << to_text(expression);
    }
    const std::pair<Expression, const char *> bad[] = {
        {operand(4), "no such operand"},
        {operand(-1), "no such operand"},
        {apply(F::add, f, i), "f32 and i64"},
        {apply(F::equal, f, h), "f32 and f16"},
        {apply(F::add, b, b), "does not take bool"},
        {apply(F::square_root, i), "does not take i64"},
        {apply(F::floor, i), "does not take i64"},
        {apply(F::logical_and, i, i), "does not take i64"},
        {apply(F::less, b, b), "does not take bool"},
        {apply(F::select, f, f, f), "condition is f32"},
        {apply(F::select, b, f, i), "f32 and i64"},
        {constant(0.5, Element::i64), "none of i64"},
        {constant(0x1p63, Element::i64), "none of i64"},
        {constant(NAN, Element::i8), "none of i8"},
        {constant(256, Element::u8), "none of u8"},
        {constant(-1, Element::u32), "none of u32"},
        {constant(2, Element::boolean), "none of bool"},
        {{}, "leaves 0 values"},
        {{{{}, {}}}, "leaves 2 values"},
        {{{{}, {.function = F::add}}}, "step 2 of the expression, add: an argument is missing"},
        {{std::vector<Step>(most_steps + 1)}, "4097 steps"},
    };
    for (const auto &[expression, part] : bad) {
        const auto result = type_of(expression, types);
        ASSERT_FALSE(result) << part;
        EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
    }
}

TEST(Expression, compose) {
    struct Row {
        const char *outer;
        int index;
        const char *inner, *result;
    };
    const Row rows[] = {
        {"max(x0,0)", 0, "add(x0,x1)", "max(add(x0,x1),0)"},
        {"sub(x0,x1)", 0, "mul(x0,x1)", "sub(mul(x0,x1),x2)"},
        {"sub(x0,x1)", 1, "mul(x0,x1)", "sub(x0,mul(x1,x2))"},
        {"select(x0,x1,x2)", 1, "neg(x0)", "select(x0,neg(x1),x2)"},
        {"mul(x0,sigmoid(x0))", 0, "add(x0,x1)", "mul(add(x0,x1),sigmoid(add(x0,x1)))"},
        {"sub(x0,x1)", 0, "3", "sub(3,x0)"},  // nothing takes its place
        {"x0", 0, "x0", "x0"},
        {"neg(x0)", 5, "add(x0,x1)", "neg(x0)"},
    };
    for (const Row &row : rows) {
        const auto outer = parse_expression(row.outer), inner = parse_expression(row.inner);
        ASSERT_TRUE(outer && inner) << row.outer;
        EXPECT_EQ(to_text(compose(*outer, row.index, *inner)), row.result);
    }
    EXPECT_EQ(operand_count(constant(1)), 0);
    EXPECT_EQ(operand_count(apply(F::add, operand(0), operand(4))), 5);
}

}  // namespace
}  // namespace kiln::scalar
