// Softmax and what brings elements to mean 0 and variance 1.
#include <numeric>

#include "graph/lower/node/formulas.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/rules/rule.h"

namespace kiln::graph {
namespace {

std::vector<int> axes_from(int first, int rank) {
    std::vector<int> axes(rank - first);
    std::iota(axes.begin(), axes.end(), first);
    return axes;
}

// Before opset 13 all axes from `axis` on are normalized together.
template<Normalize::Kind kind>
void softmax(NodeLowering &node) {
    const ValueId x = node.input(0);
    const int rank = node.rank(x);
    const bool together = node.opset() < 13;
    const int64_t stated = node.attributes.integer("axis", together ? 1 : -1);
    const int axis = together && stated == rank ? rank : axis_of(stated, rank);
    node.result(node.add(Normalize{kind, together ? axes_from(axis, rank) : std::vector<int>{axis}}, {x}));
}

// One number a channel, shaped to be broadcast against N, C, spatial....
ValueId for_channels(NodeLowering &node, int input, const Shape &x) {
    const ValueId value = node.input(input);
    Shape shape(x.size() - 1, 1);
    shape[0] = x[1];
    if (node.shape(value) != Shape{x[1]}) {
        reject("its input " + std::to_string(input) + " has shape " + to_text(node.shape(value)) + " for " +
               std::to_string(x[1]) + " channels");
    }
    return node.reshape(value, shape);
}

void check_channels(const Shape &x) {
    if (x.size() < 2) reject("its input of shape " + to_text(x) + " has no axes N and C");
}

double epsilon(const NodeLowering &node, double absent = 1e-5f) { return node.attributes.real("epsilon", absent); }

// What is normalized, and along which axes.
struct Along {
    ValueId x = 0;
    std::vector<int> axes = {};
    double epsilon = 0;
};

ValueId scaled(NodeLowering &node, ValueId x, ValueId scale, ValueId shift) {
    return node.elementwise(operand(0) * operand(1) + operand(2), {x, scale, shift});
}

ValueId mean_variance(NodeLowering &node, const Along &along) {
    return node.add(Normalize{Normalize::Kind::mean_variance, along.axes, along.epsilon}, {along.x});
}

// Along axes, which stay with extent 1. The variance is that of the population.
struct Moments {
    ValueId mean, distance, variance;  // distance: of each element from the mean
};

Moments moments(NodeLowering &node, ValueId x, const std::vector<int> &axes) {
    const ValueId mean = node.add(Reduce{Reduce::Kind::mean, axes}, {x});
    const ValueId distance = node.elementwise(operand(0) - operand(1), {x, mean});
    const ValueId squares = node.elementwise(operand(0) * operand(0), {distance});
    return {mean, distance, node.add(Reduce{Reduce::Kind::mean, axes}, {squares})};
}

// By the mean and the variance of the batch itself. The second and third result are the running ones: those of the inputs and those of
// the batch, weighted by momentum. Those of the batch alone, which opsets before 14 have behind them, are for gradients.
void normalize_batch(NodeLowering &node, const Shape &shape) {
    const ValueId x = node.reshape(node.input(0), shape);
    std::vector<int> axes = axes_from(1, static_cast<int>(shape.size()));
    axes[0] = 0;
    const ValueId normal = mean_variance(node, {x, axes, epsilon(node)});
    const ValueId y = scaled(node, normal, for_channels(node, 1, shape), for_channels(node, 2, shape));
    node.result(node.reshape(y, node.shape(node.input(0))));
    if (!node.wants(1) && !node.wants(2)) return;
    const double momentum = node.attributes.real("momentum", 0.9f);
    const auto running = [&](int input, ValueId now) {
        for_channels(node, input, shape);  // checks its shape
        const NumbersOf number{node.type(now)};
        const Expression weighted = operand(0) * number(momentum) + operand(1) * number(1 - momentum);
        node.result(node.elementwise(weighted, {node.input(input), node.reshape(now, {shape[1]})}), input - 2);
    };
    const Moments of_batch = moments(node, x, axes);
    running(3, of_batch.mean);
    running(4, of_batch.variance);
}

// Before opset 14, who asks for the statistics trains.
bool is_training(const NodeLowering &node) {
    constexpr int with_statistics = 5;
    return node.opset() < 14 ? node.output_count() == with_statistics : node.attributes.flag("training_mode", false);
}

// Scale and shift of an affine function, which constants make constants: what is left is x * scale + shift.
void batch_normalization(NodeLowering &node) {
    if (node.opset() < 7 && !node.attributes.flag("is_test", false))
        refuse("it is in training mode (attribute is_test); export the model for inference");
    node.compute_in_f32({node.type(node.input(0)), node.type(node.input(3)), node.type(node.input(4))});
    const ValueId x = node.input(0);
    Shape shape = node.shape(x);
    if (shape.size() == 1) shape.push_back(1);  // N alone, of one channel
    check_channels(shape);
    if (node.opset() >= 7 && is_training(node)) return normalize_batch(node, shape);
    const bool each_place = node.opset() < 9 && !node.attributes.flag("spatial", true);
    const auto parameter = [&](int input) { return each_place ? node.input(input) : for_channels(node, input, shape); };
    const ValueId gamma = parameter(1), beta = parameter(2), mean = parameter(3), variance = parameter(4);
    const NumbersOf number{node.type(gamma)};
    const Expression deviation = square_root(operand(1) + number(epsilon(node)));
    const ValueId scale = node.elementwise(operand(0) / deviation, {gamma, variance});
    const Expression moved = operand(2) - operand(3) * (operand(0) / deviation);
    const ValueId shift = node.elementwise(moved, {gamma, variance, beta, mean});
    const ValueId y = scaled(node, x, scale, shift);
    if (node.shape(y) != node.shape(x))
        reject("its parameters do not fit its input of shape " + to_text(node.shape(x)));
    node.result(y);
}

void instance_normalization(NodeLowering &node) {
    const ValueId x = node.input(0);
    const Shape shape = node.shape(x);
    check_channels(shape);
    const ValueId normal = mean_variance(node, {x, axes_from(2, node.rank(x)), epsilon(node)});
    node.result(scaled(node, normal, for_channels(node, 1, shape), for_channels(node, 2, shape)));
}

// Until opset 20 scale and bias have an element for each group, then for each channel.
void group_normalization(NodeLowering &node) {
    const ValueId x = node.input(0);
    const Shape shape = node.shape(x);
    check_channels(shape);
    const int64_t groups = node.attributes.integer("num_groups");
    if (groups < 1 || shape[1] % groups != 0) {
        reject(std::to_string(groups) + " groups do not divide " + std::to_string(shape[1]) + " channels");
    }
    Shape grouped{shape[0], groups, shape[1] / groups};
    for (size_t d = 2; d < shape.size(); d++) grouped[2] *= shape[d];
    ValueId y = mean_variance(node, {node.reshape(x, grouped), {2}, epsilon(node)});
    const bool each_group = node.opset() < 21;
    if (!each_group) y = node.reshape(y, shape);
    const Shape &scaled_shape = each_group ? grouped : shape;
    y = scaled(node, y, for_channels(node, 1, scaled_shape), for_channels(node, 2, scaled_shape));
    node.result(node.reshape(y, shape));
}

// The second and third result are the mean and 1 / sqrt(variance + epsilon).
void layer_statistics(NodeLowering &node, const Along &along) {
    const auto &[x, axes, epsilon] = along;
    const NumbersOf number{node.type(x)};
    const Moments m = moments(node, x, axes);
    const Expression inverse = apply(Function::reciprocal, square_root(operand(0) + number(epsilon)));
    node.result(m.mean, 1);
    node.result(node.elementwise(inverse, {m.variance}), 2);
}

void check_fits(NodeLowering &node, ValueId y) {
    const Shape x = node.shape(node.input(0));
    if (node.shape(y) != x) reject("its scale or bias does not fit its input of shape " + to_text(x));
}

// Input `scale` and the next one, which may be left out, are factors and summands.
void layer_normalized(NodeLowering &node, const Along &along, int scale) {
    const ValueId normal = mean_variance(node, along);
    const ValueId y = node.has_input(scale + 1)
                          ? scaled(node, normal, node.input(scale), node.input(scale + 1))
                          : node.elementwise(operand(0) * operand(1), {normal, node.input(scale)});
    check_fits(node, y);
    node.result(y);
    if (node.wants(1) || node.wants(2)) layer_statistics(node, along);
}

// The axes from the attribute on.
Along last_axes(const NodeLowering &node) {
    const ValueId x = node.input(0);
    const int rank = node.rank(x);
    return {x, axes_from(axis_of(node.attributes.integer("axis", -1), rank), rank), epsilon(node)};
}

// Mean and deviation have the type in which they are computed.
Element type_of_statistics(const NodeLowering &node) { return node.attributes.type("stash_type", Element::f32); }

void layer_normalization(NodeLowering &node) {
    const Element statistics = type_of_statistics(node);
    node.compute_in_f32({node.type(node.input(0)), statistics, statistics});
    layer_normalized(node, last_axes(node), 1);
}

// x / sqrt(mean of x * x + epsilon) * scale, and 1 / that root as output `inverse`.
void rms_normalized(NodeLowering &node, const Along &along, ValueId scale, int inverse) {
    const auto &[x, axes, epsilon] = along;
    const NumbersOf number{node.type(x)};
    const ValueId squares = node.elementwise(operand(0) * operand(0), {x});
    const ValueId mean = node.add(Reduce{Reduce::Kind::mean, axes}, {squares});
    const auto root = [number, added = epsilon](int index) { return square_root(operand(index) + number(added)); };
    const ValueId y = node.elementwise(operand(0) / root(1) * operand(2), {x, mean, scale});
    check_fits(node, y);
    node.result(y);
    if (node.wants(inverse)) node.result(node.elementwise(apply(Function::reciprocal, root(0)), {mean}), inverse);
}

// The result has the type of the scale.
void rms_normalization(NodeLowering &node) {
    node.compute_in_f32({node.type(node.input(1)), type_of_statistics(node)});
    rms_normalized(node, last_axes(node), node.input(1), 1);
}

// What an operator of onnxruntime adds up before it normalizes the sum along its last axis. The sum is its fourth output.
Along skip_sum(NodeLowering &node, int bias) {
    std::vector<ValueId> terms{node.input(0), node.input(1)};
    if (node.has_input(bias)) terms.push_back(node.input(bias));
    const Expression sum = operand(0) + operand(1);
    const ValueId y = node.elementwise(terms.size() > 2 ? sum + operand(2) : sum, terms);
    if (node.rank(y) == 0 || node.shape(y) != node.shape(node.input(0)))
        reject("what it adds does not fit its input of shape " + to_text(node.shape(node.input(0))));
    node.result(y, 3);
    return {y, {node.rank(y) - 1}, epsilon(node, 1e-12f)};
}

// The mean and the deviation are f32.
void skip_layer_normalization(NodeLowering &node) {
    const Element type = node.type(node.input(0));
    node.compute_in_f32({type, Element::f32, Element::f32, type});
    layer_normalized(node, skip_sum(node, 4), 2);
}

// What each word, its place and its segment give, added up and normalized; then how many words of each text the mask has as 1, and the
// sum. Places that the node does not have are counted, and segments that it does not have are the first one.
void embed_layer_normalization(NodeLowering &node) {
    const ValueId words = node.input(0);
    const Shape shape = node.shape(words);
    if (shape.size() != 2) reject("its input of shape " + to_text(shape) + " has not the axes of batch and words");
    const auto rows = [&](int table, ValueId indices) {
        const Shape own = node.shape(node.input(table)), of_words = node.shape(node.input(2));
        if (own.size() != 2 || own[1] != of_words.back())
            reject("its table of shape " + to_text(own) + " does not fit that of words, of shape " + to_text(of_words));
        return node.add(Gather{0}, {node.input(table), indices});
    };
    const Shape of_places = node.shape(node.input(3));
    if (!node.has_input(8) && !of_places.empty() && of_places[0] < shape[1])
        reject("its table of places has " + std::to_string(of_places[0]) + " rows for " + std::to_string(shape[1]) +
               " words");
    const ValueId places = node.has_input(8) ? node.input(8) : counted_along(node, shape[1], 1, 2);
    std::vector<ValueId> terms{rows(2, words), rows(3, places)};
    Expression sum = operand(0) + operand(1);
    if (node.has_input(1) && !node.has_input(4)) reject("it has segments and no table of them");
    if (node.has_input(4)) {
        const ValueId first = node.constant(Numbers{{Element::i32, {1, 1}}, std::vector<int64_t>{0}});
        terms.push_back(rows(4, node.has_input(1) ? node.input(1) : first));
        sum = sum + operand(2);
    }
    const ValueId y = node.elementwise(sum, terms);
    for (const int input : {5, 6}) {
        if (node.shape(node.input(input)) != Shape{node.shape(y).back()})
            reject("its scale or bias does not fit its table of words, of shape " + to_text(node.shape(node.input(2))));
    }
    const Along along{y, {2}, epsilon(node, 1e-12f)};
    node.result(scaled(node, mean_variance(node, along), node.input(5), node.input(6)));
    if (node.wants(2)) node.result(y, 2);
    if (!node.wants(1)) return;
    const ValueId zeros = node.constant(Numbers{{Element::i32, {shape[0]}}, std::vector<int64_t>(size_t(shape[0]))});
    if (!node.has_input(7)) return node.result(zeros, 1);
    const ValueId kept =
        node.elementwise(cast(equal(operand(0), constant(1, node.type(node.input(7)))), Element::i32), {node.input(7)});
    node.result(node.reshape(node.add(Reduce{Reduce::Kind::sum, {1}}, {kept}), {shape[0]}), 1);
}

void skip_rms_normalization(NodeLowering &node) {
    const Element type = node.type(node.input(0));
    node.compute_in_f32({type, Element::f32, Element::f32, type});
    rms_normalized(node, skip_sum(node, 3), node.input(2), 2);
}

// (x - mean) / (deviation + 1e-9), as ONNX's function writes it.
void mean_variance_normalization(NodeLowering &node) {
    const ValueId x = node.input(0);
    const NumbersOf number{node.type(x)};
    std::vector<int64_t> stated = node.attributes.integers("axes");
    if (!node.attributes.has("axes")) stated = {0, 2, 3};
    const std::vector<int> axes = axes_of(stated, node.rank(x));
    const Moments m = moments(node, x, axes);
    node.result(node.elementwise(operand(0) / (square_root(operand(1)) + number(1e-9)), {m.distance, m.variance}));
}

// x divided by its norm along an axis; 0 where that is 0.
void lp_normalization(NodeLowering &node) {
    const ValueId x = node.input(0);
    const NumbersOf number{node.type(x)};
    const int axis = axis_of(node.attributes.integer("axis", -1), node.rank(x));
    const int64_t p = node.attributes.integer("p", 2);
    if (p != 1 && p != 2) reject("its attribute 'p' is " + std::to_string(p) + ", which must be 1 or 2");
    const ValueId powers = node.elementwise(p == 1 ? absolute(operand(0)) : operand(0) * operand(0), {x});
    const ValueId sum = node.add(Reduce{Reduce::Kind::sum, {axis}}, {powers});
    const Expression norm = p == 1 ? operand(1) : square_root(operand(1));
    node.result(node.elementwise(select(equal(operand(1), number(0)), number(0), operand(0) / norm), {x, sum}));
}

constexpr Rule rows_of_normalization[] = {
    {"BatchNormalization", 1, {5, 5}, 5, "consumed_inputs epsilon is_test momentum spatial", batch_normalization},
    {"BatchNormalization", 7, {5, 5}, 5, "epsilon momentum spatial", batch_normalization},
    {"BatchNormalization", 9, {5, 5}, 5, "epsilon momentum", batch_normalization},
    {"BatchNormalization", 14, {5, 5}, 3, "epsilon momentum training_mode", batch_normalization},
    {"EmbedLayerNormalization", 1, {1, 9}, 3, "epsilon mask_index_type", embed_layer_normalization, microsoft},
    {"GroupNormalization", 18, {3, 3}, 1, "epsilon num_groups", group_normalization},
    {"GroupNormalization", 21, {3, 3}, 1, "epsilon num_groups stash_type", group_normalization},
    {"InstanceNormalization", 1, {3, 3}, 1, "consumed_inputs epsilon", instance_normalization},
    {"InstanceNormalization", 6, {3, 3}, 1, "epsilon", instance_normalization},
    // Of ONNX from opset 17 on; before, onnxruntime and its exporters had it in the same domain.
    {"LayerNormalization", 1, {2, 3}, 3, "axis epsilon stash_type", layer_normalization},
    {"LogSoftmax", 1, {1, 1}, 1, "axis", softmax<Normalize::Kind::log_softmax>},
    {"LpNormalization", 1, {1, 1}, 1, "axis p", lp_normalization},
    {"MeanVarianceNormalization", 9, {1, 1}, 1, "axes", mean_variance_normalization},
    {"RMSNormalization", 23, {2, 2}, 1, "axis epsilon stash_type", rms_normalization},
    // onnxruntime has it in ONNX's domain.
    {"SimplifiedLayerNormalization", 1, {2, 2}, 2, "axis epsilon stash_type", rms_normalization},
    {"SkipLayerNormalization", 1, {3, 5}, 4, "epsilon", skip_layer_normalization, microsoft},
    {"SkipSimplifiedLayerNormalization", 1, {3, 4}, 4, "epsilon", skip_rms_normalization, microsoft},
    {"Softmax", 1, {1, 1}, 1, "axis", softmax<Normalize::Kind::softmax>},
};

}  // namespace

std::span<const Rule> normalization_rules() { return rows_of_normalization; }

}  // namespace kiln::graph
