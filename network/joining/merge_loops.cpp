#include "network/joining/merge_loops.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace kiln::network {
namespace {

// Loops of the result, or those of the reduction.
struct Kind {
    std::vector<int64_t> Nest::*extents;
    std::vector<int64_t> NestIndex::*factors;
    std::vector<int64_t> NestIndex::*others;
};

constexpr Kind kinds[] = {{&Nest::loops, &NestIndex::loops, &NestIndex::over},
                          {&Nest::over, &NestIndex::over, &NestIndex::loops}};

class Merge {
public:
    Merge(Nest *nest, const Kind &kind, size_t loop) : nest_(*nest), kind_(kind), loop_(loop) {}

    // Whether the loop and its successor became one.
    bool run() {
        if (!is_possible()) return false;
        for (const auto &[operand, axis] : axes_) {
            if (axis) join(&nest_.operands[operand], *axis);
        }
        for (NestRead &read : nest_.reads) {
            const std::optional<size_t> axis = axes_.at(read.operand);
            if (axis) read.indices.erase(read.indices.begin() + static_cast<std::ptrdiff_t>(*axis) + 1);
            for (NestIndex &index : read.indices) drop_factor(&index);
        }
        join(&(nest_.*kind_.extents), loop_);
        return true;
    }

private:
    bool uses(const NestIndex &index, size_t loop) const {
        const std::vector<int64_t> &factors = index.*kind_.factors;
        return loop < factors.size() && factors[loop] != 0;
    }

    // The index is this loop alone, over the whole axis.
    bool walks(const NestIndex &index, size_t loop, int64_t extent) const {
        if (index.table >= 0 || index.offset != 0 || (nest_.*kind_.extents)[loop] != extent) return false;
        const auto is_used = [](int64_t factor) { return factor != 0; };
        return (index.*kind_.factors)[loop] == 1 && std::ranges::count_if(index.*kind_.factors, is_used) == 1 &&
               std::ranges::none_of(index.*kind_.others, is_used);
    }

    bool is_possible() {
        int64_t extent = 0;
        if (__builtin_mul_overflow((nest_.*kind_.extents)[loop_], (nest_.*kind_.extents)[loop_ + 1], &extent) ||
            extent > INT32_MAX) {
            return false;
        }
        for (const NestRead &read : nest_.reads) {
            const auto axis = axis_of(read);
            if (!axis) return false;
            const auto [known, is_new] = axes_.emplace(read.operand, *axis);
            if (!is_new && known->second != *axis) return false;
        }
        return true;
    }

    // Nothing: the read stands in the way. An empty one: it has neither loop.
    std::optional<std::optional<size_t>> axis_of(const NestRead &read) const {
        const std::vector<int64_t> &shape = nest_.operands[read.operand];
        std::optional<size_t> found;
        for (size_t axis = 0; axis < read.indices.size(); axis++) {
            const NestIndex &index = read.indices[axis];
            for (const NestIndex &place : index.place) {
                if (uses(place, loop_) || uses(place, loop_ + 1)) return {};
            }
            if (found == axis - 1 && axis > 0) continue;  // the second of the pair
            if (!uses(index, loop_) && !uses(index, loop_ + 1)) continue;
            const bool is_pair = !found && axis + 1 < read.indices.size() && walks(index, loop_, shape[axis]) &&
                                 walks(read.indices[axis + 1], loop_ + 1, shape[axis + 1]);
            if (!is_pair) return {};
            found = axis;
        }
        return found;
    }

    static void join(std::vector<int64_t> *extents, size_t at) {
        (*extents)[at] *= (*extents)[at + 1];
        extents->erase(extents->begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }

    void drop_factor(NestIndex *index) const {
        std::vector<int64_t> &factors = index->*kind_.factors;
        if (loop_ + 1 < factors.size()) factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(loop_) + 1);
        for (NestIndex &place : index->place) drop_factor(&place);
    }

    Nest &nest_;
    const Kind &kind_;
    const size_t loop_;
    std::map<int, std::optional<size_t>> axes_;  // by operand: the first of its two axes
};

}  // namespace

void merge_loops(Nest *nest) {
    for (const Kind &kind : kinds) {
        for (size_t loop = 0; loop + 1 < (nest->*kind.extents).size();) {
            if (!Merge(nest, kind, loop).run()) loop++;
        }
    }
}

void leave_out_types(Nest *nest) {
    using scalar::Element;
    bool are_usual = nest->result == Element::f32;
    for (size_t i = 0; i < nest->operands.size(); i++) {
        const auto operand = static_cast<int>(i);
        are_usual = are_usual && nest->type_of(operand) == (nest->is_table(operand) ? Element::i32 : Element::f32);
    }
    if (are_usual) nest->types.clear();
}

}  // namespace kiln::network
