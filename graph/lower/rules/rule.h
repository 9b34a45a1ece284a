// What kiln knows of ONNX: for each operator, and each opset that changed its meaning, how it is lowered.
//
// A rule says what a node may have; lower() checks it before the rule is asked. So every attribute of a node is known to its
// rule, and unknown ones are named even where shapes are missing.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "graph/lower/node/node_lowering.h"

namespace kiln::graph {

// The domain of onnxruntime's own operators, as docs/ContribOperators.md there describes them.
inline constexpr std::string_view microsoft = "com.microsoft";

struct Rule {
    static constexpr int any = 1 << 30;

    std::string_view op_type;
    int64_t since;  // the first opset of which it holds
    struct {
        int least, most;
    } inputs;
    int outputs;                  // the most
    std::string_view attributes;  // names, with spaces between them
    void (*lower)(NodeLowering &node);
    std::string_view domain = "";
};

// The families. Rules of one operator stand together, oldest first.
std::span<const Rule> activation_rules();
std::span<const Rule> arithmetic_rules();
std::span<const Rule> constant_rules();
std::span<const Rule> convolution_rules();
std::span<const Rule> slice_rules();
std::span<const Rule> pad_rules();
std::span<const Rule> normalization_rules();
std::span<const Rule> pool_rules();
std::span<const Rule> product_rules();
std::span<const Rule> quantization_rules();
std::span<const Rule> quantized_rules();
std::span<const Rule> recurrent_rules();
std::span<const Rule> reduction_rules();
std::span<const Rule> resize_rules();
std::span<const Rule> scatter_rules();
std::span<const Rule> shape_rules();
std::span<const Rule> triangle_rules();

// What MatMul computes: an operand of one axis is a row on the left and a column on the right; that axis is not one of the
// result.
ValueId matrix_product(NodeLowering &node, ValueId a, ValueId b);

// An operand of Gemm, which the attribute of that name transposes.
ValueId gemm_operand(NodeLowering &node, int input, std::string_view transposed);

// The formula of an activation that another operator has taken in, with its attributes in ONNX's names.
Expression fused_activation(const std::string &op_type, std::vector<onnx::Attribute> numbers, const Expression &x,
                            Element type);

// The rule of an operator of one opset; none where it has no meaning there. `newest` is what the newest opset knows of it.
struct RuleSearch {
    const Rule *rule = nullptr;
    const Rule *newest = nullptr;
};
RuleSearch find_rule(std::string_view domain, std::string_view op_type, int64_t opset);

}  // namespace kiln::graph
