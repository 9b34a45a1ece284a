// Elements that differ only along some axes are a group: what a reduction joins and a normalization looks at together.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/evaluate/evaluate.h"
#include "graph/evaluate/walk.h"

namespace kiln::graph {

class AxisGroups {
public:
    AxisGroups(const Shape &shape, const std::vector<int> &axes) : shape_(shape) {
        Shape groups = shape;
        for (int axis : axes) groups[axis] = 1;
        strides_ = row_major_strides(groups);
        for (int axis : axes) strides_[axis] = 0;
        count_ = product(groups);
    }

    int64_t count() const { return count_; }
    double group_size() const { return count_ == 0 ? 0 : static_cast<double>(product(shape_) / count_); }

    // f(element, group) for every element in row-major order; false where it was interrupted.
    template<typename F>
    bool for_each(const Interrupted &interrupted, F f) const {
        const int64_t elements = product(shape_);
        if (elements == 0) return true;
        const int64_t length = shape_.empty() ? 1 : shape_.back(), step = shape_.empty() ? 0 : strides_.back();
        Shape rows = shape_;
        std::vector<int64_t> row_strides = strides_;
        if (!rows.empty()) {
            rows.pop_back();
            row_strides.pop_back();
        }
        Walk walk(rows, row_strides);
        for (int64_t begin = 0; begin < elements; begin += length, walk.next()) {
            if (interrupted()) return false;
            for (int64_t i = 0; i < length; i++) f(begin + i, walk.offset() + i * step);
        }
        return true;
    }

private:
    Shape shape_;
    std::vector<int64_t> strides_;  // of groups, 0 along the axes
    int64_t count_ = 0;
};

}  // namespace kiln::graph
