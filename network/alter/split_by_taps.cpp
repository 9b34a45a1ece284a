// A convolution whose taps often meet padding, as those of a large dilation do, becomes one for each part of the image: with the taps
// that meet the image there, and without padding. The parts of the result are put together.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "graph/evaluate/evaluate.h"
#include "graph/window_axis.h"
#include "network/alter/alteration.h"
#include "network/alter/plain_input.h"

namespace kiln::network {
namespace {

using namespace graph;

constexpr size_t most_parts = 25;
constexpr double most_taps =
    0.6;  // of those that the whole convolution has: what is left pays for more kernels and copies

// Results that are neighbours along an axis and read the same taps.
struct Part {
    int64_t first = 0, count = 0;
    TapRange taps;
};

// None where some result reads padding alone, or where the axis is too long.
std::vector<Part> parts_of(const WindowAxis &axis) {
    std::vector<Part> all;
    if (axis.results() > WindowAxis::most_looked_at) return all;
    for (int64_t result = 0; result < axis.results(); result++) {
        const TapRange taps = axis.taps_of(result);
        if (taps.count == 0) return {};
        if (!all.empty() && all.back().taps == taps) {
            all.back().count++;
        } else {
            all.push_back({result, 1, taps});
        }
    }
    return all;
}

Padding padding_of(const WindowAxis &axis, const Part &part) {
    const int64_t lo = axis.padding.lo - part.first * axis.stride - part.taps.first * axis.dilation;
    return {lo, (part.count - 1) * axis.stride + (part.taps.count - 1) * axis.dilation + 1 - axis.extent - lo};
}

double share_of_taps(const WindowAxis &axis, const std::vector<Part> &parts) {
    double read = 0;
    for (const Part &part : parts) read += double(part.count) * double(part.taps.count);
    return read / (double(axis.results()) * double(axis.taps));
}

bool has_constant_window(const GraphIndex &graph, const Node &node) {
    const auto *op = std::get_if<Convolution>(&node.op);
    if (!op || op->groups != 1 || !has_plain_input(*op) || graph.value(node.output).form.type != Element::f32)
        return false;
    const auto is_one = [](int64_t n) { return n == 1; };
    const auto reads_results = [](const EpilogueStep &step) {
        return epilogue_form(step.kind).operand == EpilogueForm::Operand::result;
    };
    return graph.is_constant(node.inputs[1]) && !graph.is_constant(node.inputs[0]) &&
           std::ranges::all_of(op->input_dilation, is_one) && std::ranges::none_of(op->epilogue, reads_results) &&
           *element_count(graph.shape(node.output)) > 0 && *element_count(graph.shape(node.inputs[0])) > 0;
}

class Splitting {
public:
    Splitting(const GraphIndex &graph, const Node &node, const std::vector<WindowAxis> &axes,
              const std::vector<std::vector<Part>> &parts)
        : node_(node),
          axes_(axes),
          parts_(parts),
          weights_(from_constant(graph.value(node.inputs[1]).form, *graph.value(node.inputs[1]).constant)),
          patch_(graph.graph()) {}

    Patch run() && {
        patch_.replace(node_.output, together());
        return std::move(patch_);
    }

private:
    // The result in the parts that are chosen, and in all of the axes that follow.
    ValueId together() {
        const size_t d = chosen_.size();
        if (d == axes_.size()) return part();
        std::vector<ValueId> beside;
        for (const Part &part : parts_[d]) {
            chosen_.push_back(part);
            beside.push_back(together());
            chosen_.pop_back();
        }
        return beside.size() == 1 ? beside[0] : patch_.node(Concat{static_cast<int>(d) + 2}, beside, {node_.output});
    }

    ValueId part() {
        auto op = std::get<Convolution>(node_.op);
        Resample taps;
        for (size_t d = 0; d < axes_.size(); d++) {
            const TapRange &range = chosen_[d].taps;
            op.padding[d] = padding_of(axes_[d], chosen_[d]);
            if (range.count == 1) op.dilations[d] = 1;
            if (range.count < axes_[d].taps) taps.axes.push_back(part_of_taps(d, range));
        }
        std::vector<ValueId> inputs = node_.inputs;
        if (!taps.axes.empty()) {
            const Numbers weights = *evaluate(taps, {&weights_});
            inputs[1] = patch_.constant(weights.form, to_constant(weights));
        }
        return patch_.node(std::move(op), std::move(inputs), {node_.output});
    }

    const Node &node_;
    const std::vector<WindowAxis> &axes_;
    const std::vector<std::vector<Part>> &parts_;
    const Numbers weights_;
    Patch patch_;
    std::vector<Part> chosen_;  // one for each of the first axes
};

// Nothing where too many taps are left.
std::optional<Patch> split(const GraphIndex &graph, const Node &node, const std::vector<WindowAxis> &axes,
                           const std::vector<std::vector<Part>> &parts) {
    size_t count = 1;
    double share = 1;
    for (size_t d = 0; d < axes.size(); d++) {
        if (parts[d].empty()) return {};
        count *= parts[d].size();
        share *= share_of_taps(axes[d], parts[d]);
    }
    if (count < 2 || count > most_parts || share > most_taps) return {};
    return Splitting(graph, node, axes, parts).run();
}

}  // namespace

// In parts of all axes, or of the outermost spatial one, whose parts need not be copied.
std::vector<Patch> split_by_taps(const GraphIndex &graph, const Node &node) {
    if (!has_constant_window(graph, node)) return {};
    const auto axes =
        window_axes(std::get<Convolution>(node.op), graph.shape(node.inputs[0]), graph.shape(node.inputs[1]));
    std::vector<std::vector<Part>> parts;
    for (const WindowAxis &axis : axes) parts.push_back(parts_of(axis));
    std::vector<Patch> patches;
    if (auto patch = split(graph, node, axes, parts)) patches.push_back(std::move(*patch));
    if (axes.size() == 1) return patches;
    for (size_t d = 1; d < axes.size(); d++) parts[d] = {{0, axes[d].results(), {0, axes[d].taps}}};
    if (auto patch = split(graph, node, axes, parts)) patches.push_back(std::move(*patch));
    return patches;
}

}  // namespace kiln::network
