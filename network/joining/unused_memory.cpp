#include "network/joining/unused_memory.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <variant>

#include "network/joining/touched_memory.h"

namespace kiln::network {
namespace {

// Bytes of the workspace that steps use, as stretches that begin and end at its alignment.
class UsedMemory {
public:
    void add(const Range &range) {
        if (range.place.memory != Place::Memory::workspace || range.bytes == 0) return;
        constexpr int64_t step = graph::workspace_alignment;
        int64_t begin = range.place.offset / step * step,
                end = (range.place.offset + range.bytes + step - 1) / step * step;
        // All stretches that it meets become one with it.
        auto at = stretches_.upper_bound(begin);
        if (at != stretches_.begin() && std::prev(at)->second >= begin) --at;
        while (at != stretches_.end() && at->first <= end) {
            begin = std::min(begin, at->first), end = std::max(end, at->second);
            at = stretches_.erase(at);
        }
        stretches_[begin] = end;
    }

    int64_t bytes() const {
        int64_t sum = 0;
        for (const auto &[begin, end] : stretches_) sum += end - begin;
        return sum;
    }

    // Where a place lies without what is unused in front of it. A place without bytes may lie anywhere.
    int64_t moved(int64_t offset) const {
        int64_t before = 0;
        for (const auto &[begin, end] : stretches_) {
            if (offset < end) return before + std::max<int64_t>(0, offset - begin);
            before += end - begin;
        }
        return before;
    }

private:
    std::map<int64_t, int64_t> stretches_;  // ends by beginnings
};

}  // namespace

void leave_out_unused_memory(Program *program) {
    UsedMemory used;
    for (const Step &step : program->steps) {
        const Touched all = touched(step);
        for (const Range &range : all.reads) used.add(range);
        used.add(all.result);
    }
    if (used.bytes() == program->workspace) return;
    const auto move = [&](Place *place) {
        if (place->memory == Place::Memory::workspace) place->offset = used.moved(place->offset);
    };
    for (Step &step : program->steps) {
        if (auto *copy = std::get_if<Copy>(&step.work)) {
            move(&copy->from), move(&copy->to);
            continue;
        }
        auto &call = std::get<KernelCall>(step.work);
        for (Place &operand : call.operands) move(&operand);
        move(&call.result);
    }
    program->workspace = used.bytes();
    program->workspace_lower_bound = std::min(program->workspace_lower_bound, program->workspace);
}

}  // namespace kiln::network
