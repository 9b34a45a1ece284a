#include "schedules/spaces/movement/move_rows.h"

#include <algorithm>
#include <bit>

#include "schedules/spaces/movement/cache_fit.h"

namespace kiln {
namespace {

// Whether the loop inside of all others is shorter when it follows the operand: rows of so many places at a time.
bool is_shorter_by_operand(const Movement &m) {
    const size_t around = m.digits.size() - 1;
    if (around < 2) return false;
    const auto nearest =
        std::min_element(m.digits.begin(), m.digits.begin() + static_cast<std::ptrdiff_t>(around),
                         [](const MovedDigit &a, const MovedDigit &b) { return a.read_stride < b.read_stride; });
    return nearest->extent < m.digits[around - 1].extent;
}

}  // namespace

Alternative rows_space(const Movement &m, const Target &target) {
    const MoveRowsDomains domains = {
        .lanes = powers_of_two(1, most_lanes(m, target)),
        .by_operand = {0, 1},
        .parallel = thread_choices(target),
        .next_turn = m.is_regular && m.digits.size() > 1 ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0},
    };
    const int64_t innermost = m.digits.back().extent;
    Alternative space = move_alternative(
        move_rows, knob_list(domains),
        constraint<MoveRowsKnobs>({{"a vector is longer than the result's innermost digit",
                                    [innermost](const MoveRowsKnobs &k) { return k.lanes <= innermost; }}}));
    explain_domain(&space, knob_name(&MoveRowsKnobs::next_turn),
                   "rows fetch only what the next turn of a second loop reads");
    return space;
}

// Beyond the caches both sides are walked in few long runs side by side.
MoveRowsKnobs default_rows(const Movement &m, const Target &target, const Core &core) {
    const int64_t innermost = m.digits.back().extent;
    const bool is_long = m.is_regular && is_far(m, core) && !may_stay_in_cache(m);
    return {
        .lanes = static_cast<int64_t>(std::bit_floor(uint64_t(std::min(most_lanes(m, target), innermost)))),
        .by_operand = is_long && is_shorter_by_operand(m),
        .parallel = target.threads > 1,
    };
}

}  // namespace kiln
