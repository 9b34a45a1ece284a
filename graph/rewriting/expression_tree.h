// An expression as a tree, in which rules can match and replace parts.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "graph/expression.h"

namespace kiln::graph {

struct Term {
    Step step;
    Element type = Element::f32;  // of its value
    std::vector<Term> arguments;
    bool operator==(const Term &) const = default;
};

// Preconditions: type_of() knows the expression.
Term to_term(const Expression &expression, std::span<const Element> operands);
Expression to_expression(const Term &term);

Term operand_term(int index, Element type);
Term number_term(double number, Element type);  // rounded to the type
Term call(Function function, std::vector<Term> arguments);

bool is(const Term &term, Function function);
bool contains(const Term &term, Function function);  // anywhere
bool is_number(const Term &term);                    // a constant
bool is_number(const Term &term, double number);     // this one
int size(const Term &term);                          // steps

// A total order: what stands first of the arguments of a function whose order does not matter. Constants stand last.
bool stands_before(const Term &a, const Term &b);
bool is_commutative(Function function);
// Whether processors compute it in an instruction or two, of vectors too: no quotient, no root, nothing approximated.
bool is_simple(Function function);

// The term of an expression as text, over operands of type f32. Precondition: it is well formed.
Term parse_term(std::string_view text);

}  // namespace kiln::graph
