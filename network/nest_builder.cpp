#include "network/nest_builder.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "network/joining/merge_loops.h"

namespace kiln::network {
namespace {

template<typename T>
graph::ConstantData bytes_of(const std::vector<T> &elements) {
    std::vector<std::byte> bytes(elements.size() * sizeof(T));
    if (!bytes.empty()) std::memcpy(bytes.data(), elements.data(), bytes.size());
    return graph::ConstantData(std::move(bytes));
}

// Whether an index is 0, whatever the loops.
bool is_zero(const NestIndex &index) {
    const auto none = [](const std::vector<int64_t> &factors) {
        return std::ranges::all_of(factors, [](int64_t factor) { return factor == 0; });
    };
    return index.table < 0 && index.offset == 0 && none(index.loops) && none(index.over);
}

struct Digits {
    NestIndex quotient, remainder;
};

// Adds the terms of an index whose factors the block divides to the quotient, the others to the remainder; answers the largest
// remainder, or -1 where one may be negative.
int64_t divide(const std::vector<int64_t> &factors, const std::vector<int64_t> &extents, int64_t block,
               std::vector<int64_t> *quotient, std::vector<int64_t> *remainder) {
    int64_t largest = 0;
    bool is_negative = false;
    for (size_t i = 0; i < factors.size(); i++) {
        const bool is_whole = factors[i] % block == 0;
        quotient->push_back(is_whole ? factors[i] / block : 0);
        remainder->push_back(is_whole ? 0 : factors[i]);
        if (is_whole) continue;
        is_negative = is_negative || factors[i] < 0;
        largest += factors[i] * (extents[i] - 1);
    }
    return is_negative ? -1 : largest;
}

// The block that an index lies in, and its place there, where both go by the loops; nothing where they do not.
std::optional<Digits> digits_of(const NestIndex &index, int64_t block, const Nest &nest) {
    if (index.table >= 0) return {};
    Digits digits;
    digits.quotient.offset = index.offset >= 0 ? index.offset / block : -((block - 1 - index.offset) / block);
    digits.remainder.offset = index.offset - digits.quotient.offset * block;
    const int64_t loops = divide(index.loops, nest.loops, block, &digits.quotient.loops, &digits.remainder.loops);
    const int64_t over = divide(index.over, nest.over, block, &digits.quotient.over, &digits.remainder.over);
    if (loops < 0 || over < 0 || digits.remainder.offset + loops + over >= block) return {};
    return digits;
}

// Factors for loops that came later.
void fill_up(NestIndex *index, const Nest &nest) {
    index->loops.resize(nest.loops.size(), 0);
    index->over.resize(nest.over.size(), 0);
    for (NestIndex &place : index->place) fill_up(&place, nest);
}

void clear_factors_of_table(NestIndex *index) {
    if (index->table < 0) return;
    index->loops.clear();
    index->over.clear();
}

// The expression with `value`, a function of the same operands, in the place of its last operand.
scalar::Expression with_last(const scalar::Expression &outer, int last, const scalar::Expression &value) {
    scalar::Expression result;
    for (const scalar::Step &step : outer.steps) {
        if (step.function == scalar::Function::operand && step.operand == last) {
            result.steps.insert(result.steps.end(), value.steps.begin(), value.steps.end());
        } else {
            result.steps.push_back(step);
        }
    }
    return result;
}

std::string count_of(size_t count, const char *things, size_t most) {
    return "with " + std::to_string(count) + " " + things + " of at most " + std::to_string(most);
}

}  // namespace

NestIndex constant_index(int64_t index) {
    NestIndex result;
    result.offset = index;
    return result;
}

NestIndex sum(NestIndex a, const NestIndex &b, int64_t factor) {
    const auto add = [factor](std::vector<int64_t> &to, const std::vector<int64_t> &from) {
        to.resize(std::max(to.size(), from.size()), 0);
        for (size_t i = 0; i < from.size(); i++) to[i] += factor * from[i];
    };
    add(a.loops, b.loops);
    add(a.over, b.over);
    a.offset += factor * b.offset;
    return a;
}

std::optional<BlockedAxis> blocked_axis(const graph::Stored &value) {
    const graph::Order &order = value.storage->order;
    if (order.block == 0) return {};
    return BlockedAxis{order.axes.back(), order.block};
}

std::vector<BlockedAxis> blocked_axes(const std::vector<graph::Stored> &inputs, size_t result_axes) {
    std::vector<BlockedAxis> axes;
    for (const graph::Stored &input : inputs) {
        std::optional<BlockedAxis> blocked = blocked_axis(input);
        if (!blocked) continue;
        blocked->axis += static_cast<int>(result_axes) - static_cast<int>(input.form->shape.size());
        axes.push_back(*blocked);
    }
    return axes;
}

NestBuilder::NestBuilder(const graph::Stored &result, const std::vector<BlockedAxis> &blocked)
    : along_(result.form->shape.size()) {
    const auto add = [&](const graph::MemoryLoop &loop) {
        if (loop.extent == 1) return;
        std::vector<int64_t> &factors = along_[size_t(loop.axis)].loops;
        factors.resize(made_.nest.loops.size() + 1, 0);
        factors.back() = loop.step;
        made_.nest.loops.push_back(loop.extent);
    };
    for (const graph::MemoryLoop &loop : graph::memory_loops(result.form->shape, result.storage->order)) {
        const auto cuts = [&](const BlockedAxis &by) {
            return by.axis == loop.axis && loop.step == 1 && loop.extent > by.block && loop.extent % by.block == 0;
        };
        const auto cut = std::ranges::find_if(blocked, cuts);
        if (cut == blocked.end()) {
            add(loop);
        } else {
            add({loop.axis, loop.extent / cut->block, cut->block});
            add({loop.axis, cut->block, 1});
        }
    }
    if (made_.nest.loops.empty()) made_.nest.loops.push_back(1);
    made_.nest.result = result.form->type;
}

NestIndex NestBuilder::along(int axis, int64_t factor, int64_t offset) const {
    NestIndex index = sum(constant_index(offset), along_[size_t(axis)], factor);
    index.loops.resize(made_.nest.loops.size(), 0);
    return index;
}

NestIndex NestBuilder::reduce(int64_t extent, int64_t block) {
    NestIndex index;
    const auto add = [&](int64_t steps, int64_t step) {
        if (steps == 1) return;
        made_.nest.over.push_back(steps);
        index.over.resize(made_.nest.over.size(), 0);
        index.over.back() = step;
    };
    add(extent / block, block);
    add(block, 1);
    return index;
}

int NestBuilder::operand(NestSource source, const std::vector<int64_t> &shape, graph::Element type) {
    for (size_t i = 0; i < made_.sources.size(); i++) {
        if (made_.sources[i] == source && made_.nest.operands[i] == shape) return static_cast<int>(i);
    }
    made_.sources.push_back(std::move(source));
    made_.nest.operands.push_back(shape);
    made_.nest.types.push_back(type);
    return static_cast<int>(made_.sources.size()) - 1;
}

int NestBuilder::read(size_t input, const graph::Stored &stored, const std::vector<NestIndex> &indices) {
    NestRead read;
    std::vector<int64_t> shape;
    for (const graph::MemoryLoop &loop : graph::memory_loops(stored.form->shape, stored.storage->order)) {
        NestIndex index = indices[size_t(loop.axis)];
        if (const int64_t block = stored.storage->order.block;
            block > 0 && loop.axis == stored.storage->order.axes.back()) {
            const std::optional<Digits> digits = digits_of(index, block, made_.nest);
            if (!digits) cuts_blocks_ = true;
            if (digits) index = loop.step == 1 ? digits->remainder : digits->quotient;
        }
        if (loop.extent == 1 && is_zero(index)) continue;
        shape.push_back(loop.extent);
        read.indices.push_back(std::move(index));
    }
    if (shape.empty()) {
        shape.push_back(1);
        read.indices.push_back({});
    }
    // A condition that the caller gives is a byte of 0 or 1.
    const graph::Element type = stored.form->type == graph::Element::boolean ? graph::Element::u8 : stored.form->type;
    read.operand = operand(input, shape, type);
    const auto same = std::ranges::find(made_.nest.reads, read);
    if (same != made_.nest.reads.end()) return static_cast<int>(same - made_.nest.reads.begin());
    made_.nest.reads.push_back(std::move(read));
    return static_cast<int>(made_.nest.reads.size()) - 1;
}

int NestBuilder::read_numbers(const std::vector<float> &numbers, const std::vector<int64_t> &shape,
                              const std::vector<NestIndex> &indices) {
    made_.nest.reads.push_back(
        {operand(NestConstant{graph::Element::f32, bytes_of(numbers)}, shape, graph::Element::f32), indices});
    return static_cast<int>(made_.nest.reads.size()) - 1;
}

int NestBuilder::read_integers(const std::vector<int32_t> &numbers, const std::vector<int64_t> &shape,
                               const std::vector<NestIndex> &indices) {
    made_.nest.reads.push_back(
        {operand(NestConstant{graph::Element::i32, bytes_of(numbers)}, shape, graph::Element::i32), indices});
    return static_cast<int>(made_.nest.reads.size()) - 1;
}

NestIndex NestBuilder::from_table(const std::vector<int32_t> &elements, const std::vector<int64_t> &shape,
                                  const std::vector<NestIndex> &place) {
    NestIndex index;
    index.table = operand(NestConstant{graph::Element::i32, bytes_of(elements)}, shape, graph::Element::i32);
    index.place = place;
    return index;
}

NestIndex NestBuilder::from_table(size_t input, const graph::Stored &stored, const std::vector<NestIndex> &place) {
    graph::Shape shape;
    NestIndex index;
    for (const graph::MemoryLoop &loop : graph::memory_loops(stored.form->shape, stored.storage->order)) {
        if (loop.extent == 1) continue;
        shape.push_back(loop.extent);
        index.place.push_back(place[size_t(loop.axis)]);
    }
    if (shape.empty()) shape = {1}, index.place = {constant_index(0)};
    index.table = operand(input, shape, stored.form->type);
    return index;
}

void NestBuilder::add_single_loop() {
    made_.nest.over.push_back(1);
    for (NestRead &read : made_.nest.reads) {
        for (NestIndex &index : read.indices) {
            fill_up(&index, made_.nest);
            clear_factors_of_table(&index);
        }
    }
}

Result<NodeNest> NestBuilder::finish(Reduction reduction, scalar::Expression term, scalar::Expression finish) && {
    Nest &nest = made_.nest;
    if (cuts_blocks_) return unsupported("that reads parts of blocks");
    for (NestRead &read : nest.reads) {
        for (NestIndex &index : read.indices) {
            fill_up(&index, nest);
            clear_factors_of_table(&index);
        }
    }
    // What lies outside is left out of a reduction, also of one over a single element.
    const bool may_leave = std::ranges::any_of(nest.reads, [&](const NestRead &read) { return nest.may_leave(read); });
    if (reduction != Reduction::none && nest.over.empty() && may_leave) add_single_loop();
    nest.reduction = nest.over.empty() ? Reduction::none : reduction;
    nest.term = std::move(term);
    nest.finish = std::move(finish);
    if (reduction != Reduction::none && nest.over.empty()) {
        // One term is its own sum, mean or maximum.
        if (!nest.finish.steps.empty()) {
            nest.term = with_last(nest.finish, static_cast<int>(nest.reads.size()), nest.term);
        }
        nest.finish = {};
    } else if (reduction != Reduction::none && nest.finish.steps.empty()) {
        nest.finish = scalar::operand(static_cast<int>(nest.reads.size()));
    }
    leave_out_types(&nest);
    merge_loops(&nest);
    const size_t loops = std::max(nest.loops.size(), nest.over.size());
    if (loops > most_nest_loops) return unsupported(count_of(loops, "loops", most_nest_loops));
    for (const std::vector<int64_t> &shape : nest.operands) {
        if (shape.size() > most_nest_loops) return unsupported(count_of(shape.size(), "axes", most_nest_loops));
    }
    if (nest.operands.size() > most_nest_operands) {
        return unsupported(count_of(nest.operands.size(), "operands", most_nest_operands));
    }
    if (nest.reads.size() > most_nest_reads) return unsupported(count_of(nest.reads.size(), "reads", most_nest_reads));
    return std::move(made_);
}

}  // namespace kiln::network
