#include "graph/lower/rules/rule.h"

namespace kiln::graph {

RuleSearch find_rule(std::string_view domain, std::string_view op_type, int64_t opset) {
    const std::array families = {activation_rules(), arithmetic_rules(),   constant_rules(),      convolution_rules(),
                                 slice_rules(),      pad_rules(),          normalization_rules(), pool_rules(),
                                 product_rules(),    quantization_rules(), quantized_rules(),     recurrent_rules(),
                                 reduction_rules(),  resize_rules(),       scatter_rules(),       shape_rules(),
                                 triangle_rules()};
    RuleSearch found;
    for (const std::span<const Rule> family : families) {
        for (const Rule &rule : family) {
            if (rule.op_type != op_type || rule.domain != domain) continue;
            if (rule.since <= opset) found.rule = &rule;
            found.newest = &rule;
        }
    }
    return found;
}

}  // namespace kiln::graph
