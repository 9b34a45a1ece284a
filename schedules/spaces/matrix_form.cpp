#include "schedules/spaces/matrix_form.h"

#include <algorithm>

#include "schedules/spaces/move_tile_space.h"

namespace kiln {
namespace {

constexpr int64_t most_joined_lines = 64;

bool all_exist(const Movement &m) {
    return m.is_regular && m.limits.empty() &&
           std::all_of(m.digits.begin(), m.digits.end(), [](const MovedDigit &d) { return d.valid == d.extent; });
}

// The digit whose steps are as long as all of `digit`, where both are few enough for one block; else -1.
int digit_behind(const Movement &m, int digit, int64_t line) {
    const int64_t run = m.digits[digit].extent;
    for (size_t d = 0; d + 1 < m.digits.size(); d++) {
        const MovedDigit &behind = m.digits[d];
        const bool follows = static_cast<int>(d) != digit && behind.read_stride == run;
        if (follows && run * behind.extent <= most_joined_lines * line) return static_cast<int>(d);
    }
    return -1;
}

}  // namespace

MatrixForm matrix_form(const Movement &m, const Target &target) {
    const int read = read_neighbours(m), written = static_cast<int>(m.digits.size()) - 1;
    if (!target.halide.starts_with("x86-64-") || !all_exist(m) || read < 0 || read == written) return {};
    if (transposed_line_bytes % m.element_bytes != 0 || m.element_bytes > 4) return {};
    MatrixForm form{
        written, read, -1, transposed_line_bytes / m.element_bytes, m.digits[written].extent, m.digits[read].extent};
    if (form.column_count % form.line != 0) form.runs = digit_behind(m, read, form.line);
    if (form.runs >= 0) form.column_count *= m.digits[form.runs].extent;
    const bool fits = form.row_count >= form.line && form.column_count >= form.line;
    return fits ? form : MatrixForm();
}

MatrixBlock matrix_block(const MatrixForm &form, const Knobs &knobs) {
    return {std::min(value_of(knobs, "block_written") * form.line, form.row_count),
            std::min(value_of(knobs, "block_read") * form.line, form.column_count)};
}

std::vector<int> matrix_order(const Movement &m, const Knobs &knobs) {
    std::vector<int> digits;
    for (size_t d = m.digits.size(); d-- > 0;) digits.push_back(static_cast<int>(d));
    if (value_of(knobs, "order")) {
        std::stable_sort(digits.begin(), digits.end(),
                         [&](int a, int b) { return m.digits[a].read_stride < m.digits[b].read_stride; });
    }
    return digits;
}

std::string transpose_function(const Target &target) {
    return has_feature(target, "avx2") ? "kiln_transpose1_avx2" : "kiln_transpose1_sse2";
}

}  // namespace kiln
