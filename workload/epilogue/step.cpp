#include "workload/epilogue/step.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "runtime/kiln.h"
#include "workload/number_text.h"

namespace kiln {
namespace {

using Kind = EpilogueStep::Kind;
using Operand = EpilogueForm::Operand;

constexpr std::string_view sum_with_operand = "add(x0,x1)";

// The largest slope of a function that has no numbers.
template<int thousandths>
double at_most(const EpilogueStep &, double) {
    return thousandths * 1e-3;
}

// Names and codes are in every database and package: rows are added, never changed. Functions are those that name_activations
// leaves in a graph (graph/rewriting/named_functions.cpp), so that fuse_epilogues finds them.
constexpr EpilogueForm forms[] = {
    {Kind::bias, "bias", KILN_EPILOGUE_BIAS, {}, Operand::channels, sum_with_operand},
    {Kind::add, "add", KILN_EPILOGUE_ADD, {}, Operand::result, sum_with_operand},
    {Kind::relu, "relu", KILN_EPILOGUE_RELU, {}, Operand::none, "select(less(x0,0),0,x0)"},
    {Kind::clamp,
     "clamp",
     KILN_EPILOGUE_CLAMP,
     {"lo", "hi"},
     Operand::none,
     "select(less(x2,select(less(x0,x1),x1,x0)),x2,select(less(x0,x1),x1,x0))"},
    {Kind::leaky_relu,
     "leaky_relu",
     KILN_EPILOGUE_LEAKY_RELU,
     {"alpha"},
     Operand::none,
     "select(less(x0,0),mul(x0,x1),x0)",
     [](const EpilogueStep &step, double) { return std::max(1.0, std::fabs(double(step.lo))); }},
    {Kind::hard_sigmoid,
     "hard_sigmoid",
     KILN_EPILOGUE_HARD_SIGMOID,
     {"alpha", "beta"},
     Operand::none,
     "min(max(add(mul(x0,x1),x2),0),1)",
     [](const EpilogueStep &step, double) { return std::fabs(double(step.lo)); }},
    {Kind::hard_swish,
     "hard_swish",
     KILN_EPILOGUE_HARD_SWISH,
     {},
     Operand::none,
     "mul(x0,min(max(add(mul(x0,0.16666667),0.5),0),1))",
     at_most<1500>},
    {Kind::sigmoid, "sigmoid", KILN_EPILOGUE_SIGMOID, {}, Operand::none, "sigmoid(x0)", at_most<250>},
    {Kind::tanh, "tanh", KILN_EPILOGUE_TANH, {}, Operand::none, "tanh(x0)", at_most<1000>},
    {Kind::silu, "silu", KILN_EPILOGUE_SILU, {}, Operand::none, "mul(x0,sigmoid(x0))", at_most<1100>},
    {Kind::gelu,
     "gelu",
     KILN_EPILOGUE_GELU,
     {},
     Operand::none,
     "mul(x0,add(mul(erf(mul(x0,0.70710678)),0.5),0.5))",
     at_most<1130>},
    {Kind::gelu_tanh,
     "gelu_tanh",
     KILN_EPILOGUE_GELU_TANH,
     {},
     Operand::none,
     "mul(x0,add(mul(tanh(mul(add(x0,mul(pow(x0,3),0.044715)),0.79788456)),0.5),0.5))",
     at_most<1130>},
    {Kind::prelu,
     "prelu",
     KILN_EPILOGUE_PRELU,
     {},
     Operand::channels,
     "select(less(x0,0),mul(x0,x1),x0)",
     [](const EpilogueStep &, double slope) { return std::max(1.0, std::fabs(slope)); }},
    {Kind::requantize_litert, "requantize_litert", KILN_EPILOGUE_REQUANTIZE_LITERT, {}, Operand::none, {}},
    {Kind::requantize_onnx, "requantize_onnx", KILN_EPILOGUE_REQUANTIZE_ONNX, {}, Operand::none, {}},
    {Kind::affine,
     "affine",
     KILN_EPILOGUE_AFFINE,
     {"scale", "shift"},
     Operand::none,
     "add(mul(x0,x1),x2)",
     [](const EpilogueStep &step, double) { return std::fabs(double(step.lo)); }},
    {Kind::scale,
     "scale",
     KILN_EPILOGUE_SCALE,
     {},
     Operand::channels,
     "mul(x0,x1)",
     [](const EpilogueStep &, double factor) { return std::fabs(factor); }},
};

// An infinite bound bounds nothing, and the compiler may take any comparison of floats to have no infinity in it.
std::string_view text_of(const EpilogueStep &step) {
    if (step.kind == Kind::clamp && step.hi == INFINITY) {
        return step.lo == -INFINITY ? "x0" : "select(less(x0,x1),x1,x0)";
    }
    if (step.kind == Kind::clamp && step.lo == -INFINITY) return "select(less(x2,x0),x2,x0)";
    return epilogue_form(step.kind).function;
}

}  // namespace

std::string EpilogueForm::usage() const {
    std::string text(name);
    for (size_t i = 0; i < number_count(); i++) text += ":" + std::string(numbers[i]);
    return text;
}

std::span<const EpilogueForm> epilogue_forms() { return forms; }

const EpilogueForm &epilogue_form(Kind kind) {
    const EpilogueForm *form = std::ranges::find(forms, kind, &EpilogueForm::kind);
    assert(form != std::end(forms));
    return *form;
}

bool is_addition(Kind kind) { return epilogue_form(kind).function == sum_with_operand; }

bool is_prologue_step(Kind kind) {
    const bool has_other_operand =
        epilogue_form(kind).operand != Operand::none && kind != Kind::bias && kind != Kind::scale;
    return !has_other_operand && !is_requantization(kind);
}

bool is_requantization(Kind kind) { return epilogue_form(kind).requantizes(); }

Status check_numbers(const EpilogueStep &step) {
    if (step.kind == Kind::clamp) {
        if (step.lo <= step.hi) return {};  // one of them may be infinite
        return bad_input("clamp needs lo <= hi, both numbers");
    }
    if (std::isfinite(step.lo) && std::isfinite(step.hi)) return {};
    return bad_input(epilogue_form(step.kind).usage() + " needs finite numbers");
}

scalar::Expression function_of(const EpilogueStep &step) {
    scalar::Expression function = std::move(*scalar::parse_expression(text_of(step)));
    const bool has_numbers = epilogue_form(step.kind).number_count() > 0;
    for (scalar::Step &s : function.steps) {
        if (has_numbers && s.function == scalar::Function::operand && s.operand > 0) {
            s = {.function = scalar::Function::constant, .number = s.operand == 1 ? step.lo : step.hi};
        } else if (s.function == scalar::Function::constant) {
            s.number = static_cast<float>(s.number);  // as kernels have it
        }
    }
    return function;
}

std::string name(const EpilogueStep &step) {
    const EpilogueForm &form = epilogue_form(step.kind);
    std::string text(form.name);
    const float numbers[] = {step.lo, step.hi};
    for (size_t i = 0; i < form.number_count(); i++) text += ":" + float_text(numbers[i]);
    return text;
}

std::string names(std::span<const EpilogueStep> steps) {
    std::string text;
    for (const EpilogueStep &step : steps) text += (text.empty() ? "" : ",") + name(step);
    return text;
}

std::optional<EpilogueStep> parse_epilogue_step(std::string_view text) {
    const auto parts = split(text, ':');
    const EpilogueForm *form = std::ranges::find(forms, parts[0], &EpilogueForm::name);
    if (form == std::end(forms) || parts.size() != 1 + form->number_count()) return std::nullopt;
    EpilogueStep step{form->kind};
    for (size_t i = 1; i < parts.size(); i++) {
        const auto number = parse_float(parts[i]);
        if (!number || std::isnan(*number)) return std::nullopt;
        (i == 1 ? step.lo : step.hi) = *number;
    }
    return step;
}

int32_t interface_code(Kind kind) { return epilogue_form(kind).code; }

}  // namespace kiln
