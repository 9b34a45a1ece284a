#include "graph/lower/composed/attention/rotary_embedding.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "graph/lower/composed/attention/attend.h"
#include "graph/lower/node/formulas.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"

namespace kiln::graph {
namespace {

// The shape of a cache, rows of which an input with places chooses.
Shape cache_shape(const NodeLowering &node, ValueId cache, int places) {
    const Shape shape = node.shape(cache);
    if (shape.size() != 2) reject("its cache of shape " + to_text(shape) + " is no matrix");
    if (shape[0] > std::numeric_limits<int32_t>::max()) refuse("its cache is too long for places");
    const Element type = node.type(node.input(places));
    if (is_float(type) || type == Element::boolean) reject("its places are " + std::string(name(type)));
    return shape;
}

// Rows of a cache, one for each place; `places` is the input that has them.
ValueId rows_of_cache(NodeLowering &node, ValueId cache, int places) {
    const Shape shape = cache_shape(node, cache, places);
    const ValueId indices = node.input(places);
    if (!node.is_known(places)) {
        const Expression row = scalar::cast(counted_from_first(operand(0), node.type(indices), shape[0]), Element::i32);
        return node.add(Gather{0}, {cache, node.elementwise(row, {indices})});
    }
    std::vector<int64_t> rows = known_indices(node, places);
    for (int64_t &row : rows) {
        if (row < -shape[0] || row >= shape[0])
            reject("place " + std::to_string(row) + " is not within its cache of shape " + to_text(shape));
        if (row < 0) row += shape[0];
    }
    Shape result = node.shape(indices);
    result.push_back(shape[1]);
    return node.reshape(take(node, cache, {{0, std::move(rows)}}), result);
}

// The same for places in a row, of which the input has the first.
ValueId rows_from(NodeLowering &node, ValueId cache, int first, int64_t count) {
    const Shape shape = cache_shape(node, cache, first);
    if (node.is_known(first)) {
        const int64_t row = node.known_integer(first, "position_ids");
        if (row < 0 || row > shape[0] || count > shape[0] - row)
            reject("its places are not within its cache of shape " + to_text(shape));
        return node.reshape(take(node, cache, {{0, index_range(row, count)}}), {1, count, shape[1]});
    }
    const ValueId line = node.constant(Numbers{{Element::i32, {1, count}}, index_range(0, count)});
    const Expression row = scalar::cast(operand(0), Element::i32) + operand(1);
    return node.add(Gather{0}, {cache, node.elementwise(row, {node.reshape(node.input(first), {1, 1}), line})});
}

// An input as batch x heads x places x features, or batch x places x heads x features.
struct Turned {
    ValueId x = 0;
    int64_t places = 0;
    bool has_heads_first = false;

    int64_t features(const NodeLowering &node) const { return node.shape(x).back(); }
};

Turned turned_input(NodeLowering &node, int64_t heads) {
    const ValueId x = node.input(0);
    const Shape shape = node.shape(x);
    if (!is_float(node.type(x))) refuse("its input is " + std::string(name(node.type(x))));
    if (shape.size() == 4) return {x, shape[2], true};
    if (shape.size() != 3) reject("its input of shape " + to_text(shape) + " has neither 3 nor 4 axes");
    return {with_axis_of_heads(node, x, heads), shape[1], false};
}

// How many of the features are turned; as `rotary_embedding_dim` says, or all.
int64_t turned_features(const NodeLowering &node, int64_t features) {
    const int64_t stated = node.attributes.integer("rotary_embedding_dim", 0), turned = stated == 0 ? features : stated;
    if (turned < 0 || turned > features || turned % 2 != 0) {
        const std::string all = std::to_string(features);
        reject("it turns " + std::to_string(turned) + " of " + all +
               " features of a head; needs an even number up to " + all +
               " (attribute 'rotary_embedding_dim'; 0 means all)");
    }
    return turned;
}

// Batch, or 1, x places x half of what is turned, as an operand for `input`: each number for both features of a pair.
ValueId for_pairs(NodeLowering &node, ValueId rows, const Turned &input, const std::vector<int64_t> &pairs) {
    const Shape shape = node.shape(rows);
    const int64_t half = static_cast<int64_t>(pairs.size()) / 2, batch = node.shape(input.x)[0];
    const bool fits = shape.size() == 3 && (shape[0] == batch || shape[0] == 1) && shape[1] == input.places;
    if (!fits || shape[2] != half) {
        reject("its cache gives numbers of shape " + to_text(shape) + "; needs " +
               to_text({batch, input.places, half}));
    }
    if (node.type(rows) != node.type(input.x)) {
        refuse("its cache is " + std::string(name(node.type(rows))) + ", and its input " +
               std::string(name(node.type(input.x))));
    }
    const Shape beside =
        input.has_heads_first ? Shape{shape[0], 1, shape[1], half} : Shape{shape[0], shape[1], 1, half};
    return take(node, node.reshape(rows, beside), {{3, pairs}});
}

// x * cosine + partner * (-sine, or sine): each feature has a partner, the other one of its pair.
ValueId turn(NodeLowering &node, const Turned &input, ValueId cosine, ValueId sine) {
    const bool is_interleaved = node.attributes.flag("interleaved", false);
    const int64_t features = input.features(node), turned = turned_features(node, features), half = turned / 2;
    std::vector<int64_t> pairs = index_range(0, turned), partners = pairs;
    std::vector<double> signs;
    for (int64_t i = 0; i < turned; i++) {
        const auto at = static_cast<size_t>(i);
        const bool is_first = is_interleaved ? i % 2 == 0 : i < half;
        pairs[at] = is_interleaved ? i / 2 : i % half;
        partners[at] = is_interleaved ? i + (is_first ? 1 : -1) : (i + half) % turned;
        signs.push_back(is_first ? -1 : 1);
    }
    const ValueId c = for_pairs(node, cosine, input, pairs);
    const ValueId sign = node.constant(Numbers{{node.type(input.x), {turned}}, std::move(signs)});
    const ValueId s = node.elementwise(operand(0) * operand(1), {for_pairs(node, sine, input, pairs), sign});
    const ValueId x = take(node, input.x, {{3, index_range(0, turned)}}), partner = take(node, x, {{3, partners}});
    const ValueId y = node.elementwise(operand(0) * operand(1) + operand(2) * operand(3), {x, c, partner, s});
    if (turned == features) return y;
    return node.add(Concat{3}, {y, take(node, input.x, {{3, index_range(turned, features - turned)}})});
}

}  // namespace

void rotary_embedding(NodeLowering &node) {
    constexpr int cosine = 1, sine = 2, places = 3;
    const bool has_three_axes = node.rank(node.input(0)) == 3;
    const Turned input = turned_input(node, has_three_axes ? node.attributes.integer("num_heads") : 1);
    const auto rows = [&](int cache) {
        return node.has_input(places) ? rows_of_cache(node, node.input(cache), places) : node.input(cache);
    };
    const ValueId y = turn(node, input, rows(cosine), rows(sine));
    node.result(node.reshape(y, node.shape(node.input(0))));
}

void rotary_embedding_of_onnxruntime(NodeLowering &node) {
    constexpr int places = 1, cosine = 2, sine = 3;
    if (node.attributes.flag("is_packed_batching", false)) refuse("its attribute 'is_packed_batching' is set");
    if (node.attributes.real("scale", 1) != 1) refuse("its attribute 'scale' is not 1");
    const Shape shape = node.shape(node.input(0)), cache = node.shape(node.input(cosine));
    int64_t heads = node.attributes.integer("num_heads", 0);
    // Where it turns all features, the caches say how many a head has.
    if (heads == 0 && shape.size() == 3 && cache.size() == 2 && cache[1] > 0) heads = shape[2] / (2 * cache[1]);
    const Turned input = turned_input(node, heads);
    const bool is_first = node.elements(node.input(places)) == 1;
    const auto rows = [&](int of) {
        return is_first ? rows_from(node, node.input(of), places, input.places)
                        : rows_of_cache(node, node.input(of), places);
    };
    const ValueId y = turn(node, input, rows(cosine), rows(sine));
    node.result(node.reshape(y, shape));
}

}  // namespace kiln::graph
