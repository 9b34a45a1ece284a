#include "graph/evaluate/functions.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "graph/evaluate/operator_loops.h"
#include "graph/quantized_forms.h"

namespace kiln::graph {
namespace {

template<typename F>
void map_floats(Block *a, F f) {
    for (double &x : a->floats) x = f(x);
}

template<typename F>
void map_integers(Block *a, F f) {
    for (int64_t &x : a->integers) x = wrapped(a->type, f(x));
}

template<typename F>
void test_floats(Block *a, F f) {
    a->integers.resize(a->floats.size());
    for (size_t i = 0; i < a->floats.size(); i++) a->integers[i] = f(a->floats[i]);
    a->type = Element::boolean;
}

template<typename F>
void join_floats(Block *a, const Block &b, F f) {
    for (size_t i = 0; i < a->floats.size(); i++) a->floats[i] = f(a->floats[i], b.floats[i]);
}

template<typename F>
void join_integers(Block *a, const Block &b, F f) {
    for (size_t i = 0; i < a->integers.size(); i++) a->integers[i] = wrapped(a->type, f(a->integers[i], b.integers[i]));
}

// Compares numbers of either kind; the results are booleans.
template<typename F>
void compare(Block *a, const Block &b, F f) {
    if (is_float(a->type)) {
        a->integers.resize(a->floats.size());
        for (size_t i = 0; i < a->floats.size(); i++) a->integers[i] = f(a->floats[i], b.floats[i]);
    } else {
        for (size_t i = 0; i < a->integers.size(); i++) a->integers[i] = f(a->integers[i], b.integers[i]);
    }
    a->type = Element::boolean;
}

// Without overflow where numbers wrap around.
int64_t plus(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
int64_t minus(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t times(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

void cast_to(Element type, Block *a) {
    const bool from_float = is_float(a->type), is_same = a->type == type;
    a->type = type;
    if (is_same) return;
    if (from_float && is_float(type)) {
        map_floats(a, [&](double x) { return rounded(type, x); });
    } else if (from_float) {
        test_floats(a, [&](double x) { return cut_off(type, x); });
        a->type = type;
    } else if (is_float(type)) {
        a->floats.resize(a->integers.size());
        for (size_t i = 0; i < a->floats.size(); i++) a->floats[i] = rounded(type, static_cast<double>(a->integers[i]));
    } else {
        map_integers(a, [](int64_t x) { return x; });
    }
}

void choose(Block *condition, const Block &yes, const Block &no) {
    const size_t count = condition->integers.size();
    condition->type = yes.type;
    if (is_float(yes.type)) {
        condition->floats.resize(count);
        for (size_t i = 0; i < count; i++) condition->floats[i] = (condition->integers[i] ? yes : no).floats[i];
    } else {
        for (size_t i = 0; i < count; i++) condition->integers[i] = (condition->integers[i] ? yes : no).integers[i];
    }
}

// Functions of floating numbers alone.
void apply_floating(Function function, Block *a) {
    switch (function) {
        case Function::reciprocal:
            return map_floats(a, [](double x) { return 1 / x; });
        case Function::square_root:
            return map_floats(a, [](double x) { return std::sqrt(x); });
        case Function::exponential:
            return map_floats(a, [](double x) { return std::exp(x); });
        case Function::logarithm:
            return map_floats(a, [](double x) { return std::log(x); });
        case Function::logarithm_1p:
            return map_floats(a, [](double x) { return std::log1p(x); });
        case Function::sine:
            return map_floats(a, [](double x) { return std::sin(x); });
        case Function::cosine:
            return map_floats(a, [](double x) { return std::cos(x); });
        case Function::tangent_hyperbolic:
            return map_floats(a, [](double x) { return std::tanh(x); });
        case Function::error_function:
            return map_floats(a, [](double x) { return std::erf(x); });
        case Function::sigmoid:
            return map_floats(a, [](double x) { return 1 / (1 + std::exp(-x)); });
        case Function::floor:
            return map_floats(a, [](double x) { return std::floor(x); });
        case Function::ceil:
            return map_floats(a, [](double x) { return std::ceil(x); });
        case Function::round:
            return map_floats(a, [](double x) { return std::nearbyint(x); });
        case Function::is_nan:
            return test_floats(a, [](double x) { return std::isnan(x); });
        case Function::is_infinite:
            return test_floats(a, [](double x) { return std::isinf(x); });
        default:
            assert(false);
    }
}

void apply_to_floats(Function function, Block *a) {
    const Block &b = a[1];
    switch (function) {
        case Function::absolute:
            return map_floats(a, [](double x) { return std::fabs(x); });
        case Function::negate:
            return map_floats(a, [](double x) { return -x; });
        case Function::sign:
            return map_floats(a, [](double x) { return x > 0 ? 1 : x < 0 ? -1 : x; });
        case Function::add:
            return join_floats(a, b, [](double x, double y) { return x + y; });
        case Function::subtract:
            return join_floats(a, b, [](double x, double y) { return x - y; });
        case Function::multiply:
            return join_floats(a, b, [](double x, double y) { return x * y; });
        case Function::divide:
            return join_floats(a, b, [](double x, double y) { return x / y; });
        case Function::remainder:
            return join_floats(a, b, [](double x, double y) { return remainder_of(x, y); });
        case Function::power:
            return join_floats(a, b, [](double x, double y) { return std::pow(x, y); });
        case Function::minimum:
            return join_floats(a, b, [](double x, double y) { return least(x, y); });
        case Function::maximum:
            return join_floats(a, b, [](double x, double y) { return largest(x, y); });
        default:
            return apply_floating(function, a);
    }
}

void apply_to_integers(Function function, Block *a) {
    const Block &b = a[1];
    switch (function) {
        case Function::absolute:
            return map_integers(a, [](int64_t x) { return x < 0 ? minus(0, x) : x; });
        case Function::negate:
            return map_integers(a, [](int64_t x) { return minus(0, x); });
        case Function::sign:
            return map_integers(a, [](int64_t x) { return (x > 0) - (x < 0); });
        case Function::add:
            return join_integers(a, b, plus);
        case Function::subtract:
            return join_integers(a, b, minus);
        case Function::multiply:
            return join_integers(a, b, times);
        case Function::divide:
            return join_integers(a, b, divided);
        case Function::remainder:
            return join_integers(a, b, [](int64_t x, int64_t y) { return remainder_of(x, y); });
        case Function::power:
            return join_integers(a, b, power_of);
        case Function::minimum:
            return join_integers(a, b, [](int64_t x, int64_t y) { return x < y ? x : y; });
        case Function::maximum:
            return join_integers(a, b, [](int64_t x, int64_t y) { return x > y ? x : y; });
        default:
            assert(false);
    }
}

}  // namespace

int64_t divided(int64_t a, int64_t b) {
    if (b == 0) return 0;
    return b == -1 ? minus(0, a) : a / b;
}

int64_t remainder_of(int64_t a, int64_t b) {
    if (b == 0 || b == -1) return 0;
    const int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

double remainder_of(double a, double b) {
    const double rest = std::fmod(a, b);
    if (rest == 0) return std::copysign(rest, b);
    return (rest < 0) != (b < 0) ? rest + b : rest;
}

int64_t power_of(int64_t base, int64_t exponent) {
    if (exponent < 0) {
        if (base == 1) return 1;
        if (base == -1) return exponent % 2 == 0 ? 1 : -1;
        return 0;
    }
    int64_t result = 1;
    for (; exponent > 0; exponent /= 2, base = times(base, base)) {
        if (exponent % 2 == 1) result = times(result, base);
    }
    return result;
}

Block constant_block(const Step &step, int64_t count) {
    Block block;
    block.type = step.type;
    if (is_float(step.type)) {
        block.floats.assign(count, step.number);
    } else {
        block.integers.assign(count, static_cast<int64_t>(step.number));
    }
    return block;
}

void apply(const Step &step, Block *first) {
    const Block &second = first[1];
    switch (step.function) {
        case Function::cast:
            return cast_to(step.type, first);
        case Function::select:
            return choose(first, first[1], first[2]);
        case Function::equal:
            return compare(first, second, [](auto x, auto y) { return x == y; });
        case Function::less:
            return compare(first, second, [](auto x, auto y) { return x < y; });
        case Function::less_or_equal:
            return compare(first, second, [](auto x, auto y) { return x <= y; });
        case Function::logical_not:
            return map_integers(first, [](int64_t x) { return !x; });
        case Function::logical_and:
            return join_integers(first, second, [](int64_t x, int64_t y) { return x && y; });
        case Function::logical_or:
            return join_integers(first, second, [](int64_t x, int64_t y) { return x || y; });
        case Function::logical_xor:
            return join_integers(first, second, [](int64_t x, int64_t y) { return x != y; });
        default:
            return is_float(first->type) ? apply_to_floats(step.function, first)
                                         : apply_to_integers(step.function, first);
    }
}

const Block &Program::run(int64_t count) {
    size_t depth = 0;
    for (const Step &step : expression.steps) {
        if (step.function == Function::operand) {
            stack[depth++] = operands[step.operand];
        } else if (step.function == Function::constant) {
            stack[depth++] = constant_block(step, count);
        } else {
            depth -= argument_count(step.function) - 1;
            apply(step, &stack[depth - 1]);
        }
        if (!rounds_steps || stack[depth - 1].type != Element::f32) continue;
        for (double &number : stack[depth - 1].floats) number = static_cast<float>(number);
    }
    return stack[0];
}

}  // namespace kiln::graph
