// Nodes of ONNX through all passes as programs, which compute in f32 what the graph's evaluator computes in f64.
#include <cmath>
#include <utility>

#include "graph/passes/passes.h"
#include "network/emit.h"
#include "package/network/program_reference.h"
#include "tests/graph/lower/rule_cases.h"

namespace kiln::network {
namespace {

using namespace graph;

// A model whose only input has these numbers.
void expect_program(const BuiltModel &model, const Numbers &input, const std::vector<Numbers> &expected) {
    const auto graph = model.lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    const auto passed = run_passes(*graph);
    ASSERT_TRUE(passed) << passed.error().message;
    const auto program = emit(*passed);
    ASSERT_TRUE(program) << program.error().message;
    const ConstantData data = to_constant(input);
    const auto outputs = run_program(*program, {Bytes(data.bytes().begin(), data.bytes().end())});
    ASSERT_TRUE(outputs) << outputs.error().message;
    ASSERT_EQ(outputs->size(), expected.size());
    for (size_t i = 0; i < expected.size(); i++) {
        expect_numbers(from_constant(program->outputs[i].form, ConstantData((*outputs)[i])), expected[i]);
    }
}

void expect_programs(const std::vector<RuleCase> &rows) {
    for (const RuleCase &row : rows) {
        SCOPED_TRACE(row.op_type);
        expect_program(model_of(row), *row.inputs[0], row.outputs);
    }
}

TEST(ModelPrograms, NumbersWhoseSquaresOverflow) {
    expect_programs({
        {"Asinh",
         9,
         {},
         {line({-infinity, -1e38, 2e19, 3e10, infinity})},
         {line({-infinity, std::asinh(-1e38), std::asinh(2e19), std::asinh(3e10), infinity})}},
        {"Acosh",
         9,
         {},
         {line({-1e38, 1, 3e10, 3e38, infinity})},
         {line({nan, 0, std::acosh(3e10), std::acosh(3e38), infinity})}},
        {"Gelu", 20, {}, {line({-3e38, 1e20, 3e38, infinity})}, {line({0, 1e20, 3e38, infinity})}},
        {"Gelu",
         20,
         {text("approximate", "tanh")},
         {line({-3e38, 1e20, 3e38, infinity})},
         {line({0, 1e20, 3e38, infinity})}},
    });
}

// Outputs are i64, whatever the numbers lie in before.
TEST(ModelPrograms, IntegersOf64Bits) {
    const Numbers bytes = whole({4}, {0, 7, 200, 255}, Element::u8), numbers = line({-20, -3.75, 2.5, 8});
    struct Row {
        const char *op_type;
        std::vector<std::string> inputs;
        std::vector<int64_t> of_bytes, of_clipped, of_numbers;
    };
    const std::vector<Row> rows{
        {"Div", {"a", "five"}, {0, 1, 40, 51}, {-1, 0, 0, 1}, {-4, 0, 0, 1}},
        {"Mod", {"a", "five"}, {0, 2, 0, 0}, {1, 2, 2, 3}, {0, 2, 2, 3}},
        {"Pow", {"a", "two"}, {0, 49, 40000, 65025}, {81, 9, 4, 64}, {400, 9, 4, 64}},
        {"Add", {"a", "five"}, {5, 12, 205, 260}, {-4, 2, 7, 13}, {-15, 2, 7, 13}},
        {"Mul",
         {"a", "large"},
         {0, 21000000000, 600000000000, 765000000000},
         {-27000000000, -9000000000, 6000000000, 24000000000},
         {-60000000000, -9000000000, 6000000000, 24000000000}},
        {"Neg", {"a"}, {0, -7, -200, -255}, {9, 3, -2, -8}, {20, 3, -2, -8}},
        {"Max", {"a", "five"}, {5, 7, 200, 255}, {5, 5, 5, 8}, {5, 5, 5, 8}},
        {"Where", {"is_large", "a", "five"}, {5, 7, 200, 255}, {5, 5, 5, 8}, {5, 5, 5, 8}},
    };
    for (const Row &row : rows) {
        SCOPED_TRACE(row.op_type);
        const auto model_of_row = [&](const Numbers &x, bool is_clipped) {
            BuiltModel model;
            model.input("x", x.form.shape, x.form.type)
                .constant("five", whole({}, {5}))
                .constant("two", whole({}, {2}));
            model.constant("large", whole({}, {3000000000}))
                .constant("lo", floats({}, {-9}))
                .constant("hi", floats({}, {9}));
            if (is_clipped) model.node("Clip", {"x", "lo", "hi"}, {"clipped"});
            model.node("Cast", {is_clipped ? "clipped" : "x"}, {"a"}, {integer("to", 7)});
            model.node("Less", {"five", "a"}, {"is_large"}).node(row.op_type, row.inputs, {"y"}).output("y");
            return model;
        };
        expect_program(model_of_row(bytes, false), bytes, {whole({4}, row.of_bytes)});
        expect_program(model_of_row(numbers, true), numbers, {whole({4}, row.of_clipped)});
        expect_program(model_of_row(numbers, false), numbers, {whole({4}, row.of_numbers)});
    }
}

TEST(ModelPrograms, PlacesOfTheLargest) {
    const Numbers x = line({3, 9, 1, 5});
    BuiltModel model;
    model.input("x", {4}).constant("k", list({3})).constant("lo", whole({}, {1})).constant("hi", whole({}, {2}));
    model.node("TopK", {"x", "k"}, {"values", "places"}).node("Clip", {"places", "lo", "hi"}, {"clipped"});
    model.node("Neg", {"places"}, {"negative"}).output("clipped").output("negative");
    expect_program(model, x, {list({1, 2, 1}), list({-1, -3, 0})});
}

}  // namespace
}  // namespace kiln::network
