// Operators with drawn fields, as a hostile model might have them: what result_of() accepts can be computed.
#include <gtest/gtest.h>

#include <random>

#include "tests/graph/evaluate/numbers_of.h"
#include "tests/test_seed.h"

namespace kiln::graph {
namespace {

class Drawing {
public:
    explicit Drawing(uint64_t seed) : random_(seed) {}

    int64_t number(int64_t lo, int64_t hi) { return std::uniform_int_distribution<int64_t>(lo, hi)(random_); }

    // Mostly what a model may have, now and then what none should.
    int64_t field(int64_t lo, int64_t hi) {
        static constexpr int64_t nasty[] = {
            -1,        0,         1 << 20,       int64_t{1} << 31, most_elements, most_elements + 1, int64_t{1} << 62,
            INT64_MAX, INT64_MIN, -most_elements};
        return number(0, 40) == 0 ? nasty[number(0, std::size(nasty) - 1)] : number(lo, hi);
    }

    std::vector<int64_t> fields(size_t count, int64_t lo, int64_t hi) {
        std::vector<int64_t> values(number(0, 60) == 0 ? number(0, 4) : count);
        for (int64_t &value : values) value = field(lo, hi);
        return values;
    }

    std::vector<Padding> padding(size_t count, int64_t lo) {
        std::vector<Padding> values(count);
        for (Padding &value : values) value = {field(lo, 3), field(lo, 3)};
        return values;
    }

    Numbers value(Shape shape, Element type) {
        const int64_t count = *element_count(shape);
        Numbers numbers{{type, std::move(shape)}, {}};
        if (is_float(type)) {
            std::vector<double> elements(count);
            for (double &element : elements) element = number(0, 9) == 0 ? nan : static_cast<double>(number(-4, 4));
            numbers.elements = std::move(elements);
        } else {
            std::vector<int64_t> elements(count);
            for (int64_t &element : elements) element = type == Element::boolean ? number(0, 1) : number(0, 9);
            numbers.elements = std::move(elements);
        }
        return numbers;
    }

    Shape shape(size_t rank, int64_t most) {
        Shape result(rank);
        for (int64_t &extent : result) extent = number(0, 15) == 0 ? 0 : number(1, most);
        return result;
    }

    Element type() {
        return number(0, 3) > 0 ? Element::f32 : std::array{Element::i64, Element::u8, Element::boolean}[number(0, 2)];
    }

    std::vector<int> axes(size_t rank) {
        std::vector<int> result;
        for (size_t i = 0; i < rank; i++) {
            if (number(0, 1) == 0) result.push_back(static_cast<int>(i));
        }
        if (number(0, 30) == 0) result.push_back(static_cast<int>(number(-2, 9)));
        return result;
    }

    struct Call {
        Operator op;
        std::vector<Numbers> inputs;
    };

    Call convolution() {
        const size_t rank = number(1, 3);
        Convolution op{fields(rank, 1, 3), fields(rank, 1, 3), fields(rank, 1, 3), padding(rank, -3), field(1, 2), {}};
        Shape x = shape(rank + 2, 5), w = shape(rank + 2, 3);
        if (number(0, 9) > 0 && op.groups > 0 && op.groups < 3) {
            w[0] *= op.groups;
            x[1] = w[1] * op.groups;
        }
        Call call{{}, {value(x, Element::f32), value(w, Element::f32)}};
        if (number(0, 1) == 0) {
            op.epilogue.push_back({EpilogueStep::Kind::bias});
            call.inputs.push_back(value({w[0]}, Element::f32));
        }
        call.op = op;
        return call;
    }

    Call pool() {
        const size_t rank = number(1, 3);
        const auto kind = number(0, 1) == 0 ? Pool::Kind::maximum : Pool::Kind::average;
        return {Pool{kind, fields(rank, 1, 3), fields(rank, 1, 3), fields(rank, 1, 2), padding(rank, 0),
                     fields(rank, 0, 2), number(0, 1) == 0},
                {value(shape(rank + 2, 5), type())}};
    }

    Call resample() {
        const size_t rank = number(1, 3);
        const Numbers x = value(shape(rank, 5), type());
        Resample op;
        for (int axis : axes(rank)) {
            const int taps = static_cast<int>(number(0, 20) == 0 ? number(-1, 0) : number(1, 3));
            Resample::Axis entry{.axis = axis, .taps = taps, .indices = {}, .weights = {}};
            const int64_t extent = static_cast<size_t>(axis) < rank ? x.form.shape[axis] : 1;
            entry.indices.resize(std::max(taps, 1) * number(0, 6));
            for (int64_t &index : entry.indices) index = number(0, 99) == 0 ? field(-2, 6) : number(-1, extent - 1);
            if (taps > 1 || number(0, 1) == 0) entry.weights.assign(entry.indices.size(), 0.5);
            op.axes.push_back(entry);
        }
        return {op, {x}};
    }

    Call other() {
        const Numbers x = value(shape(number(0, 4), 4), type());
        const size_t rank = x.form.shape.size();
        std::vector<int> permutation(rank);
        for (size_t i = 0; i < rank; i++) permutation[i] = static_cast<int>(i);
        std::shuffle(permutation.begin(), permutation.end(), random_);
        switch (number(0, 7)) {
            case 0:
                return {Transpose{permutation}, {x}};
            case 1:
                return {Reduce{static_cast<Reduce::Kind>(number(0, 4)), axes(rank)}, {x}};
            case 2:
                return {Normalize{static_cast<Normalize::Kind>(number(0, 2)), axes(rank), 0.1}, {x}};
            case 3:
                return {Concat{static_cast<int>(field(0, 4))}, {x, x}};
            case 4:
                return {Reshape{fields(number(0, 3), 0, 16)}, {x}};
            case 5:
                return {MatrixProduct{}, {x, value(shape(number(1, 4), 4), x.form.type)}};
            case 6:
                return {Gather{static_cast<int>(field(0, 4))}, {x, value(shape(number(0, 2), 4), type())}};
            default:
                return {Elementwise{expression(), fields(rank, 1, 4)}, {x, value(shape(number(0, 2), 4), x.form.type)}};
        }
    }

    Expression expression() {
        Expression result;
        for (int64_t i = number(1, 8); i-- > 0;) {
            Step step{.function = static_cast<Function>(number(0, static_cast<int>(Function::select)))};
            if (number(0, 1) == 0) step.function = Function::operand;
            step.operand = static_cast<int>(number(0, 30) == 0 ? field(-1, 9) : number(0, 1));
            step.type = type();
            step.number = static_cast<double>(number(0, 20) == 0 ? field(-3, 3) : number(0, 1));
            result.steps.push_back(step);
        }
        return result;
    }

    Call any() {
        switch (number(0, 3)) {
            case 0:
                return convolution();
            case 1:
                return pool();
            case 2:
                return resample();
            default:
                return other();
        }
    }

private:
    std::mt19937_64 random_;
};

TEST(DrawnOperators, what_is_accepted_can_be_computed) {
    Drawing drawing(test_seed());
    int computed = 0, refused = 0;
    for (int round = 0; round < 20'000; round++) {
        const auto [op, inputs] = drawing.any();
        std::vector<TypedShape> forms;
        std::vector<const Numbers *> pointers;
        for (const Numbers &input : inputs) {
            forms.push_back(input.form);
            pointers.push_back(&input);
        }
        const auto form = result_of(op, forms);
        if (!form) {
            refused++;
            continue;
        }
        if (*element_count(form->shape) > 100'000) continue;
        const auto result = evaluate(op, pointers);
        ASSERT_TRUE(result) << to_text(op) << ": " << result.error().message;
        EXPECT_EQ(result->form, *form) << to_text(op);
        const auto count = std::visit([](const auto &elements) { return elements.size(); }, result->elements);
        EXPECT_EQ(count, static_cast<size_t>(*element_count(form->shape))) << to_text(op);
        computed++;
    }
    EXPECT_GT(computed, 5'000);
    EXPECT_GT(refused, 2'000);
}

}  // namespace
}  // namespace kiln::graph
