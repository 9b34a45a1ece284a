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

}  // namespace
}  // namespace kiln::network
