// A convolution whose taps often meet padding, as those of a large dilation do, becomes one for each part of the image: with the taps
// that meet the image there, and without padding. The parts of the result are put together.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "graph/evaluate/evaluate.h"
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
    int64_t first_tap = 0, taps = 0;

    bool continues(const Part &before) const { return first_tap == before.first_tap && taps == before.taps; }
};

struct Axis {
    int64_t extent, results, taps, stride, dilation;
    Padding padding;

    // The tap of a result that reads the image at its beginning, or behind it, and the last one that reads it.
    Part part_of(int64_t result) const {
        const int64_t missing = padding.lo - result * stride;  // pixels in front of the image that the first tap reads
        const int64_t first = missing > 0 ? (missing + dilation - 1) / dilation : 0;
        const int64_t room = extent - 1 + missing;
        const int64_t last = room < 0 ? -1 : std::min(taps - 1, room / dilation);
        return {result, 1, first, last - first + 1};
    }

    // None where some result reads padding alone.
    std::vector<Part> parts() const {
        std::vector<Part> all;
        for (int64_t result = 0; result < results; result++) {
            const Part part = part_of(result);
            if (part.taps < 1) return {};
            if (!all.empty() && part.continues(all.back())) {
                all.back().count++;
            } else {
                all.push_back(part);
            }
        }
        return all;
    }

    Padding padding_of(const Part &part) const {
        const int64_t lo = padding.lo - part.first * stride - part.first_tap * dilation;
        return {lo, (part.count - 1) * stride + (part.taps - 1) * dilation + 1 - extent - lo};
    }

    double share_of_taps(const std::vector<Part> &parts) const {
        double read = 0;
        for (const Part &part : parts) read += double(part.count) * double(part.taps);
        return read / (double(results) * double(taps));
    }
};

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

std::vector<Axis> axes_of(const GraphIndex &graph, const Node &node) {
    const auto &op = std::get<Convolution>(node.op);
    std::vector<Axis> axes;
    for (size_t d = 0; d < op.strides.size(); d++) {
        axes.push_back({graph.shape(node.inputs[0])[d + 2], graph.shape(node.output)[d + 2],
                        graph.shape(node.inputs[1])[d + 2], op.strides[d], op.dilations[d], op.padding[d]});
    }
    return axes;
}

class Splitting {
public:
    Splitting(const GraphIndex &graph, const Node &node, const std::vector<Axis> &axes,
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
            op.padding[d] = axes_[d].padding_of(chosen_[d]);
            if (chosen_[d].taps == 1) op.dilations[d] = 1;
            if (chosen_[d].taps == axes_[d].taps) continue;
            Resample::Axis axis{static_cast<int>(d) + 2, 1, {}, {}};
            for (int64_t t = 0; t < chosen_[d].taps; t++) axis.indices.push_back(chosen_[d].first_tap + t);
            taps.axes.push_back(std::move(axis));
        }
        std::vector<ValueId> inputs = node_.inputs;
        if (!taps.axes.empty()) {
            const Numbers weights = *evaluate(taps, {&weights_});
            inputs[1] = patch_.constant(weights.form, to_constant(weights));
        }
        return patch_.node(std::move(op), std::move(inputs), {node_.output});
    }

    const Node &node_;
    const std::vector<Axis> &axes_;
    const std::vector<std::vector<Part>> &parts_;
    const Numbers weights_;
    Patch patch_;
    std::vector<Part> chosen_;  // one for each of the first axes
};

// Nothing where too many taps are left.
std::optional<Patch> split(const GraphIndex &graph, const Node &node, const std::vector<Axis> &axes,
                           const std::vector<std::vector<Part>> &parts) {
    size_t count = 1;
    double share = 1;
    for (size_t d = 0; d < axes.size(); d++) {
        if (parts[d].empty()) return {};
        count *= parts[d].size();
        share *= axes[d].share_of_taps(parts[d]);
    }
    if (count < 2 || count > most_parts || share > most_taps) return {};
    return Splitting(graph, node, axes, parts).run();
}

}  // namespace

// In parts of all axes, or of the outermost spatial one, whose parts need not be copied.
std::vector<Patch> split_by_taps(const GraphIndex &graph, const Node &node) {
    if (!has_constant_window(graph, node)) return {};
    const std::vector<Axis> axes = axes_of(graph, node);
    std::vector<std::vector<Part>> parts;
    for (const Axis &axis : axes) parts.push_back(axis.parts());
    std::vector<Patch> patches;
    if (auto patch = split(graph, node, axes, parts)) patches.push_back(std::move(*patch));
    if (axes.size() == 1) return patches;
    for (size_t d = 1; d < axes.size(); d++) parts[d] = {{0, axes[d].results, 0, axes[d].taps}};
    if (auto patch = split(graph, node, axes, parts)) patches.push_back(std::move(*patch));
    return patches;
}

}  // namespace kiln::network
