#include "schedules/knobs.h"

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

}  // namespace kiln
