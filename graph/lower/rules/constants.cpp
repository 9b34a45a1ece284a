// Values that follow from attributes, constants and shapes alone, and the branches and repetitions that such values choose.
#include <algorithm>
#include <cmath>

#include "graph/lower/composed/control_flow.h"
#include "graph/lower/composed/spectra.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/node/shown_names.h"
#include "graph/lower/rules/rule.h"

namespace kiln::graph {
namespace {

ValueId integer_list(NodeLowering &node, std::vector<int64_t> values) {
    return node.constant({{Element::i64, {static_cast<int64_t>(values.size())}}, std::move(values)});
}

ValueId real_list(NodeLowering &node, std::vector<double> values) {
    return node.constant({{Element::f32, {static_cast<int64_t>(values.size())}}, std::move(values)});
}

void constant_rule(NodeLowering &node) {
    const Attributes &a = node.attributes;
    if (a.has("value")) return node.result(node.constant(a.tensor("value")));
    if (a.has("value_int")) return node.result(node.reshape(integer_list(node, {a.integer("value_int")}), {}));
    if (a.has("value_float")) return node.result(node.reshape(real_list(node, {a.real("value_float")}), {}));
    if (a.has("value_ints")) return node.result(integer_list(node, a.integers("value_ints")));
    if (a.has("value_floats")) return node.result(real_list(node, a.reals("value_floats")));
    for (const char *name : {"sparse_value", "value_string", "value_strings"}) {
        if (a.has(name)) refuse("its attribute " + shown(name) + " holds what kiln does not compute in");
    }
    reject("it has none of the attributes that state its value");
}

void constant_of_shape(NodeLowering &node) {
    const Shape shape = node.known_integers(0, "input");
    value_or_refusal(element_count(shape));
    ValueId value = node.attributes.has("value") ? node.constant(node.attributes.tensor("value"))
                                                 : node.constant({{Element::f32, {}}, std::vector<double>{0}});
    if (node.elements(value) != 1) reject("its attribute 'value' must have one element");
    value = node.reshape(value, {});
    node.result(node.elementwise(operand(0), {value}, shape));
}

// A part of the list of extents. `start` and `end` are clamped, negative ones count from the end.
void shape_rule(NodeLowering &node) {
    const Shape shape = node.shape(node.input(0));
    const int64_t rank = node.rank(node.input(0));
    const auto place = [&](const char *name, int64_t absent) {
        const int64_t stated = node.attributes.integer(name, absent);
        return std::clamp<int64_t>(stated < 0 ? stated + rank : stated, 0, rank);
    };
    const int64_t start = place("start", 0), end = std::max(place("end", rank), start);
    node.result(integer_list(node, {shape.begin() + start, shape.begin() + end}));
}

void size_rule(NodeLowering &node) {
    node.result(node.reshape(integer_list(node, {node.elements(node.input(0))}), {}));
}

// start, start + delta, ... as far as `limit`, which is no element itself.
template<typename T, typename Wide>
std::vector<T> range_of(Wide start, Wide delta, Wide count) {
    if (!(count <= Wide(most_places))) refuse("it has more elements than kiln computes beforehand");
    std::vector<T> values;
    for (Wide i = 0; i < count; i += 1) values.push_back(static_cast<T>(start + i * delta));
    return values;
}

void range(NodeLowering &node) {
    constexpr const char *names[] = {"start", "limit", "delta"};
    const Element type = node.type(node.input(0));
    double bounds[3];
    for (int i = 0; i < 3; i++) {
        const std::vector<double> values = node.known_reals(i, names[i]);
        if (values.size() != 1 || node.type(node.input(i)) != type) {
            reject("its input " + shown(names[i]) + " must be a scalar of the type of the others");
        }
        bounds[i] = values[0];
    }
    if (bounds[2] == 0 || std::isnan(bounds[2])) reject("its input 'delta' is no step");
    if (is_float(type)) {
        const std::vector<double> values =
            range_of<double>(bounds[0], bounds[2], std::ceil((bounds[1] - bounds[0]) / bounds[2]));
        return node.result(node.constant({{type, {static_cast<int64_t>(values.size())}}, values}));
    }
    const auto exact = [&](int i) { return static_cast<__int128>(node.known_integer(i, names[i])); };
    const __int128 distance = exact(1) - exact(0), delta = exact(2);
    const __int128 count = distance / delta + (distance % delta != 0 && (distance > 0) == (delta > 0));
    const std::vector<int64_t> values = range_of<int64_t>(exact(0), delta, count);
    node.result(node.constant({{type, {static_cast<int64_t>(values.size())}}, values}));
}

// The places of elements that are not 0: a row an axis, a column a place.
void non_zero(NodeLowering &node) {
    const Shape shape = node.shape(node.input(0));
    const std::vector<double> values = node.known_reals(0, "X");
    std::vector<size_t> found;
    for (size_t i = 0; i < values.size(); i++) {
        if (values[i] != 0) found.push_back(i);
    }
    const Shape form{static_cast<int64_t>(shape.size()), static_cast<int64_t>(found.size())};
    node.check_room(form);
    std::vector<int64_t> places(shape.size() * found.size());
    for (size_t column = 0; column < found.size(); column++) {
        size_t rest = found[column];
        for (size_t d = shape.size(); d-- > 0;) {
            places[d * found.size() + column] = static_cast<int64_t>(rest % shape[d]);
            rest /= shape[d];
        }
    }
    node.result(node.constant({{Element::i64, form}, places}));
}

constexpr std::string_view value_forms =
    "sparse_value value value_float value_floats value_int value_ints value_string value_strings";

constexpr Rule rows_of_constant[] = {
    {"BlackmanWindow", 17, {1, 1}, 1, "output_datatype periodic", blackman_window},
    {"Constant", 1, {0, 0}, 1, "value", constant_rule},
    {"Constant", 11, {0, 0}, 1, "sparse_value value", constant_rule},
    {"Constant", 12, {0, 0}, 1, value_forms, constant_rule},
    {"ConstantOfShape", 9, {1, 1}, 1, "value", constant_of_shape},
    {"HammingWindow", 17, {1, 1}, 1, "output_datatype periodic", hamming_window},
    {"HannWindow", 17, {1, 1}, 1, "output_datatype periodic", hann_window},
    {"If", 1, {1, 1}, Rule::any, "else_branch then_branch", branch},
    {"Loop", 1, {0, Rule::any}, Rule::any, "body", loop},
    {"MelWeightMatrix", 17, {5, 5}, 1, "output_datatype", mel_weight_matrix},
    {"NonZero", 9, {1, 1}, 1, "", non_zero},
    {"Range", 11, {3, 3}, 1, "", range},
    {"Range", 27, {3, 3}, 1, "stash_type", range},
    {"Scan",
     9,
     {1, Rule::any},
     Rule::any,
     "body num_scan_inputs scan_input_axes scan_input_directions scan_output_axes scan_output_directions",
     scan},
    {"Shape", 1, {1, 1}, 1, "", shape_rule},
    {"Shape", 15, {1, 1}, 1, "end start", shape_rule},
    {"Size", 1, {1, 1}, 1, "", size_rule},
};

}  // namespace

std::span<const Rule> constant_rules() { return rows_of_constant; }

}  // namespace kiln::graph
