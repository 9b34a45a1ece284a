#include "generators/movement/shuffle.h"

#include "generators/movement/shuffle_index.h"
#include "generators/movement/tile_stages.h"
#include "schedules/apply/movement/move_shuffle.h"

namespace kiln {
namespace {

using namespace Halide;

// The digits down to the long one, which is one with all that is inside of it.
std::vector<MovedLoop> joined_loops(const Movement &m, const ShuffleForm &form) {
    std::vector<MovedLoop> loops = loops_of_digits(m);
    loops.resize(static_cast<size_t>(form.along) + 1);
    loops.back().extent *= form.written_stride;
    loops.back().read_stride = form.read_stride;
    return loops;
}

class ShuffleKernel : public MovementKernel {
public:
    ShuffleKernel(const Movement &m, const ShuffleForm &of, const MoveShuffleKnobs &chosen)
        : MovementKernel(m, joined_loops(m, of)),
          form(of),
          knobs(chosen),
          tile(extent(shuffled_tile(form, knobs))),
          read_row(tile * extent(form.read_stride)),
          written_row(tile * extent(form.written_stride)) {
        for (int d : form.small) {
            if (m.digits[d].read_stride >= form.read_stride) read_rows.push_back(d);
            if (d < form.along) written_rows.push_back(d);
        }
        // Whole rows are interleaved.
        division.is_hidden = form.read_rows > 1 && form.written_rows == 1 && form.small.size() == 1;
    }

    void define(const Func &from, Func output) override {
        operand = from;
        const Func turned = turned_tile(loaded_tile());
        std::vector<Expr> of_tile = digits();
        of_tile[form.along] = digits()[form.along] / written_row;
        Expr row = 0;
        for (int d : written_rows) {
            row = row * extent(moved.digits[d].extent) + digits()[d];
            of_tile[d] = 0;
        }
        const Expr in_row = digits()[form.along] - first_of(of_tile[form.along]) * extent(form.written_stride);
        output(arguments()) = turned(placed(row * written_row + in_row, of_tile));
    }

    void schedule(Func output) override {
        apply_move_shuffle({scheduled(output), stages.tile(), form, memory_of(operand)}, knobs);
    }

private:
    Expr first_of(const Expr &number) const { return tile_start(number, tile, moved.digits[form.along].extent); }

    // Rows of the digits outside, elements as they lie.
    Func loaded_tile() {
        const Expr p = stages.place();
        const std::vector<Expr> at = digits();
        Expr position = first_of(at[form.along]) * extent(form.read_stride) + p % read_row;
        for (int d = 0; d < form.along; d++) {
            if (!form.is_small(d)) position += at[d] * extent(moved.digits[d].read_stride);
        }
        Expr row = p / read_row;
        for (int d : read_rows) {
            position += row % extent(moved.digits[d].valid) * extent(moved.digits[d].read_stride);
            row = row / extent(moved.digits[d].valid);
        }
        return stages.add("loaded", knobs.lanes, read_row * form.read_rows, operand(position));
    }

    // Every row of what was loaded is shuffled on its own, so that LLVM never sees more than one in an index.
    Func turned_tile(const Func &loaded) {
        const int64_t count = int64_t(written_row) * form.written_rows;
        const Expr p = stages.place() % extent(count);  // its bounds are constants wherever Halide looks for them
        const std::vector<Expr> values = small_values(p);
        const Expr in_row = place_in_read_row(p, values);
        const int rows = extent(form.read_rows);
        std::vector<Expr> of_row;
        for (int r = 0; r < rows; r++) {
            Expr one = loaded(placed(hidden_index(in_row + r * read_row), digits()));
            if (rows > 1) one = stages.add("of_row", knobs.lanes, count, one)(placed(stages.place(), digits()));
            of_row.push_back(one);
        }
        const Expr row = read_row_of(values), exists = exists_at(values);
        Expr value = of_row.back();
        for (int r = rows - 1; r-- > 0;) value = select(row == r, of_row[r], value);
        if (!Internal::is_const_one(exists)) value = select(exists, value, cast(operand.type(), 0));
        return stages.add("turned", knobs.lanes, count, value);
    }

    // Values of the small digits at a place of the shuffled tile, by index of the digit.
    std::vector<Expr> small_values(const Expr &p) const {
        std::vector<Expr> values(moved.digits.size());
        Expr row = p / written_row;
        for (size_t i = written_rows.size(); i-- > 0;) {
            const int d = written_rows[i];
            values[d] = row % extent(moved.digits[d].extent);
            row = row / extent(moved.digits[d].extent);
        }
        for (int d : form.small) {
            const MovedDigit &digit = moved.digits[d];
            if (d < form.along) continue;
            values[d] = division.remainder(division.quotient(p, extent(digit.written_stride)), extent(digit.extent));
        }
        return values;
    }

    Expr place_in_read_row(const Expr &p, const std::vector<Expr> &values) const {
        const Expr in_written_row = division.is_hidden ? p : p % written_row;
        Expr place = division.quotient(in_written_row, extent(form.written_stride)) * extent(form.read_stride);
        for (int d : form.small) {
            const MovedDigit &digit = moved.digits[d];
            if (digit.read_stride >= form.read_stride) continue;
            place += min(values[d], extent(digit.valid - 1)) * extent(digit.read_stride);
        }
        return place;
    }

    Expr read_row_of(const std::vector<Expr> &values) const {
        Expr row = 0;
        int rows = 1;
        for (int d : read_rows) row += values[d] * rows, rows *= extent(moved.digits[d].valid);
        return row;
    }

    Expr exists_at(const std::vector<Expr> &values) const {
        Expr exists = Internal::const_true();
        for (int d : form.small) {
            const MovedDigit &digit = moved.digits[d];
            if (digit.valid < digit.extent) exists = exists && values[d] < extent(digit.valid);
        }
        return exists;
    }

    ShuffleForm form;
    MoveShuffleKnobs knobs;
    int tile, read_row, written_row;           // elements of the long digit, and of a row on both sides
    std::vector<int> read_rows, written_rows;  // small digits of which each value is a row of its own, on each side
    ShuffleDivision division;
    TileStages stages{loops};
    Func operand;
};

}  // namespace

std::unique_ptr<MovementKernel> shuffle_kernel(const Movement &moved, const MoveShuffleKnobs &knobs) {
    return std::make_unique<ShuffleKernel>(moved, shuffle_form(moved), knobs);
}

}  // namespace kiln
