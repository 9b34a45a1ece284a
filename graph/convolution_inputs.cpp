#include "graph/convolution_inputs.h"

#include <algorithm>
#include <utility>

namespace kiln::graph {
namespace {

// Of an addition behind `requantize_onnx`, beside what is added.
std::vector<ConvolutionInput> of_addition() {
    return {{Role::addition_factors, "addition_factors", {Element::f32, {3}}},
            {Role::addition_zero_point, "addition_zero_point", {Element::i32, {1}}},
            {Role::addition_bounds, "addition_bounds", {Element::i32, {2}}}};
}

std::vector<ConvolutionInput> of_requantization(int64_t channels) {
    return {{Role::scale, "scale", {Element::f32, {channels}}},
            {Role::output_zero_point, "output_zero_point", {Element::i32, {1}}},
            {Role::result_bounds, "result_bounds", {Element::i32, {2}}}};
}

}  // namespace

bool is_quantized(Element x) { return x == Element::i8 || x == Element::u8; }

std::vector<ConvolutionInput> further_inputs(const Convolution &op, const TypedShape &x, const Shape &result) {
    std::vector<ConvolutionInput> inputs;
    const bool has_quanta = is_quantized(x.type);
    const int64_t channels = result[1];
    const Element sum = has_quanta ? Element::i32 : x.type;
    if (has_quanta) inputs.push_back({Role::input_zero_point, "input_zero_point", {Element::i32, {1}}});
    if (op.kernel_zero_point)
        inputs.push_back({Role::kernel_zero_point, "kernel_zero_point", {Element::i32, {channels}}});
    for (const EpilogueStep &step : op.epilogue) {
        if (step.kind == EpilogueStep::Kind::requantize_onnx) {
            for (ConvolutionInput &input : of_requantization(channels)) inputs.push_back(std::move(input));
        }
        const StepOperand *operand = step_operand(step.kind);
        if (!operand) continue;
        const bool is_for_channels = epilogue_form(step.kind).operand == EpilogueForm::Operand::channels;
        const bool adds_quanta = has_quanta && step.kind == EpilogueStep::Kind::add;
        inputs.push_back({operand->role,
                          epilogue_form(step.kind).name,
                          {adds_quanta ? op.result_type : sum, is_for_channels ? Shape{channels} : result}});
        if (!adds_quanta) continue;
        for (ConvolutionInput &input : of_addition()) inputs.push_back(std::move(input));
    }
    for (const EpilogueStep &step : op.prologue) {
        const auto operand = std::ranges::find(prologue_operands(), step.kind, &StepOperand::step);
        if (operand != prologue_operands().end())
            inputs.push_back({operand->role, epilogue_form(step.kind).name, {x.type, {x.shape[1]}}});
    }
    if (!op.depthwise.empty()) {
        Shape weights = op.depthwise;
        weights.insert(weights.begin(), {x.shape[1], 1});
        inputs.push_back({Role::depthwise_kernel, "depthwise weights", {x.type, std::move(weights)}});
    }
    return inputs;
}

}  // namespace kiln::graph
