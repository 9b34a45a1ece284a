#include <array>

#include "graph/passes/passes.h"
#include "network/alter/alteration.h"

namespace kiln::network {
namespace {

using Find = std::vector<Patch> (*)(const GraphIndex &, const graph::Node &);

Alteration row(std::string name, std::string summary, Find find, double hope = 1, double doubt = 1) {
    return {std::move(name),
            std::move(summary),
            [find](const GraphIndex &graph, const graph::Node &node) -> Result<std::vector<Patch>> {
                return find(graph, node);
            },
            hope,
            doubt,
            ""};
}

}  // namespace

std::span<const Alteration> alterations() {
    // Channels before what joins convolutions, since it changes their weights. Prologues, and what has them, come last: others do
    // not see through them.
    static const std::array all{
        row("pool_before_convolution", "an average over pixels behind a convolution of 1x1 is taken before it",
            pool_before_convolution),
        row("shuffled_channels", "shuffles of channels become an order of weights, or move toward the output",
            shuffled_channels),
        row("side_by_side", "convolutions that share their input become one, whose result is cut", side_by_side),
        row("split_by_taps",
            "a convolution whose taps often meet padding becomes several, each with the taps that meet its part",
            split_by_taps, 1, 1.25),
        row("space_to_depth", "a strided convolution of few channels has none, and its strides as channels",
            space_to_depth, 0.5),
        row("fuse_prologues",
            "factors, summands and activations in front of a convolution become what it does with its input",
            fuse_prologues),
        row("separable", "a depthwise convolution and one of 1x1 behind it become one, of large images", separable, 1,
            1.25),
    };
    return all;
}

std::vector<AlterationName> alteration_names() {
    std::vector<AlterationName> names;
    for (const graph::Pass &pass : graph::passes()) {
        if (pass.is_optional) names.push_back({std::string(pass.name), std::string(pass.summary)});
    }
    for (const Alteration &alteration : alterations()) names.push_back({alteration.name, alteration.summary});
    return names;
}

}  // namespace kiln::network
