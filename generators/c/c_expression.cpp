#include "generators/c/c_expression.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string_view>

#include "generators/c/c_float_functions.h"
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
    if (type.is_float() && !type.is_bfloat() && type.bits() >= 32) return "uint32_t";
    if (type.is_float() || type.is_bfloat()) throw NoCForm{"a number with a fraction of 16 bits"};
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
    if (name == "kiln_nearest" || name == "kiln_nearest_product") {
        of_floats(name.substr(5));
        return true;
    }
    for (const auto &[known, text] : named_functions) {
        if (name != known) continue;
        functions_.insert(text);
        return true;
    }
    return false;
}

std::string CPrelude::of_floats(const std::string &operation) {
    const std::string name = "kiln_" + operation;
    const auto all = c_float_functions();
    const auto found = std::ranges::find(all, name, &CFloatFunction::name);
    if (found == all.end()) throw NoCForm{operation + " of numbers with a fraction"};
    for (const CFloatFunction &other : all) {
        if (found->needs.find(std::string(other.name) + " ") != std::string_view::npos)
            float_functions_.insert(other.name);
    }
    float_functions_.insert(found->name);
    return name;
}

std::string CPrelude::text() const {
    std::string text;
    for (const CFloatFunction &function : c_float_functions()) {
        if (float_functions_.contains(function.name)) text += function.text;
    }
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
    if (op->type.is_float()) {
        // A difference is a sum with the other sign.
        if (*sign == '-') {
            const std::string a = text(op->a), b = text(op->b);
            if (op->type.bits() != 32) throw NoCForm{"arithmetic of f64"};
            result_ = context_.prelude.of_floats("f32_add") + "(" + a + ", " + b + " ^ UINT32_C(0x80000000))";
            return;
        }
        return of_floats(*sign == '+' ? "f32_add" : "f32_multiply", {op->a, op->b});
    }
    binary(op, sign);
    result_ = narrowed(op->type, result_);
}

template<typename Op>
void CExpression::comparison(const Op *op, const char *sign) {
    if (!op->a.type().is_float()) return binary(op, sign);
    const std::string_view s = sign;
    const std::string a = text(op->a), b = text(op->b);
    const bool is_equality = s == "==" || s == "!=", is_turned = s == ">" || s == ">=";
    const std::string name = is_equality ? "f32_equal" : s.ends_with('=') ? "f32_less_or_equal" : "f32_less";
    result_ = (s == "!=" ? "!" : "") + context_.prelude.of_floats(name) + "(" + (is_turned ? b : a) + ", " +
              (is_turned ? a : b) + ")";
}

void CExpression::of_floats(const std::string &operation, const std::vector<Expr> &arguments) {
    std::string list;
    const bool chooses = operation == "f32_min" || operation == "f32_max";
    for (const Expr &argument : arguments) {
        if (argument.type().is_float() && argument.type().bits() != 32 && !chooses) throw NoCForm{"arithmetic of f64"};
        list += (list.empty() ? "" : ", ") + text(argument);
    }
    result_ = context_.prelude.of_floats(operation) + "(" + list + ")";
}

template<typename Op>
void CExpression::function(const Op *op, const char *name) {
    if (op->type.is_float()) return of_floats(std::string("f32_") + name, {op->a, op->b});
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

void CExpression::visit(const FloatImm *op) {
    const auto number = static_cast<float>(op->value);
    if (static_cast<double>(number) != op->value && !std::isnan(op->value)) throw NoCForm{"a number of f64"};
    char bits[24];
    std::snprintf(bits, sizeof bits, "UINT32_C(0x%08x)", std::bit_cast<uint32_t>(number));
    result_ = bits;
}
void CExpression::visit(const StringImm *) { throw NoCForm{"a text"}; }
void CExpression::visit(const Ramp *) { throw NoCForm{"a vector"}; }
void CExpression::visit(const Broadcast *) { throw NoCForm{"a vector"}; }
void CExpression::visit(const Shuffle *) { throw NoCForm{"a vector"}; }
void CExpression::visit(const VectorReduce *) { throw NoCForm{"a vector"}; }

// Between numbers with a fraction and others.
void CExpression::conversion(const Type &to, const Expr &value) {
    const Type from = value.type();
    const std::string number = text(value);
    if (from.is_float() && to.is_float()) {
        if (to.bits() < from.bits()) throw NoCForm{"a number of f64"};
        result_ = number;  // what it is compared with is a number of f32, too
    } else if (to.is_bool()) {
        result_ = "((" + number + " << 1) != 0)";
    } else if (to.is_float()) {
        if (from.bits() > 32 || (to.bits() > 32 && from.bits() > 16)) throw NoCForm{"a number of f64"};
        const bool is_unsigned = from.is_uint() && !from.is_bool();
        result_ = context_.prelude.of_floats(is_unsigned ? "f32_of_u32" : "f32_of_i32") + "(" + number + ")";
    } else {
        if (to.bits() > 32) throw NoCForm{"an integer of 64 bits of a number with a fraction"};
        const std::string whole =
            context_.prelude.of_floats(to.is_uint() && to.bits() == 32 ? "u32_of_f32" : "i32_of_f32") + "(" + number +
            ")";
        result_ = narrowed(to, whole);
    }
}

void CExpression::visit(const Cast *op) {
    if (op->type.is_float() || op->value.type().is_float()) return conversion(op->type, op->value);
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
    if (type.is_float()) return of_floats(remainder ? "f32_remainder" : "f32_divide", {a, b});
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
    // Some that Halide has made of parts of an index are not read any more.
    if (!expr_uses_var(op->body, op->name)) return op->body.accept(this);
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

void CExpression::special_number(const Call *op) {
    if (op->name == "nan_f32") {
        result_ = "UINT32_C(0x7fc00000)";
    } else if (op->name == "inf_f32" || op->name == "neg_inf_f32") {
        result_ = op->name == "inf_f32" ? "UINT32_C(0x7f800000)" : "UINT32_C(0xff800000)";
    } else {
        throw NoCForm{"a call of " + op->name};
    }
}

// Whether it is one of numbers with a fraction. Steps that are rounded one by one (strict_float) are as all others here.
bool CExpression::float_call(const Call *op) {
    static const struct {
        Call::IntrinsicOp intrinsic;
        const char *operation;
    } strict[] = {{Call::strict_add, "f32_add"}, {Call::strict_mul, "f32_multiply"}, {Call::strict_div, "f32_divide"},
                  {Call::strict_min, "f32_min"}, {Call::strict_max, "f32_max"},      {Call::round, "f32_round"}};
    for (const auto &[intrinsic, operation] : strict) {
        if (!op->is_intrinsic(intrinsic)) continue;
        of_floats(operation, op->args);
        return true;
    }
    const std::string size = "(UINT32_C(0x7fffffff) & ";
    if (op->is_intrinsic(Call::strict_sub)) {
        result_ = text(op->args[0] - op->args[1]);
    } else if (op->is_intrinsic(Call::strict_lt)) {
        result_ = text(op->args[0] < op->args[1]);
    } else if (op->is_intrinsic(Call::strict_le)) {
        result_ = text(op->args[0] <= op->args[1]);
    } else if (op->is_intrinsic(Call::strict_eq)) {
        result_ = text(op->args[0] == op->args[1]);
    } else if (op->is_intrinsic(Call::abs)) {
        result_ = size + text(op->args[0]) + ")";
    } else if (op->name == "is_nan_f32") {
        result_ = "(" + size + text(op->args[0]) + ") > UINT32_C(0x7f800000))";
    } else if (op->name == "floor_f32" || op->name == "ceil_f32" || op->name == "trunc_f32") {
        of_floats("f32_" + op->name.substr(0, op->name.find('_')), op->args);
    } else if (op->name == "sqrt_f32") {
        of_floats("f32_square_root", op->args);
    } else if (op->name == "log_f32") {
        result_ = text(halide_log(op->args[0]));
    } else {
        return false;
    }
    return true;
}

void CExpression::visit(const Call *op) {
    if (op->type.is_float() && op->args.empty()) return special_number(op);
    if (!op->args.empty() && op->args[0].type().is_float() && float_call(op)) return;
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
