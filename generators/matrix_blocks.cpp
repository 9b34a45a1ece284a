#include "generators/matrix_blocks.h"

#include "schedules/spaces/move_tile_space.h"

namespace kiln {
namespace {

using namespace Halide;

// How a digit is cut: counts of blocks and values of each.
struct Cut {
    int64_t count, values;
};

Cut cut(const MatrixMovement &s, int digit) {
    const MatrixBlock block = matrix_block(s.form, s.candidate.knobs);
    if (digit == s.form.runs) return {1, s.moved.digits[digit].extent};
    const int64_t values = digit == s.form.rows ? block.rows : digit == s.form.columns ? block.columns : 1;
    const int64_t extent = digit == s.form.columns ? s.form.column_count : s.moved.digits[digit].extent;
    return {(extent + values - 1) / values, values};
}

Expr wide(int64_t value) { return Expr(value); }

Expr memory(const Parameter &buffer) { return Internal::Variable::make(Handle(), buffer.name(), buffer); }

}  // namespace

RDom matrix_blocks(const MatrixMovement &s) {
    Region loops;
    for (int digit : matrix_order(s.moved, s.candidate.knobs)) {
        loops.emplace_back(0, static_cast<int>(cut(s, digit).count));
    }
    return RDom(loops, "block");
}

Expr transpose_block(const MatrixMovement &s, const RDom &blocks) {
    const MatrixBlock block = matrix_block(s.form, s.candidate.knobs);
    Expr read = wide(0), written = wide(0), rows = static_cast<int>(block.rows), is_last = Internal::const_true();
    const std::vector<int> order = matrix_order(s.moved, s.candidate.knobs);
    for (size_t i = 0; i < order.size(); i++) {
        const int digit = order[i];
        const MovedDigit &moved = s.moved.digits[digit];
        const Cut of_digit = cut(s, digit);
        const Expr number = blocks[static_cast<int>(i)];
        Expr first = cast<int64_t>(number) * wide(of_digit.values);
        if (digit == s.form.rows) {
            // The last block has what is left, a line of it at least.
            first = min(first, wide(s.form.row_count - s.form.line));
            rows = cast<int>(min(wide(block.rows), wide(s.form.row_count) - first));
        } else if (digit == s.form.columns) {
            // The last block ends where the columns do, and writes again what the one before wrote.
            first = min(first, wide(s.form.column_count - block.columns));
        }
        read += first * wide(moved.read_stride);
        written += first * wide(moved.written_stride);
        is_last = is_last && number == static_cast<int>(of_digit.count - 1);
    }
    const MovedDigit &column = s.moved.digits[s.form.columns];
    const bool one_run = s.form.runs < 0;
    const int run = static_cast<int>(one_run ? s.form.column_count : column.extent);
    // Each thread's stores must have arrived when it has done its last block, whichever that is.
    const Expr last = s.candidate.knob("parallel") ? Expr(1) : cast<int>(is_last);
    return Internal::Call::make(
        Int(32), s.function,
        {memory(s.operand), memory(s.output), read, written, wide(s.moved.digits[s.form.rows].read_stride),
         wide(column.written_stride), wide(one_run ? 0 : s.moved.digits[s.form.runs].written_stride), run, rows,
         static_cast<int>(block.columns), s.moved.element_bytes, static_cast<int>(s.candidate.knob("ahead")),
         static_cast<int>(s.candidate.knob("method") == move_stream), last},
        Internal::Call::Extern);
}

}  // namespace kiln
