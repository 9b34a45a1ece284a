#include <array>
#include <cassert>
#include <charconv>
#include <utility>

#include "workload/expression/expression.h"

namespace kiln::scalar {
namespace {

constexpr std::array<std::pair<Function, std::string_view>, 37> function_names{{
    {Function::operand, "operand"},
    {Function::constant, "constant"},
    {Function::cast, "cast"},
    {Function::absolute, "abs"},
    {Function::negate, "neg"},
    {Function::sign, "sign"},
    {Function::reciprocal, "reciprocal"},
    {Function::square_root, "sqrt"},
    {Function::exponential, "exp"},
    {Function::logarithm, "log"},
    {Function::logarithm_1p, "log1p"},
    {Function::sine, "sin"},
    {Function::cosine, "cos"},
    {Function::tangent_hyperbolic, "tanh"},
    {Function::error_function, "erf"},
    {Function::sigmoid, "sigmoid"},
    {Function::floor, "floor"},
    {Function::ceil, "ceil"},
    {Function::round, "round"},
    {Function::logical_not, "not"},
    {Function::is_nan, "is_nan"},
    {Function::is_infinite, "is_inf"},
    {Function::add, "add"},
    {Function::subtract, "sub"},
    {Function::multiply, "mul"},
    {Function::divide, "div"},
    {Function::remainder, "mod"},
    {Function::power, "pow"},
    {Function::minimum, "min"},
    {Function::maximum, "max"},
    {Function::equal, "equal"},
    {Function::less, "less"},
    {Function::less_or_equal, "less_or_equal"},
    {Function::logical_and, "and"},
    {Function::logical_or, "or"},
    {Function::logical_xor, "xor"},
    {Function::select, "select"},
}};

std::string number_text(double number) {
    char buffer[32];
    return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr);
}

std::string of_type(Element type, const std::string &text) {
    return type == Element::f32 ? text : std::string(name(type)) + ":" + text;
}

}  // namespace

std::string_view name(Function function) {
    for (const auto &[value, text] : function_names) {
        if (value == function) return text;
    }
    assert(false);
    return "";
}

std::optional<Function> parse_function(std::string_view text) {
    for (const auto &[value, known] : function_names) {
        if (known == text) return value;
    }
    return std::nullopt;
}

std::string to_text(const Expression &expression) {
    std::vector<std::string> stack;
    for (const Step &step : expression.steps) {
        if (step.function == Function::operand) {
            stack.push_back("x" + std::to_string(step.operand));
            continue;
        }
        if (step.function == Function::constant) {
            stack.push_back(of_type(step.type, number_text(step.number)));
            continue;
        }
        std::string text;
        for (int i = 0; i < argument_count(step.function); i++) {
            const std::string argument = stack.empty() ? "?" : std::move(stack.back());
            if (!stack.empty()) stack.pop_back();
            text = i == 0 ? argument : argument + "," + text;
        }
        const std::string_view function = step.function == Function::cast ? name(step.type) : name(step.function);
        stack.push_back(std::string(function) + "(" + text + ")");
    }
    std::string text;
    for (const std::string &part : stack) text += (text.empty() ? "" : " ") + part;
    return text;
}

}  // namespace kiln::scalar
