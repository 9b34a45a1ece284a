// Gemm, MatMul, Einsum and the transforms of spectra.
#include <numeric>

#include "graph/lower/composed/einsum.h"
#include "graph/lower/composed/spectra.h"
#include "graph/lower/node/formulas.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/rules/rule.h"

namespace kiln::graph {
namespace {

// alpha * A B + beta * C. Where beta is 0, C is not read: it may be infinite or NaN.
void gemm(NodeLowering &node) {
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
    node.result(y);
}

void mat_mul(NodeLowering &node) { node.result(matrix_product(node, node.input(0), node.input(1))); }

constexpr Rule rows_of_product[] = {
    {"DFT", 17, {1, 2}, 1, "axis inverse onesided", dft_of_opset_17},
    {"DFT", 20, {1, 3}, 1, "inverse onesided", dft},
    {"Einsum", 12, {1, Rule::any}, 1, "equation", einsum},
    {"Gemm", 1, {3, 3}, 1, "alpha beta broadcast transA transB", gemm},
    {"Gemm", 7, {3, 3}, 1, "alpha beta transA transB", gemm},
    {"Gemm", 11, {2, 3}, 1, "alpha beta transA transB", gemm},
    {"MatMul", 1, {2, 2}, 1, "", mat_mul},
    {"STFT", 17, {2, 4}, 1, "onesided", stft},
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
