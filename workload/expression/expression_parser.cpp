#include <charconv>
#include <cmath>
#include <utility>

#include "workload/expression/expression.h"

namespace kiln::scalar {
namespace {

constexpr int deepest_call = 200;  // of a text from outside; each level is a call of the parser

class ExpressionParser {
public:
    explicit ExpressionParser(std::string_view text) : rest_(text) {}

    Result<Expression> parse() {
        if (Status s = parse_value(0); !s) return s.error();
        if (!rest_.empty()) return unexpected("nothing more");
        return std::move(expression_);
    }

private:
    Error unexpected(std::string_view needed) const {
        const std::string found = rest_.empty() ? "the end" : "`" + std::string(rest_.substr(0, 20)) + "`";
        return bad_input(found + " is not expected; needs " + std::string(needed));
    }

    bool take(char c) {
        if (!rest_.starts_with(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }

    template<typename Number>
    bool take_number(Number *number) {
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), *number);
        if (error != std::errc()) return false;
        rest_.remove_prefix(end - rest_.data());
        return true;
    }

    std::string_view take_word() {
        size_t size = 0;
        while (size < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[size])) || rest_[size] == '_'))
            size++;
        const std::string_view word = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return word;
    }

    static bool is_digit(char c) { return c >= '0' && c <= '9'; }

    // An operand, a constant with or without its type, or a call.
    Status parse_value(int depth) {
        if (depth > deepest_call) return bad_input("calls are more than 200 deep");
        if (expression_.steps.size() >= most_steps)
            return bad_input("more than " + std::to_string(most_steps) + " steps");
        if (rest_.size() > 1 && rest_[0] == 'x' && is_digit(rest_[1])) return parse_operand();
        if (!rest_.empty() &&
            (is_digit(rest_[0]) || rest_[0] == '-' || rest_.starts_with("inf") || rest_.starts_with("nan"))) {
            return parse_constant(Element::f32);
        }
        const std::string_view whole = rest_, word = take_word();
        const auto type = parse_element(word);
        if (type && take(':')) return parse_constant(*type);
        const auto function = parse_function(word);
        const bool is_call = function && argument_count(*function) > 0 && *function != Function::cast;
        if (!(type || is_call) || !take('(')) {
            rest_ = whole;
            return unexpected("an operand, a number or a function with its arguments");
        }
        return parse_arguments(type ? Step{.function = Function::cast, .type = *type} : Step{.function = *function},
                               depth);
    }

    Status parse_operand() {
        rest_.remove_prefix(1);
        int number = 0;
        if (!take_number(&number) || number > 1'000'000) return unexpected("the number of an operand");
        expression_.steps.push_back({.function = Function::operand, .operand = number});
        return {};
    }

    Status parse_constant(Element type) {
        double number = 0;
        if (!take_number(&number)) return unexpected("a number");
        expression_.steps.push_back({.function = Function::constant, .type = type, .number = number});
        return {};
    }

    Status parse_arguments(const Step &call, int depth) {
        for (int i = 0; i < argument_count(call.function); i++) {
            if (i > 0 && !take(',')) return unexpected("`,` and another argument");
            if (Status s = parse_value(depth + 1); !s) return s;
        }
        if (!take(')')) return unexpected("`)`");
        expression_.steps.push_back(call);
        return {};
    }

    std::string_view rest_;
    Expression expression_;
};

}  // namespace

Result<Expression> parse_expression(std::string_view text) { return ExpressionParser(text).parse(); }

}  // namespace kiln::scalar
