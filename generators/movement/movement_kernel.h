// A kernel of data movement: what one template computes, and its schedule. A template has a class of its own, which
// data_movement.cpp chooses by the candidate.
//
//   output(digits) = operand[sum of digit * read_stride], or 0 where no element exists
//
// The operand is one row of elements, and elements are plain bits, whatever their type.
#pragma once

#include <Halide.h>

#include <utility>
#include <vector>

#include "rewrites/movement.h"
#include "schedules/apply/extent.h"
#include "schedules/apply/movement/moved_loops.h"

namespace kiln {

// The memory of an argument of the pipeline.
inline Halide::Parameter memory_of(const Halide::Func &argument) {
    return argument.value().as<Halide::Internal::Call>()->param;
}

// One loop a digit.
std::vector<MovedLoop> loops_of_digits(const Movement &m);

class MovementKernel {
public:
    MovementKernel(Movement m, std::vector<MovedLoop> output_loops)
        : moved(std::move(m)), loops(std::move(output_loops)) {}
    virtual ~MovementKernel() = default;

    // The output's dimensions, as the result lies in memory, outermost first.
    const std::vector<MovedLoop> &dimensions() const { return loops; }

    virtual void define(const Halide::Func &operand, Halide::Func output) = 0;
    virtual void schedule(Halide::Func output) = 0;

protected:
    std::vector<Halide::Expr> digits() const;    // the output's coordinates, outermost first
    std::vector<Halide::Var> arguments() const;  // the same, innermost first
    MovedOutput scheduled(const Halide::Func &output) const { return {output, loops}; }

    Movement moved;
    std::vector<MovedLoop> loops;
};

// The operand's element that has these digits.
Halide::Expr element(const Movement &m, const Halide::Func &operand, const std::vector<Halide::Expr> &digits);

// The operand's element at `position`, or 0 where it does not exist.
Halide::Expr element_or_zero(const Movement &m, const Halide::Func &operand, const Halide::Expr &exists,
                             const Halide::Expr &position);

}  // namespace kiln
