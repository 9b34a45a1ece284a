#include "tests/graph/passes/quantized_graphs.h"

#include <cmath>
#include <utility>

#include "graph/quantized_forms.h"

namespace kiln::graph {

ValueId dequantize(Sketch &s, const Quanta &x) {
    std::vector<ValueId> inputs{x.stored, s.constant({}, {x.scale})};
    if (x.zero_point) inputs.push_back(s.integers({}, {*x.zero_point}, s.value(x.stored).form.type));
    return s.node(Elementwise{dequantization(x.zero_point ? ZeroPoint::operand : ZeroPoint::none), s.shape(x.stored)},
                  std::move(inputs));
}

Quanta quantize(Sketch &s, ValueId number, double scale, std::optional<int64_t> zero_point, Element to) {
    std::vector<ValueId> inputs{number, s.constant({}, {scale})};
    if (zero_point) inputs.push_back(s.integers({}, {*zero_point}, to));
    const Elementwise op{quantization(to, zero_point ? ZeroPoint::operand : ZeroPoint::none), s.shape(number)};
    return {s.node(op, std::move(inputs)), scale, zero_point};
}

ValueId dequantized_constant(Sketch &s, const Shape &shape, std::vector<int64_t> stored, std::vector<double> scales) {
    const ValueId id = s.integers(shape, std::move(stored), shape.size() == 1 ? Element::i32 : Element::i8);
    Shape of_scales;
    if (scales.size() > 1) {
        of_scales.assign(shape.size(), 1);
        of_scales[0] = static_cast<int64_t>(scales.size());
    }
    return s.node(Elementwise{dequantization(ZeroPoint::none), shape}, {id, s.constant(of_scales, std::move(scales))});
}

namespace {

class Drawing {
public:
    explicit Drawing(uint64_t seed) : s_(seed) {}

    Graph run(int nodes) {
        const Element type = is_likely(0.5) ? Element::i8 : Element::u8;
        made_.push_back(
            {s_.input({1 + below(2), 1 + below(6), 4 + below(4), 4 + below(4)}, type), 0.25, zero_point(type)});
        while (static_cast<int>(made_.size()) < nodes) step();
        std::vector<ValueId> outputs{made_.back().stored, dequantize(s_, pick())};
        return std::move(s_).finish(outputs);
    }

private:
    int64_t below(int64_t count) { return std::min(count - 1, static_cast<int64_t>(s_.draw(0, double(count)))); }
    bool is_likely(double chance) { return s_.draw(0, 1) < chance; }
    double power_of_two(int least, int most) { return std::ldexp(1, least + int(below(most - least + 1))); }
    std::optional<int64_t> zero_point(Element type) {
        if (is_likely(0.3)) return {};
        return type == Element::u8 ? below(256) : below(256) - 128;
    }

    const Quanta &pick() {
        return is_likely(0.6) ? made_.back() : made_[static_cast<size_t>(below(static_cast<int64_t>(made_.size())))];
    }
    Shape shape(const Quanta &x) { return s_.shape(x.stored); }  // values move when another is added

    void store(ValueId number) {
        if (is_likely(0.3)) number = s_.elementwise("max(x0,0)", {number});
        if (is_likely(0.2)) number = s_.elementwise("min(max(x0,-1.5),6)", {number});
        const Element type = is_likely(0.5) ? Element::i8 : Element::u8;
        made_.push_back(quantize(s_, number, power_of_two(-4, 1), zero_point(type), type));
    }

    std::vector<int64_t> quanta(int64_t count) {
        std::vector<int64_t> stored;
        for (int64_t i = 0; i < count; i++) stored.push_back(below(256) - 128);
        return stored;
    }

    void step() {
        const Quanta x = pick();
        switch (below(9)) {
            case 0:
            case 1:
                return convolution(x);
            case 2:
                return product(x);
            case 3:
                return pool(x);
            case 4:
                return addition(x);
            case 5:
                return concatenation(x);
            default:
                return movement(x);
        }
    }

    void convolution(const Quanta &x) {
        const Shape in = shape(x);
        if (in.size() != 4 || in[2] < 3 || in[3] < 3) return;
        const bool is_depthwise = is_likely(0.3);
        Convolution op{.strides = {1, 1 + below(2)},
                       .input_dilation = {1, 1},
                       .dilations = {1, 1},
                       .padding = {{1, 1}, {below(2), 1}},
                       .groups = is_depthwise ? in[1] : 1};
        const int64_t outputs = is_depthwise ? in[1] : 1 + below(5), window = 1 + 2 * below(2);
        const Shape weights{outputs, in[1] / op.groups, window, window};
        std::vector<double> scales(is_likely(0.5) ? outputs : 1);
        for (double &scale : scales) scale = power_of_two(-7, -4);
        std::vector<ValueId> inputs{dequantize(s_, x),
                                    dequantized_constant(s_, weights, quanta(*element_count(weights)), scales)};
        if (is_likely(0.6)) {
            op.epilogue = {{EpilogueStep::Kind::bias}};
            for (double &scale : scales) scale *= x.scale;
            if (is_likely(0.2)) scales = {std::ldexp(1, -20)};  // no whole multiples
            inputs.push_back(dequantized_constant(s_, {outputs}, quanta(outputs), scales));
        }
        store(s_.node(std::move(op), std::move(inputs)));
    }

    void product(const Quanta &x) {
        const Shape in = shape(x);
        const int64_t columns = 1 + below(4);
        const ValueId b =
            dequantized_constant(s_, {in.back(), columns}, quanta(in.back() * columns), {power_of_two(-7, -4)});
        if (in.size() >= 2) store(s_.node(MatrixProduct{}, {dequantize(s_, x), b}));
    }

    void pool(const Quanta &x) {
        const Shape in = shape(x);
        if (in.size() != 4 || in[2] < 2 || in[3] < 2) return;
        Pool op{.kind = is_likely(0.5) ? Pool::Kind::maximum : Pool::Kind::average,
                .window = {2, 2},
                .strides = {1 + below(2), 1},
                .dilations = {1, 1},
                .padding = {{0, below(2)}, {0, 0}},
                .beyond = {0, 0},
                .counts_padding = true};
        if (op.kind == Pool::Kind::average && op.padding[0].hi == 1) op.counts_padding = is_likely(0.5);
        store(s_.node(std::move(op), {dequantize(s_, x)}));
    }

    void addition(const Quanta &x) {
        for (const Quanta &other : made_) {
            if (shape(other) != shape(x)) continue;
            return store(s_.elementwise("add(x0,x1)", {dequantize(s_, x), dequantize(s_, other)}));
        }
    }

    void concatenation(const Quanta &x) {
        std::vector<ValueId> parts{dequantize(s_, x)};
        for (const Quanta &other : made_) {
            if (shape(other) == shape(x) && parts.size() < 3) parts.push_back(dequantize(s_, other));
        }
        if (shape(x).size() > 1) store(s_.node(Concat{1}, std::move(parts)));
    }

    void movement(const Quanta &x) {
        const ValueId number = dequantize(s_, x);
        const Shape in = shape(x);
        ValueId moved = number;
        if (is_likely(0.3)) {
            moved = s_.pad(number, int(below(int64_t(in.size()))), below(3), below(2));
        } else if (in.size() == 4 && is_likely(0.5)) {
            moved = s_.transpose(number, {0, 1, 3, 2});
        } else if (in.size() == 4 && in[0] * in[1] * in[2] * in[3] < 2000) {
            moved = s_.reshape(number, {in[0], in[1], in[2] * in[3], 1});
        }
        // Often the same numbers as before, as exporters write them.
        if (is_likely(0.4)) return store(moved);
        made_.push_back(quantize(s_, moved, x.scale, x.zero_point, s_.value(x.stored).form.type));
    }

    Sketch s_;
    std::vector<Quanta> made_;
};

}  // namespace

Graph quantized_graph(uint64_t seed, int nodes) { return Drawing(seed).run(nodes); }

}  // namespace kiln::graph
