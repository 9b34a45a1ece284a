#include "graph/rewriting/named_functions.h"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "graph/rewriting/pattern.h"
#include "graph/rewriting/simplify_expression.h"

namespace kiln::graph {
namespace {

constexpr std::string_view hard_sigmoid = "min(max(add(mul(x0,0.16666667),0.5),0),1)";
constexpr std::string_view hard_swish = "mul(x0,min(max(add(mul(x0,0.16666667),0.5),0),1))";
// With the factor on the inside, since 2 x may be infinite.
constexpr std::string_view gelu = "mul(x0,add(mul(erf(mul(x0,0.70710678)),0.5),0.5))";
constexpr std::string_view gelu_tanh =
    "mul(x0,add(mul(tanh(mul(add(x0,mul(pow(x0,3),0.044715)),0.79788456)),0.5),0.5))";
// With exp(-|x|), which has no overflow and keeps the digits of a logarithm near 0.
constexpr std::string_view softplus = "add(log1p(exp(neg(abs(x0)))),max(x0,0))";
constexpr std::string_view log_sigmoid = "sub(min(x0,0),log1p(exp(neg(abs(x0)))))";
constexpr std::string_view mish = "mul(x0,tanh(add(log1p(exp(neg(abs(x0)))),max(x0,0))))";

struct Spelling {
    NamedFunction function;
    std::string_view text;
};

// The first spelling of each is the form that passes leave. Products have their constant outside, see scales_outside().
constexpr std::array spellings{
    Spelling{{"sigmoid", "sigmoid(x0)"}, "sigmoid(x0)"},
    Spelling{{"sigmoid", "sigmoid(x0)"}, "add(mul(tanh(mul(x0,0.5)),0.5),0.5)"},
    Spelling{{"sigmoid", "sigmoid(x0)"}, "mul(add(tanh(mul(x0,0.5)),1),0.5)"},
    Spelling{{"sigmoid", "sigmoid(x0)"}, "div(exp(x0),add(exp(x0),1))"},
    Spelling{{"silu", "mul(x0,sigmoid(x0))"}, "mul(x0,sigmoid(x0))"},
    Spelling{{"hard_sigmoid", hard_sigmoid}, hard_sigmoid},
    Spelling{{"hard_sigmoid", hard_sigmoid}, "mul(min(max(add(x0,3),0),6),0.16666667)"},
    Spelling{{"hard_swish", hard_swish}, hard_swish},
    Spelling{{"hard_swish", hard_swish}, "mul(mul(x0,min(max(add(x0,3),0),6)),0.16666667)"},
    Spelling{{"gelu", gelu}, gelu},
    Spelling{{"gelu", gelu}, "mul(mul(x0,add(erf(mul(x0,0.70710678)),1)),0.5)"},
    Spelling{{"gelu_tanh", gelu_tanh}, gelu_tanh},
    Spelling{{"gelu_tanh", gelu_tanh}, "mul(mul(x0,add(tanh(mul(add(x0,mul(pow(x0,3),0.044715)),0.79788456)),1)),0.5)"},
    Spelling{{"gelu_tanh", gelu_tanh},
             "mul(mul(x0,add(tanh(mul(mul(x0,add(mul(pow(x0,2),0.044715),1)),0.79788456)),1)),0.5)"},
    // A power with its constant inside is a product.
    Spelling{{"gelu_tanh", gelu_tanh},
             "mul(mul(x0,add(tanh(mul(add(x0,mul(mul(mul(x0,x0),x0),0.044715)),0.79788456)),1)),0.5)"},
    Spelling{{"softplus", softplus}, softplus},
    Spelling{{"softplus", softplus}, "log1p(exp(x0))"},
    Spelling{{"softplus", softplus}, "log(add(exp(x0),1))"},
    Spelling{{"log_sigmoid", log_sigmoid}, log_sigmoid},
    Spelling{{"log_sigmoid", log_sigmoid}, "log(sigmoid(x0))"},
    Spelling{{"mish", mish}, mish},
    Spelling{{"mish", mish}, "mul(x0,tanh(log1p(exp(x0))))"},
    Spelling{{"mish", mish}, "mul(x0,tanh(log(add(exp(x0),1))))"},
};

void collect_factors(const Term &term, std::vector<Term> *factors, double *scale) {
    if (is(term, Function::multiply)) {
        for (const Term &argument : term.arguments) collect_factors(argument, factors, scale);
    } else if (is_number(term)) {
        *scale *= term.step.number;
    } else {
        factors->push_back(term);
    }
}

// The same with one constant at the end of each product, and with products for quotients by a constant. It is for comparison only: in
// between, this may overflow, and rounds otherwise.
Term scales_outside(Term term) {
    for (Term &argument : term.arguments) argument = scales_outside(std::move(argument));
    if (is(term, Function::divide) && is_float(term.type) && is_number(term.arguments[1])) {
        const Term inverse = number_term(1 / term.arguments[1].step.number, term.type);
        term = call(Function::multiply, {term.arguments[0], inverse});
    }
    if (!is(term, Function::multiply)) return term;
    std::vector<Term> factors;
    double scale = 1;
    collect_factors(term, &factors, &scale);
    if (factors.empty()) return number_term(scale, term.type);
    Term product = factors.front();
    for (size_t i = 1; i < factors.size(); i++) product = call(Function::multiply, {product, factors[i]});
    return scale == 1 ? product : call(Function::multiply, {product, number_term(scale, term.type)});
}

void set_types(Term *term, Element type) {
    if (is_number(*term)) *term = number_term(term->step.number, type);
    term->type = type;
    for (Term &argument : term->arguments) set_types(&argument, type);
}

}  // namespace

const NamedFunction *named_function(const Term &term) {
    const Term compared = scales_outside(term);
    for (const Spelling &spelling : spellings) {
        const auto found = match(scales_outside(parse_term(spelling.text)), compared);
        if (found && is(*found->x0, Function::operand)) return &spelling.function;
    }
    return nullptr;
}

Term form_of(const NamedFunction &function, const Term &operand) {
    Term form = parse_term(function.expression);
    set_types(&form, operand.type);
    const auto put = [&](const auto &self, Term *term) -> void {
        if (is(*term, Function::operand)) *term = operand;
        for (Term &argument : term->arguments) self(self, &argument);
    };
    put(put, &form);
    return simplify(std::move(form));
}

}  // namespace kiln::graph
