// An expression's value in f64, with the bound of the error that f32 arithmetic has.
#pragma once

#include <vector>

#include "tuner/reference/bounded.h"
#include "workload/workload.h"

namespace kiln {

// How floats are rounded: by each kernel as it likes, within the bounds, or each step by itself to the nearest, so that basic
// arithmetic has no errors.
enum class Rounding { any, exact };

// Whether IEEE 754 defines each of its steps to the last bit. An empty expression is.
bool is_defined_exactly(const scalar::Expression &expression);

// Bounds of one expression, which outlives it. Precondition: type_of() accepts it, of operands of these types (none: f32).
class BoundedExpression {
public:
    explicit BoundedExpression(const scalar::Expression &expression, const std::vector<scalar::Element> &operands = {},
                               Rounding rounding = Rounding::any);

    Bounded operator()(const std::vector<Bounded> &operands);  // in the order of the expression's numbers

private:
    struct TypedStep {
        const scalar::Step *step;
        scalar::Element argument, result;  // the last argument's: of a select that is its result's, too
        size_t count;                      // of arguments
        double roundings;                  // of f32, in one of the result's type
    };

    // A step's result, in the place of its arguments; a leaf's is behind all others.
    void take(const TypedStep &typed, const std::vector<Bounded> &operands, Bounded *first);
    void take_wide(const TypedStep &typed, Bounded *first);
    void take_exactly(const TypedStep &typed, const std::vector<Bounded> &operands, Bounded *first);

    bool is_exact_ = false;
    bool is_product_ = false;  // of two operands, in a type that adds no roundings: what large nests sum up
    std::vector<TypedStep> steps_;
    std::vector<Bounded> stack_;  // as large as it ever gets
    std::vector<int64_t> wide_;   // beside it: integers of 64 bits, of which the stack has the nearest f64
};

}  // namespace kiln
