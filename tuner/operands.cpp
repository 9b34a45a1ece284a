#include "tuner/operands.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "tuner/half.h"

namespace kiln {

namespace {

// A kernel of shape spatial, Ci, Co, or an activation seen as N, positions, C: the spatial dimensions keep their order
// and stay next to each other in every layout.
struct Extents {
    int64_t outer, positions, channels;
};

Extents activation_extents(const std::vector<int64_t> &logical) {
    return {logical[0], std::accumulate(logical.begin() + 1, logical.end() - 1, int64_t(1), std::multiplies<>()),
            logical.back()};
}

int64_t stored_index(const Extents &e, const ActivationLayout &layout, int64_t n, int64_t p, int64_t c) {
    switch (layout.kind) {
        case ActivationLayout::Kind::nhwc:
            return (n * e.positions + p) * e.channels + c;
        case ActivationLayout::Kind::nchw:
            return (n * e.channels + c) * e.positions + p;
        case ActivationLayout::Kind::nchwc:
            break;
    }
    const int64_t blocks = (e.channels + layout.block - 1) / layout.block;
    return ((n * blocks + c / layout.block) * e.positions + p) * layout.block + c % layout.block;
}

// Calls visit(stored index, canonical index) for each element.
template<typename Visit>
void for_each_element(const std::vector<int64_t> &logical, const ActivationLayout &layout, Visit visit) {
    const Extents e = activation_extents(logical);
    int64_t canonical = 0;
    for (int64_t n = 0; n < e.outer; n++)
        for (int64_t p = 0; p < e.positions; p++)
            for (int64_t c = 0; c < e.channels; c++) {
                visit(stored_index(e, layout, n, p, c), canonical++);
            }
}

template<typename Visit>
void for_each_element(const std::vector<int64_t> &logical, KernelLayout layout, Visit visit) {
    const int64_t ci = logical[logical.size() - 2], co = logical.back(), taps = elements(logical) / (ci * co);
    int64_t canonical = 0;
    for (int64_t tap = 0; tap < taps; tap++)
        for (int64_t i = 0; i < ci; i++)
            for (int64_t o = 0; o < co; o++) {
                visit(layout == KernelLayout::hwio ? canonical : (tap * co + o) * ci + i, canonical);
                canonical++;
            }
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
    }
}

// SplitMix64 (Steele, Lea and Flood): small, fast, and good enough to fill tensors.
class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}

    uint64_t next() {
        uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    float uniform() { return float(int64_t(next() >> 39)) * 0x1p-24f - 1; }  // [-1, 1) in steps of 2^-24
    float wide(float exponents) {
        const float magnitude = std::exp2(uniform() * exponents);
        return next() & 1 ? magnitude : -magnitude;
    }

private:
    uint64_t state_;
};

}  // namespace

std::vector<int64_t> stored_shape(const std::vector<int64_t> &logical, const ActivationLayout &layout) {
    std::vector<int64_t> shape = logical;
    if (layout.kind == ActivationLayout::Kind::nhwc) {
        return shape;
    }
    shape.pop_back();
    if (layout.kind == ActivationLayout::Kind::nchw) {
        shape.insert(shape.begin() + 1, logical.back());
    } else {
        shape.insert(shape.begin() + 1, (logical.back() + layout.block - 1) / layout.block);
        shape.push_back(layout.block);
    }
    return shape;
}

std::vector<int64_t> stored_kernel_shape(const std::vector<int64_t> &logical, KernelLayout layout) {
    std::vector<int64_t> shape = logical;
    if (layout == KernelLayout::hwoi) {
        std::swap(shape[shape.size() - 2], shape[shape.size() - 1]);
    }
    return shape;
}

std::vector<int64_t> stored_result_shape(const Workload &w) {
    switch (w.op) {
        case Operation::conv_backprop_input:
            return stored_shape(w.input, w.input_layout);
        case Operation::conv_backprop_kernel:
            return stored_kernel_shape(w.kernel, w.kernel_layout);
        default:
            return stored_shape(output_shape(w), w.output_layout);
    }
}

std::vector<NamedOperand> operand_list(const Workload &w) {
    const Tensor input{w.dtype, stored_shape(w.input, w.input_layout), {}};
    const Tensor kernel{w.dtype, stored_kernel_shape(w.kernel, w.kernel_layout), {}};
    const Tensor output{w.dtype, stored_shape(output_shape(w), w.output_layout), {}};
    switch (w.op) {
        case Operation::conv_backprop_input:
            return {{"dy", &Operands::first, output}, {"kernel", &Operands::second, kernel}};
        case Operation::conv_backprop_kernel:
            return {{"x", &Operands::first, input}, {"dy", &Operands::second, output}};
        default:
            break;
    }
    std::vector<NamedOperand> list = {{"input", &Operands::first, input}, {"kernel", &Operands::second, kernel}};
    if (has_epilogue(w, EpilogueStep::Kind::bias)) {
        list.push_back({"bias", &Operands::bias, {DType::f32, {w.kernel.back()}, {}}});
    }
    if (has_epilogue(w, EpilogueStep::Kind::add)) {
        list.push_back({"addend", &Operands::addend, {w.output_dtype, output.shape, {}}});
    }
    return list;
}

std::string_view result_name(const Workload &w) {
    switch (w.op) {
        case Operation::conv_backprop_input:
            return "dx";
        case Operation::conv_backprop_kernel:
            return "dk";
        default:
            return "output";
    }
}

Operands make_operands(const Workload &workload, Data data, uint64_t seed) {
    Operands operands;
    uint64_t stream = 0;
    for (NamedOperand &named : operand_list(workload)) {
        Tensor &tensor = operands.*named.place;
        tensor = std::move(named.tensor);
        tensor.data.resize(size_t(tensor.elements()) * size_of(tensor.dtype));
        Random random(seed * 0x9e3779b97f4a7c15 + ++stream * 0xd1b54a32d192ed03);
        const float exponents = tensor.dtype == DType::f16 ? 7 : 20;
        for (int64_t i = 0, count = tensor.elements(); i < count; i++) {
            set_element(
                tensor, i,
                data == Data::ordinary || tensor.dtype == DType::i8 ? random.uniform() : random.wide(exponents));
        }
    }
    return operands;
}

std::vector<double> canonical_activation(const Tensor &stored, const std::vector<int64_t> &logical,
                                         const ActivationLayout &layout) {
    std::vector<double> result(elements(logical));
    for_each_element(logical, layout, [&](int64_t from, int64_t to) { result[to] = element(stored, from); });
    return result;
}

std::vector<double> canonical_kernel(const Tensor &stored, const std::vector<int64_t> &logical, KernelLayout layout) {
    std::vector<double> result(elements(logical));
    for_each_element(logical, layout, [&](int64_t from, int64_t to) { result[to] = element(stored, from); });
    return result;
}

std::vector<double> store_result(const Workload &w, const std::vector<double> &canonical) {
    std::vector<double> result(elements(stored_result_shape(w)));
    const auto move = [&](int64_t to, int64_t from) { result[to] = canonical[from]; };
    switch (w.op) {
        case Operation::conv_backprop_input:
            for_each_element(w.input, w.input_layout, move);
            break;
        case Operation::conv_backprop_kernel:
            for_each_element(w.kernel, w.kernel_layout, move);
            break;
        default:
            for_each_element(output_shape(w), w.output_layout, move);
            break;
    }
    return result;
}

std::string result_position(const Workload &w, int64_t index) {
    // Dimension names in the order of the stored shape.
    const bool is_kernel = w.op == Operation::conv_backprop_kernel;
    const std::string_view spatial = std::string_view("dhw").substr(3 - w.spatial_rank);
    std::vector<std::string> names;
    for (const char c : spatial) {
        names.push_back(is_kernel ? fmt::format("k{}", c) : std::string(1, c));
    }
    if (is_kernel) {
        const bool hwio = w.kernel_layout == KernelLayout::hwio;
        names.insert(names.end(), {hwio ? "ci" : "co", hwio ? "co" : "ci"});
    } else {
        const ActivationLayout &layout = w.op == Operation::conv_backprop_input ? w.input_layout : w.output_layout;
        const bool last = layout.kind == ActivationLayout::Kind::nhwc;
        names.insert(last ? names.end() : names.begin(),
                     layout.kind == ActivationLayout::Kind::nchwc ? "c_block" : "c");
        names.insert(names.begin(), "n");
        if (layout.kind == ActivationLayout::Kind::nchwc) {
            names.push_back("c");
        }
    }
    const std::vector<int64_t> shape = stored_result_shape(w);
    std::string text;
    for (size_t d = shape.size(); d-- > 0;) {
        text = fmt::format("{}={}{}{}", names[d], index % shape[d], text.empty() ? "" : ", ", text);
        index /= shape[d];
    }
    return fmt::format("{}[{}]", result_name(w), text);
}

}  // namespace kiln
