// TensorScatter. A place of the cache takes the element of the update that is as far from its first one as the place is from where the
// update is written: nothing is compared with each other.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "graph/lower/composed/computed_places.h"
#include "graph/lower/composed/computed_scatters.h"
#include "graph/lower/node/formulas.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/node/shown_names.h"

namespace kiln::graph {
namespace {

// What TensorScatter writes: `count` elements along an axis, for each image of the batch from a place of its own on.
class CacheWrite {
public:
    explicit CacheWrite(NodeLowering *node)
        : node_(*node), shape_(node->shape(node->input(0))), updates_(node->shape(node->input(1))) {
        axis_ = axis_of(node_.attributes.integer("axis", -2), static_cast<int>(shape_.size()));
        if (axis_ == 0) reject("its attribute 'axis' names the axis of the batch");
        const std::string mode = node_.attributes.text("mode", "linear");
        if (mode != "linear" && mode != "circular")
            reject("its attribute 'mode' is " + shown(mode) + ", which must be linear or circular");
        is_circular_ = mode == "circular";
        check_updates();
        extent_ = shape_[static_cast<size_t>(axis_)];
        count_ = updates_[static_cast<size_t>(axis_)];
    }

    ValueId run() const {
        if (node_.elements(node_.input(0)) == 0 || count_ == 0) return node_.input(0);
        if (node_.has_input(2) && !node_.is_known(2)) return written_at_computed();
        const std::vector<int64_t> first = known_firsts();
        const bool are_equal = std::ranges::all_of(first, [&](int64_t place) { return place == first[0]; });
        return are_equal ? written_from(first[0]) : written_at_computed();
    }

private:
    void check_updates() const {
        if (node_.type(node_.input(0)) != node_.type(node_.input(1)))
            reject("its update has another type than its cache");
        Shape fitting = updates_;
        if (updates_.size() == shape_.size() &&
            updates_[static_cast<size_t>(axis_)] <= shape_[static_cast<size_t>(axis_)])
            fitting[static_cast<size_t>(axis_)] = shape_[static_cast<size_t>(axis_)];
        if (fitting != shape_) {
            reject("its update of shape " + to_text(updates_) + " does not fit into its cache of shape " +
                   to_text(shape_) + " along axis " + std::to_string(axis_));
        }
        if (!node_.has_input(2)) return;
        const Element type = node_.type(node_.input(2));
        if (is_float(type) || type == Element::boolean) reject("its write_indices are " + std::string(name(type)));
        const Shape form = node_.shape(node_.input(2));
        if (form != Shape{shape_[0]})
            reject("its write_indices of shape " + to_text(form) + " are not " + to_text({shape_[0]}));
    }

    std::vector<int64_t> known_firsts() const {
        check_places(shape_[0]);
        std::vector<int64_t> first(static_cast<size_t>(shape_[0]));
        if (node_.has_input(2)) first = node_.known_integers(2, "write_indices");
        for (int64_t &place : first) {
            if (is_circular_) place = (place % extent_ + extent_) % extent_;
            if (is_circular_ || (place >= 0 && place <= extent_ - count_)) continue;
            reject("its write index " + std::to_string(place) + " leaves no room for " + std::to_string(count_) +
                   " elements along axis " + std::to_string(axis_) + ", which has " + std::to_string(extent_));
        }
        return first;
    }

    ValueId written_from(int64_t first) const {
        std::vector<int64_t> from = index_range(0, extent_);
        for (int64_t i = 0; i < count_; i++) from[static_cast<size_t>((first + i) % extent_)] = extent_ + i;
        const ValueId both = node_.add(Concat{axis_}, {node_.input(0), node_.input(1)});
        return take(node_, both, {{axis_, std::move(from)}});
    }

    // Which element of the update each place of a line takes; -1: none.
    ValueId taken() const {
        const NumbersOf number{Element::i64};
        const Expression first = scalar::cast(operand(0), Element::i64);
        Expression behind = operand(1) - first;
        if (is_circular_) behind = apply(Function::remainder, std::move(behind), number(static_cast<double>(extent_)));
        const Expression is_written = apply(Function::logical_and, apply(Function::less_or_equal, number(0), behind),
                                            less(behind, number(static_cast<double>(count_))));
        const Expression chosen = select(is_written, scalar::cast(behind, Element::i32), NumbersOf{Element::i32}(-1));
        return node_.elementwise(chosen, {node_.reshape(node_.input(2), {shape_[0], 1, 1, 1}),
                                          counted_along(node_, extent_, 2, 4, Element::i64)});
    }

    ValueId written_at_computed() const {
        const Shape lines{shape_[0], checked_count({shape_.begin() + 1, shape_.begin() + axis_}), extent_,
                          checked_count({shape_.begin() + axis_ + 1, shape_.end()})};
        const ValueId place = taken();
        ValueId updates = node_.reshape(node_.input(1), {lines[0], lines[1], count_, lines[3]});
        if (count_ > 1) {
            const ValueId places = node_.elementwise(operand(0), {place}, {lines[0], lines[1], extent_, 1});
            updates = blocks_at(node_, updates, 2, places);
        }
        const Expression written = select(less(operand(0), NumbersOf{Element::i32}(0)), operand(1), operand(2));
        const ValueId data = node_.reshape(node_.input(0), lines);
        return node_.reshape(node_.elementwise(written, {place, data, updates}), shape_);
    }

    NodeLowering &node_;
    Shape shape_, updates_;  // of the cache; of what is written
    int axis_ = 0;
    bool is_circular_ = false;
    int64_t extent_ = 0, count_ = 0;  // along the axis
};

}  // namespace

void tensor_scatter(NodeLowering &node) { node.result(CacheWrite(&node).run()); }

}  // namespace kiln::graph
