// Transforms of Winograd convolution as expressions: products of a constant matrix and a vector of expressions, with
// little arithmetic. Halide only builds what is written here, so the saving is made here, not by the compiler: rows and
// columns that agree but for signs, as those of points +p and -p do, share their halves, and nothing is multiplied by 0
// or +-1.
#pragma once

#include <Halide.h>

#include <vector>

namespace kiln {

// The product of `rows` and `values`: one expression a row. B^T d, G k and A^T t of winograd_matrices.h, also one after
// the other in two dimensions. Precondition: every row has as many entries as there are values, all of one type, and of integers where that is one.
std::vector<Halide::Expr> winograd_transform(const std::vector<std::vector<double>> &rows,
                                             const std::vector<Halide::Expr> &values);

// Additions, multiplications and multiply-adds that winograd_transform() spends on one vector.
int winograd_transform_operations(const std::vector<std::vector<double>> &rows);

// The value with this index; folds away where the index is unrolled.
Halide::Expr entry_at(const Halide::Expr &index, const std::vector<Halide::Expr> &values);

}  // namespace kiln
