#include "tuner/reference/nest_loops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
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
            return {std::isnan(v) ? v : double(v > 0) - double(v < 0), 0};
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
        case Function::remainder: {
            const double rest = std::fmod(x, y), value = rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
            return {value, a.error + std::fabs(std::floor(x / y)) * b.error};
        }
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

// What an integer of `type` is after arithmetic, which wraps around. Those of 64 bits are as exact as f64.
double wrapped(scalar::Element type, double value) {
    const int bits = 8 * scalar::size_of(type);
    if (bits == 64) return value;
    const double range = std::ldexp(1, bits), rest = value - std::floor(value / range) * range;
    const bool is_unsigned =
        type == scalar::Element::u8 || type == scalar::Element::u16 || type == scalar::Element::u32;
    return !is_unsigned && rest >= range / 2 ? rest - range : rest;
}

bool is_integer(scalar::Element type) { return !scalar::is_float(type) && type != scalar::Element::boolean; }

// Floats are cut off, and saturate.
double cut_off(scalar::Element type, double value) {
    std::array<std::byte, 8> bytes{};
    scalar::write_float(type, std::trunc(value), bytes.data());
    return static_cast<double>(scalar::read_integer(type, bytes.data()));
}

double rounded(scalar::Element type, double value) {
    std::array<std::byte, 8> bytes{};
    scalar::write_float(type, value, bytes.data());
    return scalar::read_float(type, bytes.data());
}

Bounded converted(const Bounded &x, scalar::Element from, scalar::Element to) {
    if (to == scalar::Element::boolean) return {double(x.value != 0), 0};
    if (!is_integer(to)) return x;
    return {is_integer(from) ? wrapped(to, x.value) : cut_off(to, x.value), 0};
}

// Roundings of f32 in one of `type`.
double roundings(scalar::Element type) {
    return type == scalar::Element::f16 ? 1 << 13 : type == scalar::Element::bf16 ? 1 << 16 : 0;
}

Bounded of_integers(Function function, scalar::Element type, const Bounded &a, const Bounded &b) {
    const double x = a.value, y = b.value;
    if (function == Function::divide) return {y == 0 ? 0 : wrapped(type, std::trunc(x / y)), 0};
    if (function == Function::remainder && y == 0) return {};
    if (function == Function::power) return {cut_off(type, std::pow(x, y)), 0};
    return {wrapped(type, of_two(function, a, b).value), 0};
}

// An expression's value; `operands` in the order of its numbers.
class Calculator {
public:
    explicit Calculator(const scalar::Expression &expression) : steps_(expression.steps) {
        stack_.reserve(steps_.size());
        std::vector<scalar::Element> types;
        for (const scalar::Step &step : steps_) {
            const int count = scalar::argument_count(step.function);
            // The last argument's: of a select that is its result's, too.
            argument_types_.push_back(count == 0 ? scalar::Element::f32 : types.back());
            types.resize(types.size() - count);
            types.push_back(result_type(step, argument_types_.back()));
        }
    }

    Bounded operator()(const std::vector<Bounded> &operands) {
        stack_.clear();
        for (size_t i = 0; i < steps_.size(); i++) take(steps_[i], argument_types_[i], operands);
        return stack_.back();
    }

private:
    static scalar::Element result_type(const scalar::Step &step, scalar::Element argument) {
        switch (step.function) {
            case Function::operand:
                return scalar::Element::f32;
            case Function::constant:
            case Function::cast:
                return step.type;
            case Function::is_nan:
            case Function::is_infinite:
            case Function::equal:
            case Function::less:
            case Function::less_or_equal:
                return scalar::Element::boolean;
            default:
                return argument;
        }
    }

    void take(const scalar::Step &step, scalar::Element argument, const std::vector<Bounded> &operands) {
        if (step.function == Function::operand) return stack_.push_back(operands[step.operand]);
        if (step.function == Function::constant) return stack_.push_back({step.number, std::fabs(step.number)});
        const int count = scalar::argument_count(step.function);
        const Bounded *first = &stack_[stack_.size() - count];
        Bounded result = called(step, argument, first);
        const scalar::Element type = result_type(step, argument);
        if (roundings(type) > 0)
            result = {rounded(type, result.value), result.error + std::fabs(result.value) * roundings(type)};
        stack_.resize(stack_.size() - count);
        stack_.push_back(result);
    }

    static Bounded called(const scalar::Step &step, scalar::Element argument, const Bounded *a) {
        if (step.function == Function::cast) return converted(a[0], argument, step.type);
        if (step.function == Function::select) return a[0].value != 0 ? a[1] : a[2];
        const bool answers = result_type(step, argument) == scalar::Element::boolean;
        if (scalar::argument_count(step.function) == 1) {
            const Bounded result = of_one(step.function, a[0]);
            return is_integer(argument) ? Bounded{wrapped(argument, result.value), 0} : result;
        }
        if (is_integer(argument) && !answers) return of_integers(step.function, argument, a[0], a[1]);
        return of_two(step.function, a[0], a[1]);
    }

    const std::vector<scalar::Step> &steps_;
    std::vector<scalar::Element> argument_types_;  // of each step
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
