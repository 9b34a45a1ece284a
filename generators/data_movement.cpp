// Data movement: space_to_depth, depth_to_space and layout_transform are one permutation of digits
// (rewrites/movement.h).
//
//   output(digits) = operand[sum of digit * read_stride], or 0 where no element exists
//
// The operand is one row of elements and elements are plain bits, whatever their type. Where the candidate says so, a
// tile is loaded in whole vectors and turned in registers before it is stored:
//   transpose   a tile of `lanes` rows of the operand. Interleaving its two halves element by element log2(lanes) times
//               makes it its own transpose: place p = row * rows + column moves its highest bit to the lowest.
//   shuffle     a tile of rows along one digit; every place of the result says which place of the tile it is.
// Or a function of the runtime transposes blocks of it:
//   matrix, stream   output(digits) is written by the call for its block.
#include <Halide.h>

#include <bit>

#include "generators/fetched_block.h"
#include "generators/matrix_blocks.h"
#include "schedules/apply/move_tile.h"
#include "workload/signature.h"
#include "workload/target.h"

namespace kiln {
namespace {

using namespace Halide;

class DataMovement : public Generator<DataMovement> {
public:
    GeneratorParam<std::string> workload_key{"workload", ""};
    GeneratorParam<std::string> candidate_text{"candidate", ""};
    GeneratorParam<std::string> target_text{"kiln_target", ""};

    void configure() {
        workload = *parse_workload_key(workload_key.value());
        candidate = *parse_candidate(candidate_text.value());
        moved = movement(workload);
        form = shuffle_form(moved);
        method = static_cast<MoveMethod>(candidate.knob("method"));
        bits = UInt(8 * moved.element_bytes);
        operand = add_input<Buffer<>>("operand", bits, 1);
        lay_out();
        output = add_output<Buffer<>>(written_name, bits, static_cast<int>(stages.loops.size()));
    }

    void generate() {
        std::vector<Var> arguments;
        for (size_t d = stages.loops.size(); d-- > 0;) arguments.push_back(stages.loops[d].variable);
        switch (method) {
            case move_rows:
                (*output)(arguments) = moved.is_regular ? element(digit_values()) : divided_element();
                break;
            case move_transpose:
                (*output)(arguments) = transposed();
                break;
            case move_shuffle:
                (*output)(arguments) = shuffled();
                break;
            case move_stream:
            case move_matrix:
                transpose_into(arguments);
                break;
        }
    }

    void schedule() {
        operand->dim(0).set_bounds(0, extent(moved.read_elements)).set_stride(1);
        int64_t stride = 1;
        for (size_t d = 0; d < stages.loops.size(); d++) {
            const int64_t count = stages.loops[stages.loops.size() - 1 - d].extent;
            output->dim(static_cast<int>(d)).set_bounds(0, extent(count)).set_stride(extent(stride));
            stride *= count;
        }
        stages.output = *output;
        stages.operand = operand_memory();
        apply_move_tile(stages, candidate, form);
    }

private:
    static constexpr const char *written_name = "output";

    static int extent(int64_t e) { return static_cast<int>(e); }
    int knob(const char *name) const { return extent(candidate.knob(name)); }

    // The output's dimensions: the digits, but that of a shuffled tile with all that is inside of it is one.
    void lay_out() {
        stages.written = static_cast<int>(moved.digits.size()) - 1;
        stages.read = read_neighbours(moved);
        if (method == move_shuffle) stages.read = stages.written = form.along;
        for (int d = 0; d <= stages.written; d++) {
            const MovedDigit &digit = moved.digits[d];
            const bool joins = method == move_shuffle && d == form.along;
            stages.loops.push_back({Var("d" + std::to_string(d)), digit.extent * (joins ? form.written_stride : 1),
                                    joins ? form.read_stride : digit.read_stride});
        }
        if (method != move_shuffle) return;
        for (int d : form.small) {
            if (d < form.along) stages.unrolled.push_back(d);
        }
    }

    std::vector<Expr> digit_values() const {
        std::vector<Expr> values;
        for (const MovedLoop &loop : stages.loops) values.push_back(loop.variable);
        return values;
    }

    // The operand's element that has these digits.
    Expr element(const std::vector<Expr> &digits) const {
        Expr position = 0, exists = Internal::const_true();
        for (size_t d = 0; d < digits.size(); d++) {
            const MovedDigit &digit = moved.digits[d];
            position += digits[d] * extent(digit.read_stride);
            if (digit.valid < digit.extent) exists = exists && digits[d] < extent(digit.valid);
        }
        for (const MovedLimit &limit : moved.limits) {
            Expr sum = 0;
            for (size_t d = 0; d < digits.size(); d++) sum += digits[d] * extent(limit.steps[d]);
            exists = exists && sum < extent(limit.extent);
        }
        return or_zero(exists, position);
    }

    // What is read where nothing exists must exist too.
    Expr or_zero(const Expr &exists, const Expr &position) const {
        if (Internal::is_const_one(simplify(exists))) return (*operand)(position);
        return select(likely(exists), (*operand)(clamp(position, 0, extent(moved.read_elements - 1))), cast(bits, 0));
    }

    // The same for blocks that do not divide each other: coordinates of the result, then of the operand.
    Expr divided_element() const {
        const Signature tensors = signature(workload);
        const TensorForm &from = tensors.operands[0], &to = tensors.result;
        std::vector<Expr> at(to.logical.size(), 0), source(from.logical.size(), 0);
        size_t next = 0;
        for (const StoredDimension &d : to.stored) {
            if (d.extent > 1) at[d.axis] += stages.loops[next++].variable * extent(d.step);
        }
        Expr exists = Internal::const_true(), position = 0;
        const auto components = moved_components(workload);
        for (size_t axis = 0; axis < at.size(); axis++) {
            exists = exists && at[axis] < extent(to.logical[axis]);
            for (size_t c = 0; c < components[axis].size(); c++) {
                const MovedComponent &part = components[axis][c];
                Expr value = at[axis] / extent(part.place);
                if (c > 0) value = value % extent(part.extent);
                source[part.axis] += value * extent(part.unit);
            }
        }
        int64_t stride = 1;
        for (size_t d = from.stored.size(); d-- > 0; stride *= from.stored[d].extent) {
            const StoredDimension &dimension = from.stored[d];
            const Expr of_axis = source[dimension.axis] / extent(dimension.step);
            position += of_axis % extent(dimension.extent) * extent(stride);
        }
        for (size_t axis = 0; axis < source.size(); axis++) {
            exists = exists && source[axis] < extent(from.logical[axis]);
        }
        return or_zero(exists, position);
    }

    // Where tile `number` of `size` elements begins: the last one ends where the digit does.
    static Expr tile_start(const Expr &number, int size, int64_t of) {
        return of % size == 0 ? number * size : min(likely(number * size), extent(of) - size);
    }

    // Another stage of a tile; `value` of its element at stages.place.
    Func stage(const char *name, int64_t lanes, int64_t count, const Expr &value) {
        stages.tile.push_back({Func(name), lanes, count});
        std::vector<Var> arguments{stages.place};
        for (const MovedLoop &loop : stages.loops) arguments.push_back(loop.variable);
        Func elements = stages.tile.back().elements;
        elements(arguments) = value;
        return elements;
    }

    // Arguments of a tile's stages: the place in it, then which tile.
    static std::vector<Expr> placed(const Expr &place, std::vector<Expr> tile) {
        tile.insert(tile.begin(), place);
        return tile;
    }

    Expr transposed() {
        const int lanes = knob("lanes"), rows = knob("rows"), places = lanes * rows;
        const int64_t of_read = moved.digits[stages.read].extent, of_written = moved.digits[stages.written].extent;
        const std::vector<Expr> digits = digit_values();  // in a stage: those of a tile are its number
        const Expr p = stages.place, column = p % rows, row = p / rows;
        std::vector<Expr> at = digits;
        at[stages.read] = tile_start(at[stages.read], rows, of_read) + column;
        at[stages.written] = tile_start(at[stages.written], lanes, of_written) + row;
        Func turned = stage("loaded", rows, places, element(at));
        for (int done = 1, width = rows; done < lanes; done *= 2) {
            width = std::min(lanes, width * 2);
            const Func before = turned;
            turned =
                stage("turned", width, places,
                      select(p % 2 == 0, before(placed(p / 2, digits)), before(placed(p / 2 + places / 2, digits))));
        }
        std::vector<Expr> tile = digits;
        tile[stages.read] = tile[stages.read] / rows, tile[stages.written] = tile[stages.written] / lanes;
        const Expr of_tile = (digits[stages.read] - tile_start(tile[stages.read], rows, of_read)) * lanes +
                             digits[stages.written] - tile_start(tile[stages.written], lanes, of_written);
        const Expr value = turned(placed(of_tile, tile));
        return knob("ahead") ? after_fetching(value) : value;
    }

    // Nothing is stored here but by the calls, one for each of the blocks.
    void transpose_into(const std::vector<Var> &arguments) {
        const kiln::Target cpu{target_text.value(), 1};
        const MatrixMovement matrices{
            moved, matrix_form(moved, cpu), candidate, transpose_function(cpu), operand_memory(), output_memory()};
        const RDom blocks = matrix_blocks(matrices);
        for (int d = 0; d < blocks.dimensions(); d++) stages.blocks.push_back(blocks[d]);
        (*output)(arguments) = undef(bits);
        const std::vector<Expr> first(arguments.size(), 0);
        (*output)(first) = select(transpose_block(matrices, blocks) == 0, undef(bits), cast(bits, 0));
    }

    // The memory of the pipeline's arguments.
    Parameter operand_memory() const { return Func(*operand).value().as<Internal::Call>()->param; }
    Parameter output_memory() const {
        return Parameter(bits, true, static_cast<int>(stages.loops.size()), written_name);
    }

    // `value`, after the lines of its block are fetched, of the operand or of the result.
    Expr after_fetching(const Expr &value) {
        const FetchedSide side = fetched_side(moved, candidate.knobs);
        std::vector<Expr> block = digit_values();
        std::vector<Var> arguments;
        Expr first = 0;
        for (size_t d = 0; d < block.size(); d++) {
            const int64_t of_block = side.block[d];
            block[d] = block[d] / extent(of_block);
            arguments.push_back(stages.loops[d].variable);
            first += arguments[d] * extent(of_block * side.stride(moved.digits[d]));
        }
        const Parameter buffer = side.is_operand ? operand_memory() : output_memory();
        stages.fetched = fetched_block({buffer, first, side.rows, side.row_stride, side.run}, arguments);
        return select(stages.fetched(block) == 0, value, cast(bits, 0));
    }

    // The same index, but Halide must not see that it has a pattern: it then loads windows that straddle the vectors
    // that were stored, which keeps all of them in memory. LLVM sees constants and makes shuffles of them.
    static Expr hidden(const Expr &index) {
        const Expr half = cast<uint16_t>(index);
        return cast<int>(halving_add(half, half));
    }

    // Where whole rows are interleaved by 2 or 4, divisions are hidden, too: Halide would compute even and odd places
    // apart, from such windows.
    bool interleaves() const { return form.read_rows > 1 && form.written_rows == 1 && form.small.size() == 1; }
    Expr quotient(Expr p, int by) const {
        if (!interleaves() || !std::has_single_bit(unsigned(by))) return p / by;
        p = cast<uint16_t>(p);
        for (; by > 1; by /= 2) p = halving_add(p, cast<uint16_t>(0));
        return cast<int>(p);
    }
    Expr remainder(const Expr &p, int by) const {
        if (!interleaves() || !std::has_single_bit(unsigned(by))) return p % by;
        return p - quotient(p, by) * by;
    }

    Expr shuffled() {
        const int lanes = knob("lanes"), tile = extent(form.smallest_tile(lanes)) * knob("rows");
        const int64_t of_along = moved.digits[form.along].extent;
        const int read_row = tile * extent(form.read_stride), written_row = tile * extent(form.written_stride);
        const Expr p = stages.place;
        const std::vector<Expr> digits = digit_values();
        // What is read: rows of the digits outside, elements as they lie.
        Expr position = tile_start(digits[form.along], tile, of_along) * extent(form.read_stride) + p % read_row;
        for (size_t d = 0; d < digits.size(); d++) {
            if (!is_small(d) && static_cast<int>(d) != form.along)
                position += digits[d] * extent(moved.digits[d].read_stride);
        }
        Expr row = p / read_row;
        for (int d : row_digits()) {
            position += row % extent(moved.digits[d].valid) * extent(moved.digits[d].read_stride);
            row = row / extent(moved.digits[d].valid);
        }
        const Func loaded = stage("loaded", lanes, read_row * form.read_rows, (*operand)(position));
        const Func turned = shuffle_tile(loaded, read_row, written_row);

        std::vector<Expr> of_tile = digits;
        Expr number = digits[form.along] / written_row, written_rows = 0;
        of_tile[form.along] = number;
        for (int d : stages.unrolled) {
            written_rows = written_rows * extent(moved.digits[d].extent) + digits[d];
            of_tile[d] = 0;
        }
        const Expr in_tile = digits[form.along] - tile_start(number, tile, of_along) * extent(form.written_stride);
        return turned(placed(written_rows * written_row + in_tile, of_tile));
    }

    // Every row of what was loaded is shuffled on its own, so that LLVM never sees more than one in an index.
    Func shuffle_tile(const Func &loaded, int read_row, int written_row) {
        const int64_t count = int64_t(written_row) * form.written_rows;
        const Expr p = stages.place % extent(count);  // its bounds are constants wherever Halide looks for them
        const std::vector<Expr> values = small_values(p, written_row);
        Expr exists = Internal::const_true(), row = 0;
        const Expr in_written_row = interleaves() ? p : p % written_row;
        Expr in_row = quotient(in_written_row, extent(form.written_stride)) * extent(form.read_stride);
        for (int d : form.small) {
            const MovedDigit &digit = moved.digits[d];
            if (digit.valid < digit.extent) exists = exists && values[d] < extent(digit.valid);
            if (digit.read_stride < form.read_stride) {
                in_row += min(values[d], extent(digit.valid - 1)) * extent(digit.read_stride);
            }
        }
        int rows = 1;
        for (int d : row_digits()) row += values[d] * rows, rows *= extent(moved.digits[d].valid);
        std::vector<Expr> of_row;
        for (int r = 0; r < rows; r++) {
            const Expr one = loaded(placed(hidden(in_row + r * read_row), digit_values()));
            of_row.push_back(
                rows == 1 ? one
                          : Expr(stage("of_row", knob("lanes"), count, one)(placed(stages.place, digit_values()))));
        }
        Expr value = of_row.back();
        for (int r = rows - 1; r-- > 0;) value = select(row == r, of_row[r], value);
        if (!Internal::is_const_one(exists)) value = select(exists, value, cast(bits, 0));
        return stage("turned", knob("lanes"), count, value);
    }

    // Values of the small digits at a place of the shuffled tile, by index of the digit.
    std::vector<Expr> small_values(const Expr &p, int written_row) const {
        std::vector<Expr> values(moved.digits.size());
        Expr row = p / written_row;
        for (size_t i = stages.unrolled.size(); i-- > 0;) {
            const int d = stages.unrolled[i];
            values[d] = row % extent(moved.digits[d].extent);
            row = row / extent(moved.digits[d].extent);
        }
        for (int d : form.small) {
            const MovedDigit &digit = moved.digits[d];
            if (d > form.along) values[d] = remainder(quotient(p, extent(digit.written_stride)), extent(digit.extent));
        }
        return values;
    }

    bool is_small(size_t d) const {
        return std::find(form.small.begin(), form.small.end(), static_cast<int>(d)) != form.small.end();
    }
    // Small digits that are outside of the long one in the operand: each value is a row of its own.
    std::vector<int> row_digits() const {
        std::vector<int> digits;
        for (int d : form.small) {
            if (moved.digits[d].read_stride >= form.read_stride) digits.push_back(d);
        }
        return digits;
    }

    Workload workload;
    Candidate candidate;
    Movement moved;
    ShuffleForm form;
    MoveMethod method = move_rows;
    Type bits;
    GeneratorInput<Buffer<>> *operand = nullptr;
    GeneratorOutput<Buffer<>> *output = nullptr;
    MoveStages stages;
};

}  // namespace
}  // namespace kiln

HALIDE_REGISTER_GENERATOR(kiln::DataMovement, space_to_depth)
HALIDE_REGISTER_GENERATOR(kiln::DataMovement, depth_to_space)
HALIDE_REGISTER_GENERATOR(kiln::DataMovement, layout_transform)
