// How the template of matrices sees a movement: matrices that a function of the runtime transposes
// (runtime/transpose/matrix_transpose.h), a block of one a call.
//
// Rows are neighbours in the result, columns in the operand. Where the digit of the operand's neighbours is short, the
// one that goes on in its memory is counted along: [o, (i, hw)] of OIHW16i16o's blocks has 16 rows and 144 columns, 16
// runs of 9.
#pragma once

#include <cstdint>

#include "rewrites/movement.h"
#include "workload/target.h"

namespace kiln {

struct MatrixForm {
    int rows = -1;     // index of a digit; -1: there is no such form
    int columns = -1;  // of a digit, or of that of a run's columns
    int runs = -1;     // of the digit that counts runs; -1: there is one run
    int64_t line = 1;  // elements
    int64_t row_count = 0, column_count = 0;

    bool has_whole_lines() const { return row_count % line == 0; }  // on the side of the result
    // Whether one row's columns end where the next row's begin.
    bool rows_are_one_run(const Movement &m) const { return m.digits[rows].read_stride == column_count; }
};

// There is one where both sides have a line, all elements exist and the target is x86-64.
MatrixForm matrix_form(const Movement &m, const Target &target);

}  // namespace kiln
