#include "graph/passes/functions/multiples.h"

namespace kiln::graph {
namespace {

class Unrounded {
public:
    Unrounded(const Rewriting &graph, const std::vector<ValueId> &inputs) : graph_(graph), inputs_(inputs) {}

    std::optional<Multiples> of(const Term &term) const {
        if (is_number(term)) return Multiples{{}, term.step.number};
        if (is(term, Function::operand)) return of_value(term.step.operand);
        if (term.arguments.empty() || term.arguments.size() > 2) return {};
        const auto a = of(term.arguments[0]);
        if (!a) return {};
        if (term.arguments.size() == 1) return of_one(term.step.function, *a);
        const auto b = of(term.arguments[1]);
        return b ? of_two(term.step.function, *a, *b) : std::nullopt;
    }

private:
    std::optional<Multiples> of_value(ValueId id) const {
        for (size_t i = 0; i < inputs_.size(); i++) {
            if (inputs_[i] != id) continue;
            Multiples one;
            one.factors[i] = 1;
            return one;
        }
        const Value &value = graph_.value(id);
        return Multiples{{}, read_float(value.form.type, value.constant->bytes().data())};
    }

    static std::optional<Multiples> of_one(Function function, const Multiples &a) {
        if (function == Function::cast || function == Function::round) return a;
        return function == Function::negate ? std::optional(a * -1) : std::nullopt;
    }

    static std::optional<Multiples> of_two(Function function, const Multiples &a, const Multiples &b) {
        switch (function) {
            case Function::add:
                return a + b;
            case Function::subtract:
                return a + b * -1;
            case Function::multiply:
                if (b.is_constant()) return a * b.shift;
                return a.is_constant() ? std::optional(b * a.shift) : std::nullopt;
            case Function::divide:
                return b.is_constant() ? std::optional(a * (1 / b.shift)) : std::nullopt;
            case Function::minimum:
            case Function::maximum:
                return a.is_constant() ? b : a;
            default:
                return {};
        }
    }

    const Rewriting &graph_;
    const std::vector<ValueId> &inputs_;
};

}  // namespace

std::optional<Multiples> unrounded_multiples(const Rewriting &graph, const std::vector<ValueId> &inputs,
                                             const Term &term) {
    return Unrounded(graph, inputs).of(term);
}

}  // namespace kiln::graph
