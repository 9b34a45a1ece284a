// The rows of the input that a tile of outputs reads each once for all of its rows, as the taps of one sum.
//
// Tap `tap` of the tile is the kernel's tap - row * stride for the tile's row `row`, if the kernel has that. The test folds where taps and
// rows are unrolled. Precondition: no dilation of rows.
#pragma once

#include <Halide.h>

#include "rewrites/conv_shape.h"
#include "schedules/apply/extent.h"

namespace kiln {

class SharedRows {
public:
    SharedRows(const ConvShape &shape, int64_t rows)
        : rows_(extent(rows)),
          taps_(extent(shape.reach(rows, 1))),
          kernel_rows_(extent(shape.kernel[1])),
          stride_(extent(shape.stride[1])) {}

    int taps() const { return taps_; }
    // Rows of the input from a tile to the next.
    int step() const { return rows_ * stride_; }

    // The kernel's row that a tap is for a row of the tile, and the nearest one that there is.
    Halide::Expr kernel_row(const Halide::Expr &tap, const Halide::Expr &row) const { return tap - row * stride_; }
    Halide::Expr known(const Halide::Expr &kernel_row) const { return clamp(kernel_row, 0, kernel_rows_ - 1); }

    // `product` where the kernel has that row, else `zero`.
    Halide::Expr where_there(const Halide::Expr &kernel_row, const Halide::Expr &product,
                             const Halide::Expr &zero) const {
        return select(Halide::likely(kernel_row >= 0 && kernel_row < kernel_rows_), product, zero);
    }

private:
    int rows_, taps_, kernel_rows_, stride_;
};

}  // namespace kiln
