// The functions of expressions, computed for a block of elements at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/expression.h"
#include "graph/quantized_forms.h"

namespace kiln::graph {

struct Block {
    Element type = Element::f32;
    std::vector<double> floats;     // where the type is floating
    std::vector<int64_t> integers;  // else
};

Block constant_block(const Step &step, int64_t count);

// Computes a function of the arguments first[0], first[1], ... into first[0]. Types are those that type_of() accepts.
void apply(const Step &step, Block *first);

// An expression, of one block of elements after the other.
struct Program {
    const Expression &expression;
    std::vector<Block> operands, stack;
    // Of what quantizes, f32 is rounded at each step, as models and kernels define it: the last place may decide which quantum it is.
    bool rounds_steps;

    // `stack` is enough for all steps and the arguments of one.
    Program(const Expression &e, size_t operand_count)
        : expression(e), operands(operand_count), stack(e.steps.size() + 3), rounds_steps(quantizes(e)) {}

    const Block &run(int64_t count);  // of `operands`, which have as many elements
};

// Integers as two's complement keeps them; evaluate.h says what division and powers do.
int64_t divided(int64_t a, int64_t b);
int64_t remainder_of(int64_t a, int64_t b);  // with the sign of b
double remainder_of(double a, double b);
int64_t power_of(int64_t base, int64_t exponent);

}  // namespace kiln::graph
