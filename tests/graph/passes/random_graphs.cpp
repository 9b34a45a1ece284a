#include "tests/graph/passes/random_graphs.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "tests/graph/passes/sketch.h"

namespace kiln::graph {
namespace {

class Drawer {
public:
    Drawer(uint64_t seed, GraphSizes sizes) : sketch_(seed), sizes_(sizes) {}

    Graph graph() {
        const int inputs = count(1, 2);
        for (int i = 0; i < inputs; i++) values_.push_back(sketch_.input(image()));
        while (static_cast<int>(sketch_.graph().nodes.size()) < sizes_.nodes) add();
        std::vector<ValueId> outputs{values_.back()};
        for (int i = count(0, 2); i > 0; i--) outputs.push_back(any());
        return std::move(sketch_).finish(outputs);
    }

private:
    int count(int lo, int hi) { return std::min(hi, static_cast<int>(sketch_.draw(lo, hi + 1))); }
    bool often() { return count(0, 3) > 0; }
    template<size_t N>
    const char *one_of(const std::array<const char *, N> &texts) {
        return texts[count(0, N - 1)];
    }

    Shape image() {
        Shape shape{count(1, 2), count(1, 5), count(2, 7), count(2, 7)};
        if (count(0, 3) == 0) shape.pop_back();
        return shape;
    }

    int64_t elements(ValueId id) const { return element_count(sketch_.shape(id)).value(); }

    // Mostly one of the last values, so that graphs are deep.
    ValueId any() {
        const int last = static_cast<int>(values_.size()) - 1;
        return values_[often() ? count(std::max(0, last - 2), last) : count(0, last)];
    }

    void keep(ValueId id) {
        if (elements(id) > sizes_.elements || elements(id) == 0) return;
        // So that numbers stay near 1.
        values_.push_back(count(0, 5) == 0 ? sketch_.elementwise("mul(tanh(x0),2)", {id}) : id);
    }

    void add() {
        const ValueId x = any();
        switch (count(0, 16)) {
            case 0:
            case 1:
                return convolution(x);
            case 2:
                return keep(affine(x));
            case 3:
                return keep(sketch_.elementwise(one_of(functions), {x}));
            case 4:
                return spelled(x);
            case 5:
            case 6:
                return transpose(x);
            case 7:
                return reshape(x);
            case 8:
                return two(x);
            case 9:
                return reduce(x);
            case 10:
                return resample(x);
            case 11:
                return pool(x);
            case 12:
                return concat(x);
            case 13:
                return product(x);
            case 14:
                return normalization(x);
            case 15:
                return gather(x);
            default:
                return normalize(x);
        }
    }

    static constexpr std::array functions{"max(x0,0)",
                                          "min(max(x0,-1),1)",
                                          "neg(x0)",
                                          "mul(x0,0.5)",
                                          "add(x0,0.25)",
                                          "sub(1,x0)",
                                          "div(x0,3)",
                                          "sigmoid(x0)",
                                          "tanh(x0)",
                                          "mul(x0,x0)",
                                          "div(x0,add(1,exp(neg(x0))))",
                                          "max(mul(x0,0.125),x0)",
                                          "sqrt(add(abs(x0),1))",
                                          "reciprocal(add(pow(x0,2),1))",
                                          "add(max(x0,0),mul(min(x0,0),0.25))",
                                          "select(less(x0,0),mul(x0,0.5),x0)"};

    // A constant of one number for each extent of one axis, of as many axes as it needs.
    ValueId along(const Shape &shape, int axis, double lo, double hi) {
        Shape form(shape.size() - axis, 1);
        form[0] = shape[axis];
        return sketch_.random(form, lo, hi);
    }

    ValueId affine(ValueId x) {
        const Shape shape = sketch_.shape(x);
        if (shape.empty()) return sketch_.elementwise("mul(x0,0.5)", {x});
        const int axis = shape.size() > 1 && often() ? 1 : count(0, static_cast<int>(shape.size()) - 1);
        const ValueId scale = along(shape, axis, 0.5, 1.5), shift = along(shape, axis, -1, 1);
        constexpr std::array forms{"add(mul(x0,x1),x2)", "div(sub(x0,x2),x1)", "sub(x2,mul(x1,x0))"};
        return sketch_.elementwise(one_of(forms), {x, scale, shift});
    }

    void convolution(ValueId x) {
        const Shape shape = sketch_.shape(x);
        if (shape.size() < 3 || shape.size() > 5) return;
        const size_t rank = shape.size() - 2;
        Convolution op;
        Shape window;
        for (size_t d = 0; d < rank; d++) {
            op.strides.push_back(count(1, 2));
            op.input_dilation.push_back(often() ? 1 : 2);
            op.dilations.push_back(often() ? 1 : 2);
            op.padding.push_back({count(-1, 2), count(-1, 2)});
            window.push_back(count(1, 3));
        }
        const int64_t outputs = count(1, 5);
        if (!often() && outputs % shape[1] == 0) op.groups = shape[1];
        std::vector<ValueId> inputs{x};
        if (often()) {
            op.epilogue.push_back({EpilogueStep::Kind::bias});
            inputs.push_back(sketch_.random({outputs}));
        }
        ValueId y = sketch_.convolution(inputs, outputs, window, op);
        if (elements(y) == 0) return;
        if (often()) y = affine(y);
        if (often()) y = sketch_.elementwise(one_of(functions), {y});
        if (!often()) {
            y = sketch_.elementwise("select(less(x0,0),mul(x0,x1),x0)", {y, along(sketch_.shape(y), 1, -1, 1)});
        }
        keep(y);
    }

    void spelled(ValueId x) {
        const auto e = [&](const char *text, std::vector<ValueId> inputs) {
            return sketch_.elementwise(text, std::move(inputs));
        };
        switch (count(0, 3)) {
            case 0:
                return keep(e("div(x0,6)", {e("mul(x0,x1)", {e("min(max(x0,0),6)", {e("add(x0,3)", {x})}), x})}));
            case 1:
                return keep(e("mul(x0,x1)", {x, e("sigmoid(x0)", {x})}));
            case 2:
                return keep(e("mul(x0,0.5)", {e("mul(x0,x1)", {x, e("add(erf(div(x0,1.4142135)),1)", {x})})}));
            default:
                return keep(e("mul(x0,tanh(x1))", {x, e("log(add(exp(x0),1))", {x})}));
        }
    }

    void transpose(ValueId x) {
        std::vector<int> permutation(sketch_.shape(x).size());
        std::iota(permutation.begin(), permutation.end(), 0);
        if (permutation.size() == 4 && often()) {
            permutation = count(0, 1) ? std::vector{0, 2, 3, 1} : std::vector{0, 3, 1, 2};
        } else {
            for (size_t i = permutation.size(); i > 1; i--) {
                std::swap(permutation[i - 1], permutation[count(0, static_cast<int>(i) - 1)]);
            }
        }
        keep(sketch_.transpose(x, permutation));
    }

    void reshape(ValueId x) {
        Shape shape = sketch_.shape(x);
        const int axis = count(0, static_cast<int>(shape.size()) - 1);
        switch (count(0, 3)) {
            case 0:
                shape.insert(shape.begin() + (shape.empty() ? 0 : axis), 1);
                break;
            case 1:
                std::erase(shape, 1);
                break;
            case 2:
                if (shape.size() < 2) return;
                shape[axis == 0 ? 0 : axis - 1] *= shape[axis == 0 ? 1 : axis];
                shape.erase(shape.begin() + std::max(axis, 1));
                break;
            default:
                if (shape.empty() || shape[axis] % 2 != 0) return;
                shape[axis] /= 2;
                shape.insert(shape.begin() + axis, 2);
        }
        if (shape.size() <= 6) keep(sketch_.reshape(x, shape));
    }

    void two(ValueId x) {
        for (int i = 0; i < 10; i++) {
            const ValueId y = any();
            const auto together = broadcast(sketch_.shape(x), sketch_.shape(y));
            if (!together) continue;
            constexpr std::array forms{"add(x0,x1)", "mul(x0,x1)", "sub(x1,x0)", "max(x0,x1)", "mul(x0,sigmoid(x1))"};
            return keep(sketch_.elementwise(one_of(forms), {x, y}));
        }
    }

    std::vector<int> some_axes(ValueId x) {
        std::vector<int> axes;
        const int rank = static_cast<int>(sketch_.shape(x).size());
        for (int axis = 0; axis < rank; axis++) {
            if (count(0, 1)) axes.push_back(axis);
        }
        return axes;
    }

    void reduce(ValueId x) {
        const auto kind = std::array{Reduce::Kind::sum, Reduce::Kind::mean, Reduce::Kind::maximum}[count(0, 2)];
        keep(sketch_.node(Reduce{kind, some_axes(x)}, {x}));
    }

    void normalize(ValueId x) {
        const auto kind = std::array{Normalize::Kind::softmax, Normalize::Kind::mean_variance}[count(0, 1)];
        keep(sketch_.node(Normalize{kind, some_axes(x), 0.5}, {x}));
    }

    void normalization(ValueId x) {
        const std::vector<int> axes = some_axes(x);
        if (axes.empty()) return;
        if (count(0, 1)) {
            const ValueId e = sketch_.elementwise("exp(x0)", {sketch_.elementwise("mul(tanh(x0),2)", {x})});
            return keep(sketch_.elementwise("div(x0,x1)", {e, sketch_.node(Reduce{Reduce::Kind::sum, axes}, {e})}));
        }
        const ValueId d = sketch_.elementwise("sub(x0,x1)", {x, sketch_.node(Reduce{Reduce::Kind::mean, axes}, {x})});
        const ValueId v = sketch_.node(Reduce{Reduce::Kind::mean, axes}, {sketch_.elementwise("mul(x0,x0)", {d})});
        keep(sketch_.elementwise("div(x0,sqrt(add(x1,0.5)))", {d, v}));
    }

    void resample(ValueId x) {
        const Shape shape = sketch_.shape(x);
        if (shape.empty()) return;
        const int axis = shape.size() > 2 && often() ? count(2, static_cast<int>(shape.size()) - 1)
                                                     : count(0, static_cast<int>(shape.size()) - 1);
        if (often()) return keep(sketch_.pad(x, axis, count(-1, 2), count(0, 2)));
        Resample::Axis larger{.axis = axis, .taps = 2, .indices = {}, .weights = {}};
        for (int64_t i = 0; i < 2 * shape[axis]; i++) {
            larger.indices.insert(larger.indices.end(), {i / 2, std::min(i / 2 + 1, shape[axis] - 1)});
            larger.weights.insert(larger.weights.end(), {i % 2 ? 0.5 : 1, i % 2 ? 0.5 : 0});
        }
        keep(sketch_.node(Resample{{larger}, 0}, {x}));
    }

    // By indices that the caller gives; some are outside.
    void gather(ValueId x) {
        const Shape shape = sketch_.shape(x);
        if (shape.empty()) return;
        const Element type = often() ? Element::i64 : Element::i32;
        const ValueId given = sketch_.input({count(1, 4)}, type);
        const ValueId indices =
            sketch_.elementwise(type == Element::i64 ? "i32(div(x0,i64:32))" : "div(x0,i32:32)", {given});
        keep(sketch_.node(Gather{count(0, static_cast<int>(shape.size()) - 1)}, {x, indices}));
    }

    void pool(ValueId x) {
        const Shape shape = sketch_.shape(x);
        if (shape.size() < 3) return;
        Pool op;
        op.kind = count(0, 1) ? Pool::Kind::average : Pool::Kind::maximum;
        op.counts_padding = count(0, 1);
        for (size_t d = 2; d < shape.size(); d++) {
            op.window.push_back(count(2, 3));
            op.strides.push_back(count(1, 2));
            op.dilations.push_back(1);
            op.padding.push_back({count(0, 1), count(0, 1)});
            op.beyond.push_back(0);
        }
        keep(sketch_.node(op, {x}));
    }

    void concat(ValueId x) {
        const Shape shape = sketch_.shape(x);
        if (shape.empty()) return;
        const int axis = count(0, static_cast<int>(shape.size()) - 1);
        std::vector<ValueId> inputs{x};
        for (int i = 0; i < 10 && inputs.size() < 3; i++) {
            const ValueId y = any();
            Shape other = sketch_.shape(y);
            if (other.size() != shape.size()) continue;
            other[axis] = shape[axis];
            if (other == shape) inputs.push_back(y);
        }
        keep(sketch_.node(Concat{axis}, inputs));
    }

    void product(ValueId x) {
        const Shape shape = sketch_.shape(x);
        if (shape.size() < 2) return;
        if (count(0, 1)) return keep(sketch_.node(MatrixProduct{}, {x, sketch_.random({shape.back(), count(1, 5)})}));
        keep(sketch_.node(MatrixProduct{}, {sketch_.random({count(1, 5), shape[shape.size() - 2]}), x}));
    }

    Sketch sketch_;
    GraphSizes sizes_;
    std::vector<ValueId> values_;
};

}  // namespace

Graph random_graph(uint64_t seed, GraphSizes sizes) { return Drawer(seed, sizes).graph(); }

}  // namespace kiln::graph
