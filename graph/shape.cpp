#include "graph/shape.h"

#include <algorithm>

namespace kiln::graph {

Result<int64_t> element_count(const Shape &shape) {
    if (shape.size() > most_axes) {
        return bad_input("a shape of " + std::to_string(shape.size()) + " axes; kiln takes up to " +
                         std::to_string(most_axes));
    }
    // Extents of 0 are left out of the bound, so that no product of other extents overflows either.
    int64_t product = 1;
    bool is_empty = false;
    for (int64_t extent : shape) {
        if (extent < 0) return bad_input("shape " + to_text(shape) + " has a negative extent");
        if (extent == 0) {
            is_empty = true;
        } else if (extent > most_elements / product) {
            return bad_input("shape " + to_text(shape) + " has more than 2^40 elements, the most that kiln takes");
        } else {
            product *= extent;
        }
    }
    return is_empty ? 0 : product;
}

Result<Shape> broadcast(const Shape &a, const Shape &b) {
    const Shape &longer = a.size() < b.size() ? b : a, &shorter = a.size() < b.size() ? a : b;
    Shape result = longer;
    for (size_t i = 0; i < shorter.size(); i++) {
        int64_t &extent = result[longer.size() - shorter.size() + i];
        if (extent == 1) {
            extent = shorter[i];
        } else if (shorter[i] != 1 && shorter[i] != extent) {
            return bad_input("shapes " + to_text(a) + " and " + to_text(b) + " cannot be broadcast to each other");
        }
    }
    if (auto count = element_count(result); !count) return count.error();
    return result;
}

std::vector<int64_t> row_major_strides(const Shape &shape) {
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
    return strides;
}

std::string to_text(const Shape &shape) {
    if (shape.empty()) return "scalar";
    std::string text;
    for (size_t i = 0; i < std::min(shape.size(), most_axes); i++) {
        if (i > 0) text += 'x';
        text += std::to_string(shape[i]);
    }
    if (shape.size() > most_axes) text += "x...";
    return text;
}

}  // namespace kiln::graph
