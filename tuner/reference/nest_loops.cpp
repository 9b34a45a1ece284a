#include "tuner/reference/nest_loops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "tuner/reference/operands.h"

namespace kiln {
namespace {

using scalar::Function;

// A value and the bound of its error in units of one rounding.
struct Bounded {
    double value = 0, error = 0;
};

// f(x) with the slope f'(x): what it passes on, and its own rounding.
Bounded through(double value, double slope, double error) {
    const double passed = error == 0 ? 0 : std::fabs(slope) * error;
    return {value, passed + std::fabs(value)};
}

Bounded of_one(Function function, const Bounded &x) {
    const double v = x.value;
    switch (function) {
        case Function::absolute:
            return {std::fabs(v), x.error};
        case Function::negate:
            return {-v, x.error};
        case Function::sign:
            return {double(v > 0) - double(v < 0), 0};
        case Function::reciprocal:
            return through(1 / v, 1 / (v * v), x.error);
        case Function::square_root:
            return through(std::sqrt(v), 0.5 / std::sqrt(v), x.error);
        case Function::exponential:
            return through(std::exp(v), std::exp(v), x.error);
        case Function::logarithm:
            return through(std::log(v), 1 / v, x.error);
        case Function::logarithm_1p:
            return through(std::log1p(v), 1 / (1 + v), x.error);
        case Function::sine:
            return through(std::sin(v), std::cos(v), x.error);
        case Function::cosine:
            return through(std::cos(v), std::sin(v), x.error);
        case Function::tangent_hyperbolic:
            return through(std::tanh(v), 1 - std::tanh(v) * std::tanh(v), x.error);
        case Function::error_function:
            return through(std::erf(v), 2 / std::sqrt(M_PI) * std::exp(-v * v), x.error);
        case Function::sigmoid: {
            const double s = 1 / (1 + std::exp(-v));
            return through(s, s * (1 - s), x.error);
        }
        case Function::floor:
            return {std::floor(v), 0};
        case Function::ceil:
            return {std::ceil(v), 0};
        case Function::round:
            return {std::nearbyint(v), 0};
        case Function::logical_not:
            return {double(v == 0), 0};
        case Function::is_nan:
            return {double(std::isnan(v)), 0};
        default:
            return {double(std::isinf(v)), 0};
    }
}

Bounded power(const Bounded &a, const Bounded &b) {
    const double value = std::pow(a.value, b.value);
    const double by_base = b.value * std::pow(a.value, b.value - 1);
    // exp(b log a): the rounding of b log a is multiplied, too.
    const double exponent = a.value == 0 ? 0 : std::fabs(b.value * std::log(std::fabs(a.value)));
    return {value, std::fabs(by_base) * a.error +
                       std::fabs(value) * (1 + exponent + b.error * exponent / std::max(std::fabs(b.value), 1e-300))};
}

Bounded of_two(Function function, const Bounded &a, const Bounded &b) {
    const double x = a.value, y = b.value;
    switch (function) {
        case Function::add:
            return {x + y, a.error + b.error};
        case Function::subtract:
            return {x - y, a.error + b.error};
        case Function::multiply:
            return {x * y, std::fabs(y) * a.error + std::fabs(x) * b.error};
        case Function::divide:
            return {x / y, a.error / std::fabs(y) + std::fabs(x / y) * (b.error / std::fabs(y)) + std::fabs(x / y)};
        case Function::remainder:
            return {x - std::floor(x / y) * y, a.error + std::fabs(std::floor(x / y)) * b.error};
        case Function::power:
            return power(a, b);
        case Function::minimum:
            return {x < y || std::isnan(x) ? x : y, std::max(a.error, b.error)};
        case Function::maximum:
            return {x > y || std::isnan(x) ? x : y, std::max(a.error, b.error)};
        case Function::equal:
            return {double(x == y), 0};
        case Function::less:
            return {double(x < y), 0};
        case Function::less_or_equal:
            return {double(x <= y), 0};
        case Function::logical_and:
            return {double(x != 0 && y != 0), 0};
        case Function::logical_or:
            return {double(x != 0 || y != 0), 0};
        default:
            return {double((x != 0) != (y != 0)), 0};  // logical_xor
    }
}

Bounded converted(const Bounded &x, scalar::Element type) {
    if (type == scalar::Element::boolean) return {double(x.value != 0), 0};
    return scalar::is_float(type) ? x : Bounded{std::trunc(x.value), 0};
}

// An expression's value; `operands` in the order of its numbers.
class Calculator {
public:
    explicit Calculator(const scalar::Expression &expression) : steps_(expression.steps) {
        stack_.reserve(steps_.size());
    }

    Bounded operator()(const std::vector<Bounded> &operands) {
        stack_.clear();
        for (const scalar::Step &step : steps_) take(step, operands);
        return stack_.back();
    }

private:
    void take(const scalar::Step &step, const std::vector<Bounded> &operands) {
        if (step.function == Function::operand) return stack_.push_back(operands[step.operand]);
        if (step.function == Function::constant) return stack_.push_back({step.number, std::fabs(step.number)});
        const Bounded last = stack_.back();
        stack_.pop_back();
        const int count = scalar::argument_count(step.function);
        if (count == 1) {
            return stack_.push_back(step.function == Function::cast ? converted(last, step.type)
                                                                    : of_one(step.function, last));
        }
        Bounded &first = stack_[stack_.size() - count + 1];
        if (count == 2) {
            first = of_two(step.function, first, last);
            return;
        }
        const Bounded chosen = first.value != 0 ? stack_.back() : last;  // select
        stack_.pop_back();
        stack_.back() = chosen;
    }

    const std::vector<scalar::Step> &steps_;
    std::vector<Bounded> stack_;
};

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
                return of_two(Function::maximum, a, b);
            case Reduction::minimum:
                return of_two(Function::minimum, a, b);
            case Reduction::product:
                return of_two(Function::multiply, a, b);
            default:
                return of_two(Function::add, a, b);
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
    Calculator term_, finish_;
    std::vector<std::vector<double>> values_;
    std::vector<Bounded> reads_;
};

}  // namespace

Sums compute_nest(const Workload &w, const Operands &operands) { return NestLoops(w, operands).compute(); }

}  // namespace kiln
