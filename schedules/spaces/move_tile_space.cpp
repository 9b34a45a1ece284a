#include "schedules/spaces/move_tile_space.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

#include "schedules/spaces/matrix_form.h"

namespace kiln {
namespace {

constexpr int64_t fewest_transposed = 4;
constexpr int64_t most_shuffled_rows = 16, longest_shuffled_step = 64;
constexpr int64_t line_bytes = 64, longest_block = 1024;
// Bytes. What a machine that does not tell has; rows of a matrix are cut beyond, and no longer walked as one below.
constexpr int64_t smallest_l2 = 1 << 18, longest_run = 2048, shortest_run = 1024;
// Vectors that a tile of `shuffle` holds at once, of 32 registers or of 16 with some spilled.
constexpr int64_t most_shuffled_vectors = 32;
// Bytes that are fetched ahead at once where rows are shuffled, which CPUs fetch well themselves where they are longer.
constexpr int64_t longest_fetched = 4096;
// Bytes of stores that Zen 4 joins to lines before it reads them, where nothing waits for the operand.
constexpr int64_t longest_merged_store = 16;
// Bytes of a result of which a cache may keep all.
constexpr int64_t smallest_streamed = 1 << 20;
// Tiles along the operand's rows, or rows of the result's lines, that a block of `stream` has untuned.
constexpr int64_t streamed_columns = 64, streamed_lines = 4;

int64_t most_lanes(const Movement &m, const Target &target) {
    return std::max<int64_t>(1, vector_bytes(target) / m.element_bytes);
}

bool transposes(const Movement &m) {
    const int read = read_neighbours(m), written = static_cast<int>(m.digits.size()) - 1;
    return m.is_regular && read >= 0 && read != written && m.digits[read].extent >= fewest_transposed &&
           m.digits[written].extent >= fewest_transposed;
}

std::vector<int64_t> powers_of_two(int64_t first, int64_t last) {
    std::vector<int64_t> values;
    for (int64_t v = first; v <= last; v *= 2) values.push_back(v);
    return values;
}

bool shuffle_fits(const Movement &m, const ShuffleForm &form, const Knobs &k) {
    const int64_t lanes = value_of(k, "lanes"), tile = form.smallest_tile(lanes) * value_of(k, "rows");
    const int64_t read = tile * form.read_stride * form.read_rows,
                  written = tile * form.written_stride * form.written_rows;
    return tile <= m.digits[form.along].extent && std::max(read, written) <= most_shuffled_vectors * lanes;
}

Knobs knobs_of(MoveMethod method, int64_t lanes, int64_t rows) {
    return {{"method", method},   {"lanes", lanes}, {"rows", rows},  {"inner", 0}, {"block_read", 1},
            {"block_written", 1}, {"order", 0},     {"parallel", 0}, {"ahead", 0}};
}

int64_t quarter_of_l2(const Machine &machine) { return machine.l2_bytes > 0 ? machine.l2_bytes / 4 : smallest_l2 / 4; }

// Few tiles of `size` that cover `extent`, as a power of two.
int64_t blocks_of(int64_t extent, int64_t size, int64_t most = longest_block) {
    return std::clamp<int64_t>(std::bit_ceil(uint64_t((extent + size - 1) / size)), 1, most);
}

// The last values, at most `bytes`, of what a block has on one side.
int64_t block_that_fits(int64_t bytes, int64_t other_extent, int64_t size, int element_bytes) {
    const int64_t tiles = bytes / std::max<int64_t>(1, other_extent * element_bytes * size);
    return std::clamp<int64_t>(std::bit_floor(uint64_t(tiles)), 1, longest_block);
}

// Beyond the caches it counts how memory is walked, for loads as for stores, which read a line before they write it:
// few rows at a time, for long. One side has the shorter digit: a block of a quarter of L2 with all of that digit is
// one run there and is fetched as such, then the other side is walked along its long rows, a line of it at a time.
void shape_far_blocks(const Movement &m, int64_t most_lanes, const Machine &machine, Knobs *knobs) {
    const MovedDigit &read = m.digits[read_neighbours(m)], &written = m.digits.back();
    const int bytes = m.element_bytes;
    const bool rows_of_result = written.extent < read.extent, narrow = bytes < 4;
    const int64_t line = rows_of_result && narrow ? line_bytes / 2 : line_bytes;
    const int64_t room = quarter_of_l2(machine);
    Knobs &k = *knobs;
    k["lanes"] = std::bit_floor(uint64_t(std::min({most_lanes, line / bytes, written.extent})));
    k["rows"] = std::bit_floor(uint64_t(std::min<int64_t>(narrow ? 16 : 8, read.extent)));
    const int64_t lanes = k["lanes"], rows = k["rows"];
    if (rows_of_result) {
        k["block_written"] = blocks_of(std::min(written.extent, longest_run / bytes), lanes);
        k["block_read"] = block_that_fits(room, std::min(written.extent, longest_run / bytes), rows, bytes);
    } else {
        k["block_read"] = blocks_of(std::min(read.extent, longest_run / bytes), rows);
        k["block_written"] = block_that_fits(room, std::min(read.extent, longest_run / bytes), lanes, bytes);
    }
    k["inner"] = rows_of_result && !narrow;
    k["ahead"] = rows_of_result ? 2 : 1;
    const FetchedSide side = fetched_side(m, k);
    if (side.run != side.row_stride && side.run * bytes < shortest_run) k["ahead"] = 0;
    if (rows_of_result && narrow) {
        // So many rows that parts of a fetched line are gone before the others are written: a line of each is fetched.
        k["block_read"] = blocks_of(line_bytes / bytes, rows);
        k["ahead"] = 1;
    }
    if (k["block_read"] * k["block_written"] == 1) k["ahead"] = 0;
}

// Whether operand and result do not fit into the caches.
bool is_far(const Movement &m, const Machine &machine) {
    return (m.read_elements + m.written_elements) * m.element_bytes > std::max(machine.l3_bytes, machine.l2_bytes);
}

// Stores of half a vector register, 32 bytes with AVX-512, turn f32 fastest: two shuffles start in a cycle.
Knobs transposed(const Movement &m, const Target &target, const Machine &machine) {
    const MovedDigit &read = m.digits[read_neighbours(m)], &written = m.digits.back();
    const int64_t half = std::clamp<int64_t>(most_lanes(m, target) / 2, 1, 16);
    Knobs knobs = knobs_of(move_transpose, std::bit_floor(uint64_t(std::min(half, written.extent))),
                           std::bit_floor(uint64_t(std::min(half, read.extent))));
    const bool far = is_far(m, machine);
    if (far) shape_far_blocks(m, most_lanes(m, target), machine, &knobs);
    if (!far) knobs["block_written"] = 1024;
    return knobs;
}

bool may_stay_in_cache(const Movement &m) { return m.written_elements * m.element_bytes < smallest_streamed; }

bool streams(const Movement &m, const MatrixForm &form) {
    return form.rows >= 0 && form.has_whole_lines() && !may_stay_in_cache(m);
}

// Where rows with all their columns are one run of the operand, few of them at a time, the next fetched meanwhile; else
// a line's rows for long.
Knobs streamed(const Movement &m, const MatrixForm &form, const Machine &machine) {
    Knobs knobs = knobs_of(move_stream, 1, 1);
    const int64_t room = quarter_of_l2(machine);
    const int64_t lines = room / (form.column_count * form.line * m.element_bytes);
    const bool one_run = form.rows_are_one_run(m) && lines > 0;
    knobs["block_read"] =
        blocks_of(form.column_count, form.line, one_run || form.runs >= 0 ? longest_block : streamed_columns);
    knobs["block_written"] = one_run ? std::min<int64_t>(std::bit_floor(uint64_t(lines)), streamed_lines) : 1;
    knobs["ahead"] = one_run ? 2 : 1;
    knobs["order"] = !one_run;
    return knobs;
}

// A quarter of L2 at a time, of bytes, whose tiles have most rows, an eighth; and a part for each thread.
Knobs in_cache(const Movement &m, const MatrixForm &form, const Target &target, const Machine &machine) {
    Knobs knobs = knobs_of(move_matrix, 1, 1);
    const int64_t room = quarter_of_l2(machine) / (m.element_bytes == 1 ? 2 : 1);
    const int64_t most = blocks_of((form.row_count + target.threads - 1) / target.threads, form.line);
    knobs["block_read"] = blocks_of(form.column_count, form.line);
    knobs["block_written"] = std::min(most, block_that_fits(room, form.column_count, form.line, m.element_bytes));
    return knobs;
}

// Whether the loop inside of all others is shorter when it follows the operand: rows of so many places at a time.
bool is_shorter_by_operand(const Movement &m) {
    const size_t around = m.digits.size() - 1;
    if (around < 2) return false;
    const auto nearest =
        std::min_element(m.digits.begin(), m.digits.begin() + static_cast<std::ptrdiff_t>(around),
                         [](const MovedDigit &a, const MovedDigit &b) { return a.read_stride < b.read_stride; });
    return nearest->extent < m.digits[around - 1].extent;
}

// Beyond the caches both sides are walked in few long runs side by side.
Knobs rows(const Movement &m, const Target &target, const Machine &machine) {
    const int64_t extent = m.digits.back().extent;
    Knobs knobs = knobs_of(move_rows, std::bit_floor(uint64_t(std::min(most_lanes(m, target), extent))), 1);
    knobs["order"] = m.is_regular && is_far(m, machine) && !may_stay_in_cache(m) && is_shorter_by_operand(m);
    return knobs;
}

// The longest vectors whose tiles divide the digit, since a last tile that is not whole is stored element by element;
// else the longest of which a tile fits.
std::optional<Knobs> shuffled_whole(const Movement &m, const ShuffleForm &form, int64_t most) {
    std::optional<Knobs> longest;
    for (int64_t lanes = most; form.along >= 0 && lanes >= std::max<int64_t>(2, most / 4); lanes /= 2) {
        const Knobs knobs = knobs_of(move_shuffle, lanes, 1);
        if (!shuffle_fits(m, form, knobs)) continue;
        if (m.digits[form.along].extent % form.smallest_tile(lanes) == 0) return knobs;
        if (!longest) longest = knobs;
    }
    return longest;
}

Knobs default_knobs(const Movement &m, const Target &target, const Machine &machine) {
    const ShuffleForm form = shuffle_form(m);
    const bool shared = m.is_regular && read_neighbours(m) == static_cast<int>(m.digits.size()) - 1;
    const int64_t most = most_lanes(m, target);
    Knobs knobs = rows(m, target, machine);
    const MovedDigit &innermost = m.digits.back();
    if (shared && innermost.valid == innermost.extent && innermost.extent >= most / 2) return knobs;
    const MatrixForm matrix = matrix_form(m, target);
    if (matrix.rows >= 0 && (may_stay_in_cache(m) || !is_far(m, machine))) return in_cache(m, matrix, target, machine);
    if (streams(m, matrix)) return streamed(m, matrix, machine);
    if (transposes(m) && std::min(innermost.extent, m.digits[read_neighbours(m)].extent) * m.element_bytes >= 16) {
        return transposed(m, target, machine);
    }
    const int64_t row = form.along < 0 ? 0 : m.digits[form.along].extent * form.read_stride * form.read_rows;
    const bool fetches = form.along >= 0 && is_far(m, machine) && !may_stay_in_cache(m) && form.loops() > 1 &&
                         row * m.element_bytes <= longest_fetched;
    const int64_t longest = fetches ? std::min(most, longest_merged_store / m.element_bytes) : most;
    if (auto shuffled = shuffled_whole(m, form, longest)) {
        (*shuffled)["ahead"] = fetches;
        return *shuffled;
    }
    return transposes(m) ? transposed(m, target, machine) : knobs;
}

std::vector<Limit<Knobs>> limits(const Movement &m, const MatrixForm &matrix) {
    const ShuffleForm form = shuffle_form(m);
    const int read = read_neighbours(m);
    auto at = [](const Knobs &k, const char *name) { return value_of(k, name); };
    auto is = [](const Knobs &k, MoveMethod method) { return value_of(k, "method") == method; };
    auto of_matrix = [is](const Knobs &k) { return is(k, move_matrix) || is(k, move_stream); };
    return {
        {"the operand's and the result's neighbours are the same: there is nothing to transpose",
         [=](const Knobs &k) { return !is(k, move_transpose) || transposes(m); }},
        {"a tile is larger than the tensor",
         [=](const Knobs &k) {
             return !is(k, move_transpose) ||
                    (at(k, "rows") <= m.digits[read].extent && at(k, "lanes") <= m.digits.back().extent);
         }},
        {"a vector is longer than the result's innermost digit",
         [=](const Knobs &k) { return !is(k, move_rows) || at(k, "lanes") <= m.digits.back().extent; }},
        {"no digit has few enough neighbours on both sides to shuffle",
         [=](const Knobs &k) { return !is(k, move_shuffle) || form.along >= 0; }},
        {"a tile to shuffle does not fit the tensor or the registers",
         [=](const Knobs &k) { return !is(k, move_shuffle) || form.along < 0 || shuffle_fits(m, form, k); }},
        {"shuffled tiles are 1 or 2 of the smallest, rows have none",
         [=](const Knobs &k) { return is(k, move_transpose) || at(k, "rows") <= (is(k, move_shuffle) ? 2 : 1); }},
        {"only transposed tiles follow one digit first",
         [=](const Knobs &k) { return is(k, move_transpose) || at(k, "inner") == 0; }},
        {"only transposed tiles come in blocks",
         [=](const Knobs &k) {
             return is(k, move_transpose) || of_matrix(k) || (at(k, "block_read") == 1 && at(k, "block_written") == 1);
         }},
        {"only blocks are fetched ahead, and what the next turn of a second loop reads",
         [=](const Knobs &k) {
             return at(k, "ahead") == 0 || of_matrix(k) ||
                    (is(k, move_transpose) && at(k, "block_read") * at(k, "block_written") > 1) ||
                    (is(k, move_rows) && at(k, "ahead") == 1 && m.is_regular && m.digits.size() > 1) ||
                    (is(k, move_shuffle) && at(k, "ahead") == 1 && form.loops() > 1);
         }},
        {"tiles of a matrix are lines on both sides: lanes and rows are 1",
         [=](const Knobs &k) { return !of_matrix(k) || (at(k, "lanes") == 1 && at(k, "rows") == 1); }},
        {"a matrix's block of several runs has all of their columns",
         [=](const Knobs &k) {
             return !of_matrix(k) || matrix.runs < 0 || matrix_block(matrix, k).columns == matrix.column_count;
         }},
        {"the matrix's next block does not follow in the operand's memory",
         [=](const Knobs &k) {
             return !of_matrix(k) || at(k, "ahead") != 2 ||
                    (matrix.rows_are_one_run(m) && matrix_block(matrix, k).columns == matrix.column_count);
         }},
        {"a tile of this size is too much code",
         [=](const Knobs &k) { return !is(k, move_transpose) || at(k, "rows") * at(k, "lanes") <= 1024; }},
    };
}

}  // namespace

size_t ShuffleForm::loops() const {
    const auto outside = std::count_if(small.begin(), small.end(), [this](int digit) { return digit < along; });
    return static_cast<size_t>(along + 1 - outside);
}

int64_t ShuffleForm::smallest_tile(int64_t lanes) const {
    return std::lcm(lanes / std::gcd(lanes, read_stride), lanes / std::gcd(lanes, written_stride));
}

ShuffleForm shuffle_form(const Movement &m) {
    ShuffleForm best;
    if (!m.is_regular || !m.limits.empty()) return best;
    const int count = static_cast<int>(m.digits.size());
    for (int x = 0; x < count; x++) {
        const MovedDigit &along = m.digits[x];
        ShuffleForm form{x, 1, along.read_stride, 1, along.written_stride, {}};
        int64_t reach = 0;  // of the small digits further inside the operand
        bool fits = along.valid == along.extent && along.read_stride >= 1;
        for (int d = 0; d < count; d++) {
            const MovedDigit &digit = m.digits[d];
            const bool inside_read = digit.read_stride<along.read_stride, inside_written = d> x;
            if (d == x) continue;
            if (!inside_read && !inside_written) {
                fits = fits && digit.valid == digit.extent;
                continue;
            }
            form.small.push_back(d);
            if (!inside_read) form.read_rows *= digit.valid;
            if (!inside_written) form.written_rows *= digit.extent;
            if (inside_read) reach += (digit.valid - 1) * digit.read_stride;
        }
        fits = fits && !form.small.empty() && reach < form.read_stride && form.read_rows <= most_shuffled_rows &&
               form.written_rows <= most_shuffled_rows &&
               std::max(form.read_stride, form.written_stride) <= longest_shuffled_step;
        const auto size = [](const ShuffleForm &f) {
            return f.read_rows * f.read_stride + f.written_rows * f.written_stride;
        };
        if (fits && (best.along < 0 || size(form) < size(best))) best = form;
    }
    return best;
}

FetchedSide fetched_side(const Movement &m, const Knobs &k) {
    const size_t read = read_neighbours(m), written = m.digits.size() - 1;
    FetchedSide side{value_of(k, "ahead") == 1, std::vector<int64_t>(m.digits.size(), 1)};
    side.block[read] = value_of(k, "rows") * value_of(k, "block_read");
    side.block[written] = value_of(k, "lanes") * value_of(k, "block_written");
    const size_t inner = side.is_operand ? read : written, outer = side.is_operand ? written : read;
    side.run = std::min(side.block[inner], m.digits[inner].extent);
    side.rows = std::min(side.block[outer], m.digits[outer].extent);
    side.row_stride = side.stride(m.digits[outer]);
    return side;
}

int read_neighbours(const Movement &m) {
    for (size_t d = 0; m.is_regular && d < m.digits.size(); d++) {
        if (m.digits[d].read_stride == 1) return static_cast<int>(d);
    }
    return -1;
}

Space move_tile_space(Candidate base, const Movement &m, const Target &target, const Machine &machine) {
    base.schedule = move_tile_name;
    base.schedule_version = move_tile_version;
    base.knobs = default_knobs(m, target, machine);
    base.knobs["parallel"] = target.threads > 1;
    std::vector<int64_t> methods{move_rows};
    if (transposes(m)) methods.push_back(move_transpose);
    if (shuffle_form(m).along >= 0) methods.push_back(move_shuffle);
    const MatrixForm matrix = matrix_form(m, target);
    if (streams(m, matrix)) methods.push_back(move_stream);
    if (matrix.rows >= 0) methods.push_back(move_matrix);
    std::vector<Knob> knobs = {
        {"method", methods},
        {"lanes", powers_of_two(1, most_lanes(m, target))},
        {"rows", powers_of_two(1, 32)},
        {"inner", {0, 1}},
        {"block_read", powers_of_two(1, longest_block)},
        {"block_written", powers_of_two(1, longest_block)},
        {"order", {0, 1}},
        {"parallel", target.threads > 1 ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0}},
        {"ahead", transposes(m) || matrix.rows >= 0 ? std::vector<int64_t>{0, 1, 2} : std::vector<int64_t>{0, 1}},
    };
    return Space(std::move(base), std::move(knobs), {constraint(limits(m, matrix))});
}

}  // namespace kiln
