// What makes a graph smaller and faster without changing what it computes. A pass is a pure function Graph -> Graph; running it
// again changes nothing more.
//
// Results are those of the graph before, but for rounding and for what passes/simplify_expression.h lists. A convolution may
// skip or multiply taps in its padding (SpecialValues::finite), so NaN and infinities in weights count as unspecified there. Its
// rounding errors are small beside the largest results, unless separate_sums asks for more.
#pragma once

#include <span>
#include <string_view>

#include "graph/graph.h"
#include "workload/result.h"

namespace kiln::graph {

struct Pass {
    std::string_view name;
    std::string_view summary;
    Graph (*run)(const Graph &);
    bool is_optional = false;  // an alteration of its own, which may be left out (network/alter/)
};

// All passes in the order in which they run.
std::span<const Pass> passes();

// Runs them all, or those up to the one named `until`. Where no pass has that name, the error lists them.
Result<Graph> run_passes(const Graph &graph, std::string_view until = {});

// In the file of its name, each, but move_quantized_axes, which is beside move_axes.
Graph widen_halves(const Graph &graph);
Graph merge_equal(const Graph &graph);
Graph move_quantization(const Graph &graph);
Graph quantize_sums(const Graph &graph);
Graph fold_dequantized(const Graph &graph);
Graph move_quantized_axes(const Graph &graph);
Graph requantize_sums(const Graph &graph);
Graph simplify_elementwise(const Graph &graph);
Graph name_activations(const Graph &graph);
Graph name_normalizations(const Graph &graph);
Graph convolve_products(const Graph &graph);
Graph move_axes(const Graph &graph);
Graph fold_pads(const Graph &graph);
Graph crop_windows(const Graph &graph);
Graph fold_affine(const Graph &graph);
Graph fuse_epilogues(const Graph &graph);
Graph fuse_elementwise(const Graph &graph);
Graph fuse_quantized_additions(const Graph &graph);
Graph multiply_quanta(const Graph &graph);
Graph tabulate_quanta(const Graph &graph);
Graph separate_sums(const Graph &graph);

}  // namespace kiln::graph
