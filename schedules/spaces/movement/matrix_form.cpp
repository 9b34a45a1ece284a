#include "schedules/spaces/movement/matrix_form.h"

#include <algorithm>

#include "runtime/transpose/matrix_transpose.h"

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

}  // namespace kiln
