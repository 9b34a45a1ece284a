#include "graph/operator_forms.h"

namespace kiln::graph {

Result<TypedShape> form_of(const MatrixProduct &, const Forms &inputs) {
    if (Status s = check_input_count(inputs, 2); !s) return s.error();
    if (Status s = check_same_types(inputs); !s) return s.error();
    if (inputs[0].type == Element::boolean) return unsupported("of bool");
    Shape a = inputs[0].shape, b = inputs[1].shape;
    if (a.size() < 2 || b.size() < 2 || a.back() != b[b.size() - 2]) {
        return bad_input("of shapes " + to_text(a) + " and " + to_text(b));
    }
    const int64_t rows = a[a.size() - 2], columns = b.back();
    a.resize(a.size() - 2);
    b.resize(b.size() - 2);
    auto result = broadcast(a, b);
    if (!result) return result.error();
    result->insert(result->end(), {rows, columns});
    return TypedShape{inputs[0].type, *result};
}

Result<TypedShape> form_of(const Elementwise &op, const Forms &inputs) {
    if (auto count = element_count(op.shape); !count) return count.error();
    std::vector<Element> types;
    for (const TypedShape &input : inputs) {
        const auto together = broadcast(input.shape, op.shape);
        if (!together || *together != op.shape) {
            return bad_input("an input of shape " + to_text(input.shape) + " for a result of shape " +
                             to_text(op.shape));
        }
        types.push_back(input.type);
    }
    const auto type = type_of(op.expression, types);
    if (!type) return type.error();
    return TypedShape{*type, op.shape};
}

}  // namespace kiln::graph
