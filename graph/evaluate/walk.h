// Positions of a shape in row-major order, and the offset that strides give to each.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "graph/shape.h"

namespace kiln::graph {

int64_t product(const Shape &shape);

class Walk {
public:
    Walk(Shape extents, std::vector<int64_t> strides)
        : extents_(std::move(extents)), strides_(std::move(strides)), position_(extents_.size(), 0) {}

    int64_t offset() const { return offset_; }
    const std::vector<int64_t> &position() const { return position_; }

    void next() {  // behind the last position comes the first one
        for (size_t i = extents_.size(); i-- > 0;) {
            offset_ += strides_[i];
            if (++position_[i] < extents_[i]) return;
            offset_ -= strides_[i] * extents_[i];
            position_[i] = 0;
        }
    }

private:
    Shape extents_;
    std::vector<int64_t> strides_;
    std::vector<int64_t> position_;
    int64_t offset_ = 0;
};

}  // namespace kiln::graph
