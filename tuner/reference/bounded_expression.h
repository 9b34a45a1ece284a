// An expression's value in f64, with the bound of the error that f32 arithmetic has.
#pragma once

#include <vector>

#include "workload/workload.h"

namespace kiln {

// A value and the bound of its error in units of one rounding.
struct Bounded {
    double value = 0, error = 0;
};

Bounded bounded(scalar::Function function, const Bounded &a, const Bounded &b);  // of two f32

// Of one expression, which outlives it. Precondition: type_of() accepts it, of f32 operands.
class BoundedExpression {
public:
    explicit BoundedExpression(const scalar::Expression &expression);

    Bounded operator()(const std::vector<Bounded> &operands);  // in the order of the expression's numbers

private:
    struct TypedStep {
        const scalar::Step *step;
        scalar::Element argument, result;  // the last argument's: of a select that is its result's, too
        size_t count;                      // of arguments
        double roundings;                  // of f32, in one of the result's type
    };

    void take(const TypedStep &typed, const std::vector<Bounded> &operands);

    std::vector<TypedStep> steps_;
    std::vector<Bounded> stack_;
};

}  // namespace kiln
