// Operators of the domain com.microsoft that onnxruntime's optimizer makes of several of ONNX's.
#include <functional>

#include "tests/graph/lower/rule_cases.h"

namespace kiln::graph {
namespace {

using Function1 = std::function<double(double)>;

constexpr const char *microsoft_domain = "com.microsoft";

std::vector<double> each(std::vector<double> elements, const Function1 &function) {
    for (double &element : elements) element = function(element);
    return elements;
}

double gelu_of(double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2))); }

double fast_gelu_of(double x) {
    return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1)) * (x + 0.044715 * x * x * x)));
}

TEST(FusedRules, BiasesInFrontOfGelu) {
    const std::vector<double> sums{-3, -1, 0, 0.5, 2, 4};
    const Numbers x = floats({2, 3}, {-4, -3, -3, -0.5, 0, 1}), bias = line({1, 2, 3});
    const std::vector<RuleCase> rows{
        {"BiasGelu", 1, {}, {x, bias}, {floats({2, 3}, each(sums, gelu_of))}, microsoft_domain},
        {"FastGelu", 1, {}, {x, bias}, {floats({2, 3}, each(sums, fast_gelu_of))}, microsoft_domain},
        {"FastGelu", 1, {}, {line(sums)}, {line(each(sums, fast_gelu_of))}, microsoft_domain},
    };
    for (const RuleCase &row : rows) expect_outputs(row);
}

struct FusedActivation {
    std::string name;
    std::vector<float> numbers;
    Function1 function;
};

const std::vector<double> around_zero{-4, -1, -0.5, 0, 0.25, 0.5, 1, 4};

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

TEST(FusedRules, ConvolutionsWithActivations) {
    const std::vector<FusedActivation> rows{
        {"Relu", {}, [](double x) { return std::max(x, 0.0); }},
        {"Sigmoid", {}, sigmoid_of},
        {"Tanh", {}, [](double x) { return std::tanh(x); }},
        {"LeakyRelu", {0.25F}, [](double x) { return x < 0 ? x / 4 : x; }},
        {"Clip", {-0.75F, 2}, [](double x) { return std::clamp(x, -0.75, 2.0); }},
        {"HardSigmoid", {0.25F, 0.5F}, [](double x) { return std::clamp(x / 4 + 0.5, 0.0, 1.0); }},
        {"HardSwish", {}, [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
        {"", {}, [](double x) { return x; }},
    };
    for (const FusedActivation &row : rows) {
        SCOPED_TRACE(row.name);
        std::vector<onnx::Attribute> attributes;
        if (!row.name.empty()) attributes.push_back(text("activation", row.name));
        if (!row.numbers.empty()) attributes.push_back(reals("activation_params", row.numbers));
        // Of x * 2 + 1, and of that and what is added.
        const auto of = [&](double offset, double factor) {
            const auto sum = [&](double x) { return row.function(2 * x + offset + factor * x); };
            return floats({1, 1, 8}, each(around_zero, sum));
        };
        const Numbers x = floats({1, 1, 8}, around_zero), w = floats({1, 1, 1}, {2});
        const Numbers threefold = floats({1, 1, 8}, each(around_zero, [](double y) { return 3 * y; }));
        expect_outputs({"FusedConv", 1, attributes, {x, w}, {of(0, 0)}, microsoft_domain});
        expect_outputs({"FusedConv", 1, attributes, {x, w, line({1})}, {of(1, 0)}, microsoft_domain});
        expect_outputs({"FusedConv", 1, attributes, {x, w, line({1}), threefold}, {of(1, 3)}, microsoft_domain});
        expect_outputs({"FusedConv", 1, attributes, {x, w, none, threefold}, {of(0, 3)}, microsoft_domain});
    }
}

TEST(FusedRules, ChannelsLast) {
    const Numbers x = counted({1, 2, 2, 2}, 0), w = counted({3, 2, 1, 1});
    std::vector<double> y, added;
    for (int place = 0; place < 4; place++) {
        for (int c = 0; c < 3; c++) {
            const double sum = 2 * place * (2 * c + 1) + (2 * place + 1) * (2 * c + 2) + c;
            added.push_back(-10 * (c + place));
            y.push_back(std::max(sum + added.back(), 0.0));
        }
    }
    expect_outputs({"NhwcFusedConv",
                    1,
                    {text("activation", "Relu")},
                    {x, w, line({0, 1, 2}), floats({1, 2, 2, 3}, added)},
                    {floats({1, 2, 2, 3}, y)},
                    microsoft_domain});
    expect_outputs({"NhwcMaxPool",
                    1,
                    {integers("kernel_shape", {2, 1}), integers("strides", {2, 1})},
                    {whole({1, 2, 3, 2}, {1, 9, 2, 8, 3, 7, 4, 6, 5, 5, 6, 4}, Element::u8)},
                    {whole({1, 1, 3, 2}, {4, 9, 5, 8, 6, 7}, Element::u8)},
                    microsoft_domain});
}

TEST(FusedRules, GemmWithActivations) {
    const std::vector<FusedActivation> rows{
        {"Relu", {}, [](double x) { return std::max(x, 0.0); }},
        {"LeakyRelu", {0.25F}, [](double x) { return x < 0 ? x / 4 : x; }},
        {"Elu", {0.5F}, [](double x) { return x < 0 ? (std::exp(x) - 1) / 2 : x; }},
        {"Celu", {0.5F}, [](double x) { return x < 0 ? (std::exp(x * 2) - 1) / 2 : x; }},
        {"HardSigmoid", {0.25F, 0.5F}, [](double x) { return std::clamp(x / 4 + 0.5, 0.0, 1.0); }},
        {"Selu", {0.5F, 0, 2}, [](double x) { return x > 0 ? 2 * x : std::exp(x) - 1; }},
        {"Sigmoid", {}, sigmoid_of},
        {"Softplus", {}, [](double x) { return std::log1p(std::exp(x)); }},
        {"Softsign", {}, [](double x) { return x / (1 + std::abs(x)); }},
        {"Tanh", {}, [](double x) { return std::tanh(x); }},
        {"ThresholdedRelu", {0.5F}, [](double x) { return x > 0.5 ? x : 0; }},
        {"", {}, [](double x) { return x; }},
    };
    for (const FusedActivation &row : rows) {
        SCOPED_TRACE(row.name);
        std::vector<onnx::Attribute> attributes{integer("transB", 1), real("alpha", 2), real("beta", 3)};
        if (!row.name.empty()) attributes.push_back(text("activation", row.name));
        const char *names[] = {"activation_alpha", "activation_beta", "activation_gamma"};
        for (size_t i = 0; i < row.numbers.size(); i++) attributes.push_back(real(names[i], row.numbers[i]));
        const auto y = each(around_zero, [&](double x) { return row.function(4 * x + 3); });
        expect_outputs({"FusedGemm",
                        1,
                        attributes,
                        {floats({8, 1}, around_zero), floats({1, 1}, {2}), line({1})},
                        {floats({8, 1}, y)},
                        microsoft_domain});
    }
}

// Sums over k of a and b, whose axes are where `place` says for batch (of two axes), row or column, and k.
struct FusedProduct {
    std::vector<onnx::Attribute> attributes;
    Shape a, b;
    std::function<Shape(int64_t, int64_t, int64_t, int64_t)> place_a, place_b;
};

double element_at(const Numbers &x, const Shape &place) {
    size_t at = 0;
    for (size_t d = 0; d < place.size(); d++)
        at = at * static_cast<size_t>(x.form.shape[d]) + static_cast<size_t>(place[d]);
    return std::get<0>(x.elements)[at];
}

TEST(FusedRules, ProductsOfTransposedOperands) {
    constexpr int64_t outer = 2, inner = 3, rows_of_a = 4, terms = 5, columns = 6;
    const auto plain = [](int64_t o, int64_t i, int64_t row, int64_t column) { return Shape{o, i, row, column}; };
    const auto swapped = [](int64_t o, int64_t i, int64_t row, int64_t column) { return Shape{o, i, column, row}; };
    const auto first = [](int64_t o, int64_t i, int64_t row, int64_t column) { return Shape{row, o, i, column}; };
    const auto both = [](int64_t o, int64_t i, int64_t row, int64_t column) { return Shape{column, o, i, row}; };
    const std::vector<FusedProduct> products{
        {{}, {2, 3, 4, 5}, {2, 3, 5, 6}, plain, plain},
        {{integer("transA", 1), real("alpha", 0.5F)}, {2, 3, 5, 4}, {2, 3, 5, 6}, swapped, plain},
        {{integer("transB", 1)}, {2, 3, 4, 5}, {2, 3, 6, 5}, plain, swapped},
        {{integer("transBatchA", 1)}, {4, 2, 3, 5}, {2, 3, 5, 6}, first, plain},
        {{integer("transBatchB", 1)}, {2, 3, 4, 5}, {5, 2, 3, 6}, plain, first},
        {{integer("transBatchA", 1), integer("transA", 1)}, {5, 2, 3, 4}, {2, 3, 5, 6}, both, plain},
    };
    for (const FusedProduct &product : products) {
        const double alpha = product.attributes.size() == 2 && product.attributes[1].name == "alpha" ? 0.5 : 1;
        const Numbers a = counted(product.a, -20), b = counted(product.b, -50);
        std::vector<double> y;
        for (int64_t at = 0; at < outer * inner * rows_of_a * columns; at++) {
            const int64_t o = at / columns / rows_of_a / inner, i = at / columns / rows_of_a % inner;
            double sum = 0;
            for (int64_t k = 0; k < terms; k++) {
                sum += alpha * element_at(a, product.place_a(o, i, at / columns % rows_of_a, k)) *
                       element_at(b, product.place_b(o, i, k, at % columns));
            }
            y.push_back(sum);
        }
        expect_outputs({"FusedMatMul",
                        1,
                        product.attributes,
                        {a, b},
                        {floats({outer, inner, rows_of_a, columns}, y)},
                        microsoft_domain});
    }
    // A row and a column stay what they are.
    const std::vector<onnx::Attribute> transposed{integer("transA", 1), integer("transB", 1)};
    expect_outputs({"FusedMatMul", 1, transposed, {counted({3}), counted({3})}, {floats({}, {14})}, microsoft_domain});
    expect_outputs({"TransposeMatMul",
                    1,
                    {integer("transB", 1)},
                    {counted({1, 2}), counted({3, 2})},
                    {floats({1, 3}, {5, 11, 17})},
                    microsoft_domain});
}

// Rows that are normalized: what is subtracted, and what they are divided by.
struct Statistics {
    double mean = 0, deviation = 0;
};

Statistics statistics_of(const std::vector<double> &row, bool is_centered, double epsilon) {
    Statistics result;
    const auto count = static_cast<double>(row.size());
    for (const double x : row) result.mean += is_centered ? x / count : 0;
    double variance = 0;
    for (const double x : row) variance += (x - result.mean) * (x - result.mean) / count;
    result.deviation = std::sqrt(variance + epsilon);
    return result;
}

struct SkipCase {
    bool is_centered;
    std::optional<Numbers> skip, beta, bias;
    double epsilon = 1e-12;
};

// x is 2x2x3.
RuleCase skip_row(const SkipCase &c) {
    const Numbers x = floats({2, 2, 3}, {1, -2, 3, 0.5, 0.25, -0.75, 4, 2, 1, -1, -3, 2}), gamma = line({2, -1, 0.5});
    const auto at = [](const std::optional<Numbers> &numbers, size_t i) {
        if (!numbers) return 0.0;
        const auto &elements = std::get<0>(numbers->elements);
        return elements[i % elements.size()];
    };
    std::vector<double> y, mean, inverse, sums;
    for (size_t i = 0; i < 12; i++) sums.push_back(at(x, i) + at(c.skip, i) + at(c.bias, i));
    for (size_t row = 0; row < 4; row++) {
        const auto first = sums.begin() + static_cast<std::ptrdiff_t>(3 * row);
        const Statistics numbers = statistics_of({first, first + 3}, c.is_centered, c.epsilon);
        mean.push_back(numbers.mean), inverse.push_back(1 / numbers.deviation);
        for (size_t i = 0; i < 3; i++)
            y.push_back((first[static_cast<std::ptrdiff_t>(i)] - numbers.mean) / numbers.deviation * at(gamma, i) +
                        at(c.beta, i));
    }
    RuleCase result{c.is_centered ? "SkipLayerNormalization" : "SkipSimplifiedLayerNormalization", 1, {}, {}, {}};
    result.domain = microsoft_domain;
    result.inputs = {x, c.skip, gamma};
    if (c.is_centered) result.inputs.push_back(c.beta);
    result.inputs.push_back(c.bias);
    if (c.epsilon != 1e-12) result.attributes.push_back(real("epsilon", static_cast<float>(c.epsilon)));
    result.outputs = {floats({2, 2, 3}, y), floats({2, 2, 1}, mean), floats({2, 2, 1}, inverse),
                      floats({2, 2, 3}, sums)};
    return result;
}

// Words 1 and 0 at places 0 and 1, in segments 1 and 0; the sums are such that 1 and 3 become -1 and 1.
TEST(FusedRules, EmbeddingsOfWords) {
    const auto rows = [](std::vector<double> elements) {
        const Shape shape{static_cast<int64_t>(elements.size()) / 2, 2};
        return floats(shape, std::move(elements));
    };
    const auto integers_of = [](std::vector<int64_t> elements) {
        const Shape shape{1, static_cast<int64_t>(elements.size())};
        return whole(shape, std::move(elements), Element::i32);
    };
    const Numbers words = rows({1, 2, 0, 4}), places = rows({0.5, 0, 0, 1, 9, 9}), segments = rows({0, 0, 0.5, -1});
    const Numbers sums = floats({1, 2, 2}, {1, 3, 1, 3}), y = floats({1, 2, 2}, {-1, 3, -1, 3});
    RuleCase row{"EmbedLayerNormalization",
                 1,
                 {},
                 {integers_of({1, 0}), integers_of({1, 0}), words, places, segments, line({2, 2}), line({1, 1}),
                  integers_of({1, 0})},
                 {y, whole({1}, {1}, Element::i32), sums},
                 microsoft_domain};
    expect_outputs(row);
    row.inputs[7] = integers_of({1, 2});  // what is neither 0 nor 1 counts as left out
    expect_outputs(row);
    row.inputs[7] = none;
    row.inputs.push_back(integers_of({0, 1}));
    row.outputs[1] = whole({1}, {0}, Element::i32);
    expect_outputs(row);
    row.inputs = {integers_of({1, 0}), none, rows({1, 2, 0.5, 3}), places, none, line({2, 2}), line({1, 1})};
    expect_outputs(row);
    row.inputs[4] = rows({-0.5, 1, 9, 9}), row.inputs[3] = rows({1, -1, 0.5, 0});
    expect_outputs(row);
    for (const auto &[input, bad, message] : std::vector<std::tuple<size_t, std::optional<Numbers>, std::string>>{
             {5, line({1, 2, 3}), "its scale or bias does not fit"},
             {2, floats({}, {1}), "its table of shape scalar does not fit that of words"},
             {3, floats({}, {1}), "its table of shape scalar does not fit that of words"},
             {3, rows({1, 2}), "its table of places has 1 rows for 2 words"},
             {4, counted({4, 1}), "its table of shape 4x1 does not fit that of words"}}) {
        RuleCase changed = row;
        changed.inputs[input] = bad;
        expect_refused(model_of(changed), message);
    }
}

TEST(FusedRules, NormalizationsOfSums) {
    const Numbers skip = floats({2, 2, 3}, {0.5, 0.25, 1, -1, 2, 3, -0.5, 0.75, 1, 2, 1, 0}), beta = line({1, 2, 3}),
                  bias = line({0.5, -0.25, 2}), one_image = floats({1, 2, 3}, {1, 2, 3, 4, 5, 7}),
                  one_place = floats({2, 3}, {1, 2, 3, 4, 5, 7});
    const std::vector<SkipCase> centered{{true, skip, beta, bias},      {true, skip, beta, none},
                                         {true, skip, none, none},      {true, skip, none, bias},
                                         {true, one_image, beta, none}, {true, one_place, beta, none},
                                         {true, skip, beta, bias, 0.5}};
    for (const SkipCase &c : centered) expect_outputs(skip_row(c));
    for (const SkipCase &c : {SkipCase{false, skip, none, bias}, SkipCase{false, skip, none, none, 0.5}}) {
        RuleCase row = skip_row(c);
        // Their second output has no meaning here, and is not asked for.
        BuiltModel model = model_of(row);
        model.model().outputs.erase(model.model().outputs.begin() + 1);
        row.outputs.erase(row.outputs.begin() + 1);
        const auto graph = model.lowered();
        ASSERT_TRUE(graph) << graph.error().message;
        const auto outputs = evaluate(*graph, {*row.inputs[0]});
        ASSERT_TRUE(outputs) << outputs.error().message;
        for (size_t i = 0; i < row.outputs.size(); i++) expect_numbers((*outputs)[i], row.outputs[i]);
    }
    const Statistics of_row = statistics_of({1, -2, 3}, false, 0.5);
    expect_outputs({"SimplifiedLayerNormalization",
                    17,
                    {real("epsilon", 0.5F)},
                    {floats({1, 3}, {1, -2, 3}), line({2, 1, -1})},
                    {floats({1, 3}, {2 / of_row.deviation, -2 / of_row.deviation, -3 / of_row.deviation}),
                     floats({1, 1}, {1 / of_row.deviation})}});
}

TEST(FusedRules, Refused) {
    const Numbers x = counted({1, 1, 8}), w = counted({1, 1, 1}), matrix = counted({2, 2});
    const std::vector<std::pair<RuleCase, std::string>> rows{
        {{"FusedConv", 1, {text("activation", "Sine")}, {x, w}, {}}, "kiln has no activation 'Sine' in it"},
        {{"FusedConv", 1, {text("activation", "LeakyRelu")}, {x, w}, {}},
         "its activation 'LeakyRelu' has 0 numbers; needs 1"},
        {{"FusedConv", 1, {text("activation", "Clip"), reals("activation_params", {1})}, {x, w}, {}},
         "its activation 'Clip' has 1 numbers; needs 2"},
        {{"FusedConv", 1, {}, {x, w, none, counted({1, 2, 8})}, {}},
         "what it adds, of shape 1x2x8, does not fit 1x1x8"},
        {{"NhwcFusedConv", 1, {}, {matrix, w}, {}}, "has no spatial axes"},
        {{"FusedGemm", 1, {text("activation", "Sine")}, {matrix, matrix}, {}}, "kiln has no activation 'Sine' in it"},
        {{"SkipLayerNormalization", 1, {}, {matrix, counted({3, 2, 2}), line({1, 2})}, {}},
         "what it adds does not fit its input of shape 2x2"},
        {{"SkipLayerNormalization", 1, {}, {matrix, matrix, counted({2, 2, 2})}, {}},
         "its scale or bias does not fit its input of shape 2x2"},
        {{"BiasGelu", 1, {}, {matrix}, {}}, "its input 1, which the operator requires, is missing"},
        {{"BiasGelu", 1, {}, {line({1, 2}), matrix}, {}}, "its bias of shape 2x2 does not fit its input of shape 2"},
    };
    for (auto [row, message] : rows) {
        SCOPED_TRACE(message);
        row.domain = microsoft_domain;
        row.outputs = {counted({1})};
        const auto graph = model_of(row).lowered();
        ASSERT_FALSE(graph);
        EXPECT_NE(graph.error().message.find(message), std::string::npos) << graph.error().message;
    }
}

}  // namespace
}  // namespace kiln::graph
