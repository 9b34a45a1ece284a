// Gemm, MatMul, Einsum, attention and the transforms of spectra.
#include <algorithm>
#include <numeric>
#include <utility>

#include "graph/lower/composed/attention/attention.h"
#include "graph/lower/composed/attention/fused_attention.h"
#include "graph/lower/composed/attention/linear_attention.h"
#include "graph/lower/composed/attention/rotary_embedding.h"
#include "graph/lower/composed/einsum.h"
#include "graph/lower/composed/spectra.h"
#include "graph/lower/node/formulas.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/rules/rule.h"

namespace kiln::graph {
namespace {

// alpha * A B + beta * C. Where beta is 0, C is not read: it may be infinite or NaN.
ValueId gemm_value(NodeLowering &node) {
    const ValueId product =
        node.add(MatrixProduct{}, {gemm_operand(node, 0, "transA"), gemm_operand(node, 1, "transB")});
    const NumbersOf number{node.type(product)};
    const auto scaled = [&](Expression x, const char *factor) {
        const double value = node.attributes.real(factor, 1);
        return value == 1 ? x : x * number(value);
    };
    Expression sum = scaled(operand(0), "alpha");
    std::vector<ValueId> operands{product};
    if (node.has_input(2) && node.attributes.real("beta", 1) != 0) {
        sum = sum + scaled(operand(1), "beta");
        operands.push_back(node.input(2));
    }
    const ValueId y = node.elementwise(sum, operands);
    if (node.shape(y) != node.shape(product)) {
        reject("its addend of shape " + to_text(node.shape(operands[1])) + " does not fit " +
               to_text(node.shape(product)));
    }
    return y;
}

void gemm(NodeLowering &node) { node.result(gemm_value(node)); }

// Gemm behind which onnxruntime has put an activation. The numbers of that have names of their own.
void fused_gemm(NodeLowering &node) {
    const ValueId sum = gemm_value(node);
    const std::string activation = node.attributes.text("activation", "");
    if (activation.empty()) return node.result(sum);
    std::vector<onnx::Attribute> numbers;
    for (const char *name : {"alpha", "beta", "gamma"}) {
        const std::string stated = "activation_" + std::string(name);
        if (node.attributes.has(stated)) numbers.push_back({name, static_cast<float>(node.attributes.real(stated))});
    }
    const Expression y = fused_activation(activation, std::move(numbers), operand(0), node.type(sum));
    node.result(node.elementwise(y, {sum}));
}

// An operand of FusedMatMul: its first axis becomes that of its rows where `moves_first` says, then its matrices are transposed.
ValueId fused_operand(NodeLowering &node, int input, const char *transposed, const char *moves_first) {
    ValueId x = node.input(input);
    const int rank = node.rank(x);
    if (rank < 2) return x;
    std::vector<int> axes(static_cast<size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
    if (node.attributes.flag(moves_first, false)) std::rotate(axes.begin(), axes.begin() + 1, axes.end() - 1);
    if (node.attributes.flag(transposed, false)) std::swap(axes[axes.size() - 2], axes.back());
    return node.transpose(x, axes);
}

void fused_mat_mul(NodeLowering &node) {
    const ValueId product = matrix_product(node, fused_operand(node, 0, "transA", "transBatchA"),
                                           fused_operand(node, 1, "transB", "transBatchB"));
    const double alpha = node.attributes.real("alpha", 1);
    if (alpha == 1) return node.result(product);
    node.result(node.elementwise(operand(0) * NumbersOf{node.type(product)}(alpha), {product}));
}

void mat_mul(NodeLowering &node) { node.result(matrix_product(node, node.input(0), node.input(1))); }

constexpr std::string_view attention_attributes =
    "is_causal kv_num_heads q_num_heads qk_matmul_output_mode scale softcap softmax_precision";

constexpr Rule rows_of_product[] = {
    {"Attention",
     1,
     {2, 7},
     2,
     "do_rotary mask_filter_value num_heads past_present_share_buffer qkv_hidden_sizes rotary_embedding_dim scale "
     "unidirectional",
     projected_attention,
     microsoft},
    {"Attention", 23, {3, 6}, 4, attention_attributes, attention},
    {"Attention", 24, {3, 7}, 4, attention_attributes, attention},
    {"Attention",
     25,
     {3, 7},
     4,
     "is_causal kv_num_heads left_window_size q_num_heads qk_matmul_output_mode right_window_size scale softcap "
     "softmax_precision",
     attention},
    {"DFT", 17, {1, 2}, 1, "axis inverse onesided", dft_of_opset_17},
    {"DFT", 20, {1, 3}, 1, "inverse onesided", dft},
    {"Einsum", 12, {1, Rule::any}, 1, "equation", einsum},
    {"FusedGemm",
     1,
     {2, 3},
     1,
     "activation activation_alpha activation_beta activation_gamma alpha beta transA transB",
     fused_gemm,
     microsoft},
    {"FusedMatMul", 1, {2, 2}, 1, "alpha transA transB transBatchA transBatchB", fused_mat_mul, microsoft},
    {"Gemm", 1, {3, 3}, 1, "alpha beta broadcast transA transB", gemm},
    {"Gemm", 7, {3, 3}, 1, "alpha beta transA transB", gemm},
    {"Gemm", 11, {2, 3}, 1, "alpha beta transA transB", gemm},
    {"LinearAttention", 27, {3, 6}, 2, "chunk_size kv_num_heads q_num_heads scale update_rule", linear_attention},
    {"MatMul", 1, {2, 2}, 1, "", mat_mul},
    {"MultiHeadAttention",
     1,
     {1, 10},
     4,
     "mask_filter_value num_heads scale unidirectional",
     multi_head_attention,
     microsoft},
    {"RotaryEmbedding",
     1,
     {4, 4},
     1,
     "interleaved is_packed_batching num_heads rotary_embedding_dim scale",
     rotary_embedding_of_onnxruntime,
     microsoft},
    {"RotaryEmbedding", 23, {3, 4}, 1, "interleaved num_heads rotary_embedding_dim", rotary_embedding},
    {"STFT", 17, {2, 4}, 1, "onesided", stft},
    {"TransposeMatMul", 1, {2, 2}, 1, "alpha transA transB", fused_mat_mul, microsoft},
};

}  // namespace

std::span<const Rule> product_rules() { return rows_of_product; }

ValueId gemm_operand(NodeLowering &node, int input, std::string_view transposed) {
    const ValueId value = node.input(input);
    if (node.rank(value) != 2) reject("its operand of shape " + to_text(node.shape(value)) + " is no matrix");
    return node.attributes.flag(transposed, false) ? node.transpose(value, {1, 0}) : value;
}

ValueId matrix_product(NodeLowering &node, ValueId a, ValueId b) {
    const bool row = node.rank(a) == 1, column = node.rank(b) == 1;
    if (row) a = node.reshape(a, {1, node.shape(a)[0]});
    if (column) b = node.reshape(b, {node.shape(b)[0], 1});
    const ValueId product = node.add(MatrixProduct{}, {a, b});
    Shape shape = node.shape(product);
    if (column) shape.pop_back();
    if (row) shape.erase(shape.end() - (column ? 1 : 2));
    return node.reshape(product, shape);
}

}  // namespace kiln::graph
