#include "network/joining/split_loops.h"

#include <algorithm>
#include <utility>

namespace kiln::network {
namespace {

bool is_used(int64_t factor) { return factor != 0; }

bool is_constant(const NestIndex &index) {
    return index.table < 0 && std::ranges::none_of(index.loops, is_used) && std::ranges::none_of(index.over, is_used);
}

// A nest, some of whose loops become several, each with a part of the extent.
class SplitLoops {
public:
    // `parts` by loop; a loop of one part stays, and one of none had a single element.
    explicit SplitLoops(const std::vector<Extents> &parts) {
        for (const Extents &extents : parts) {
            first_.push_back(loops_.size());
            loops_.insert(loops_.end(), extents.begin(), extents.end());
        }
        first_.push_back(loops_.size());
    }

    const Extents &loops() const { return loops_; }

    NestIndex split(NestIndex index) const {
        for (NestIndex &place : index.place) place = split(std::move(place));
        if (index.table >= 0) return index;
        std::vector<int64_t> factors(loops_.size(), 0);
        for (size_t loop = 0; loop < index.loops.size(); loop++) {
            int64_t factor = index.loops[loop];
            for (size_t part = first_[loop + 1]; part-- > first_[loop];) {
                factors[part] = factor;
                factor *= loops_[part];
            }
        }
        index.loops = std::move(factors);
        return index;
    }

    // An index for each part of a loop.
    std::vector<NestIndex> parts_of(size_t loop, size_t over) const {
        std::vector<NestIndex> result;
        for (size_t part = first_[loop]; part < first_[loop + 1]; part++) {
            NestIndex index = constant(0, over);
            index.loops[part] = 1;
            result.push_back(std::move(index));
        }
        return result;
    }

    NestIndex constant(int64_t number, size_t over) const {
        NestIndex index;
        index.loops.assign(loops_.size(), 0);
        index.over.assign(over, 0);
        index.offset = number;
        return index;
    }

private:
    Extents loops_;
    std::vector<size_t> first_;  // by loop: its first part; then their number
};

}  // namespace

std::optional<std::vector<Factor>> common_factors(const Extents &operand, const Extents &result) {
    std::vector<Factor> factors;
    size_t i = operand.size(), j = result.size();
    for (int64_t left = 1, right = 1;;) {
        while (left == 1 && i > 0) left = operand[--i];
        while (right == 1 && j > 0) right = result[--j];
        if (left == 1 || right == 1) {
            if (left != right) return {};
            break;
        }
        const int64_t extent = std::min(left, right);
        if (left % extent != 0 || right % extent != 0) return {};
        factors.push_back({extent, i, j});
        left /= extent, right /= extent;
    }
    std::ranges::reverse(factors);
    return factors;
}

std::optional<size_t> loop_of(const NestIndex &index, const Nest &nest, int64_t extent) {
    if (index.table >= 0 || index.offset != 0 || std::ranges::any_of(index.over, is_used)) return {};
    const auto at = std::ranges::find_if(index.loops, is_used);
    if (at == index.loops.end() || *at != 1 || std::ranges::count_if(index.loops, is_used) != 1) return {};
    const auto loop = static_cast<size_t>(at - index.loops.begin());
    return nest.loops[loop] == extent ? std::optional(loop) : std::nullopt;
}

Nest with_split_result(const Nest &nest, const std::vector<Factor> &factors) {
    std::vector<Extents> parts(nest.loops.size());
    for (const Factor &factor : factors) parts[factor.of_result].push_back(factor.extent);
    const SplitLoops loops(parts);
    Nest result = nest;
    result.loops = loops.loops();
    for (NestRead &read : result.reads) read.indices.clear();
    for (size_t operand = 0; operand < nest.operands.size(); operand++) {
        const Extents &shape = nest.operands[operand];
        result.operands[operand].clear();
        for (size_t axis = 0; axis < shape.size(); axis++) {
            std::optional<size_t> walked;
            bool is_split = !nest.is_table(static_cast<int>(operand));
            for (const NestRead &read : nest.reads) {
                if (read.operand != static_cast<int>(operand)) continue;
                walked = loop_of(read.indices[axis], nest, shape[axis]);
                is_split = is_split && walked && parts[*walked].size() > 1;
            }
            is_split = is_split && walked.has_value();
            const Extents extents = is_split ? parts[*walked] : Extents{shape[axis]};
            result.operands[operand].insert(result.operands[operand].end(), extents.begin(), extents.end());
            for (size_t r = 0; r < nest.reads.size(); r++) {
                if (nest.reads[r].operand != static_cast<int>(operand)) continue;
                const NestIndex &index = nest.reads[r].indices[axis];
                std::vector<NestIndex> all{loops.split(index)};
                if (is_split) all = loops.parts_of(*loop_of(index, nest, shape[axis]), 0);
                auto &indices = result.reads[r].indices;
                indices.insert(indices.end(), all.begin(), all.end());
            }
        }
    }
    return result;
}

std::optional<Nest> with_split_operand(const Nest &nest, int operand, const std::vector<Factor> &factors) {
    const Extents &shape = nest.operands[operand];
    std::vector<Extents> of_axis(shape.size());
    for (const Factor &factor : factors) of_axis[factor.of_operand].push_back(factor.extent);
    std::vector<Extents> parts;  // by loop
    for (const int64_t extent : nest.loops) parts.push_back({extent});
    std::vector<bool> is_split(nest.loops.size());
    for (const NestRead &read : nest.reads) {
        for (size_t axis = 0; read.operand == operand && axis < shape.size(); axis++) {
            if (is_constant(read.indices[axis])) {
                if (read.indices[axis].offset < 0 || read.indices[axis].offset >= shape[axis]) return {};
                continue;
            }
            if (of_axis[axis].empty()) return {};
            if (of_axis[axis].size() == 1) continue;
            const auto loop = loop_of(read.indices[axis], nest, shape[axis]);
            if (!loop || (is_split[*loop] && parts[*loop] != of_axis[axis])) return {};
            parts[*loop] = of_axis[axis];
            is_split[*loop] = true;
        }
    }
    const SplitLoops loops(parts);
    Nest result = nest;
    result.loops = loops.loops();
    result.operands[operand].clear();
    for (const Factor &factor : factors) result.operands[operand].push_back(factor.extent);
    for (NestRead &read : result.reads) {
        std::vector<NestIndex> indices;
        for (size_t axis = 0; axis < read.indices.size(); axis++) {
            const NestIndex &index = read.indices[axis];
            const size_t count = read.operand == operand ? of_axis[axis].size() : 1;
            if (count == 1) {
                indices.push_back(loops.split(index));
            } else if (!is_constant(index)) {
                const auto parts_of_loop = loops.parts_of(*loop_of(index, nest, shape[axis]), nest.over.size());
                indices.insert(indices.end(), parts_of_loop.begin(), parts_of_loop.end());
            } else {
                int64_t behind = shape[axis];
                for (const int64_t extent : of_axis[axis]) {
                    behind /= extent;
                    indices.push_back(loops.constant(index.offset / behind % extent, nest.over.size()));
                }
            }
        }
        read.indices = std::move(indices);
    }
    return result;
}

}  // namespace kiln::network
