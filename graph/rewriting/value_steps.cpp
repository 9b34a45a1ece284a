#include "graph/rewriting/value_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "graph/rewriting/pattern.h"
#include "graph/rewriting/simplify_expression.h"

namespace kiln::graph {
namespace {

using enum Function;
using StepKind = EpilogueStep::Kind;

constexpr float infinity = std::numeric_limits<float>::infinity();

// A factor adds -0, which leaves each x as it is, -0 too, until the number behind it takes that place.
void push_number(float number, ValueSteps *steps) {
    const bool is_factor = !steps->steps.empty() && steps->steps.back().kind == StepKind::affine &&
                           steps->steps.back().hi == 0 && std::signbit(steps->steps.back().hi);
    if (is_factor) {
        steps->steps.back().hi = number;
    } else {
        steps->push({StepKind::affine, 1, number});
    }
}

bool reads(const Term &term, ValueId id) {
    if (is(term, operand)) return term.step.operand == id;
    return std::ranges::any_of(term.arguments, [&](const Term &argument) { return reads(argument, id); });
}

// Whether a minimum or maximum with this number changes infinities alone.
bool bounds_infinities(const Term &number, Function function) {
    if (!is_number(number) || !is_float(number.type)) return false;
    const double bound = function == minimum ? number.step.number : -number.step.number;
    return bound == largest_finite(number.type);
}

class Reader {
public:
    Reader(ValueId value, const ShapeOf &shape_of) : value_(value), shape_of_(shape_of) {}

    // The steps that make a term of the value, behind those that `steps` has.
    bool read(const Term &term, ValueSteps *steps) const {
        if (is(term, operand)) return term.step.operand == value_;
        if (activation(term, steps)) return true;
        if (is(term, minimum) || is(term, maximum)) return bound(term, steps);
        if (is(term, multiply)) return factor(term, steps);
        if (is(term, divide)) return divisor(term, steps);
        if (!is(term, add)) return false;
        const Term &a = term.arguments[0], &b = term.arguments[1];
        if (is_number(b)) return summand(term, steps);
        return reads(a, value_) ? addition(a, b, steps) : addition(b, a, steps);
    }

private:
    bool activation(const Term &term, ValueSteps *steps) const {
        if (term.type != Element::f32) return false;  // the steps' numbers are
        for (const EpilogueForm &form : epilogue_forms()) {
            if (is_addition(form.kind) || form.kind == StepKind::scale || form.requantizes()) continue;
            const bool has_operand = form.operand != EpilogueForm::Operand::none;
            const auto found =
                match(simplify(parse_term(form.function)), term, has_operand ? Second::operand : Second::number);
            if (!found || !reads(*found->x0, value_)) continue;
            const EpilogueStep step{form.kind, static_cast<float>(found->numbers[0].value_or(0)),
                                    static_cast<float>(found->numbers[1].value_or(0))};
            ValueSteps with_it = *steps;
            if (!check_numbers(step) || !read(*found->x0, &with_it)) continue;
            if (has_operand && !takes(form.kind, *found->operand, with_it)) continue;
            with_it.push(step, found->operand.value_or(-1));
            *steps = std::move(with_it);
            return true;
        }
        return false;
    }

    bool bound(const Term &term, ValueSteps *steps) const {
        const Term &x = term.arguments[0], &number = term.arguments[1];
        if (!is_number(number)) return false;
        if (bounds_infinities(number, term.step.function)) return steps->of_sums && read(x, steps);
        const auto limit = static_cast<float>(number.step.number);
        const bool is_clamp = is(term, minimum) && is(x, maximum) && is_number(x.arguments[1]) &&
                              !bounds_infinities(x.arguments[1], maximum) &&
                              x.arguments[1].step.number <= number.step.number;
        if (!read(is_clamp ? x.arguments[0] : x, steps)) return false;
        if (is_clamp) {
            steps->push({StepKind::clamp, static_cast<float>(x.arguments[1].step.number), limit});
        } else if (is(term, minimum)) {
            steps->push({StepKind::clamp, -infinity, limit});
        } else if (limit == 0) {
            steps->push({StepKind::relu});
        } else {
            steps->push({StepKind::clamp, limit, infinity});
        }
        return true;
    }

    bool factor(const Term &term, ValueSteps *steps) const {
        const Term &a = term.arguments[0], &b = term.arguments[1];
        if (!is_number(b)) return reads(a, value_) ? scaled(a, b, steps) : scaled(b, a, steps);
        const std::optional<float> number = number_of(term);
        if (!number || !read(a, steps)) return false;
        steps->push({StepKind::affine, *number, -0.0f});
        return true;
    }

    // No step divides. A sum of products is rounded so often that a product with the reciprocal is as good.
    bool divisor(const Term &term, ValueSteps *steps) const {
        const std::optional<float> number = number_of(term);
        if (!number || !std::isnormal(1 / *number) || !read(term.arguments[0], steps)) return false;
        steps->push({StepKind::affine, 1 / *number, -0.0f});
        return true;
    }

    bool scaled(const Term &inner, const Term &factor, ValueSteps *steps) const {
        if (factor.type != Element::f32 || !is(factor, operand) || !read(inner, steps)) return false;
        if (!takes(StepKind::scale, factor.step.operand, *steps)) return false;
        steps->push({StepKind::scale}, factor.step.operand);
        return true;
    }

    bool summand(const Term &term, ValueSteps *steps) const {
        const std::optional<float> number = number_of(term);
        if (!number || !read(term.arguments[0], steps)) return false;
        push_number(*number, steps);
        return true;
    }

    // The second argument of a term of f32, where it is a finite number.
    static std::optional<float> number_of(const Term &term) {
        if (term.type != Element::f32 || !is_number(term.arguments[1])) return {};
        const auto number = static_cast<float>(term.arguments[1].step.number);
        if (!std::isfinite(number)) return {};
        return number;
    }

    bool addition(const Term &inner, const Term &added, ValueSteps *steps) const {
        if (!is(added, operand) || !read(inner, steps)) return false;
        const ValueId id = added.step.operand;
        const StepKind kind = shape_of_(id) == shape_of_(value_) ? StepKind::add : StepKind::bias;
        if (!takes(kind, id, *steps)) return false;
        steps->push({kind}, id);
        return true;
    }

    // Whether a value may be the operand of a step behind others.
    bool takes(StepKind kind, ValueId id, const ValueSteps &steps) const {
        if (steps.has(kind) || id == value_) return false;
        if (epilogue_form(kind).operand == EpilogueForm::Operand::channels) return is_for_channels(id);
        return shape_of_(id) == shape_of_(value_);
    }

    bool is_for_channels(ValueId id) const {
        const Shape &result = shape_of_(value_);
        Shape shape = shape_of_(id), expected(result.size(), 1);
        shape.insert(shape.begin(), result.size() - shape.size(), 1);
        expected[1] = result[1];
        return shape == expected;
    }

    const ValueId value_;
    const ShapeOf &shape_of_;
};

}  // namespace

void ValueSteps::push(EpilogueStep step, ValueId input) {
    steps.push_back(step);
    inputs.push_back(input);
}

bool ValueSteps::has(StepKind kind) const { return std::ranges::find(steps, kind, &EpilogueStep::kind) != steps.end(); }

std::optional<ValueSteps> steps_of(const Term &term, ValueId value, const ShapeOf &shape_of, ValueSteps behind) {
    if (!Reader(value, shape_of).read(term, &behind)) return {};
    return behind;
}

}  // namespace kiln::graph
