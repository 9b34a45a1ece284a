// Slice, Split, Gather, Compress, ReverseSequence and Tile: elements taken by index.
#include <algorithm>
#include <limits>
#include <numeric>

#include "graph/lower/node/formulas.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/rules/rule.h"

namespace kiln::graph {
namespace {

// NumPy's slice of an axis. Backwards the greatest integer stands for the beginning, too, as in ONNX Runtime: an empty
// result is never what such a model means.
std::vector<int64_t> sliced(int64_t start, int64_t end, int64_t step, int64_t extent) {
    if (step == 0) reject("its step is 0");
    if (extent == 0) return {};
    const bool open = end == std::numeric_limits<int32_t>::max() || end == std::numeric_limits<int64_t>::max();
    if (open && step < 0) end = std::numeric_limits<int64_t>::min();
    step = std::clamp(step, -extent - 1, extent + 1);  // larger steps take no more than one element either
    const int64_t least = step > 0 ? 0 : -1, most = step > 0 ? extent : extent - 1;
    const auto within = [&](int64_t place, int64_t first) {
        return std::clamp(place < 0 ? place + extent : place, first, most);
    };
    const int64_t first = within(start, 0), last = within(end, least);
    const int64_t count = step > 0 ? (last - first + step - 1) / step : (first - last - step - 1) / -step;
    return index_range(first, count, step);
}

struct SliceList {
    std::vector<int64_t> starts, ends, axes, steps;
};

SliceList read_slices(const NodeLowering &node) {
    SliceList list;
    if (node.opset() < 10) {
        list = {node.attributes.required_integers("starts"),
                node.attributes.required_integers("ends"),
                node.attributes.integers("axes"),
                {}};
    } else {
        list = {node.known_integers(1, "starts"), node.known_integers(2, "ends"), {}, {}};
        if (node.has_input(3)) list.axes = node.known_integers(3, "axes");
        if (node.has_input(4)) list.steps = node.known_integers(4, "steps");
    }
    if (list.axes.empty()) {
        list.axes.resize(list.starts.size());
        std::iota(list.axes.begin(), list.axes.end(), 0);
    }
    if (list.steps.empty()) list.steps.resize(list.starts.size(), 1);
    const size_t count = list.starts.size();
    if (list.ends.size() != count || list.axes.size() != count || list.steps.size() != count) {
        reject("it has " + std::to_string(count) + " starts, " + std::to_string(list.ends.size()) + " ends, " +
               std::to_string(list.axes.size()) + " axes and " + std::to_string(list.steps.size()) + " steps");
    }
    return list;
}

void slice(NodeLowering &node) {
    const ValueId x = node.input(0);
    const Shape shape = node.shape(x);
    const SliceList list = read_slices(node);
    axes_of(list.axes, node.rank(x));  // none twice
    std::vector<IndexedAxis> axes;
    for (size_t i = 0; i < list.axes.size(); i++) {
        const int axis = axis_of(list.axes[i], node.rank(x));
        axes.push_back({axis, sliced(list.starts[i], list.ends[i], list.steps[i], shape[axis])});
    }
    node.result(take(node, x, std::move(axes)));
}

// The extents of the parts: stated (an attribute until opset 12 and in opset 1 also an input, then an input), or equal ones.
std::vector<int64_t> parts(const NodeLowering &node, int64_t extent) {
    const int64_t outputs = node.output_count();
    std::vector<int64_t> stated;
    if (node.opset() < 13) stated = node.attributes.integers("split");
    if (stated.empty() && node.has_input(1)) stated = node.known_integers(1, "split");
    if (!stated.empty()) return stated;
    const bool uneven = node.attributes.has("num_outputs");
    if (uneven && node.attributes.integer("num_outputs") != outputs) {
        reject("its attribute 'num_outputs' is " + std::to_string(node.attributes.integer("num_outputs")) +
               ", but it has " + std::to_string(outputs) + " outputs");
    }
    const int64_t size = (extent + outputs - 1) / outputs, last = extent - size * (outputs - 1);
    if (last < 0 || (!uneven && last != size)) {
        reject(std::to_string(extent) + " elements do not divide into " + std::to_string(outputs) + " equal parts");
    }
    stated.assign(outputs, size);
    stated.back() = last;
    return stated;
}

void split(NodeLowering &node) {
    const ValueId x = node.input(0);
    const int axis = axis_of(node.attributes.integer("axis", 0), node.rank(x));
    const int64_t extent = node.shape(x)[axis];
    const std::vector<int64_t> sizes = parts(node, extent);
    if (static_cast<int>(sizes.size()) != node.output_count()) {
        reject("it states " + std::to_string(sizes.size()) + " parts for " + std::to_string(node.output_count()) +
               " outputs");
    }
    int64_t first = 0;
    for (size_t i = 0; i < sizes.size(); i++) {
        if (sizes[i] < 0 || sizes[i] > extent - first)
            reject("its parts are not within an extent of " + std::to_string(extent));
        if (node.wants(static_cast<int>(i))) {
            node.result(take(node, x, {{axis, index_range(first, sizes[i])}}), static_cast<int>(i));
        }
        first += sizes[i];
    }
    if (first != extent) reject("its parts leave out some of an extent of " + std::to_string(extent));
}

// Indices that are computed when the network runs. ONNX counts negative ones from the end.
ValueId gather_computed(NodeLowering &node, ValueId x, int axis) {
    const ValueId indices = node.input(1);
    const Element type = node.type(indices);
    if (is_float(type) || type == Element::boolean) reject("its indices are " + std::string(name(type)));
    const int64_t extent = node.shape(x)[axis];
    if (extent > std::numeric_limits<int32_t>::max())
        refuse("axis " + std::to_string(axis) + " is too long for indices");
    const Expression counted = counted_from_first(operand(0), type, extent);
    return node.add(Gather{axis}, {x, node.elementwise(scalar::cast(counted, Element::i32), {indices})});
}

// Indices may have any number of axes, which take the place of the one that is indexed.
void gather(NodeLowering &node) {
    const ValueId x = node.input(0);
    const int axis = axis_of(node.attributes.integer("axis", 0), node.rank(x));
    if (!node.is_known(1)) return node.result(gather_computed(node, x, axis));
    Shape shape = node.shape(x);
    const Shape places = node.shape(node.input(1));
    std::vector<int64_t> indices = known_indices(node, 1);
    for (int64_t &index : indices) {
        if (index < -shape[axis] || index >= shape[axis]) {
            reject("index " + std::to_string(index) + " is not within axis " + std::to_string(axis) +
                   " of its input of shape " + to_text(shape));
        }
        if (index < 0) index += shape[axis];
    }
    const ValueId taken = take(node, x, {{axis, std::move(indices)}});
    shape.erase(shape.begin() + axis);
    shape.insert(shape.begin() + axis, places.begin(), places.end());
    node.result(node.reshape(taken, shape));
}

// The elements along an axis, or of all in one row, where a condition holds. One that ends early leaves the others out.
void compress(NodeLowering &node) {
    ValueId x = node.input(0);
    if (node.type(node.input(1)) != Element::boolean) reject("its condition must be bool");
    check_places(node.elements(node.input(1)));
    const std::vector<int64_t> condition = node.known_integers(1, "condition");
    if (!node.attributes.has("axis")) x = node.reshape(x, {node.elements(x)});
    const int axis = axis_of(node.attributes.integer("axis", 0), node.rank(x));
    const int64_t count = std::min(static_cast<int64_t>(condition.size()), node.shape(x)[axis]);
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < count; i++) {
        if (condition[i] != 0) indices.push_back(i);
    }
    node.result(take(node, x, {{axis, std::move(indices)}}));
}

// The first elements of each sequence in the other order. Sequences lie along the time axis, one for each place of the batch axis.
void reverse_sequence(NodeLowering &node) {
    constexpr int64_t most_lengths = 64;
    const ValueId x = node.input(0);
    const int batch = axis_of(node.attributes.integer("batch_axis", 1), node.rank(x));
    const int time = axis_of(node.attributes.integer("time_axis", 0), node.rank(x));
    if (batch == time) reject("its axes of time and batch are one");
    const int64_t extent = node.shape(x)[time], count = node.shape(x)[batch];
    const std::vector<int64_t> lengths = node.known_integers(1, "sequence_lens");
    if (static_cast<int64_t>(lengths.size()) != count) {
        reject("it has " + std::to_string(lengths.size()) + " lengths for " + std::to_string(count) + " sequences");
    }
    const auto reversed = [&](ValueId value, int64_t length) {
        if (length < 0 || length > extent) reject("a length is not within " + std::to_string(extent));
        std::vector<int64_t> indices = index_range(0, extent);
        std::reverse(indices.begin(), indices.begin() + length);
        return take(node, value, {{time, std::move(indices)}});
    };
    if (std::ranges::all_of(lengths, [&](int64_t length) { return length == lengths[0]; })) {
        return node.result(count == 0 ? x : reversed(x, lengths[0]));
    }
    if (count > most_lengths) refuse("it reverses more than " + std::to_string(most_lengths) + " sequences");
    std::vector<ValueId> sequences;
    for (int64_t i = 0; i < count; i++) sequences.push_back(reversed(take(node, x, {{batch, {i}}}), lengths[i]));
    node.result(node.add(Concat{batch}, sequences));
}

ValueId repeated(NodeLowering &node, const std::vector<int64_t> &times) {
    const ValueId x = node.input(0);
    const Shape shape = node.shape(x);
    Shape result = shape;
    for (size_t d = 0; d < shape.size(); d++) {
        if (times[d] < 0) reject("it repeats an axis " + std::to_string(times[d]) + " times");
        if (__builtin_mul_overflow(shape[d], times[d], &result[d])) refuse("its result is too large");
    }
    check_size(result);
    std::vector<IndexedAxis> axes;
    for (size_t d = 0; d < shape.size(); d++) {
        std::vector<int64_t> indices = index_range(0, result[d]);
        for (int64_t &index : indices) index %= shape[d];
        axes.push_back({static_cast<int>(d), std::move(indices)});
    }
    return take(node, x, std::move(axes));
}

void tile(NodeLowering &node) {
    const std::vector<int64_t> repeats = node.known_integers(1, "repeats");
    if (static_cast<int>(repeats.size()) != node.rank(node.input(0))) {
        reject("it has " + std::to_string(repeats.size()) + " repeats for an input of shape " +
               to_text(node.shape(node.input(0))));
    }
    node.result(repeated(node, repeats));
}

void tile_of_opset_1(NodeLowering &node) {
    std::vector<int64_t> repeats(node.rank(node.input(0)), 1);
    // Numbers of the input's type.
    const auto number = [&](int input, const char *what) {
        const std::vector<double> numbers = node.known_reals(input, what);
        constexpr double most = 1 << 30;
        if (numbers.size() != 1 || numbers[0] != std::trunc(numbers[0]) || std::abs(numbers[0]) > most)
            reject("its input '" + std::string(what) + "' must be one integer");
        return static_cast<int64_t>(numbers[0]);
    };
    repeats[axis_of(number(2, "axis"), node.rank(node.input(0)))] = number(1, "tiles");
    node.result(repeated(node, repeats));
}

constexpr Rule rows_of_slice[] = {
    {"Compress", 9, {2, 2}, 1, "axis", compress},
    {"Gather", 1, {2, 2}, 1, "axis", gather},
    {"ReverseSequence", 10, {2, 2}, 1, "batch_axis time_axis", reverse_sequence},
    {"Slice", 1, {1, 1}, 1, "axes ends starts", slice},
    {"Slice", 10, {3, 5}, 1, "", slice},
    {"Split", 1, {1, 2}, Rule::any, "axis split", split},
    {"Split", 2, {1, 1}, Rule::any, "axis split", split},
    {"Split", 13, {1, 2}, Rule::any, "axis", split},
    {"Split", 18, {1, 2}, Rule::any, "axis num_outputs", split},
    {"Tile", 1, {3, 3}, 1, "", tile_of_opset_1},
    {"Tile", 6, {2, 2}, 1, "", tile},
};

}  // namespace

std::span<const Rule> slice_rules() { return rows_of_slice; }

}  // namespace kiln::graph
