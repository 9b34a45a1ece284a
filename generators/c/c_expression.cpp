#include "generators/c/c_expression.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>

#include "generators/c/c_source.h"

namespace kiln {

using namespace Halide;
using namespace Halide::Internal;

namespace {

std::string bits_of(const Type &type) { return std::to_string(type.bits()); }

// min_i32, floor_div_i64
std::string suffix(const Type &type) { return (type.is_uint() ? "u" : "i") + bits_of(type); }

// LiteRT's requantization of any sum, multiplier and shift. The others have no branches, since a core guesses those wrong about
// as often as not: a division by 2^shift, which rounds halves away from zero by a little less (`unit`) for negative numbers,
// and the bounds of results.
constexpr struct {
    const char *name, *text;
} named_functions[] = {{"kiln_requantize", R"(
static int32_t kiln_requantize(int32_t sum, int32_t multiplier, int32_t shift) {
    const int left = shift > 0 ? shift : 0, right = shift < 0 ? -shift : 0;
    const int32_t most = INT32_MAX >> left;
    const int32_t fitting = sum > most ? most : sum < -most - 1 ? -most - 1 : sum;
    const int64_t product = (int64_t)(int32_t)((uint32_t)fitting << left) * multiplier;
    const int32_t high = (int32_t)((product + (1 << 30)) >> 31);
    const int32_t mask = (int32_t)((UINT32_C(1) << right) - 1);
    return (high >> right) + ((high & mask) > (mask >> 1) + (high < 0));
}
)"},
                       {"kiln_shifted", R"(
static inline int32_t kiln_shifted(int32_t number, int32_t unit, int32_t rounding, uint32_t shift) {
    return (number + ((number >> 31) & -unit) + rounding) >> shift;
}
)"},
                       {"kiln_bounded", R"(
static inline int32_t kiln_bounded(int32_t above_most, int32_t span, int32_t least) {
    const int32_t below_least = -span - (above_most & (above_most >> 31));
    return least - (below_least & (below_least >> 31));
}
)"}};

}  // namespace

std::string c_type(const Type &type) {
    if (type.is_vector()) throw NoCForm{"a vector of " + std::to_string(type.lanes()) + " elements"};
    if (type.is_bool()) return "int";
    if (type.is_float() || type.is_bfloat()) throw NoCForm{"a number with a fraction"};
    if (!type.is_int_or_uint() || type.bits() % 8 != 0) throw NoCForm{"a value that is no integer"};
    return (type.is_uint() ? "uint" : "int") + bits_of(type) + "_t";
}

std::string CPrelude::function(const std::string &operation, const Type &type) {
    const std::string name = operation + "_" + suffix(type), t = c_type(type);
    std::string body = operation == "min" ? "return a < b ? a : b;" : "return a > b ? a : b;";
    // Towards minus infinity, by a divisor that is not negative.
    if (operation == "floor_div") body = "return a < 0 ? ~(~a / b) : a / b;";
    if (operation == "floor_mod") body = t + " r = a % b; return r < 0 ? r + b : r;";
    functions_.insert("static inline " + t + " " + name + "(" + t + " a, " + t + " b) { " + body + " }\n");
    return name;
}

bool CPrelude::has(const std::string &name) {
    for (const auto &[known, text] : named_functions) {
        if (name != known) continue;
        functions_.insert(text);
        return true;
    }
    return false;
}

std::string CPrelude::text() const {
    std::string text;
    for (const std::string &function : functions_) text += function;
    return text;
}

std::string CExpression::text(const Expr &e) {
    c_type(e.type());
    e.accept(this);
    return std::move(result_);
}

// C computes in int at least.
std::string CExpression::narrowed(const Type &type, const std::string &text) const {
    return type.bits() >= 32 || type.is_bool() ? text : "(" + c_type(type) + ")" + text;
}

template<typename Op>
void CExpression::binary(const Op *op, const char *sign) {
    const std::string a = text(op->a), b = text(op->b);
    result_ = "(" + a + " " + sign + " " + b + ")";
}

template<typename Op>
void CExpression::arithmetic(const Op *op, const char *sign) {
    binary(op, sign);
    result_ = narrowed(op->type, result_);
}

template<typename Op>
void CExpression::function(const Op *op, const char *name) {
    const std::string a = text(op->a), b = text(op->b);
    result_ = context_.prelude.function(name, op->type) + "(" + a + ", " + b + ")";
}

void CExpression::visit(const IntImm *op) {
    result_ = std::to_string(op->value);
    if (op->type.bits() == 64) result_ = "INT64_C(" + result_ + ")";
    if (op->value < 0) result_ = "(" + result_ + ")";
    if (op->type.bits() == 32 && op->value == INT32_MIN) result_ = "INT32_MIN";  // its digits alone are no int
}

void CExpression::visit(const UIntImm *op) {
    result_ = std::to_string(op->value);
    if (op->type.bits() == 64) result_ = "UINT64_C(" + result_ + ")";
    if (op->type.bits() == 32) result_ = "UINT32_C(" + result_ + ")";
}

void CExpression::visit(const FloatImm *) { throw NoCForm{"a number with a fraction"}; }
void CExpression::visit(const StringImm *) { throw NoCForm{"a text"}; }
void CExpression::visit(const Ramp *) { throw NoCForm{"a vector"}; }
void CExpression::visit(const Broadcast *) { throw NoCForm{"a vector"}; }
void CExpression::visit(const Shuffle *) { throw NoCForm{"a vector"}; }
void CExpression::visit(const VectorReduce *) { throw NoCForm{"a vector"}; }

void CExpression::visit(const Cast *op) {
    const std::string value = text(op->value);
    result_ = op->type.is_bool() ? "(" + value + " != 0)" : "(" + c_type(op->type) + ")" + value;
}

void CExpression::visit(const Reinterpret *op) {
    if (op->type.bits() != op->value.type().bits()) throw NoCForm{"bits of another size"};
    result_ = "(" + c_type(op->type) + ")" + text(op->value);
}

void CExpression::visit(const Variable *op) { result_ = context_.names.of(op->name); }

// Halide's division rounds so that remainders are not negative.
void CExpression::division(const Expr &a, const Expr &b, bool remainder) {
    const Type type = a.type();
    const auto divisor = as_const_int(b);
    if (type.is_uint() && is_positive_const(b)) {
        result_ = narrowed(type, "(" + text(a) + (remainder ? " % " : " / ") + text(b) + ")");
    } else if (type.is_int() && divisor && *divisor > 0) {
        const auto value = static_cast<uint64_t>(*divisor);
        const std::string dividend = text(a);
        if (std::has_single_bit(value)) {
            const std::string shifted = "(" + dividend + " >> " + std::to_string(std::countr_zero(value)) + ")";
            result_ = remainder ? "(" + dividend + " & " + std::to_string(value - 1) + ")" : shifted;
            return;
        }
        result_ = context_.prelude.function(remainder ? "floor_mod" : "floor_div", type) + "(" + dividend + ", " +
                  text(b) + ")";
    } else {
        result_ = text(remainder ? lower_euclidean_mod(a, b) : lower_euclidean_div(a, b));
    }
}

void CExpression::visit(const Div *op) { division(op->a, op->b, false); }
void CExpression::visit(const Mod *op) { division(op->a, op->b, true); }

void CExpression::visit(const Select *op) {
    const std::string condition = text(op->condition), yes = text(op->true_value), no = text(op->false_value);
    result_ = "(" + condition + " ? " + yes + " : " + no + ")";
}

void CExpression::visit(const Load *op) {
    if (!is_const_one(op->predicate)) throw NoCForm{"a masked load"};
    result_ = context_.element(op->name, op->index);
}

void CExpression::visit(const Let *op) {
    const std::string value = text(op->value), name = context_.names.bind(op->name);
    context_.statement("const " + c_type(op->value.type()) + " " + name + " = " + value + ";");
    result_ = text(op->body);
}

// Shifts of signed numbers are those of their bits. An amount that may be negative shifts the other way.
void CExpression::shift(const Call *op, bool left) {
    const Expr &a = op->args[0], &b = op->args[1];
    const auto amount = as_const_int(b);
    if (b.type().is_int() && !(amount && *amount >= 0)) {
        result_ = text(select(
            b < 0, left ? a >> cast(b.type().with_code(Type::UInt), -b) : a << cast(b.type().with_code(Type::UInt), -b),
            left ? a << cast(b.type().with_code(Type::UInt), b) : a >> cast(b.type().with_code(Type::UInt), b)));
        return;
    }
    const std::string value = text(a), by = text(b);
    if (!left) {
        result_ = narrowed(op->type, "(" + value + " >> " + by + ")");
    } else if (op->type.is_uint()) {
        result_ = narrowed(op->type, "(" + value + " << " + by + ")");
    } else {
        const std::string bits = c_type(op->type.with_code(Type::UInt));
        result_ = "(" + c_type(op->type) + ")((" + bits + ")" + value + " << " + by + ")";
    }
}

void CExpression::visit(const Call *op) {
    const auto infix = [&](const char *sign) {
        const std::string a = text(op->args[0]), b = text(op->args[1]);
        result_ = narrowed(op->type, "(" + a + " " + sign + " " + b + ")");
    };
    if (op->call_type == Call::PureExtern && context_.prelude.has(op->name)) {
        std::string list;
        for (const Expr &argument : op->args) list += (list.empty() ? "" : ", ") + text(argument);
        result_ = op->name + "(" + list + ")";
        return;
    }
    if (op->is_intrinsic(Call::bitwise_and)) return infix("&");
    if (op->is_intrinsic(Call::bitwise_or)) return infix("|");
    if (op->is_intrinsic(Call::bitwise_xor)) return infix("^");
    if (op->is_intrinsic(Call::div_round_to_zero)) return infix("/");
    if (op->is_intrinsic(Call::mod_round_to_zero)) return infix("%");
    if (op->is_intrinsic(Call::shift_left)) return shift(op, true);
    if (op->is_intrinsic(Call::shift_right)) return shift(op, false);
    if (op->is_intrinsic(Call::bitwise_not)) {
        result_ = narrowed(op->type, "(~" + text(op->args[0]) + ")");
    } else if (op->is_intrinsic(Call::abs)) {
        const Expr &a = op->args[0];
        result_ = text(cast(op->type, select(a < 0, -a, a)));
    } else if (op->is_intrinsic(Call::absd)) {
        const Expr &a = op->args[0], &b = op->args[1];
        result_ = text(cast(op->type, select(a < b, b - a, a - b)));
    } else if (op->is_intrinsic(
                   {Call::likely, Call::likely_if_innermost, Call::promise_clamped, Call::unsafe_promise_clamped})) {
        result_ = text(op->args[0]);
    } else if (op->is_intrinsic(Call::if_then_else)) {
        // Only one side may be computed, so no value of either may be named before the statement.
        if (op->args.size() != 3) throw NoCForm{"a condition without another side"};
        result_ =
            text(Select::make(op->args[0], substitute_in_all_lets(op->args[1]), substitute_in_all_lets(op->args[2])));
    } else {
        const Expr lowered = op->is_intrinsic() ? lower_intrinsic(op) : Expr();
        if (!lowered.defined()) throw NoCForm{"a call of " + op->name};
        result_ = text(lowered);
    }
}

}  // namespace kiln
