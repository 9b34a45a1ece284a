#include "workload/expression/expression.h"

#include <algorithm>
#include <utility>

namespace kiln::scalar {
namespace {

void append(const Expression &argument, Expression *to) {
    to->steps.insert(to->steps.end(), argument.steps.begin(), argument.steps.end());
}

Expression with_step(Expression arguments, Step step) {
    arguments.steps.push_back(step);
    return arguments;
}

}  // namespace

int argument_count(Function function) {
    if (function <= Function::constant) return 0;
    if (function <= Function::is_infinite) return 1;
    return function < Function::select ? 2 : 3;
}

Expression operand(int index) { return {{{.function = Function::operand, .operand = index}}}; }

Expression constant(double number, Element type) {
    return {{{.function = Function::constant, .type = type, .number = number}}};
}

Expression cast(Expression argument, Element type) {
    return with_step(std::move(argument), {.function = Function::cast, .type = type});
}

Expression apply(Function function, Expression argument) {
    return with_step(std::move(argument), {.function = function});
}

Expression apply(Function function, Expression a, Expression b) {
    append(b, &a);
    return with_step(std::move(a), {.function = function});
}

Expression apply(Function function, Expression a, Expression b, Expression c) {
    append(b, &a);
    append(c, &a);
    return with_step(std::move(a), {.function = function});
}

int operand_count(const Expression &expression) {
    int count = 0;
    for (const Step &step : expression.steps) {
        if (step.function == Function::operand) count = std::max(count, step.operand + 1);
    }
    return count;
}

Expression compose(const Expression &outer, int index, const Expression &inner) {
    const int added = operand_count(inner) - 1;
    Expression result;
    for (Step step : outer.steps) {
        if (step.function != Function::operand || step.operand < index) {
            result.steps.push_back(step);
        } else if (step.operand > index) {
            step.operand += added;
            result.steps.push_back(step);
        } else {
            for (Step of_inner : inner.steps) {
                if (of_inner.function == Function::operand) of_inner.operand += index;
                result.steps.push_back(of_inner);
            }
        }
    }
    return result;
}

}  // namespace kiln::scalar
