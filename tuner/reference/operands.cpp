#include "tuner/reference/operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "tuner/reference/half.h"
#include "tuner/reference/quantized/quantized_operands.h"
#include "tuner/reference/random.h"

namespace kiln {

namespace {

// The loop over the elements of one stored dimension and of those inside it.
class Walk {
public:
    explicit Walk(const TensorForm &form) : form_(form), coordinate_(form.logical.size(), 0) {
        axis_stride_.assign(form.logical.size(), 1);
        for (size_t a = form.logical.size(); a-- > 1;) axis_stride_[a - 1] = axis_stride_[a] * form.logical[a];
    }

    // Calls visit(stored index, canonical index) for each element, ascending as stored; what fills a last block is
    // left out.
    template<typename Visit>
    void run(Visit &visit, size_t depth = 0, int64_t canonical = 0) {
        if (depth == form_.stored.size()) return visit(stored_++, canonical);
        const StoredDimension &d = form_.stored[depth];
        const int64_t first = coordinate_[d.axis];
        for (int64_t i = 0; i < d.extent; i++) {
            coordinate_[d.axis] = first + i * d.step;
            if (coordinate_[d.axis] < form_.logical[d.axis]) {
                run(visit, depth + 1, canonical + i * d.step * axis_stride_[d.axis]);
            } else {
                stored_ += inside(depth);
            }
        }
        coordinate_[d.axis] = first;
    }

private:
    int64_t inside(size_t depth) const {  // elements of one index of this dimension
        int64_t count = 1;
        for (size_t d = depth + 1; d < form_.stored.size(); d++) count *= form_.stored[d].extent;
        return count;
    }

    const TensorForm &form_;
    std::vector<int64_t> coordinate_, axis_stride_;
    int64_t stored_ = 0;
};

template<typename Visit>
void for_each_element(const TensorForm &form, Visit visit) {
    Walk(form).run(visit);
}

double element(const Tensor &tensor, int64_t index) {
    const auto load = [&]<typename T>(T value) {
        std::memcpy(&value, tensor.data.data() + index * sizeof(T), sizeof(T));
        return value;
    };
    switch (tensor.dtype) {
        case DType::f32:
            return load(float());
        case DType::f16:
            return f16_to_float(load(uint16_t()));
        case DType::bf16:
            return bf16_to_float(load(uint16_t()));
        case DType::i32:
            return load(int32_t());
        case DType::u8:
            return load(uint8_t());
        case DType::i8:
            break;
    }
    return load(int8_t());
}

void set_element(Tensor &tensor, int64_t index, float value) {
    const auto store = [&]<typename T>(T stored) {
        std::memcpy(tensor.data.data() + index * sizeof(T), &stored, sizeof(T));
    };
    switch (tensor.dtype) {
        case DType::f32:
            return store(value);
        case DType::f16:
            return store(float_to_f16(value));
        case DType::bf16:
            return store(float_to_bf16(value));
        case DType::i8:
            return store(int8_t(std::lrint(value * 127)));
        case DType::i32:
            return store(int32_t(std::lrint(double(value) * 0x7fffffff)));
        case DType::u8:
            return store(uint8_t(std::lrint((value + 1) * 127.5f)));
    }
}

// From -1, which lies outside, to the last; of u8 from 0.
void fill_with_indices(Tensor &tensor, int64_t index_count, Random &random) {
    if (tensor.dtype == DType::u8) {
        for (std::byte &index : tensor.data) {
            index = static_cast<std::byte>(random.next() % uint64_t(std::min<int64_t>(index_count, 256)));
        }
        return;
    }
    for (int64_t i = 0; i < tensor.elements(); i++) {
        const auto index = int32_t(random.next() % uint64_t(index_count + 1)) - 1;
        std::memcpy(tensor.data.data() + i * sizeof index, &index, sizeof index);
    }
}

// A product of many wide numbers leaves the range of f32 on its way, in one order and not in another, and one of numbers
// below 1 is 0 in the end. So its terms stay near 1 in size.
std::optional<float> exponents_of_product(const Workload &w) {
    if (w.op != Operation::nest) return {};
    const Nest nest = nest_of(w);
    if (nest.reduction != Reduction::product) return {};
    float terms = 1;
    for (const int64_t extent : nest.over) terms *= float(extent);
    return std::min(7.0f, 100 / terms);
}

// Numbers that a nest makes f16 of are judged as those that are stored as f16: larger ones would be infinite there, and kernels are
// compiled for finite numbers.
bool makes_f16(const Workload &w) {
    if (w.op != Operation::nest) return false;
    const Nest nest = nest_of(w);
    const auto is_f16 = [](const scalar::Step &step) { return step.type == scalar::Element::f16; };
    return std::ranges::any_of(nest.term.steps, is_f16) || std::ranges::any_of(nest.finish.steps, is_f16);
}

}  // namespace

std::vector<int64_t> stored_result_shape(const Workload &w) { return signature(w).result.shape(); }

Tensor Operands::*place_of(Role role) {
    using O = Operands;
    constexpr Tensor O::*places[] = {&O::first,
                                     &O::second,
                                     &O::bias,
                                     &O::addend,
                                     &O::slope,
                                     &O::factor,
                                     &O::input_factor,
                                     &O::input_bias,
                                     &O::depthwise_kernel,
                                     &O::input_zero_point,
                                     &O::kernel_zero_point,
                                     &O::multiplier,
                                     &O::shift,
                                     &O::scale,
                                     &O::output_zero_point,
                                     &O::result_bounds,
                                     &O::addend_zero_point,
                                     &O::addition_multiplier,
                                     &O::addition_shift,
                                     &O::addition_factors,
                                     &O::addition_zero_point,
                                     &O::addition_bounds,
                                     &O::operand_1,
                                     &O::operand_2,
                                     &O::operand_3,
                                     &O::operand_4,
                                     &O::operand_5,
                                     &O::operand_6,
                                     &O::operand_7};
    return places[size_t(role)];
}

std::vector<NamedOperand> operand_list(const Workload &w) {
    std::vector<NamedOperand> list;
    for (const TensorForm &form : signature(w).operands) {
        list.push_back({form.name, form.role, place_of(form.role), {form.dtype, form.shape(), {}}, form.index_count});
    }
    return list;
}

std::string_view result_name(const Workload &w) { return signature(w).result.name; }

Operands make_operands(const Workload &workload, Data data, uint64_t seed) {
    if (is_quantized(workload)) return quantized_operands(workload, data, seed);
    Operands operands;
    uint64_t stream = 0;
    const std::optional<float> of_product = exponents_of_product(workload);
    const bool of_f16 = makes_f16(workload);
    for (NamedOperand &named : operand_list(workload)) {
        Tensor &tensor = operands.*named.place;
        tensor = std::move(named.tensor);
        tensor.data.resize(size_t(tensor.elements()) * size_of(tensor.dtype));
        Random random(seed * 0x9e3779b97f4a7c15 + ++stream * 0xd1b54a32d192ed03);
        if (named.index_count > 0) {
            fill_with_indices(tensor, named.index_count, random);
            continue;
        }
        const float exponents = of_product.value_or(tensor.dtype == DType::f16 || of_f16 ? 7 : 20);
        const bool is_wide = !is_integer(tensor.dtype) && (of_product || data != Data::ordinary);
        for (int64_t i = 0, count = tensor.elements(); i < count; i++)
            set_element(tensor, i, is_wide ? random.wide(exponents) : random.uniform());
    }
    return operands;
}

std::vector<double> canonical(const Tensor &stored, const TensorForm &form) {
    std::vector<double> result(elements(form.logical));
    for_each_element(form, [&](int64_t from, int64_t to) { result[to] = element(stored, from); });
    return result;
}

std::vector<double> canonical_activation(const Tensor &stored, const std::vector<int64_t> &logical,
                                         const ActivationLayout &layout) {
    return canonical(stored, {.logical = logical, .stored = activation_dimensions(logical, layout)});
}

std::vector<double> canonical_kernel(const Tensor &stored, const std::vector<int64_t> &logical, KernelLayout layout) {
    return canonical(stored, {.logical = logical, .stored = kernel_dimensions(logical, layout)});
}

std::vector<double> store_result(const Workload &w, const std::vector<double> &canonical_result) {
    const TensorForm form = signature(w).result;
    std::vector<double> result(elements(form.shape()));
    for_each_element(form, [&](int64_t to, int64_t from) { result[to] = canonical_result[from]; });
    return result;
}

std::string result_position(const Workload &w, int64_t index) {
    const TensorForm form = signature(w).result;
    std::string text;
    for (size_t d = form.stored.size(); d-- > 0;) {
        const StoredDimension &dimension = form.stored[d];
        text = fmt::format("{}={}{}{}", dimension.name, index % dimension.extent, text.empty() ? "" : ", ", text);
        index /= dimension.extent;
    }
    return fmt::format("{}[{}]", form.name, text);
}

}  // namespace kiln
