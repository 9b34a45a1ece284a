#include "schedules/spaces/movement/cache_fit.h"

#include <algorithm>
#include <bit>

namespace kiln {
namespace {

constexpr int64_t smallest_l2 = 1 << 18;        // bytes, of a core that does not tell
constexpr int64_t smallest_streamed = 1 << 20;  // bytes of a result that no cache keeps

}  // namespace

int64_t most_lanes(const Movement &m, const Target &target) {
    return std::max<int64_t>(1, vector_bytes(target) / m.element_bytes);
}

bool is_far(const Movement &m, const Core &core) {
    return (m.read_elements + m.written_elements) * m.element_bytes > std::max(core.l3_bytes, core.l2_bytes);
}

bool may_stay_in_cache(const Movement &m) { return m.written_elements * m.element_bytes < smallest_streamed; }

int64_t quarter_of_l2(const Core &core) { return core.l2_bytes > 0 ? core.l2_bytes / 4 : smallest_l2 / 4; }

int64_t tiles_that_cover(int64_t extent, int64_t size, int64_t most) {
    return std::clamp<int64_t>(std::bit_ceil(uint64_t((extent + size - 1) / size)), 1, most);
}

int64_t tiles_that_fit(int64_t bytes, int64_t size, int64_t row_bytes) {
    const int64_t tiles = bytes / std::max<int64_t>(1, row_bytes * size);
    return std::clamp<int64_t>(std::bit_floor(uint64_t(tiles)), 1, longest_block);
}

std::vector<int64_t> powers_of_two(int64_t first, int64_t last) {
    std::vector<int64_t> values;
    for (int64_t v = first; v <= last; v *= 2) values.push_back(v);
    return values;
}

std::vector<int64_t> thread_choices(const Target &target) {
    return target.threads > 1 ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0};
}

}  // namespace kiln
