#include "graph/passes/axes/reshape_groups.h"

#include <algorithm>
#include <cstddef>

namespace kiln::graph {
namespace {

// How many of the axes begin..end with more than one element are among `axes`: none, all of them or some.
enum class Share { none, all, some };

Share share(const Shape &shape, int begin, int end, const std::vector<int> &axes) {
    int chosen = 0, others = 0;
    for (int axis = begin; axis < end; axis++) {
        if (shape[axis] == 1) continue;
        (std::ranges::count(axes, axis) ? chosen : others)++;
    }
    if (chosen == 0) return Share::none;
    return others == 0 ? Share::all : Share::some;
}

}  // namespace

std::optional<std::vector<ReshapeGroup>> reshape_groups(const Shape &from, const Shape &to) {
    if (std::ranges::count(from, 0) > 0) return {};
    const int a_end = static_cast<int>(from.size()), b_end = static_cast<int>(to.size());
    std::vector<ReshapeGroup> groups;
    int a = 0, b = 0;
    while (a < a_end && b < b_end) {
        ReshapeGroup group{a, a, b, b};
        int64_t extent_a = from[a++], extent_b = to[b++];
        while (extent_a != extent_b) {
            if (extent_a < extent_b) {
                extent_a *= from[a++];
            } else {
                extent_b *= to[b++];
            }
        }
        group.from_end = a, group.to_end = b;
        groups.push_back(group);
    }
    if (a < a_end || b < b_end) groups.push_back({a, a_end, b, b_end});
    return groups;
}

std::optional<std::vector<int>> axes_before(const Shape &from, const Shape &to, const std::vector<int> &axes) {
    const auto groups = reshape_groups(from, to);
    if (!groups) return {};
    std::vector<int> result;
    for (const ReshapeGroup &group : *groups) {
        const Share chosen = share(to, group.to, group.to_end, axes);
        if (chosen == Share::some) return {};
        for (int axis = group.from; chosen == Share::all && axis < group.from_end; axis++) {
            if (from[axis] != 1) result.push_back(axis);
        }
    }
    return result;
}

std::optional<Shape> operand_before(const Shape &from, const Shape &to, const Shape &operand) {
    const auto groups = reshape_groups(from, to);
    if (!groups || operand.size() > to.size()) return {};
    Shape aligned = operand;
    aligned.insert(aligned.begin(), to.size() - operand.size(), 1);
    Shape result(from.size(), 1);
    for (const ReshapeGroup &group : *groups) {
        const auto begin = aligned.begin() + group.to, end = aligned.begin() + group.to_end;
        if (std::all_of(begin, end, [](int64_t extent) { return extent == 1; })) continue;
        if (!std::equal(begin, end, to.begin() + group.to)) return {};
        std::copy(from.begin() + group.from, from.begin() + group.from_end, result.begin() + group.from);
    }
    return result;
}

}  // namespace kiln::graph
