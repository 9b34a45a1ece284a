// Each element is compared with all others along its axis; the number of those that come before it is its rank, and result r is
// the element of rank r. That is n * n comparisons in vectors, without a branch. Where n is large, the axis is cut into parts of a
// few hundred elements, and only the first k of each part are compared with each other.
#include "graph/lower/composed/top_k.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "graph/lower/node/formulas.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"

namespace kiln::graph {
namespace {

// Rows of elements, and of each the index along the axis that is searched. Both are rows x n.
struct Ranked {
    ValueId values, indices;
};

class Search {
public:
    Search(NodeLowering *node, int64_t k, bool largest) : node_(*node), k_(k), largest_(largest) {}

    Ranked first(const Ranked &all) const {
        const int64_t rows = node_.shape(all.values)[0], count = node_.shape(all.values)[1];
        const int64_t part = cheapest_part(count);
        if (rows > most_comparisons / std::max<int64_t>(comparisons(count, part), 1)) {
            refuse("it has " + std::to_string(rows) + " times " + std::to_string(count) +
                   " elements to find the first " + std::to_string(k_) + " of, which takes more than " +
                   std::to_string(most_comparisons) + " comparisons");
        }
        if (part == count) return first_of_rows(all);
        const int64_t parts = count / part, rest = count % part;
        const Ranked whole = reshaped(taken(all, 0, parts * part), {rows * parts, part});
        Ranked best = reshaped(first_of_rows(whole), {rows, parts * k_});
        if (rest > 0) best = beside(best, taken(all, parts * part, rest));
        return first(best);
    }

private:
    Ranked taken(const Ranked &all, int64_t first, int64_t count) const {
        const auto some = [&](ValueId of) { return take(node_, of, {{1, index_range(first, count)}}); };
        return {some(all.values), some(all.indices)};
    }

    Ranked beside(const Ranked &a, const Ranked &b) const {
        return {node_.add(Concat{1}, {a.values, b.values}), node_.add(Concat{1}, {a.indices, b.indices})};
    }

    Ranked reshaped(const Ranked &ranked, const Shape &shape) const {
        return {node_.reshape(ranked.values, shape), node_.reshape(ranked.indices, shape)};
    }

    // How many elements of a row are compared with each other first: all, or parts whose firsts are fewer.
    int64_t cheapest_part(int64_t count) const {
        int64_t best = count;
        for (int64_t part = 64; part < count; part *= 2) {
            if (part >= 2 * k_ && comparisons(count, part) < comparisons(count, best) / 2) best = part;
        }
        return best;
    }

    int64_t comparisons(int64_t count, int64_t part) const {
        if (count > most_comparisons) return count;  // whose square is beyond all
        if (part >= count) return count * count;
        const int64_t parts = count / part, left = parts * k_ + count % part;
        return parts * part * part + left * left;
    }

    Ranked first_of_rows(const Ranked &all) const {
        const int64_t rows = node_.shape(all.values)[0], count = node_.shape(all.values)[1];
        const ValueId keys = without_nan(all.values);
        // Axes: rows, the elements that may come before, those that are ranked.
        const ValueId others = node_.reshape(keys, {rows, count, 1}), ranked = node_.reshape(keys, {rows, 1, count});
        // The element of the others comes before where these are in their order.
        const Expression lower = operand(largest_ ? 1 : 0), higher = operand(largest_ ? 0 : 1);
        const Expression before =
            select(less(operand(2), operand(3)), apply(Function::less_or_equal, lower, higher), less(lower, higher));
        const ValueId each =
            node_.elementwise(scalar::cast(before, Element::i32),
                              {others, ranked, counted_along(node_, count, 1, 3), counted_along(node_, count, 2, 3)});
        const ValueId rank = node_.reshape(node_.add(Reduce{Reduce::Kind::sum, {1}}, {each}), {rows, count, 1});
        return {chosen(all.values, rank), chosen(all.indices, rank)};
    }

    // What elements are compared by. A NaN would come neither before nor behind another element, so that ranks would be taken twice or
    // not at all: it stands for the number that is wanted least.
    ValueId without_nan(ValueId values) const {
        const Element type = node_.type(values);
        if (!is_float(type)) return values;
        const double infinity = std::numeric_limits<double>::infinity();
        const Expression least_wanted = constant(largest_ ? -infinity : infinity, type);
        return node_.elementwise(unless_nan(operand(0), least_wanted), {values});
    }

    // The element of each rank below k: a sum over all elements, of which one counts.
    ValueId chosen(ValueId values, ValueId rank) const {
        const int64_t rows = node_.shape(values)[0], count = node_.shape(values)[1];
        const Expression zero = constant(0, node_.type(values));
        const ValueId each =
            node_.elementwise(select(equal(operand(1), operand(2)), operand(0), zero),
                              {node_.reshape(values, {rows, count, 1}), rank, counted_along(node_, k_, 2, 3)});
        return node_.reshape(node_.add(Reduce{Reduce::Kind::sum, {1}}, {each}), {rows, k_});
    }

    NodeLowering &node_;
    int64_t k_;
    bool largest_;
};

int64_t wanted_count(const NodeLowering &node, int64_t count) {
    const int64_t k = node.opset() < 10 ? node.attributes.integer("k", -1) : node.known_integer(1, "K");
    if (k < 0 || k > count) {
        reject("it asks for " + std::to_string(k) + " elements along an axis of " + std::to_string(count));
    }
    return k;
}

}  // namespace

void top_k(NodeLowering &node) {
    ValueId x = node.input(0);
    const int rank = node.rank(x), axis = axis_of(node.attributes.integer("axis", -1), rank);
    if (node.type(x) == Element::boolean) reject("it compares booleans");
    std::vector<int> last(static_cast<size_t>(rank));
    for (int d = 0; d < rank; d++) last[static_cast<size_t>(d)] = d;
    std::swap(last[static_cast<size_t>(axis)], last.back());
    x = node.transpose(x, last);
    Shape shape = node.shape(x);
    const int64_t count = shape.back(), k = wanted_count(node, count);
    shape.back() = 1;
    const int64_t rows = value_or_refusal(element_count(shape));
    const ValueId indices = node.elementwise(operand(0), {counted_along(node, count, 1, 2)}, {rows, count});
    const Search search(&node, k, node.attributes.flag("largest", true));
    const Ranked found = search.first({node.reshape(x, {rows, count}), indices});
    shape.back() = k;
    const auto put_back = [&](ValueId value) { return node.transpose(node.reshape(value, shape), last); };
    node.result(put_back(found.values), 0);
    node.result(put_back(node.converted(found.indices, Element::i64)), 1);
}

}  // namespace kiln::graph
