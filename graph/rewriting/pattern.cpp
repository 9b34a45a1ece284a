#include "graph/rewriting/pattern.h"

#include <cmath>
#include <cstddef>

namespace kiln::graph {
namespace {

// The first that comes to a place is in it, and all others must be equal to it.
template<typename T>
bool take(const T &value, std::optional<T> *place) {
    if (!*place) *place = value;
    return **place == value;
}

class Matching {
public:
    explicit Matching(Second x1) : x1_(x1) {}

    const Match &found() const { return found_; }

    bool matches(const Term &pattern, const Term &term) {
        if (is(pattern, Function::operand)) return takes(pattern.step.operand, term);
        if (pattern.step.function != term.step.function) return false;
        if (is_number(pattern)) return are_alike(pattern.step.number, term.step.number);
        return matches_from(0, pattern, term) ||
               (is_commutative(pattern.step.function) && matches_from(1, pattern, term));
    }

private:
    bool takes(int place, const Term &term) {
        if (place == 0) return take(term, &found_.x0);
        if (place == 1 && x1_ == Second::operand) {
            return is(term, Function::operand) && take(term.step.operand, &found_.operand);
        }
        return is_number(term) && take(term.step.number, &found_.numbers[place - 1]);
    }

    // The arguments in order, beginning with one of the term.
    bool matches_from(size_t first, const Term &pattern, const Term &term) {
        const Match before = found_;
        for (size_t i = 0; i < pattern.arguments.size(); i++) {
            if (matches(pattern.arguments[i], term.arguments[(first + i) % term.arguments.size()])) continue;
            found_ = before;
            return false;
        }
        return true;
    }

    const Second x1_;
    Match found_;
};

}  // namespace

bool are_alike(double a, double b) { return std::abs(a - b) <= 2e-6 * std::abs(a); }

std::optional<Match> match(const Term &pattern, const Term &term, Second x1) {
    Matching matching(x1);
    if (!matching.matches(pattern, term)) return {};
    return matching.found();
}

}  // namespace kiln::graph
