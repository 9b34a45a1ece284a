#include "graph/operator_forms.h"

namespace kiln::graph {

Status check_input_count(const Forms &inputs, size_t expected) {
    if (inputs.size() == expected) return {};
    return bad_input(std::to_string(inputs.size()) + " inputs instead of " + std::to_string(expected));
}

Status check_same_types(const Forms &inputs) {
    for (const TypedShape &form : inputs) {
        if (form.type == inputs[0].type) continue;
        return bad_input("inputs of types " + std::string(name(inputs[0].type)) + " and " +
                         std::string(name(form.type)));
    }
    return {};
}

Result<TypedShape> result_of(const Operator &op, const std::vector<TypedShape> &inputs) {
    const auto named = [&](const Error &error) {
        return Error{error.code, std::string(name(op)) + ": " + error.message};
    };
    for (const TypedShape &form : inputs) {
        if (auto count = element_count(form.shape); !count) return named(count.error());
    }
    auto result = std::visit([&](const auto &o) { return form_of(o, inputs); }, op);
    if (!result) return named(result.error());
    if (auto count = element_count(result->shape); !count) return named(count.error());
    return result;
}

}  // namespace kiln::graph
