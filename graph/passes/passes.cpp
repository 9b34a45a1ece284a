#include "graph/passes/passes.h"

#include <array>
#include <string>

#include "graph/passes/quantization/center_weights.h"

namespace kiln::graph {

std::span<const Pass> passes() {
    // What quantizes is looked for as the model has it, before expressions are simplified. Names before products, since these
    // put transposes between nodes; axes before what looks for neighbours; epilogues before groups, which leave no single
    // steps.
    static constexpr std::array all{
        Pass{"widen_halves", "f16 and bf16 become f32 between the inputs and the outputs", widen_halves},
        Pass{"merge_equal", "what computes the same becomes one node", merge_equal},
        Pass{"move_quantization", "what dequantizes and what quantizes moves until they meet, and both vanish",
             move_quantization},
        Pass{"quantize_sums", "convolutions, products and averages of dequantized numbers have sums of integers",
             quantize_sums},
        Pass{"center_weights", "integer weights become i8 without zero points where all of them fit", center_weights},
        Pass{"fold_dequantized", "constants that are still dequantized are computed", fold_dequantized},
        Pass{"move_quantized_axes", "the same as move_axes, in networks of quantized numbers", move_quantized_axes},
        Pass{"requantize_sums", "scales, clamps and the quantization behind integer sums become their requantization",
             requantize_sums},
        Pass{"simplify", "element-wise expressions in their normal form", simplify_elementwise},
        Pass{"name_activations", "spellings of SiLU, GELU, hard-swish and others become one", name_activations},
        Pass{"name_normalizations", "layer normalization and softmax made of reductions", name_normalizations},
        Pass{"convolve_products", "matrix products with a constant become convolutions", convolve_products},
        Pass{"move_axes", "transposes and reshapes move toward the outputs until they meet", move_axes},
        Pass{"simplify_moved", "expressions that the moves have changed", simplify_elementwise},
        Pass{"fold_pads", "pads and crops become padding of convolutions and average pools", fold_pads, true},
        Pass{"crop_windows", "taps of convolutions that meet nothing but padding are left out", crop_windows},
        Pass{"fold_affine", "batch normalization and constant factors become weights and biases", fold_affine, true},
        Pass{"merge_moved", "what has become equal since", merge_equal},
        Pass{"fuse_epilogues", "biases, additions and activations become epilogues of convolutions", fuse_epilogues,
             true},
        Pass{"fuse_elementwise", "element-wise nodes that follow each other become one", fuse_elementwise},
        Pass{"fuse_quantized_additions",
             "additions of quantized tensors become the last step of a convolution's epilogue",
             fuse_quantized_additions, true},
        Pass{"multiply_quanta", "divisions of stored numbers become multiplications with the same results",
             multiply_quanta},
        Pass{"tabulate_quanta", "functions of one stored number that take long become tables of their results",
             tabulate_quanta},
        Pass{"separate_sums",
             "convolutions whose small results count for themselves do not mix the terms of their sums", separate_sums},
    };
    return all;
}

Result<Graph> run_passes(const Graph &graph, std::string_view until) {
    Graph now = graph;
    std::string names;
    for (const Pass &pass : passes()) {
        now = pass.run(now);
        if (pass.name == until) return now;
        names += (names.empty() ? "" : ", ") + std::string(pass.name);
    }
    if (until.empty()) return now;
    return Error{ErrorCode::usage, "there is no pass `" + std::string(until) + "`; there are " + names};
}

}  // namespace kiln::graph
