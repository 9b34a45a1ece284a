#include <algorithm>
#include <optional>

#include "graph/convolution_inputs.h"
#include "graph/operator_forms.h"

namespace kiln::graph {
namespace {

// What one spatial axis of a convolution or a pool is made of.
struct Window {
    int64_t input = 0, input_dilation = 1;
    Padding padding;
    int64_t beyond = 0, window = 1, stride = 1, dilation = 1;
};

// (count - 1) * step + 1 positions from the first to the last of `count`; none where that is no size.
std::optional<int64_t> span_of(int64_t count, int64_t step) {
    if (count == 0) return 0;
    int64_t span = 0;
    if (__builtin_mul_overflow(count - 1, step, &span) || span >= most_elements) return std::nullopt;
    return span + 1;
}

// How many positions the window has.
Result<int64_t> position_count(const Window &w) {
    for (int64_t size : {w.window, w.stride, w.dilation, w.input_dilation}) {
        if (size < 1 || size > most_elements) {
            return bad_input("windows, strides and dilations are 1 to 2^40, not " + std::to_string(size));
        }
    }
    for (int64_t padding : {w.padding.lo, w.padding.hi, w.beyond}) {
        if (padding > most_elements || padding < -most_elements)
            return bad_input("padding of " + std::to_string(padding));
    }
    const auto held = span_of(w.input, w.input_dilation), window = span_of(w.window, w.dilation);
    if (!held || !window) return bad_input("a dilation makes an axis longer than 2^40");
    const int64_t padded = *held + w.padding.lo + w.padding.hi + w.beyond;
    if (padded > most_elements) return bad_input("an axis with its padding is longer than 2^40");
    return padded < *window ? 0 : (padded - *window) / w.stride + 1;
}

template<typename Values>
Status check_length(const char *field, const Values &values, size_t rank) {
    if (values.size() == rank) return {};
    return bad_input(std::string(field) + " have " + std::to_string(values.size()) + " entries for " +
                     std::to_string(rank) + " spatial axes");
}

// Whether an epilogue goes with the type of the sums, and a prologue with that of the input.
Status check_steps(const Convolution &op, bool has_quanta) {
    using Kind = EpilogueStep::Kind;
    bool requantizes = false;
    for (const EpilogueStep &step : op.epilogue) {
        if (Status s = check_numbers(step); !s) return s;
        const bool is_known = !has_quanta   ? !is_requantization(step.kind)
                              : requantizes ? step.kind == Kind::add
                                            : step.kind == Kind::bias || step.kind == Kind::requantize_onnx;
        if (!is_known) return bad_input("its epilogue has `" + std::string(epilogue_form(step.kind).name) + "`");
        requantizes = requantizes || step.kind == Kind::requantize_onnx;
    }
    for (const EpilogueStep &step : op.prologue) {
        if (Status s = check_numbers(step); !s) return s;
        if (has_quanta || !is_prologue_step(step.kind))
            return bad_input("its prologue has `" + std::string(epilogue_form(step.kind).name) + "`");
    }
    if (!has_quanta) return op.kernel_zero_point ? bad_input("floats have no zero point") : Status();
    if (op.separate_sums) return bad_input("sums of integers are exact, so `separate_sums` is for floats");
    const bool is_sum = op.result_type == Element::i32;
    if (is_sum != requantizes && (is_sum || is_quantized(op.result_type))) return {};
    return bad_input("sums of integers make " + std::string(name(op.result_type)));
}

// The inputs behind x and w.
Status check_further_inputs(const Convolution &op, const Forms &inputs, const Shape &result) {
    size_t next = 2;
    for (const ConvolutionInput &further : further_inputs(op, inputs[0], result)) {
        if (next == inputs.size()) {
            return bad_input(further.role == Role::depthwise_kernel
                                 ? "its depthwise weights are missing"
                                 : "the input of a step of its epilogue or prologue is missing");
        }
        const TypedShape &input = inputs[next++];
        if (input.shape != further.form.shape) {
            if (further.role == Role::depthwise_kernel) {
                return bad_input("its depthwise weights have shape " + to_text(input.shape) + "; needs " +
                                 to_text(further.form.shape));
            }
            const bool is_first =
                std::ranges::find(prologue_operands(), further.role, &StepOperand::role) != prologue_operands().end();
            return bad_input("the operand of the " + std::string(is_first ? "prologue" : "epilogue") + "'s " +
                             std::string(further.name) + " has shape " + to_text(input.shape) + "; needs " +
                             to_text(further.form.shape));
        }
        if (input.type != further.form.type) {
            return bad_input("its " + std::string(further.name) + " is of " + std::string(name(input.type)) +
                             "; needs " + std::string(name(further.form.type)));
        }
    }
    return check_input_count(inputs, next);
}

Status check_channels(const Shape &x, const Shape &w, int64_t groups) {
    if (groups < 1) return bad_input("it has " + std::to_string(groups) + " groups");
    if (w[0] % groups != 0 || x[1] % groups != 0 || x[1] / groups != w[1]) {
        return bad_input("weights of shape " + to_text(w) + " in " + std::to_string(groups) +
                         (groups == 1 ? " group" : " groups") + " for an input of shape " + to_text(x));
    }
    return {};
}

// What is left of a convolution behind a depthwise one: a matrix product over pixels.
Status check_separable(const Convolution &op, const Shape &w, bool has_quanta) {
    if (op.depthwise.empty()) return {};
    if (Status s = check_length("depthwise extents", op.depthwise, w.size() - 2); !s) return s;
    const auto is_one = [](int64_t size) { return size == 1; };
    if (has_quanta) return unsupported("a depthwise convolution in front of one of integers");
    if (op.groups == 1 && std::ranges::all_of(op.input_dilation, is_one) && std::all_of(w.begin() + 2, w.end(), is_one))
        return {};
    return bad_input("behind a depthwise convolution it has groups, an input dilation or a window: weights of shape " +
                     to_text(w));
}

}  // namespace

Result<TypedShape> form_of(const Convolution &op, const Forms &inputs) {
    if (inputs.size() < 2) return bad_input("it needs an input and weights");
    const bool has_quanta = is_quantized(inputs[0].type);
    if (!has_quanta) {
        if (Status s = check_same_types(inputs); !s) return s.error();
    }
    const Shape &x = inputs[0].shape, &w = inputs[1].shape;
    if (!has_quanta && !is_float(inputs[0].type)) return unsupported("of " + std::string(name(inputs[0].type)));
    if (has_quanta && !is_quantized(inputs[1].type)) {
        return bad_input("weights of " + std::string(name(inputs[1].type)) + " for an input of " +
                         std::string(name(inputs[0].type)));
    }
    if (x.size() < 3 || w.size() != x.size()) {
        return bad_input("an input of shape " + to_text(x) + " and weights of shape " + to_text(w));
    }
    const size_t rank = x.size() - 2;
    if (Status s = check_length("strides", op.strides, rank); !s) return s.error();
    if (Status s = check_length("input dilations", op.input_dilation, rank); !s) return s.error();
    if (Status s = check_length("dilations", op.dilations, rank); !s) return s.error();
    if (Status s = check_length("padding", op.padding, rank); !s) return s.error();
    if (Status s = check_channels(x, w, op.groups); !s) return s.error();
    if (Status s = check_separable(op, w, has_quanta); !s) return s.error();

    Shape result{x[0], w[0]};
    for (size_t d = 0; d < rank; d++) {
        const auto count = position_count({.input = x[d + 2],
                                           .input_dilation = op.input_dilation[d],
                                           .padding = op.padding[d],
                                           .window = op.depthwise.empty() ? w[d + 2] : op.depthwise[d],
                                           .stride = op.strides[d],
                                           .dilation = op.dilations[d]});
        if (!count) return count.error();
        result.push_back(*count);
    }
    if (Status s = check_steps(op, has_quanta); !s) return s.error();
    if (Status s = check_further_inputs(op, inputs, result); !s) return s.error();
    return TypedShape{has_quanta ? op.result_type : inputs[0].type, result};
}

Result<TypedShape> form_of(const Pool &op, const Forms &inputs) {
    if (Status s = check_input_count(inputs, 1); !s) return s.error();
    const auto &[type, x] = inputs[0];
    const bool is_known = op.kind == Pool::Kind::average ? is_float(type) : type != Element::boolean;
    if (!is_known) return unsupported("of " + std::string(name(type)));
    if (x.size() < 3) return bad_input("an input of shape " + to_text(x));
    const size_t rank = x.size() - 2;
    if (Status s = check_length("windows", op.window, rank); !s) return s.error();
    if (Status s = check_length("strides", op.strides, rank); !s) return s.error();
    if (Status s = check_length("dilations", op.dilations, rank); !s) return s.error();
    if (Status s = check_length("padding", op.padding, rank); !s) return s.error();
    if (Status s = check_length("extents beyond the padding", op.beyond, rank); !s) return s.error();

    Shape result{x[0], x[1]};
    for (size_t d = 0; d < rank; d++) {
        if (op.padding[d].lo < 0 || op.padding[d].hi < 0 || op.beyond[d] < 0)
            return bad_input("its padding is negative");
        const auto count = position_count({.input = x[d + 2],
                                           .padding = op.padding[d],
                                           .beyond = op.beyond[d],
                                           .window = op.window[d],
                                           .stride = op.strides[d],
                                           .dilation = op.dilations[d]});
        if (!count) return count.error();
        result.push_back(*count);
    }
    return TypedShape{type, result};
}

}  // namespace kiln::graph
