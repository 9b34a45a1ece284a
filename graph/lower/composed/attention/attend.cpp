#include "graph/lower/composed/attention/attend.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "graph/lower/node/formulas.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"

namespace kiln::graph {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// Heads of queries in a row that share a head of keys are more rows of its product, and nothing is repeated.
ValueId product_by_group(NodeLowering &node, ValueId a, ValueId b) {
    const Shape rows = node.shape(a), columns = node.shape(b);
    if (rows[1] == columns[1]) return node.add(MatrixProduct{}, {a, b});
    const int64_t group = rows[1] / columns[1];
    const ValueId grouped = node.reshape(a, {rows[0], columns[1], group * rows[2], rows[3]});
    const ValueId product = node.add(MatrixProduct{}, {grouped, b});
    return node.reshape(product, {rows[0], rows[1], rows[2], columns[3]});
}

// A formula that grows with its operands.
struct Formula {
    std::vector<ValueId> inputs = {};

    Expression operator()(ValueId value) {
        inputs.push_back(value);
        return operand(static_cast<int>(inputs.size()) - 1);
    }
};

// The places of keys and the bounds of their ranges, as constants that are broadcast: a table of all queries and keys would be
// larger than what it masks where there are few heads.
class Ranges {
public:
    Ranges(NodeLowering &node, const KeyRanges &ranges, int64_t keys) {
        if (ranges.list.empty()) return;
        const Shape shape{ranges.batch, 1, ranges.queries, 1};
        std::vector<int64_t> first, end;
        for (const KeyRange &range : ranges.list) first.push_back(range.first), end.push_back(range.end);
        places_ = node.constant(Numbers{{Element::i32, {keys}}, index_range(0, keys)});
        if (std::ranges::any_of(first, [](int64_t place) { return place > 0; }))
            first_ = node.constant(Numbers{{Element::i32, shape}, std::move(first)});
        if (std::ranges::any_of(end, [&](int64_t place) { return place < keys; }))
            end_ = node.constant(Numbers{{Element::i32, shape}, std::move(end)});
    }

    bool bound() const { return first_ || end_; }

    // `inside` where a key is in the range of its query.
    Expression choose(Formula &formula, Expression inside, Expression outside) const {
        if (!bound()) return inside;
        const Expression place = formula(places_);
        Expression is_inside;
        if (first_) is_inside = apply(Function::less_or_equal, formula(*first_), place);
        if (end_) {
            const Expression is_before = less(place, formula(*end_));
            is_inside = first_ ? apply(Function::logical_and, is_inside, is_before) : is_before;
        }
        return select(is_inside, std::move(inside), std::move(outside));
    }

private:
    ValueId places_ = 0;
    std::optional<ValueId> first_, end_;
};

// Where no key of a row is attended: of ranges alone.
std::optional<ValueId> empty_ranges(NodeLowering &node, const KeyRanges &ranges) {
    std::vector<int64_t> empty;
    for (const KeyRange &range : ranges.list) empty.push_back(range.first >= range.end);
    if (std::ranges::count(empty, 1) == 0) return {};
    return node.constant(Numbers{{Element::boolean, {ranges.batch, 1, ranges.queries, 1}}, std::move(empty)});
}

// The same with a mask: a few elements for each row of the mask, which are known where the mask is.
std::optional<ValueId> empty_rows(NodeLowering &node, const AttentionTerms &terms, const Ranges &ranges) {
    if (!terms.mask) return empty_ranges(node, terms.ranges);
    const Element type = node.type(*terms.mask);
    Formula formula;
    const Expression mask = formula(*terms.mask);
    const Expression kept =
        ranges.choose(formula, mask, is_float(type) ? constant(minus_infinity, type) : constant(0, type));
    const ValueId bias = node.elementwise(kept, std::move(formula.inputs));
    const ValueId most = node.add(Reduce{Reduce::Kind::maximum, {node.rank(bias) - 1}}, {bias});
    const Expression x = operand(0);
    const Expression is_empty =
        is_float(type) ? apply(Function::logical_and, apply(Function::is_infinite, x), less(x, constant(0, type)))
                       : apply(Function::logical_not, x);
    const ValueId empty = node.elementwise(is_empty, {most});
    if (node.is_known_zero(empty)) return {};
    return empty;
}

// A softcap or a mask is an element-wise kernel behind the products, which takes the scale along; else the queries are scaled, which
// are fewer elements. So are queries of few bits, whose products may overflow.
ValueId scaled_products(NodeLowering &node, const AttentionTerms &terms, bool is_masked) {
    const auto &[query, key, value] = terms.heads;
    const Element type = node.type(query);
    const bool scales_products = (is_masked || terms.softcap > 0) && size_of(type) >= 4;
    const auto scaled = [&](ValueId x) {
        return terms.scale == 1 ? x : node.elementwise(operand(0) * constant(terms.scale, type), {x});
    };
    const ValueId columns = node.transpose(key, {0, 1, 3, 2});
    return scales_products ? scaled(product_by_group(node, query, columns))
                           : product_by_group(node, scaled(query), columns);
}

ValueId masked_products(NodeLowering &node, const AttentionTerms &terms, const Ranges &ranges, ValueId products) {
    if (!terms.mask && !ranges.bound()) return products;
    const Element type = node.type(products);
    const Expression none = constant(minus_infinity, type);
    Formula formula;
    Expression masked = formula(products);
    if (terms.mask) {
        const Expression mask = formula(*terms.mask);
        masked = is_float(node.type(*terms.mask)) ? masked + mask : select(mask, masked, none);
    }
    masked = ranges.choose(formula, masked, none);
    return node.elementwise(masked, std::move(formula.inputs));
}

ValueId unless_empty(NodeLowering &node, const std::optional<ValueId> &empty, ValueId x) {
    if (!empty) return x;
    return node.elementwise(select(operand(1), constant(0, node.type(x)), operand(0)), {x, *empty});
}

void check_mask(const NodeLowering &node, const AttentionTerms &terms) {
    if (!terms.mask) return;
    const Shape q = node.shape(terms.heads.query), k = node.shape(terms.heads.key), mask = node.shape(*terms.mask);
    const Shape whole{q[0], q[1], q[2], k[2]};
    const Element type = node.type(*terms.mask);
    if (type != Element::boolean && type != node.type(terms.heads.query)) {
        refuse("its mask is " + std::string(name(type)) + "; kiln takes bool and the type of the queries, " +
               std::string(name(node.type(terms.heads.query))));
    }
    const auto together = broadcast(whole, mask);
    if (mask.empty() || !together || *together != whole)
        reject("its mask of shape " + to_text(mask) + " does not fit " + to_text(whole));
}

}  // namespace

ValueId with_axis_of_heads(NodeLowering &node, ValueId x, int64_t heads) {
    const Shape shape = node.shape(x);
    if (shape.size() != 3 || heads < 1 || shape[2] % heads != 0)
        reject("its input of shape " + to_text(shape) + " does not divide into " + std::to_string(heads) + " heads");
    return node.reshape(x, {shape[0], shape[1], heads, shape[2] / heads});
}

ValueId split_heads(NodeLowering &node, ValueId x, int64_t heads) {
    return node.transpose(with_axis_of_heads(node, x, heads), {0, 2, 1, 3});
}

ValueId join_heads(NodeLowering &node, ValueId x) {
    const Shape shape = node.shape(x);
    return node.reshape(node.transpose(x, {0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
}

Heads behind_past(NodeLowering &node, const Heads &heads, int past_key, int past_value) {
    if (node.has_input(past_key) != node.has_input(past_value))
        reject("it has one of the inputs 'past_key' and 'past_value'; it needs both or none");
    if (!node.has_input(past_key)) return heads;
    return {heads.query, node.add(Concat{2}, {node.input(past_key), heads.key}),
            node.add(Concat{2}, {node.input(past_value), heads.value})};
}

void check_heads(const NodeLowering &node, const Heads &heads) {
    const Shape q = node.shape(heads.query), k = node.shape(heads.key), v = node.shape(heads.value);
    if (q.size() != 4 || k.size() != 4 || v.size() != 4)
        reject("its queries, keys and values of shapes " + to_text(q) + ", " + to_text(k) + " and " + to_text(v) +
               " have not the same axes");
    const Element type = node.type(heads.query);
    if (!is_float(type)) refuse("its queries are " + std::string(name(type)));
    for (const ValueId other : {heads.key, heads.value}) {
        if (node.type(other) != type)
            refuse("its queries are " + std::string(name(type)) + ", and its keys or values " +
                   std::string(name(node.type(other))));
    }
    const bool fit = q[0] == k[0] && k[0] == v[0] && k[1] == v[1] && k[2] == v[2] && q[3] == k[3];
    if (!fit || k[1] < 1 || q[1] % k[1] != 0) {
        reject("its heads do not fit together: queries of shape " + to_text(q) + ", keys of " + to_text(k) +
               ", values of " + to_text(v));
    }
}

KeyRanges key_ranges(const Reach &reach, int64_t queries, int64_t keys) {
    const bool by_query = reach.is_causal || reach.left >= 0 || reach.right >= 0;
    if (!by_query && reach.lengths.empty()) return {};
    // Beyond any axis, so that no place overflows.
    const auto bounded = [](int64_t count) { return std::clamp(count, -most_elements, most_elements); };
    std::vector<int64_t> lengths = reach.lengths;
    if (std::ranges::all_of(lengths, [&](int64_t length) { return length == lengths[0]; }))
        lengths.resize(std::min<size_t>(lengths.size(), 1));
    KeyRanges ranges{std::max<int64_t>(static_cast<int64_t>(lengths.size()), 1), by_query ? queries : 1, {}};
    if (ranges.queries > most_places / ranges.batch) refuse("it has too many queries");
    bool bounds = false;
    for (int64_t b = 0; b < ranges.batch; b++) {
        const int64_t length = lengths.empty() ? keys : bounded(lengths[static_cast<size_t>(b)]);
        const int64_t before = lengths.empty() ? reach.past : length - queries;
        for (int64_t i = 0; i < ranges.queries; i++) {
            const int64_t place = before + i;
            KeyRange range{0, std::min(length, keys)};
            if (reach.is_causal) range.end = std::min(range.end, place + 1);
            if (reach.right >= 0) range.end = std::min(range.end, place + 1 + bounded(reach.right));
            if (reach.left >= 0) range.first = std::max<int64_t>(0, place - bounded(reach.left));
            // What lies outside of the keys is the same as their ends, and fits the type of places.
            range = {std::min(range.first, keys), std::max<int64_t>(range.end, 0)};
            bounds = bounds || range != KeyRange{0, keys};
            ranges.list.push_back(range);
        }
    }
    return bounds ? ranges : KeyRanges{};
}

ValueId Attended::weights(NodeLowering &node) const { return unless_empty(node, empty, softmax); }

// The products of a row without keys are 0 instead of -infinity in front of the softmax: no kernel meets a difference of infinities.
Attended attend(NodeLowering &node, const AttentionTerms &terms) {
    check_heads(node, terms.heads);
    check_mask(node, terms);
    const NumbersOf number{node.type(terms.heads.query)};
    const Ranges ranges(node, terms.ranges, node.shape(terms.heads.key)[2]);
    Attended result;
    result.products = scaled_products(node, terms, terms.mask || ranges.bound());
    result.capped = result.products;
    if (terms.softcap > 0) {
        const Expression part = operand(0) / number(terms.softcap);
        result.capped =
            node.elementwise(apply(Function::tangent_hyperbolic, part) * number(terms.softcap), {result.products});
    }
    result.masked = masked_products(node, terms, ranges, result.capped);
    if (terms.has_empty_rows) result.empty = empty_rows(node, terms, ranges);
    result.softmax =
        node.add(Normalize{Normalize::Kind::softmax, {3}}, {unless_empty(node, result.empty, result.masked)});
    result.output = unless_empty(node, result.empty, product_by_group(node, result.softmax, terms.heads.value));
    return result;
}

}  // namespace kiln::graph
