#include "graph/rewriting/pattern.h"

#include <cmath>
#include <cstddef>

namespace kiln::graph {
namespace {

bool take_operand(int place, const Term &term, Match *found) {
    if (place == 0) {
        if (found->x0 && *found->x0 != term) return false;
        found->x0 = term;
        return true;
    }
    if (!is_number(term)) return false;
    std::optional<double> &number = found->numbers[place - 1];
    if (number && *number != term.step.number) return false;
    number = term.step.number;
    return true;
}

bool matches(const Term &pattern, const Term &term, Match *found) {
    if (is(pattern, Function::operand)) return take_operand(pattern.step.operand, term, found);
    if (pattern.step.function != term.step.function) return false;
    if (is_number(pattern)) return are_alike(pattern.step.number, term.step.number);
    const auto match_in_order = [&](size_t first) {
        const Match before = *found;
        for (size_t i = 0; i < pattern.arguments.size(); i++) {
            const Term &argument = term.arguments[(first + i) % term.arguments.size()];
            if (matches(pattern.arguments[i], argument, found)) continue;
            *found = before;
            return false;
        }
        return true;
    };
    return match_in_order(0) || (is_commutative(pattern.step.function) && match_in_order(1));
}

}  // namespace

bool are_alike(double a, double b) { return std::abs(a - b) <= 2e-6 * std::abs(a); }

std::optional<Match> match(const Term &pattern, const Term &term) {
    Match found;
    if (!matches(pattern, term, &found)) return {};
    return found;
}

}  // namespace kiln::graph
