#include "generators/movement/movement_kernel.h"

#include <string>

namespace kiln {

using namespace Halide;

std::vector<MovedLoop> loops_of_digits(const Movement &m) {
    std::vector<MovedLoop> loops;
    for (size_t d = 0; d < m.digits.size(); d++) {
        loops.push_back({Var("d" + std::to_string(d)), m.digits[d].extent, m.digits[d].read_stride});
    }
    return loops;
}

std::vector<Expr> MovementKernel::digits() const {
    std::vector<Expr> values;
    for (const MovedLoop &loop : loops) values.push_back(loop.variable);
    return values;
}

std::vector<Var> MovementKernel::arguments() const {
    std::vector<Var> variables;
    for (size_t d = loops.size(); d-- > 0;) variables.push_back(loops[d].variable);
    return variables;
}

Expr element(const Movement &m, const Func &operand, const std::vector<Expr> &digits) {
    Expr position = 0, exists = Internal::const_true();
    for (size_t d = 0; d < digits.size(); d++) {
        const MovedDigit &digit = m.digits[d];
        position += digits[d] * extent(digit.read_stride);
        if (digit.valid < digit.extent) exists = exists && digits[d] < extent(digit.valid);
    }
    for (const MovedLimit &limit : m.limits) {
        Expr sum = 0;
        for (size_t d = 0; d < digits.size(); d++) sum += digits[d] * extent(limit.steps[d]);
        exists = exists && sum < extent(limit.extent);
    }
    return element_or_zero(m, operand, exists, position);
}

// What is read where nothing exists must exist, too.
Expr element_or_zero(const Movement &m, const Func &operand, const Expr &exists, const Expr &position) {
    if (Internal::is_const_one(simplify(exists))) return operand(position);
    return select(likely(exists), operand(clamp(position, 0, extent(m.read_elements - 1))), cast(operand.type(), 0));
}

}  // namespace kiln
