// A function of one element of each operand: what a group of element-wise nodes computes.
//
// Steps stand in postfix order: each takes its arguments from a stack and puts its result there, and one value is left
// at the end. So any number of element-wise nodes is one operator, which reads each operand once.
//
// Text: function(arguments), x0, x1, ... for operands, numbers for constants, types for casts and in front of numbers that
// are not f32:  max(add(x0,f32(x1)),0)  equal(x0,i64:3)
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workload/expression/element.h"
#include "workload/result.h"

namespace kiln::scalar {

enum class Function {
    operand,   // x<index>
    constant,  // a number of type `type`, which must have it
    cast,      // to `type`: floats to integers are cut off, numbers to booleans are compared with 0
    // With one argument.
    absolute,
    negate,
    sign,  // -1, 0 or 1
    reciprocal,
    square_root,
    exponential,
    logarithm,
    logarithm_1p,  // log(1 + x), also where x is small
    sine,
    cosine,
    tangent_hyperbolic,
    error_function,
    sigmoid,  // 1 / (1 + exp(-x))
    floor,
    ceil,
    round,  // ties to even
    logical_not,
    is_nan,
    is_infinite,
    // With two.
    add,
    subtract,
    multiply,
    divide,     // integers are cut off towards zero
    remainder,  // with the sign of the divisor
    power,
    minimum,  // NaN where an argument is NaN
    maximum,
    equal,
    less,
    less_or_equal,
    logical_and,
    logical_or,
    logical_xor,
    // With three.
    select,  // condition, where it holds, where it does not
};

struct Step {
    Function function = Function::operand;
    int operand = 0;              // operand: its number
    Element type = Element::f32;  // constant, cast: of the result
    double number = 0;            // constant

    // A number by its bits: 0 is not -0, whose reciprocal is another one.
    bool operator==(const Step &other) const {
        return function == other.function && operand == other.operand && type == other.type &&
               std::bit_cast<uint64_t>(number) == std::bit_cast<uint64_t>(other.number);
    }
};

inline constexpr size_t most_steps = 4096;  // of an expression

struct Expression {
    std::vector<Step> steps;
    bool operator==(const Expression &) const = default;
};

int argument_count(Function function);
std::string_view name(Function function);  // as in texts
std::optional<Function> parse_function(std::string_view text);

// Makers of expressions; arguments are expressions over the same operands.
Expression operand(int index);
Expression constant(double number, Element type = Element::f32);
Expression cast(Expression argument, Element type);
Expression apply(Function function, Expression argument);
Expression apply(Function function, Expression a, Expression b);
Expression apply(Function function, Expression a, Expression b, Expression c);

// How many operands it reads: the largest number of one plus 1.
int operand_count(const Expression &expression);

// The type of its result. Arguments of arithmetic have one type; comparisons give booleans. An error says which step
// does not fit.
Result<Element> type_of(const Expression &expression, std::span<const Element> operands);

// `outer` with its operand `index` computed by `inner`. The operands of `inner` take the place of that operand; those of
// `outer` behind it move up. Steps of `inner` are repeated for every use of the operand, so a result may exceed most_steps.
Expression compose(const Expression &outer, int index, const Expression &inner);

std::string to_text(const Expression &expression);

// The other way. The error says what was found and what was expected; whether types fit is the question of type_of().
Result<Expression> parse_expression(std::string_view text);

}  // namespace kiln::scalar
