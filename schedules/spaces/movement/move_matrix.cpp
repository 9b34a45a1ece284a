#include "schedules/spaces/movement/move_matrix.h"

#include <algorithm>
#include <bit>

#include "runtime/transpose/matrix_transpose.h"
#include "schedules/spaces/movement/cache_fit.h"

namespace kiln {
namespace {

// Tiles along the operand's rows, or rows of the result's lines, that a block has untuned where it is streamed.
constexpr int64_t streamed_columns = 64, streamed_lines = 4;

}  // namespace

bool may_stream(const Movement &m, const MatrixForm &form) {
    return form.rows >= 0 && form.has_whole_lines() && !may_stay_in_cache(m);
}

Alternative matrix_space(MoveMethod method, const Movement &m, const Target &target) {
    const MatrixForm form = matrix_form(m, target);
    const MoveMatrixDomains domains = {
        .block_read = powers_of_two(1, longest_block),
        .block_written = powers_of_two(1, longest_block),
        .by_operand = {0, 1},
        .parallel = thread_choices(target),
        .fetched = {fetch_nothing, fetch_rows, fetch_block},
    };
    using K = MoveMatrixKnobs;
    const auto has_all_columns = [form](const K &k) { return matrix_block(form, k).columns == form.column_count; };
    const bool rows_follow = form.rows_are_one_run(m);
    return move_alternative(
        method, knob_list(domains),
        constraint<K>({
            {"a matrix's block of several runs has all of their columns",
             [=](const K &k) { return form.runs < 0 || has_all_columns(k); }},
            {"the matrix's next block does not follow in the operand's memory",
             [=](const K &k) { return k.fetched != fetch_block || (rows_follow && has_all_columns(k)); }},
        }));
}

// A block takes a quarter of L2, or an eighth for bytes, whose tiles have most rows. Each thread gets a part.
MoveMatrixKnobs default_matrix(const Movement &m, const Target &target, const Core &core) {
    const MatrixForm form = matrix_form(m, target);
    const int64_t room = quarter_of_l2(core) / (m.element_bytes == 1 ? 2 : 1);
    const int64_t most = tiles_that_cover((form.row_count + target.threads - 1) / target.threads, form.line);
    return {
        .block_read = tiles_that_cover(form.column_count, form.line),
        .block_written = std::min(most, tiles_that_fit(room, form.line, form.column_count * m.element_bytes)),
        .parallel = target.threads > 1,
    };
}

// Where rows with all their columns are one run of the operand, a block has few of them, and the next ones are fetched
// meanwhile. Elsewhere it has the rows of one line, for long.
MoveMatrixKnobs default_stream(const Movement &m, const Target &target, const Core &core) {
    const MatrixForm form = matrix_form(m, target);
    const int64_t lines = quarter_of_l2(core) / (form.column_count * form.line * m.element_bytes);
    const bool one_run = form.rows_are_one_run(m) && lines > 0;
    const int64_t most_columns = one_run || form.runs >= 0 ? longest_block : streamed_columns;
    return {
        .block_read = tiles_that_cover(form.column_count, form.line, most_columns),
        .block_written = one_run ? std::min<int64_t>(std::bit_floor(uint64_t(lines)), streamed_lines) : 1,
        .by_operand = !one_run,
        .parallel = target.threads > 1,
        .fetched = one_run ? fetch_block : fetch_rows,
    };
}

MatrixBlock matrix_block(const MatrixForm &form, const MoveMatrixKnobs &k) {
    return {std::min(k.block_written * form.line, form.row_count),
            std::min(k.block_read * form.line, form.column_count)};
}

std::vector<int> matrix_order(const Movement &m, const MoveMatrixKnobs &k) {
    std::vector<int> digits;
    for (size_t d = m.digits.size(); d-- > 0;) digits.push_back(static_cast<int>(d));
    if (k.by_operand) {
        std::stable_sort(digits.begin(), digits.end(),
                         [&](int a, int b) { return m.digits[a].read_stride < m.digits[b].read_stride; });
    }
    return digits;
}

std::string transpose_function(const Target &target) {
    return has_feature(target, "avx2") ? "kiln_transpose1_avx2" : "kiln_transpose1_sse2";
}

}  // namespace kiln
