#include "graph/passes/factors/scaled_weights.h"

#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace kiln::graph {
namespace {

// Calls visit(o, i, position of the element) for all elements.
template<typename Visit>
void for_each_weight(const Shape &shape, const Visit &visit) {
    const int64_t window = std::accumulate(shape.begin() + 2, shape.end(), int64_t{1}, std::multiplies<>());
    int64_t position = 0;
    for (int64_t o = 0; o < shape[0]; o++) {
        for (int64_t i = 0; i < shape[1]; i++) {
            for (int64_t r = 0; r < window; r++) visit(o, i, position++);
        }
    }
}

}  // namespace

std::optional<ConstantData> scaled_weights(const Value &weights,
                                           const std::function<double(int64_t o, int64_t i)> &factor) {
    const Element type = weights.form.type;
    const std::byte *source = weights.constant->bytes().data();
    const double smallest = smallest_normal(type);
    std::vector<std::byte> bytes(weights.constant->bytes().size());
    bool is_right = true;
    for_each_weight(weights.form.shape, [&](int64_t o, int64_t i, int64_t position) {
        const int64_t offset = position * size_of(type);
        const double before = read_float(type, source + offset), by = factor(o, i);
        write_float(type, before * by, bytes.data() + offset);
        const double after = read_float(type, bytes.data() + offset);
        if (std::isfinite(before) && !std::isfinite(after)) is_right = false;
        if (by != 0 && std::abs(before) >= smallest && std::abs(after) < smallest) is_right = false;
    });
    if (!is_right) return {};
    return ConstantData(std::move(bytes));
}

std::vector<double> sums_of_weights(const Value &weights, const std::function<double(int64_t o, int64_t i)> &addend) {
    const Element type = weights.form.type;
    std::vector<double> sums(weights.form.shape[0], 0);
    for_each_weight(weights.form.shape, [&](int64_t o, int64_t i, int64_t position) {
        sums[o] += addend(o, i) * read_float(type, weights.constant->bytes().data() + position * size_of(type));
    });
    return sums;
}

}  // namespace kiln::graph
