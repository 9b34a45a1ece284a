#include "generators/movement/matrix.h"

#include <string>

#include "schedules/apply/movement/move_matrix.h"

namespace kiln {
namespace {

using namespace Halide;

Expr wide(int64_t value) { return Expr(value); }

Expr address(const Parameter &buffer) { return Internal::Variable::make(Handle(), buffer.name(), buffer); }

class MatrixKernel : public MovementKernel {
public:
    MatrixKernel(const Movement &m, const MatrixChoice &choice, const kiln::Target &target)
        : MovementKernel(m, loops_of_digits(m)),
          knobs(choice.knobs),
          past_caches(choice.past_caches),
          form(matrix_form(m, target)),
          block(matrix_block(form, knobs)),
          function(transpose_function(target)) {}

    // Nothing is stored here but by the calls, one for each of the blocks.
    void define(const Func &operand, Func output) override {
        const Type bits = operand.type();
        Region loops_over_blocks;
        for (int digit : order) loops_over_blocks.emplace_back(0, extent(cut(digit).count));
        blocks = RDom(loops_over_blocks, "block");
        output(arguments()) = undef(bits);
        const std::vector<Expr> first(loops.size(), 0);
        // The output has no parameter yet: one of the same name stands for its memory.
        const Parameter result(bits, true, extent(loops.size()), output.name());
        output(first) = select(transposed_block(memory_of(operand), result) == 0, undef(bits), cast(bits, 0));
    }

    void schedule(Func output) override {
        std::vector<RVar> loops_over_blocks;
        for (int d = 0; d < blocks.dimensions(); d++) loops_over_blocks.push_back(blocks[d]);
        apply_move_matrix(output, loops_over_blocks, knobs);
    }

private:
    // How a digit is cut: counts of blocks and values of each.
    struct Cut {
        int64_t count, values;
    };

    Cut cut(int digit) const {
        if (digit == form.runs) return {1, moved.digits[digit].extent};
        const int64_t values = digit == form.rows ? block.rows : digit == form.columns ? block.columns : 1;
        const int64_t whole = digit == form.columns ? form.column_count : moved.digits[digit].extent;
        return {(whole + values - 1) / values, values};
    }

    Expr number(size_t i) const { return blocks[extent(static_cast<int64_t>(i))]; }

    // The first value of order[i] that a block has.
    Expr first_value(size_t i) const {
        const int digit = order[i];
        const Expr first = cast<int64_t>(number(i)) * wide(cut(digit).values);
        // The last block of rows has what is left, a line of it at least. The last of columns ends where they do, and
        // writes again what the one before wrote.
        if (digit == form.rows) return min(first, wide(form.row_count - form.line));
        if (digit == form.columns) return min(first, wide(form.column_count - block.columns));
        return first;
    }

    // 0, after the block has been moved; what other threads see of it is complete when all have been.
    Expr transposed_block(const Parameter &operand, const Parameter &result) const {
        Expr read = wide(0), written = wide(0), rows = extent(block.rows), is_last = Internal::const_true();
        for (size_t i = 0; i < order.size(); i++) {
            const int digit = order[i];
            const Expr first = first_value(i);
            if (digit == form.rows) rows = cast<int>(min(wide(block.rows), wide(form.row_count) - first));
            read += first * wide(moved.digits[digit].read_stride);
            written += first * wide(moved.digits[digit].written_stride);
            is_last = is_last && number(i) == extent(cut(digit).count - 1);
        }
        const MovedDigit &column = moved.digits[form.columns];
        const bool one_run = form.runs < 0;
        const int run = extent(one_run ? form.column_count : column.extent);
        // Each thread's stores must have arrived when it has done its last block, whichever that is.
        const Expr last = knobs.parallel ? Expr(1) : cast<int>(is_last);
        return Internal::Call::make(
            Int(32), function,
            {address(operand), address(result), read, written, wide(moved.digits[form.rows].read_stride),
             wide(column.written_stride), wide(one_run ? 0 : moved.digits[form.runs].written_stride), run, rows,
             extent(block.columns), moved.element_bytes, extent(knobs.fetched), extent(past_caches), last},
            Internal::Call::Extern);
    }

    MoveMatrixKnobs knobs;
    bool past_caches;
    MatrixForm form;
    MatrixBlock block;
    std::string function;
    std::vector<int> order = matrix_order(moved, knobs);  // the loops over blocks, by their digits
    RDom blocks;
};

}  // namespace

std::unique_ptr<MovementKernel> matrix_kernel(const Movement &moved, const MatrixChoice &choice,
                                              const kiln::Target &target) {
    return std::make_unique<MatrixKernel>(moved, choice, target);
}

}  // namespace kiln
