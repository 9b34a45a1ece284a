#include "network/joining/joined_nest.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <utility>

#include "network/joining/merge_loops.h"
#include "network/joining/split_loops.h"
#include "workload/workload.h"

namespace kiln::network {
namespace {

int64_t elements_of(const Extents &extents) {
    return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

bool only_moves(const Nest &nest) {
    return nest.reads.size() == 1 && nest.term == scalar::operand(0) && nest.reduction == Reduction::none;
}

bool may_leave(const Nest &nest) {
    return std::ranges::any_of(nest.reads, [&](const NestRead &read) { return nest.may_leave(read); });
}

// Whether no two places that an index goes to are the same.
bool is_distinct(const NestIndex &index, const Nest &nest) {
    std::vector<std::pair<int64_t, int64_t>> steps;  // their size, and how far the loop goes in such steps
    const auto add_steps = [&](const std::vector<int64_t> &factors, const Extents &extents) {
        for (size_t loop = 0; loop < factors.size(); loop++) {
            if (factors[loop] != 0) steps.emplace_back(std::abs(factors[loop]), extents[loop] - 1);
        }
    };
    add_steps(index.loops, nest.loops);
    add_steps(index.over, nest.over);
    std::ranges::sort(steps);
    int64_t reached = 0;
    for (const auto &[size, count] : steps) {
        if (count > 0 && size <= reached) return false;
        reached += size * count;
    }
    return true;
}

// Whether no element of an operand is read twice, as far as indices tell.
bool reads_each_once(const Nest &nest, int operand) {
    int reads = 0;
    for (const NestRead &read : nest.reads) {
        if (read.operand != operand) continue;
        std::vector<bool> loops(nest.loops.size()), over(nest.over.size());
        const auto walk = [](const std::vector<int64_t> &factors, std::vector<bool> *walked) {
            for (size_t loop = 0; loop < factors.size(); loop++)
                (*walked)[loop] = (*walked)[loop] || factors[loop] != 0;
        };
        for (const NestIndex &index : read.indices) {
            if (index.table >= 0 || !is_distinct(index, nest)) return false;
            walk(index.loops, &loops);
            walk(index.over, &over);
        }
        const auto walks_all = [](const std::vector<bool> &walked, const Extents &extents) {
            for (size_t loop = 0; loop < extents.size(); loop++) {
                if (!walked[loop] && extents[loop] > 1) return false;
            }
            return true;
        };
        if (!walks_all(loops, nest.loops) || !walks_all(over, nest.over)) return false;
        reads++;
    }
    return reads == 1;
}

// Whether what finishes a reduction reads nothing but what was reduced.
bool finishes_sum_alone(const Nest &nest) {
    return std::ranges::all_of(nest.finish.steps, [&](const scalar::Step &step) {
        return step.function != scalar::Function::operand || step.operand == static_cast<int>(nest.reads.size());
    });
}

class Join {
public:
    // The operand has the producer's loops as axes.
    Join(const Nest &producer, const Nest &consumer, int operand)
        : producer_(producer), consumer_(consumer), operand_(operand), nest_(consumer) {}

    std::optional<JoinedNest> run() {
        if (!keeps_what_is_outside()) return {};
        replace_reads();
        replace_operands();
        leave_out_types(&nest_);
        merge_loops(&nest_);
        if (!validate(nest_workload(nest_))) return {};
        return JoinedNest{std::move(nest_), std::move(sources_)};
    }

private:
    // An element that reads something outside is 0. So that of the producer must be outside exactly where that of the joined
    // nest is.
    bool keeps_what_is_outside() const {
        if (may_leave(producer_) && !only_moves(consumer_)) return false;
        const bool leaves = std::ranges::any_of(consumer_.reads, [&](const NestRead &read) {
            return read.operand == operand_ && consumer_.may_leave(read);
        });
        return !leaves || std::ranges::any_of(producer_.reads, [&](const NestRead &read) { return is_result(read); });
    }

    // Whether it reads something by the indices of the result, in the shape of the result.
    bool is_result(const NestRead &read) const {
        if (producer_.operands[read.operand] != producer_.loops) return false;
        for (size_t axis = 0; axis < read.indices.size(); axis++) {
            if (loop_of(read.indices[axis], producer_, producer_.loops[axis]) != axis) return false;
        }
        return true;
    }

    static void add(NestIndex *sum, const NestIndex &index, int64_t times) {
        for (size_t i = 0; i < index.loops.size(); i++) sum->loops[i] += times * index.loops[i];
        for (size_t i = 0; i < index.over.size(); i++) sum->over[i] += times * index.over[i];
        sum->offset += times * index.offset;
    }

    // An index of the producer at a place in its result.
    NestIndex composed(const NestIndex &index, const std::vector<NestIndex> &place) const {
        if (index.table >= 0) {
            NestIndex result = index;
            result.table += first_of_producer();
            for (NestIndex &axis : result.place) axis = composed(axis, place);
            return result;
        }
        NestIndex result;
        result.loops.assign(nest_.loops.size(), 0);
        result.over.assign(nest_.over.size(), 0);
        result.offset = index.offset;
        for (size_t loop = 0; loop < index.loops.size(); loop++) add(&result, place[loop], index.loops[loop]);
        return result;
    }

    // Operands of the consumer come first, without the one that is computed.
    int first_of_producer() const { return static_cast<int>(consumer_.operands.size()) - 1; }

    void replace_reads() {
        std::vector<NestRead> reads;
        for (NestRead read : consumer_.reads) {
            if (read.operand != operand_) {
                read.operand -= read.operand > operand_ ? 1 : 0;
                for (NestIndex &index : read.indices) index.table -= index.table > operand_ ? 1 : 0;
                reads.push_back(std::move(read));
                continue;
            }
            nest_.term = scalar::compose(nest_.term, static_cast<int>(reads.size()), producer_.term);
            for (const NestRead &inner : producer_.reads) {
                NestRead moved{inner.operand + first_of_producer(), {}};
                for (const NestIndex &index : inner.indices) moved.indices.push_back(composed(index, read.indices));
                reads.push_back(std::move(moved));
            }
        }
        nest_.reads = std::move(reads);
        // What is reduced comes behind the last read.
        for (scalar::Step &step : nest_.finish.steps) {
            if (step.function == scalar::Function::operand) step.operand = static_cast<int>(nest_.reads.size());
        }
    }

    void replace_operands() {
        nest_.operands.clear();
        nest_.types.clear();
        const auto add = [&](const Nest &nest, int operand, bool is_producers) {
            nest_.operands.push_back(nest.operands[operand]);
            const bool is_stated = !nest.types.empty() || !nest.is_table(operand);
            nest_.types.push_back(is_stated ? nest.type_of(operand) : scalar::Element::i32);
            sources_.push_back({is_producers, operand});
        };
        for (int i = 0; i < static_cast<int>(consumer_.operands.size()); i++) {
            if (i != operand_) add(consumer_, i, false);
        }
        for (int i = 0; i < static_cast<int>(producer_.operands.size()); i++) add(producer_, i, true);
    }

    const Nest &producer_, &consumer_;
    const int operand_;
    Nest nest_;
    std::vector<JoinedNest::Source> sources_;
};

}  // namespace

std::optional<JoinedNest> joined_nest(const Nest &producer, const Nest &consumer, int operand) {
    if (producer.reduction != Reduction::none || !producer.over.empty() || consumer.is_table(operand)) return {};
    if (consumer.reduction != Reduction::none && !finishes_sum_alone(consumer)) return {};
    if (producer.reads.empty() || scalar::operand_count(producer.term) != static_cast<int>(producer.reads.size()))
        return {};
    if (producer.result != consumer.type_of(operand) || producer.type_of_term() != producer.result) return {};
    const int64_t elements = elements_of(producer.loops);
    if (elements != elements_of(consumer.operands[operand])) return {};
    if (!only_moves(producer) && !reads_each_once(consumer, operand)) return {};
    const auto is_affine = [](const NestIndex &index) { return index.table < 0; };
    for (const NestRead &read : consumer.reads) {
        if (read.operand == operand && !std::ranges::all_of(read.indices, is_affine)) return {};
    }
    const auto factors = common_factors(consumer.operands[operand], producer.loops);
    const auto split = factors ? with_split_operand(consumer, operand, *factors) : std::nullopt;
    if (!split) return {};
    return Join(with_split_result(producer, *factors), *split, operand).run();
}

}  // namespace kiln::network
