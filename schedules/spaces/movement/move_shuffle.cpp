#include "schedules/spaces/movement/move_shuffle.h"

#include <algorithm>

#include "schedules/spaces/movement/cache_fit.h"

namespace kiln {
namespace {

// Vectors that a tile holds at once, of 32 registers or of 16 with some spilled.
constexpr int64_t most_vectors = 32;
// Bytes that are fetched ahead at once. CPUs fetch longer rows well themselves.
constexpr int64_t longest_fetched = 4096;
// Bytes of stores that Zen 4 joins to lines before it reads them, where nothing waits for the operand.
constexpr int64_t longest_merged_store = 16;

bool fits(const Movement &m, const ShuffleForm &form, const MoveShuffleKnobs &k) {
    const int64_t tile = shuffled_tile(form, k);
    const int64_t read = tile * form.read_stride * form.read_rows,
                  written = tile * form.written_stride * form.written_rows;
    return tile <= m.digits[form.along].extent && std::max(read, written) <= most_vectors * k.lanes;
}

bool fetches_next_rows(const Movement &m, const ShuffleForm &form, const Core &core) {
    const int64_t row = m.digits[form.along].extent * form.read_stride * form.read_rows;
    return is_far(m, core) && !may_stay_in_cache(m) && form.loops() > 1 && row * m.element_bytes <= longest_fetched;
}

}  // namespace

Alternative shuffle_space(const Movement &m, const Target &target) {
    const ShuffleForm form = shuffle_form(m);
    const MoveShuffleDomains domains = {
        .lanes = powers_of_two(1, most_lanes(m, target)),
        .tiles = {1, 2},
        .by_operand = {0, 1},
        .parallel = thread_choices(target),
        .next_turn = form.loops() > 1 ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0},
    };
    Alternative space =
        move_alternative(move_shuffle, knob_list(domains),
                         constraint<MoveShuffleKnobs>({{"a tile to shuffle does not fit the tensor or the registers",
                                                        [=](const MoveShuffleKnobs &k) { return fits(m, form, k); }}}));
    explain_domain(&space, knob_name(&MoveShuffleKnobs::tiles), "shuffled tiles are 1 or 2 of the smallest");
    explain_domain(&space, knob_name(&MoveShuffleKnobs::next_turn),
                   "shuffles fetch only what the next turn of a second loop reads");
    return space;
}

// The longest vectors whose tiles divide the digit, since a last tile that is not whole is stored element by element;
// else the longest of which a tile fits.
std::optional<MoveShuffleKnobs> default_shuffle(const Movement &m, const Target &target, const Core &core) {
    const ShuffleForm form = shuffle_form(m);
    if (form.along < 0) return {};
    MoveShuffleKnobs knobs{.parallel = target.threads > 1, .next_turn = fetches_next_rows(m, form, core)};
    int64_t most = most_lanes(m, target);
    if (knobs.next_turn) most = std::min(most, longest_merged_store / m.element_bytes);
    std::optional<MoveShuffleKnobs> longest;
    for (knobs.lanes = most; knobs.lanes >= std::max<int64_t>(2, most / 4); knobs.lanes /= 2) {
        if (!fits(m, form, knobs)) continue;
        if (m.digits[form.along].extent % form.smallest_tile(knobs.lanes) == 0) return knobs;
        if (!longest) longest = knobs;
    }
    return longest;
}

}  // namespace kiln
