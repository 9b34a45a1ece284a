#include "graph/rewriting/expression_tree.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>

namespace kiln::graph {
namespace {

Element type_of_call(Function function, const std::vector<Term> &arguments) {
    switch (function) {
        case Function::is_nan:
        case Function::is_infinite:
        case Function::equal:
        case Function::less:
        case Function::less_or_equal:
            return Element::boolean;
        case Function::select:
            return arguments[1].type;
        default:
            return arguments[0].type;
    }
}

void append(const Term &term, Expression *to) {
    for (const Term &argument : term.arguments) append(argument, to);
    to->steps.push_back(term.step);
}

// Less, equal or greater, as -1, 0 and 1.
int order(const Term &a, const Term &b) {
    const auto key = [](const Term &t) {
        return std::make_tuple(is_number(t), t.step.function, t.step.operand, t.step.type, t.step.number,
                               std::signbit(t.step.number), t.arguments.size());
    };
    if (key(a) != key(b)) return key(a) < key(b) ? -1 : 1;
    for (size_t i = 0; i < a.arguments.size(); i++) {
        if (const int first = order(a.arguments[i], b.arguments[i])) return first;
    }
    return 0;
}

}  // namespace

Term to_term(const Expression &expression, std::span<const Element> operands) {
    std::vector<Term> stack;
    for (const Step &step : expression.steps) {
        if (step.function == Function::operand) {
            stack.push_back(operand_term(step.operand, operands[step.operand]));
            continue;
        }
        if (step.function == Function::constant) {
            stack.push_back({step, step.type, {}});
            continue;
        }
        const auto first = stack.end() - argument_count(step.function);
        std::vector<Term> arguments(std::make_move_iterator(first), std::make_move_iterator(stack.end()));
        stack.erase(first, stack.end());
        const Element type = step.function == Function::cast ? step.type : type_of_call(step.function, arguments);
        stack.push_back({step, type, std::move(arguments)});
    }
    return std::move(stack.back());
}

Expression to_expression(const Term &term) {
    Expression result;
    append(term, &result);
    return result;
}

Term operand_term(int index, Element type) { return {{.function = Function::operand, .operand = index}, type, {}}; }

Term number_term(double number, Element type) {
    std::array<std::byte, 8> bytes;
    write_float(type, number, bytes.data());
    return {{.function = Function::constant, .type = type, .number = read_float(type, bytes.data())}, type, {}};
}

Term call(Function function, std::vector<Term> arguments) {
    const Element type = type_of_call(function, arguments);
    return {{.function = function}, type, std::move(arguments)};
}

bool is(const Term &term, Function function) { return term.step.function == function; }

bool contains(const Term &term, Function function) {
    const auto has = [&](const Term &argument) { return contains(argument, function); };
    return is(term, function) || std::ranges::any_of(term.arguments, has);
}
bool is_number(const Term &term) { return is(term, Function::constant); }
bool is_number(const Term &term, double number) { return is_number(term) && term.step.number == number; }

int size(const Term &term) {
    int steps = 1;
    for (const Term &argument : term.arguments) steps += size(argument);
    return steps;
}

bool stands_before(const Term &a, const Term &b) { return order(a, b) < 0; }

bool is_simple(Function function) {
    switch (function) {
        case Function::operand:
        case Function::constant:
        case Function::cast:
        case Function::absolute:
        case Function::negate:
        case Function::add:
        case Function::subtract:
        case Function::multiply:
        case Function::minimum:
        case Function::maximum:
        case Function::equal:
        case Function::less:
        case Function::less_or_equal:
        case Function::logical_not:
        case Function::logical_and:
        case Function::logical_or:
        case Function::select:
            return true;
        default:
            return false;
    }
}

bool is_commutative(Function function) {
    switch (function) {
        case Function::add:
        case Function::multiply:
        case Function::minimum:
        case Function::maximum:
        case Function::equal:
        case Function::logical_and:
        case Function::logical_or:
        case Function::logical_xor:
            return true;
        default:
            return false;
    }
}

Term parse_term(std::string_view text) {
    const Expression expression = parse_expression(text).value();
    return to_term(expression, std::vector<Element>(operand_count(expression), Element::f32));
}

}  // namespace kiln::graph
