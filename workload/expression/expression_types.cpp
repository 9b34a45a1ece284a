#include <cmath>

#include "workload/expression/expression.h"

namespace kiln::scalar {
namespace {

// What a function takes: all arguments of the same type, which is
enum class Domain { any, number, floating, boolean };

Domain domain_of(Function function) {
    switch (function) {
        case Function::operand:
        case Function::constant:
        case Function::cast:
        case Function::equal:
        case Function::select:
            return Domain::any;
        case Function::absolute:
        case Function::negate:
        case Function::sign:
        case Function::add:
        case Function::subtract:
        case Function::multiply:
        case Function::divide:
        case Function::remainder:
        case Function::power:
        case Function::minimum:
        case Function::maximum:
        case Function::less:
        case Function::less_or_equal:
            return Domain::number;
        case Function::reciprocal:
        case Function::square_root:
        case Function::exponential:
        case Function::logarithm:
        case Function::logarithm_1p:
        case Function::sine:
        case Function::cosine:
        case Function::tangent_hyperbolic:
        case Function::error_function:
        case Function::sigmoid:
        case Function::floor:
        case Function::ceil:
        case Function::round:
        case Function::is_nan:
        case Function::is_infinite:
            return Domain::floating;
        case Function::logical_not:
        case Function::logical_and:
        case Function::logical_or:
        case Function::logical_xor:
            return Domain::boolean;
    }
    return Domain::any;
}

bool is_in(Domain domain, Element type) {
    switch (domain) {
        case Domain::any:
            return true;
        case Domain::number:
            return type != Element::boolean;
        case Domain::floating:
            return is_float(type);
        case Domain::boolean:
            return type == Element::boolean;
    }
    return false;
}

bool answers_boolean(Function function) {
    return function == Function::is_nan || function == Function::is_infinite || function == Function::equal ||
           function == Function::less || function == Function::less_or_equal;
}

// Whether `number` is one of `type`, so that a constant means the same wherever it is computed.
bool is_number_of(double number, Element type) {
    if (is_float(type)) return true;
    if (type == Element::boolean) return number == 0 || number == 1;
    const bool is_unsigned =
        type == Element::u8 || type == Element::u16 || type == Element::u32 || type == Element::u64;
    const int bits = 8 * size_of(type) - (is_unsigned ? 0 : 1);
    const double bound = std::ldexp(1, bits);
    return number == std::floor(number) && number < bound && number >= (is_unsigned ? 0 : -bound);
}

struct TypeStack {
    std::span<const Element> operands;
    std::vector<Element> types;

    // What is wrong with `step`, or nothing.
    std::string take(const Step &step) {
        if (step.function == Function::operand) {
            if (step.operand < 0 || static_cast<size_t>(step.operand) >= operands.size())
                return "there is no such operand";
            types.push_back(operands[step.operand]);
            return "";
        }
        if (step.function == Function::constant) {
            if (!is_number_of(step.number, step.type)) return "its number is none of " + std::string(name(step.type));
            types.push_back(step.type);
            return "";
        }
        return call(step);
    }

    std::string call(const Step &step) {
        const size_t count = argument_count(step.function);
        if (types.size() < count) return "an argument is missing";
        const std::vector<Element> arguments(types.end() - count, types.end());
        types.resize(types.size() - count);
        if (step.function == Function::select) {
            if (arguments[0] != Element::boolean) return "its condition is " + std::string(name(arguments[0]));
            if (arguments[1] != arguments[2]) return mixed(arguments[1], arguments[2]);
            types.push_back(arguments[1]);
            return "";
        }
        if (count == 2 && arguments[0] != arguments[1]) return mixed(arguments[0], arguments[1]);
        if (!is_in(domain_of(step.function), arguments[0])) {
            return "it does not take " + std::string(name(arguments[0]));
        }
        const Element kept = step.function == Function::cast ? step.type : arguments[0];
        types.push_back(answers_boolean(step.function) ? Element::boolean : kept);
        return "";
    }

    static std::string mixed(Element a, Element b) {
        return "its arguments are " + std::string(name(a)) + " and " + std::string(name(b));
    }
};

}  // namespace

Result<Element> type_of(const Expression &expression, std::span<const Element> operands) {
    if (expression.steps.size() > most_steps) {
        return bad_input("an expression of " + std::to_string(expression.steps.size()) + " steps; kiln takes up to " +
                         std::to_string(most_steps));
    }
    TypeStack stack{operands, {}};
    for (size_t i = 0; i < expression.steps.size(); i++) {
        const Step &step = expression.steps[i];
        const std::string fault = stack.take(step);
        if (fault.empty()) continue;
        return bad_input("step " + std::to_string(i + 1) + " of the expression, " + std::string(name(step.function)) +
                         ": " + fault);
    }
    if (stack.types.size() != 1) {
        return bad_input("an expression that leaves " + std::to_string(stack.types.size()) + " values instead of one");
    }
    return stack.types.front();
}

}  // namespace kiln::scalar
