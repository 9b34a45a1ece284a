#include "schedules/knobs.h"

#include <algorithm>
#include <set>

namespace kiln {

bool KnobReader::take(std::string_view name, int64_t &value) {
    const auto found = knobs_.find(name);
    if (found == knobs_.end()) return false;
    value = found->second;
    taken_.insert(*found);
    return true;
}

Status KnobReader::finish() const {
    if (!missing_.empty()) return unsupported("knob `" + missing_ + "` is missing");
    for (const auto &[name, value] : knobs_) {
        if (!taken_.contains(name)) return unsupported("unknown knob `" + name + "`");
    }
    return {};
}

std::vector<int64_t> block_sizes(int64_t count) {
    std::set<int64_t> sizes{count};
    for (int64_t b = 1; b < count; b *= 2) sizes.insert(b);
    for (int64_t b = 1; b <= std::min<int64_t>(count, 64); b++) {
        if (count % b == 0) sizes.insert(b);
    }
    return {sizes.begin(), sizes.end()};
}

}  // namespace kiln
