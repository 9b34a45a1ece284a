#include "generators/movement/transpose.h"

#include <algorithm>

#include "generators/movement/fetched_block.h"
#include "generators/movement/tile_stages.h"
#include "schedules/apply/movement/move_transpose.h"

namespace kiln {
namespace {

using namespace Halide;

class TransposeKernel : public MovementKernel {
public:
    TransposeKernel(const Movement &m, const MoveTransposeKnobs &chosen)
        : MovementKernel(m, loops_of_digits(m)),
          knobs(chosen),
          read(read_neighbours(m)),
          written(static_cast<int>(m.digits.size()) - 1),
          rows(extent(knobs.rows)),
          lanes(extent(knobs.lanes)) {}

    void define(const Func &operand, Func output) override {
        const Func turned = turned_tile(loaded_tile(operand));
        // Which tile an element is of, and where it is there.
        std::vector<Expr> tile = digits();
        tile[read] = tile[read] / rows, tile[written] = tile[written] / lanes;
        const Expr place = (digits()[read] - first_read(tile)) * lanes + digits()[written] - first_written(tile);
        const Expr value = turned(placed(place, tile));
        output(arguments()) = knobs.fetched ? after_fetching(value, operand, output.name()) : value;
    }

    void schedule(Func output) override {
        apply_move_transpose({scheduled(output), stages.tile(), read, written, fetched}, knobs);
    }

private:
    Expr first_read(const std::vector<Expr> &tile) const {
        return tile_start(tile[read], rows, moved.digits[read].extent);
    }
    Expr first_written(const std::vector<Expr> &tile) const {
        return tile_start(tile[written], lanes, moved.digits[written].extent);
    }

    // `lanes` rows of the operand, one after the other.
    Func loaded_tile(const Func &operand) {
        const Expr p = stages.place();
        std::vector<Expr> at = digits();  // of the tile: its number along both digits
        at[read] = first_read(digits()) + p % rows;
        at[written] = first_written(digits()) + p / rows;
        return stages.add("loaded", rows, rows * lanes, element(moved, operand, at));
    }

    // Interleaving the two halves of a tile element by element log2(lanes) times makes it its own transpose: the place
    // row * rows + column moves its highest bit to the lowest.
    Func turned_tile(Func turned) {
        const Expr p = stages.place();
        const int places = lanes * rows;
        for (int done = 1, width = rows; done < lanes; done *= 2) {
            width = std::min(lanes, width * 2);
            const Func before = turned;
            const Expr of_first = before(placed(p / 2, digits())),
                       of_second = before(placed(p / 2 + places / 2, digits()));
            turned = stages.add("turned", width, places, select(p % 2 == 0, of_first, of_second));
        }
        return turned;
    }

    // `value`, after the lines of its block are fetched, of the operand or of the result.
    Expr after_fetching(const Expr &value, const Func &operand, const std::string &output_name) {
        const FetchedSide side = fetched_side(moved, knobs);
        std::vector<Expr> block = digits();
        std::vector<Var> number;
        Expr first = 0;
        for (size_t d = 0; d < block.size(); d++) {
            block[d] = block[d] / extent(side.block[d]);
            number.push_back(loops[d].variable);
            first += number[d] * extent(side.block[d] * side.stride(moved.digits[d]));
        }
        // The output has no parameter yet: one of the same name stands for its memory.
        const Parameter memory =
            side.is_operand ? memory_of(operand) : Parameter(operand.type(), true, extent(loops.size()), output_name);
        fetched = fetched_block({memory, first, side.rows, side.row_stride, side.run}, number);
        return select(fetched(block) == 0, value, cast(value.type(), 0));
    }

    MoveTransposeKnobs knobs;
    int read, written, rows, lanes;
    TileStages stages{loops};
    Func fetched;
};

}  // namespace

std::unique_ptr<MovementKernel> transpose_kernel(const Movement &moved, const MoveTransposeKnobs &knobs) {
    return std::make_unique<TransposeKernel>(moved, knobs);
}

}  // namespace kiln
