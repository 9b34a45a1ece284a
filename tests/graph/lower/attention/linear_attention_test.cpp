// LinearAttention against plain loops.
#include <functional>

#include "tests/graph/lower/attention/attention_cases.h"

namespace kiln::graph {
namespace {

struct LinearCase {
    std::string rule = "gated_delta";
    int64_t batch = 2, steps = 3, heads = 2, group = 1, features = 4, value_features = 3;
    bool has_past = false, has_decay_by_head = false, has_one_beta = false;
    std::optional<double> scale = {};
    Element type = Element::f32, state_type = Element::f32;

    bool has_decay() const { return rule == "gated" || rule == "gated_delta"; }
    bool has_beta() const { return rule == "delta" || rule == "gated_delta"; }
};

// Numbers that f16 has: multiples of 1 / 128, from -0.4 to 0.4, around `middle`.
Numbers around(double middle, Shape shape, int64_t seed, Element type) {
    std::vector<double> elements = block_of(shape, seed).elements;
    for (double &element : elements) element = element / 2 + middle;
    return floats(std::move(shape), std::move(elements), type);
}

struct LinearNumbers {
    explicit LinearNumbers(const LinearCase &c)
        : query(around(0, {c.batch, c.steps, c.heads * c.group * c.features}, 1, c.type)),
          key(around(0, {c.batch, c.steps, c.heads * c.features}, 2, c.type)),
          value(around(0, {c.batch, c.steps, c.heads * c.value_features}, 3, c.type)),
          past(around(0, {c.batch, c.heads, c.features, c.value_features}, 4, c.state_type)),
          decay(around(-0.5, {c.batch, c.steps, c.heads * (c.has_decay_by_head ? 1 : c.features)}, 5, c.type)),
          beta(around(0.5, {c.batch, c.steps, c.has_one_beta ? 1 : c.heads}, 6, c.type)) {}

    Numbers query, key, value, past, decay, beta;
};

double &packed(Numbers &numbers, int64_t row, int64_t column) {
    return std::get<0>(numbers.elements)[static_cast<size_t>(row * numbers.form.shape.back() + column)];
}

// The steps of one head of the state, which is as the past is, in the formulas of ONNX.
void run_head(const LinearCase &c, LinearNumbers &in, int64_t b, int64_t h, Numbers *output) {
    const double scale = c.scale.value_or(1 / std::sqrt(static_cast<double>(c.features)));
    const auto state = [&](int64_t i, int64_t j) -> double & {
        return packed(in.past, (b * c.heads + h) * c.features + i, j);
    };
    for (int64_t t = 0; t < c.steps; t++) {
        const int64_t row = b * c.steps + t;
        const auto key = [&](int64_t i) { return packed(in.key, row, h * c.features + i); };
        for (int64_t i = 0; c.has_decay() && i < c.features; i++) {
            const double decay = packed(in.decay, row, c.has_decay_by_head ? h : h * c.features + i);
            for (int64_t j = 0; j < c.value_features; j++) state(i, j) *= std::exp(decay);
        }
        for (int64_t j = 0; j < c.value_features; j++) {
            double written = packed(in.value, row, h * c.value_features + j);
            for (int64_t i = 0; c.has_beta() && i < c.features; i++) written -= state(i, j) * key(i);
            if (c.has_beta()) written *= packed(in.beta, row, c.has_one_beta ? 0 : h);
            for (int64_t i = 0; i < c.features; i++) state(i, j) += key(i) * written;
        }
        for (int64_t q = h * c.group; q < (h + 1) * c.group; q++) {
            for (int64_t j = 0; j < c.value_features; j++) {
                double sum = 0;
                for (int64_t i = 0; i < c.features; i++) sum += packed(in.query, row, q * c.features + i) * state(i, j);
                packed(*output, row, q * c.value_features + j) = scale * sum;
            }
        }
    }
}

RuleCase linear_row(const LinearCase &c) {
    LinearNumbers in(c);
    RuleCase row{"LinearAttention",
                 27,
                 {integer("q_num_heads", c.heads * c.group), integer("kv_num_heads", c.heads),
                  text("update_rule", c.rule), integer("chunk_size", 16)},
                 {in.query, in.key, in.value, c.has_past ? std::optional(in.past) : none,
                  c.has_decay() ? std::optional(in.decay) : none, c.has_beta() ? std::optional(in.beta) : none},
                 {}};
    if (c.scale) row.attributes.push_back(real("scale", static_cast<float>(*c.scale)));
    if (!c.has_past) {
        std::ranges::fill(std::get<0>(in.past.elements), 0);
        in.past.form.type = c.type;
    }
    Numbers output = counted({c.batch, c.steps, c.heads * c.group * c.value_features});
    output.form.type = c.type;
    for (int64_t b = 0; b < c.batch; b++) {
        for (int64_t h = 0; h < c.heads; h++) run_head(c, in, b, h, &output);
    }
    row.outputs = {std::move(output), in.past};
    return row;
}

TEST(LinearAttention, RulesPastsAndHeads) {
    for (const char *rule : {"linear", "gated", "delta", "gated_delta"}) {
        const std::vector<LinearCase> rows{
            {},
            {.has_past = true},
            {.steps = 1},
            {.steps = 1, .has_past = true},
            {.batch = 1, .steps = 5, .has_past = true},
            {.group = 3, .has_past = true},
            {.heads = 1, .group = 4},
            {.has_past = true, .has_decay_by_head = true},
            {.has_past = true, .has_one_beta = true},
            {.has_decay_by_head = true, .has_one_beta = true},
            {.scale = 0.25},
            {.has_past = true, .scale = 1},
            {.batch = 1, .heads = 1, .features = 1, .value_features = 1, .has_past = true},
        };
        for (size_t i = 0; i < rows.size(); i++) {
            SCOPED_TRACE(std::string(rule) + ", row " + std::to_string(i));
            LinearCase c = rows[i];
            c.rule = rule;
            RuleCase row = linear_row(c);
            for (const size_t inputs : {1, 6}) {
                row.network_inputs = inputs;
                expect_outputs(row);
            }
        }
    }
    // A scale of 0 is that of the features, and the rule is gated_delta where none is stated.
    RuleCase row = linear_row({.group = 2});
    std::erase_if(row.attributes, [](const onnx::Attribute &a) { return a.name == "update_rule"; });
    row.attributes.push_back(real("scale", 0));
    expect_outputs(row);
}

// Sums are f32 whatever the types of the inputs. The state has the type of the past, or else of the queries.
TEST(LinearAttention, Types) {
    struct Types {
        Element type, state_type;
        bool has_past;
    };
    const std::vector<Types> rows{{Element::f16, Element::f16, true},
                                  {Element::f16, Element::f32, true},
                                  {Element::f16, Element::f16, false},
                                  {Element::bf16, Element::f32, true},
                                  {Element::f64, Element::f64, true}};
    for (const Types &types : rows) {
        SCOPED_TRACE(std::string(name(types.type)));
        RuleCase row = linear_row(
            {.group = 2, .has_past = types.has_past, .scale = 0.5, .type = types.type, .state_type = types.state_type});
        row.network_inputs = 6;
        const auto graph = model_of(row).lowered();
        ASSERT_TRUE(graph) << graph.error().message;
        std::vector<Numbers> inputs;
        for (const auto &input : row.inputs) {
            if (!input) continue;
            // What the type does not have is rounded first.
            inputs.push_back(from_constant(input->form, to_constant(*input)));
        }
        const auto outputs = evaluate(*graph, inputs);
        ASSERT_TRUE(outputs) << outputs.error().message;
        ASSERT_EQ(outputs->size(), 2u);
        const auto tolerance = [](Element type) {
            return type == Element::bf16 ? 0.02 : type == Element::f16 ? 2e-3 : 1e-6;
        };
        expect_numbers((*outputs)[0], row.outputs[0], tolerance(types.type));
        expect_numbers((*outputs)[1], row.outputs[1], std::max(tolerance(types.type), tolerance(types.state_type)));
    }
}

int products_of(const LinearCase &c) {
    RuleCase row = linear_row(c);
    row.network_inputs = 6;
    const auto graph = model_of(row).lowered();
    EXPECT_TRUE(graph) << graph.error().message;
    int count = 0;
    for (const Node &node : graph->nodes) count += std::holds_alternative<MatrixProduct>(node.op);
    return count;
}

TEST(LinearAttention, AStepIsUpToTwoProducts) {
    EXPECT_EQ(products_of({.rule = "linear", .has_past = true}), 3);
    EXPECT_EQ(products_of({.rule = "gated", .group = 2, .has_past = true}), 3);
    EXPECT_EQ(products_of({.rule = "delta", .has_past = true}), 6);
    EXPECT_EQ(products_of({.rule = "gated_delta", .group = 2, .has_past = true}), 6);
    EXPECT_EQ(products_of({.rule = "gated_delta"}), 5);  // the first step has nothing to read
}

TEST(LinearAttention, PastsOfZerosAreNone) {
    RuleCase row = linear_row({});
    const auto without = model_of(row).lowered();
    row.inputs[3] = floats({2, 2, 4, 3}, std::vector<double>(48, 0));
    const auto zeros = model_of(row).lowered();
    ASSERT_TRUE(without && zeros);
    EXPECT_EQ(operators(*without), operators(*zeros));
    expect_outputs(row);
}

onnx::Attribute &attribute_named(RuleCase &row, const std::string &name) {
    return *std::ranges::find(row.attributes, name, &onnx::Attribute::name);
}

TEST(LinearAttention, Refused) {
    struct Bad {
        std::function<void(RuleCase &)> change;
        std::string message;
    };
    const auto rule = [](const char *name) {
        return [name](RuleCase &row) { attribute_named(row, "update_rule") = text("update_rule", name); };
    };
    const std::vector<Bad> rows{
        {rule("rwkv"), "its attribute 'update_rule' is 'rwkv', which must be linear, gated, delta or gated_delta"},
        {rule("linear"), "its attribute 'update_rule' is 'linear', which has no input 'decay'"},
        {rule("gated"), "its attribute 'update_rule' is 'gated', which has no input 'beta'"},
        {rule("delta"), "its attribute 'update_rule' is 'delta', which has no input 'decay'"},
        {[](RuleCase &row) { row.inputs[4] = none; },
         "its attribute 'update_rule' is 'gated_delta', which needs input 'decay'"},
        {[](RuleCase &row) { row.inputs.pop_back(); },
         "its attribute 'update_rule' is 'gated_delta', which needs input 'beta'"},
        {[](RuleCase &row) { attribute_named(row, "q_num_heads") = integer("q_num_heads", 3); },
         "its attribute 'q_num_heads' is 3, and 'kv_num_heads' 2; needs a multiple of it"},
        {[](RuleCase &row) { attribute_named(row, "kv_num_heads") = integer("kv_num_heads", 0); },
         "its attribute 'q_num_heads' is 2, and 'kv_num_heads' 0"},
        {[](RuleCase &row) { row.attributes.erase(row.attributes.begin()); }, "q_num_heads"},
        {[](RuleCase &row) {
             row.inputs[0] = counted({2, 3, 2, 4});
         },
         "its input 'query' of shape 2x3x2x4 has not the axes of batch, steps and features"},
        {[](RuleCase &row) {
             row.inputs[0] = counted({2, 3, 7});
         },
         "its input 'query' of shape 2x3x7 does not divide into 2 heads"},
        {[](RuleCase &row) {
             row.inputs[1] = counted({2, 3, 6});
         },
         "its queries have 4 features a head, and its keys 3"},
        {[](RuleCase &row) {
             row.inputs[1] = counted({2, 4, 8});
         },
         "its input 'key' of shape 2x4x8 has another batch or other steps than its queries of 2x3x8"},
        {[](RuleCase &row) {
             row.inputs[2] = counted({6, 6});
         },
         "its input 'value' of shape 6x6 has not the axes of batch, steps and features"},
        {[](RuleCase &row) {
             row.inputs[2] = counted({2, 3, 5});
         },
         "its input 'value' of shape 2x3x5 does not divide into 2 heads"},
        {[](RuleCase &row) {
             row.inputs[3] = counted({2, 2, 3, 4});
         },
         "its input 'past_state' of shape 2x2x3x4 is not 2x2x4x3"},
        {[](RuleCase &row) {
             row.inputs[4] = counted({2, 3, 4});
         },
         "its input 'decay' of shape 2x3x4 is neither 2x3x2 nor 2x3x8"},
        {[](RuleCase &row) {
             row.inputs[5] = counted({2, 3, 8});
         },
         "its input 'beta' of shape 2x3x8 is neither 2x3x2 nor 2x3x1"},
        {[](RuleCase &row) { row.inputs[1]->form.type = Element::f16; }, "its input 'key' is f16, and its queries f32"},
        {[](RuleCase &row) {
             row.inputs[3] = whole({2, 2, 4, 3}, std::vector<int64_t>(48, 1));
         },
         "its input 'past_state' is i64, and its queries f32"},
        {[](RuleCase &row) {
             row.inputs[0] = whole({2, 3, 8}, std::vector<int64_t>(48, 1));
         },
         "its queries are i64"},
        {[](RuleCase &row) { row.opset = 26; }, "which begins with opset 27"},
    };
    for (const Bad &bad : rows) {
        RuleCase row = linear_row({.has_past = true});
        bad.change(row);
        expect_refused(model_of(row), bad.message);
    }
    expect_refused(model_of(linear_row({.steps = 2049})),
                   "its sequence has 2049 steps, and kiln computes up to 2048; give the input a shorter sequence");
    expect_refused(model_of(linear_row({.steps = 0})), ErrorCode::unsupported, "its sequence or its state is empty");
    expect_refused(model_of(linear_row({.value_features = 0})), "its sequence or its state is empty");
}

}  // namespace
}  // namespace kiln::graph
