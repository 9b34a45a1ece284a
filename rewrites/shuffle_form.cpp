#include "rewrites/shuffle_form.h"

#include <algorithm>
#include <numeric>

namespace kiln {
namespace {

constexpr int64_t most_rows = 16, longest_step = 64;

// The form along digit `x`; nothing of it where digits do not fit.
ShuffleForm form_along(const Movement &m, int x) {
    const MovedDigit &along = m.digits[x];
    ShuffleForm form{x, 1, along.read_stride, 1, along.written_stride, {}};
    int64_t reach = 0;  // of the small digits further inside the operand
    bool fits = along.valid == along.extent && along.read_stride >= 1;
    for (int d = 0; d < static_cast<int>(m.digits.size()); d++) {
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
    fits = fits && !form.small.empty() && reach < form.read_stride && form.read_rows <= most_rows &&
           form.written_rows <= most_rows && std::max(form.read_stride, form.written_stride) <= longest_step;
    return fits ? form : ShuffleForm();
}

int64_t size(const ShuffleForm &f) { return f.read_rows * f.read_stride + f.written_rows * f.written_stride; }

}  // namespace

size_t ShuffleForm::loops() const {
    const auto outside = std::count_if(small.begin(), small.end(), [this](int digit) { return digit < along; });
    return static_cast<size_t>(along + 1 - outside);
}

int64_t ShuffleForm::smallest_tile(int64_t lanes) const {
    return std::lcm(lanes / std::gcd(lanes, read_stride), lanes / std::gcd(lanes, written_stride));
}

bool ShuffleForm::is_small(int digit) const { return std::find(small.begin(), small.end(), digit) != small.end(); }

ShuffleForm shuffle_form(const Movement &m) {
    ShuffleForm best;
    if (!m.is_regular || !m.limits.empty()) return best;
    for (int x = 0; x < static_cast<int>(m.digits.size()); x++) {
        const ShuffleForm form = form_along(m, x);
        if (form.along >= 0 && (best.along < 0 || size(form) < size(best))) best = form;
    }
    return best;
}

}  // namespace kiln
