// The forms of operators that take elements as they are, or many of them together along axes.
#include <algorithm>
#include <cmath>

#include "graph/operator_forms.h"

namespace kiln::graph {
namespace {

Status check_axis(int axis, const Shape &shape) {
    if (axis >= 0 && static_cast<size_t>(axis) < shape.size()) return {};
    return bad_input("axis " + std::to_string(axis) + " of an input of shape " + to_text(shape));
}

Status check_axes(const std::vector<int> &axes, const Shape &shape) {
    for (size_t i = 0; i < axes.size(); i++) {
        if (Status s = check_axis(axes[i], shape); !s) return s;
        if (i > 0 && axes[i] <= axes[i - 1]) return bad_input("its axes are not ascending");
    }
    return {};
}

Status check_resampled_axis(const Resample::Axis &axis, int64_t extent) {
    const std::string where = "axis " + std::to_string(axis.axis) + ": ";
    if (axis.taps < 1) return bad_input(where + std::to_string(axis.taps) + " taps");
    if (axis.indices.size() % axis.taps != 0) {
        return bad_input(where + std::to_string(axis.indices.size()) + " indices in groups of " +
                         std::to_string(axis.taps));
    }
    for (int64_t index : axis.indices) {
        if (index == Resample::outside || (index >= 0 && index < extent)) continue;
        return bad_input(where + "index " + std::to_string(index) + " of an extent of " + std::to_string(extent));
    }
    if (axis.weights.empty() && axis.taps == 1) return {};
    if (axis.weights.size() != axis.indices.size()) {
        return bad_input(where + std::to_string(axis.weights.size()) + " weights for " +
                         std::to_string(axis.indices.size()) + " indices");
    }
    if (!std::ranges::all_of(axis.weights, [](double w) { return std::isfinite(w); })) {
        return bad_input(where + "a weight is not finite");
    }
    return {};
}

}  // namespace

Result<TypedShape> form_of(const Reduce &op, const Forms &inputs) {
    if (Status s = check_input_count(inputs, 1); !s) return s.error();
    const Element type = inputs[0].type;
    const bool compares = op.kind == Reduce::Kind::maximum || op.kind == Reduce::Kind::minimum;
    if ((type == Element::boolean && !compares) || (op.kind == Reduce::Kind::mean && !is_float(type))) {
        return unsupported("of " + std::string(name(type)));
    }
    if (Status s = check_axes(op.axes, inputs[0].shape); !s) return s.error();
    TypedShape result = inputs[0];
    for (int axis : op.axes) result.shape[axis] = 1;
    return result;
}

Result<TypedShape> form_of(const Normalize &op, const Forms &inputs) {
    if (Status s = check_input_count(inputs, 1); !s) return s.error();
    if (!is_float(inputs[0].type)) return unsupported("of " + std::string(name(inputs[0].type)));
    if (Status s = check_axes(op.axes, inputs[0].shape); !s) return s.error();
    return inputs[0];
}

Result<TypedShape> form_of(const Resample &op, const Forms &inputs) {
    if (Status s = check_input_count(inputs, 1); !s) return s.error();
    TypedShape result = inputs[0];
    std::vector<int> axes;
    for (const Resample::Axis &axis : op.axes) axes.push_back(axis.axis);
    if (Status s = check_axes(axes, result.shape); !s) return s.error();
    for (const Resample::Axis &axis : op.axes) {
        int64_t &extent = result.shape[axis.axis];
        if (Status s = check_resampled_axis(axis, extent); !s) return s.error();
        if (!axis.weights.empty() && !is_float(result.type)) {
            return unsupported("weights for " + std::string(name(result.type)));
        }
        extent = static_cast<int64_t>(axis.indices.size()) / axis.taps;
    }
    // So that what is computed axis by axis is within bounds in between, too.
    Shape widest = inputs[0].shape;
    for (size_t i = 0; i < widest.size(); i++) widest[i] = std::max(widest[i], result.shape[i]);
    if (auto count = element_count(widest); !count) return count.error();
    const Element fill[] = {result.type};
    if (auto type = type_of(constant(op.fill, result.type), fill); !type) {
        return bad_input("what fills elements from outside is no number of " + std::string(name(result.type)));
    }
    return result;
}

Result<TypedShape> form_of(const Gather &op, const Forms &inputs) {
    if (Status s = check_input_count(inputs, 2); !s) return s.error();
    if (is_float(inputs[1].type) || inputs[1].type == Element::boolean) {
        return bad_input("indices of type " + std::string(name(inputs[1].type)));
    }
    TypedShape result = inputs[0];
    if (Status s = check_axis(op.axis, result.shape); !s) return s.error();
    const auto at = result.shape.erase(result.shape.begin() + op.axis);
    result.shape.insert(at, inputs[1].shape.begin(), inputs[1].shape.end());
    return result;
}

Result<TypedShape> form_of(const Transpose &op, const Forms &inputs) {
    if (Status s = check_input_count(inputs, 1); !s) return s.error();
    const Shape &shape = inputs[0].shape;
    std::vector<int> sorted = op.permutation;
    std::ranges::sort(sorted);
    bool is_permutation = sorted.size() == shape.size();
    for (size_t i = 0; is_permutation && i < sorted.size(); i++) is_permutation = sorted[i] == static_cast<int>(i);
    if (!is_permutation) return bad_input("no permutation of the axes of shape " + to_text(shape));
    TypedShape result{inputs[0].type, {}};
    for (int axis : op.permutation) result.shape.push_back(shape[axis]);
    return result;
}

Result<TypedShape> form_of(const Reshape &op, const Forms &inputs) {
    if (Status s = check_input_count(inputs, 1); !s) return s.error();
    const auto before = element_count(inputs[0].shape), after = element_count(op.shape);
    if (!after) return after.error();
    if (*before != *after) {
        return bad_input("shape " + to_text(inputs[0].shape) + " has " + std::to_string(*before) + " elements, " +
                         to_text(op.shape) + " has " + std::to_string(*after));
    }
    return TypedShape{inputs[0].type, op.shape};
}

Result<TypedShape> form_of(const Concat &op, const Forms &inputs) {
    if (inputs.empty()) return bad_input("it has no inputs");
    if (Status s = check_same_types(inputs); !s) return s.error();
    if (Status s = check_axis(op.axis, inputs[0].shape); !s) return s.error();
    TypedShape result = inputs[0];
    int64_t &extent = result.shape[op.axis];
    for (size_t i = 1; i < inputs.size(); i++) {
        Shape as_first = inputs[i].shape;
        if (as_first.size() == result.shape.size()) as_first[op.axis] = inputs[0].shape[op.axis];
        if (as_first != inputs[0].shape) {
            return bad_input("shapes " + to_text(inputs[0].shape) + " and " + to_text(inputs[i].shape) +
                             " along axis " + std::to_string(op.axis));
        }
        extent += inputs[i].shape[op.axis];
        if (extent > most_elements) return bad_input("an axis longer than 2^40");
    }
    return result;
}

}  // namespace kiln::graph
