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

bool is_rounded(Reduction reduction) {
    return reduction == Reduction::sum || reduction == Reduction::mean || reduction == Reduction::product;
}

class NestLoops {
public:
    NestLoops(const Workload &w, const Operands &operands)
        : nest_(nest_of(w)),
          rounding_(nest_.quantizes() ? Rounding::exact : Rounding::any),
          term_(nest_.term, nest_.types_of_reads(), rounding_),
          reduced_(nest_.type_of_term()),
          finish_(nest_.finish, types_of_finish(nest_), rounding_) {
        const Signature tensors = signature(w);
        const std::vector<NamedOperand> list = operand_list(w);
        for (size_t i = 0; i < list.size(); i++) {
            values_.push_back(canonical(operands.*list[i].place, tensors.operands[i]));
            const scalar::Element type = nest_.type_of(static_cast<int>(i));
            for (double &value : values_.back()) value = bounded_number(type, value).value;
            counts_as_rounded_.push_back(rounding_ == Rounding::any && !is_integer(type));
        }
        for (const NestRead &read : nest_.reads) addresses_.push_back(address_of(read));
        reads_.resize(nest_.reads.size());
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
    static std::vector<scalar::Element> types_of_finish(const Nest &nest) {
        std::vector<scalar::Element> types = nest.types_of_reads();
        types.push_back(nest.type_of_term());
        return types;
    }

    // Where a read that stays in its operand, without tables, finds its element.
    struct Address {
        bool is_linear = false;
        int64_t offset = 0;
        std::vector<int64_t> loops, over;
        int64_t begin = 0;  // with the loops where they are now
    };

    Address address_of(const NestRead &read) const {
        Address address{.is_linear = !nest_.may_leave(read),
                        .offset = 0,
                        .loops = std::vector<int64_t>(nest_.loops.size(), 0),
                        .over = std::vector<int64_t>(nest_.over.size(), 0)};
        if (!address.is_linear) return address;
        const std::vector<int64_t> &shape = nest_.operands[read.operand];
        for (size_t d = 0; d < shape.size(); d++) {
            const NestIndex &index = read.indices[d];
            address.offset = address.offset * shape[d] + index.offset;
            for (size_t l = 0; l < address.loops.size(); l++)
                address.loops[l] = address.loops[l] * shape[d] + index.loops[l];
            for (size_t o = 0; o < address.over.size(); o++)
                address.over[o] = address.over[o] * shape[d] + index.over[o];
        }
        return address;
    }

    Bounded element(const std::vector<int64_t> &i) {
        for (Address &address : addresses_) {
            address.begin = address.offset;
            for (size_t d = 0; d < address.loops.size(); d++) address.begin += address.loops[d] * i[d];
        }
        std::vector<int64_t> r(nest_.over.size(), 0);
        if (nest_.reduction == Reduction::none) return read_all(i, r) ? term_(reads_) : Bounded{};
        std::optional<Bounded> reduced;
        int64_t count = 0;
        do {
            if (!read_all(i, r)) continue;
            Bounded term = term_(reads_);
            if (rounding_ == Rounding::exact && scalar::is_float(reduced_) && is_rounded(nest_.reduction)) {
                term.error += std::fabs(term.value);  // kernels sum up in any order
            }
            reduced = count++ == 0 ? term : joined(*reduced, term);
        } while (next(r, nest_.over));
        read_all(i, r);  // what finish reads does not depend on r, which is 0 again
        reads_.push_back(finished(reduced.value_or(identity()), count));
        const Bounded result = finish_(reads_);
        reads_.pop_back();
        return result;
    }

    scalar::Function joining() const {
        switch (nest_.reduction) {
            case Reduction::maximum:
                return scalar::Function::maximum;
            case Reduction::minimum:
                return scalar::Function::minimum;
            case Reduction::product:
                return scalar::Function::multiply;
            default:
                return scalar::Function::add;
        }
    }

    Bounded joined(const Bounded &a, const Bounded &b) const { return bounded(joining(), reduced_, a, b); }

    Bounded identity() const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        switch (nest_.reduction) {
            case Reduction::maximum:
                return bounded_number(reduced_, -infinity);
            case Reduction::minimum:
                return bounded_number(reduced_, infinity);
            case Reduction::product:
                return bounded_number(reduced_, 1);
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

    // The element that a read finds, or -1 outside of its operand.
    int64_t place_of(size_t n, const std::vector<int64_t> &i, const std::vector<int64_t> &r) const {
        if (addresses_[n].is_linear) {
            int64_t place = addresses_[n].begin;
            for (size_t d = 0; d < r.size(); d++) place += addresses_[n].over[d] * r[d];
            return place;
        }
        const NestRead &read = nest_.reads[n];
        const std::vector<int64_t> &shape = nest_.operands[read.operand];
        int64_t place = 0;
        bool is_inside = true;
        for (size_t d = 0; d < shape.size(); d++) {
            const int64_t at = looked_up(read.indices[d], i, r);
            is_inside = is_inside && at >= 0 && at < shape[d];
            place = place * shape[d] + at;
        }
        return is_inside ? place : -1;
    }

    // Whether all reads are inside of their operands; those that are not are 0.
    bool read_all(const std::vector<int64_t> &i, const std::vector<int64_t> &r) {
        bool all_inside = true;
        for (size_t n = 0; n < nest_.reads.size(); n++) {
            const int64_t place = place_of(n, i, r);
            reads_[n] = {};
            all_inside = all_inside && place >= 0;
            if (place < 0) continue;
            const int operand = nest_.reads[n].operand;
            const double value = values_[operand][place];
            reads_[n] = {value, counts_as_rounded_[operand] ? std::fabs(value) : 0, true};
        }
        return all_inside;
    }

    const Nest nest_;
    const Rounding rounding_;
    BoundedExpression term_;
    scalar::Element reduced_;  // the type of what is reduced
    BoundedExpression finish_;
    std::vector<std::vector<double>> values_;  // of each operand, as its type has them
    std::vector<char> counts_as_rounded_;      // by operand: its numbers have the error of one rounding
    std::vector<Address> addresses_;           // by read
    std::vector<Bounded> reads_;
};

}  // namespace

Sums compute_nest(const Workload &w, const Operands &operands) { return NestLoops(w, operands).compute(); }

}  // namespace kiln
