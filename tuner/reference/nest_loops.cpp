#include "tuner/reference/nest_loops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "tuner/reference/bounded_expression.h"
#include "tuner/reference/operands.h"

namespace kiln {
namespace {

// Counts through extents, the last index fastest; false after the last.
bool next(std::vector<int64_t> &at, const std::vector<int64_t> &extents) {
    for (size_t d = extents.size(); d-- > 0;) {
        if (++at[d] < extents[d]) return true;
        at[d] = 0;
    }
    return false;
}

class NestLoops {
public:
    NestLoops(const Workload &w, const Operands &operands)
        : nest_(nest_of(w)), term_(nest_.term), finish_(nest_.finish) {
        const Signature tensors = signature(w);
        const std::vector<NamedOperand> list = operand_list(w);
        for (size_t i = 0; i < list.size(); i++)
            values_.push_back(canonical(operands.*list[i].place, tensors.operands[i]));
    }

    Sums compute() {
        Sums sums;
        std::vector<int64_t> i(nest_.loops.size(), 0);
        do {
            const Bounded result = element(i);
            sums.sum.push_back(result.value);
            sums.magnitude.push_back(result.error);
        } while (next(i, nest_.loops));
        return sums;
    }

private:
    Bounded element(const std::vector<int64_t> &i) {
        std::vector<int64_t> r(nest_.over.size(), 0);
        if (nest_.reduction == Reduction::none) return read_all(i, r) ? term_(reads_) : Bounded{};
        std::optional<Bounded> reduced;
        int64_t count = 0;
        do {
            if (!read_all(i, r)) continue;
            const Bounded term = term_(reads_);
            reduced = count++ == 0 ? term : joined(*reduced, term);
        } while (next(r, nest_.over));
        read_all(i, r);  // what finish reads does not depend on r, which is 0 again
        reads_.push_back(finished(reduced.value_or(identity()), count));
        const Bounded result = finish_(reads_);
        reads_.pop_back();
        return result;
    }

    Bounded joined(const Bounded &a, const Bounded &b) const {
        switch (nest_.reduction) {
            case Reduction::maximum:
                return bounded(scalar::Function::maximum, a, b);
            case Reduction::minimum:
                return bounded(scalar::Function::minimum, a, b);
            case Reduction::product:
                return bounded(scalar::Function::multiply, a, b);
            default:
                return bounded(scalar::Function::add, a, b);
        }
    }

    Bounded identity() const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        switch (nest_.reduction) {
            case Reduction::maximum:
                return {-infinity, 0};
            case Reduction::minimum:
                return {infinity, 0};
            case Reduction::product:
                return {1, 1};
            default:
                return {};
        }
    }

    Bounded finished(const Bounded &reduced, int64_t count) const {
        if (nest_.reduction != Reduction::mean) return reduced;
        return {reduced.value / static_cast<double>(count), reduced.error / static_cast<double>(count)};
    }

    static int64_t value_of(const NestIndex &index, const std::vector<int64_t> &i, const std::vector<int64_t> &r) {
        int64_t sum = index.offset;
        for (size_t d = 0; d < i.size(); d++) sum += index.loops[d] * i[d];
        for (size_t d = 0; d < r.size(); d++) sum += index.over[d] * r[d];
        return sum;
    }

    int64_t looked_up(const NestIndex &index, const std::vector<int64_t> &i, const std::vector<int64_t> &r) const {
        if (index.table < 0) return value_of(index, i, r);
        int64_t address = 0;
        const std::vector<int64_t> &shape = nest_.operands[index.table];
        for (size_t d = 0; d < shape.size(); d++) address = address * shape[d] + value_of(index.place[d], i, r);
        return static_cast<int64_t>(values_[index.table][address]);
    }

    // Whether all reads are inside of their operands; those that are not are 0.
    bool read_all(const std::vector<int64_t> &i, const std::vector<int64_t> &r) {
        reads_.assign(nest_.reads.size(), {});
        bool all_inside = true;
        for (size_t n = 0; n < nest_.reads.size(); n++) {
            const NestRead &read = nest_.reads[n];
            const std::vector<int64_t> &shape = nest_.operands[read.operand];
            int64_t address = 0;
            bool is_inside = true;
            for (size_t d = 0; d < shape.size(); d++) {
                const int64_t at = looked_up(read.indices[d], i, r);
                is_inside = is_inside && at >= 0 && at < shape[d];
                address = address * shape[d] + at;
            }
            all_inside = all_inside && is_inside;
            if (!is_inside) continue;
            const double value = values_[read.operand][address];
            reads_[n] = {value, std::fabs(value)};
        }
        return all_inside;
    }

    const Nest nest_;
    BoundedExpression term_, finish_;
    std::vector<std::vector<double>> values_;
    std::vector<Bounded> reads_;
};

}  // namespace

Sums compute_nest(const Workload &w, const Operands &operands) { return NestLoops(w, operands).compute(); }

}  // namespace kiln
