// Programs of small models and graphs: in f32 what the graph's evaluator computes in f64, and integers of 64 bits.
#include <cmath>
#include <functional>
#include <utility>

#include "graph/passes/passes.h"
#include "network/emit.h"
#include "package/network/program_reference.h"
#include "tests/graph/lower/rule_cases.h"
#include "tests/graph/passes/sketch.h"
#include "tests/test_seed.h"

namespace kiln::network {
namespace {

using namespace graph;

using Outputs = std::vector<ValueId>;

void expect_results(const Program &program, const std::vector<Numbers> &inputs, const std::vector<Numbers> &expected) {
    std::vector<Bytes> bytes;
    for (const Numbers &input : inputs) {
        const ConstantData data = to_constant(input);
        bytes.emplace_back(data.bytes().begin(), data.bytes().end());
    }
    const auto outputs = run_program(program, bytes);
    ASSERT_TRUE(outputs) << outputs.error().message;
    ASSERT_EQ(outputs->size(), expected.size());
    for (size_t i = 0; i < expected.size(); i++) {
        expect_numbers(from_constant(program.outputs[i].form, ConstantData((*outputs)[i])), expected[i]);
    }
}

// A model whose only input has these numbers.
void expect_program(const BuiltModel &model, const Numbers &input, const std::vector<Numbers> &expected) {
    const auto graph = model.lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    const auto passed = run_passes(*graph);
    ASSERT_TRUE(passed) << passed.error().message;
    const auto program = emit(*passed);
    ASSERT_TRUE(program) << program.error().message;
    expect_results(*program, {input}, expected);
}

void expect_programs(const std::vector<RuleCase> &rows) {
    for (const RuleCase &row : rows) {
        SCOPED_TRACE(row.op_type);
        expect_program(model_of(row), *row.inputs[0], row.outputs);
    }
}

TEST(Programs, NumbersWhoseSquaresOverflow) {
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
TEST(Programs, IntegersOf64Bits) {
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

TEST(Programs, PlacesOfTheLargest) {
    const Numbers x = line({3, 9, 1, 5});
    BuiltModel model;
    model.input("x", {4}).constant("k", list({3})).constant("lo", whole({}, {1})).constant("hi", whole({}, {2}));
    model.node("TopK", {"x", "k"}, {"values", "places"}).node("Clip", {"places", "lo", "hi"}, {"clipped"});
    model.node("Neg", {"places"}, {"negative"}).output("clipped").output("negative");
    expect_program(model, x, {list({1, 2, 1}), list({-1, -3, 0})});
}

// Convolutions, and what comes in and goes out in other types beside halves.
TEST(Programs, FloatsOf16Bits) {
    for (const Element type : {Element::f16, Element::bf16}) {
        SCOPED_TRACE(name(type));
        Sketch s(test_seed());
        const std::string cast = std::string(name(type));
        const ValueId x = s.input({1, 3, 6, 5}, type), mask = s.input({1, 1, 6, 5}, Element::boolean);
        const ValueId wide = s.elementwise("f32(x0)", {x});
        const ValueId y = s.elementwise(cast + "(x0)", {s.convolution({wide}, 4, {3, 3})});
        const ValueId turned = s.transpose(x, {0, 2, 3, 1});
        const Graph before =
            std::move(s).finish({y, s.elementwise("select(x0,x1," + cast + ":0)", {mask, x}), turned, x});
        const auto passed = run_passes(before);
        ASSERT_TRUE(passed) << passed.error().message;
        const auto program = emit(*passed);
        ASSERT_TRUE(program) << program.error().message;
        const std::vector<Numbers> inputs = drawn_inputs(before, test_seed());
        const auto expected = evaluate(*passed, inputs);
        ASSERT_TRUE(expected) << expected.error().message;
        expect_results(*program, inputs, *expected);
        EXPECT_EQ(program->outputs[0].form.type, type);
    }
}

using SketchedRows = std::vector<std::pair<const char *, std::function<Outputs(Sketch &)>>>;

// Inputs of 64 bits are multiples of `unit`.
void expect_sketched(const SketchedRows &rows, int64_t unit) {
    for (const auto &[what, make] : rows) {
        SCOPED_TRACE(what);
        Sketch sketch(test_seed());
        const Outputs outputs = make(sketch);
        const Graph graph = std::move(sketch).finish(outputs);
        const auto program = emit(graph);
        ASSERT_TRUE(program) << program.error().message;
        std::vector<Numbers> inputs = drawn_inputs(graph, test_seed());
        for (Numbers &numbers : inputs) {
            if (numbers.form.type != Element::i64) continue;
            for (int64_t &element : std::get<std::vector<int64_t>>(numbers.elements)) element *= unit;
        }
        const auto expected = evaluate(graph, inputs);
        ASSERT_TRUE(expected) << expected.error().message;
        expect_results(*program, inputs, *expected);
    }
}

// An output, such as a length, that other nodes compute with, too.
TEST(Programs, IntegersOf64BitsAreComputedAgain) {
    expect_sketched(
        {
            {"a mask of what lies before a length",
             [](Sketch &s) {
                 const ValueId length =
                     s.elementwise("div(add(mul(x0,i64:640),i64:440),i64:441)", {s.input({2}, Element::i64)});
                 const ValueId places = s.integers({1, 5}, {-90, -40, 0, 40, 90}, Element::i64);
                 const ValueId mask = s.elementwise("less(x0,x1)", {places, s.reshape(length, {2, 1})});
                 return Outputs{s.elementwise("select(x0,x1,0)", {mask, s.input({2, 5})}), length};
             }},
            {"what is beyond 32 bits",
             [](Sketch &s) {
                 const ValueId wide = s.elementwise("mul(x0,i64:3000000000)", {s.input({3, 4}, Element::i64)});
                 const ValueId half = s.elementwise("div(x0,i64:7)", {s.transpose(wide, {1, 0})});
                 return Outputs{wide, half, s.elementwise("f32(sub(x0,x1))", {half, s.transpose(wide, {1, 0})})};
             }},
            {"a pad of what is computed",
             [](Sketch &s) {
                 const ValueId x = s.elementwise("add(x0,i64:5)", {s.input({4}, Element::i64)});
                 const ValueId padded = s.pad(s.pad(x, 0, 1, 2, 7), 0, 1, 1, -3);
                 return Outputs{s.elementwise("mul(x0,i64:2)", {padded})};
             }},
            {"a pad of zeros of what is added up",
             [](Sketch &s) {
                 const ValueId x =
                     s.elementwise("add(x0,x1)", {s.input({4}, Element::i64), s.input({4}, Element::i64)});
                 return Outputs{s.elementwise("mul(x0,i64:2)", {s.pad(x, 0, 1, 2)})};
             }},
            {"of floats and of integers of 32 bits",
             [](Sketch &s) {
                 const ValueId floats = s.elementwise("i64(mul(x0,1000))", {s.input({6})});
                 const ValueId sum = s.elementwise("add(x0,i64(x1))", {floats, s.input({6}, Element::i32)});
                 return Outputs{floats, sum, s.elementwise("f32(max(x0,x1))", {floats, sum})};
             }},
        },
        1);
}

TEST(Programs, IntegersOf64BitsAreReduced) {
    const auto along = [](Reduce::Kind kind, std::vector<int> axes) { return Reduce{kind, std::move(axes)}; };
    const SketchedRows rows{
        {"sums of what is given",
         [&](Sketch &s) {
             const ValueId x = s.input({3, 40}, Element::i64);
             return Outputs{s.node(along(Reduce::Kind::sum, {1}), {x}), s.node(along(Reduce::Kind::sum, {0, 1}), {x})};
         }},
        {"sums of what is beyond 32 bits",
         [&](Sketch &s) {
             const ValueId wide = s.elementwise("mul(x0,i64:-30007)", {s.input({3, 40}, Element::i64)});
             const ValueId sum = s.node(along(Reduce::Kind::sum, {1}), {wide});
             return Outputs{sum, s.elementwise("f32(div(x0,i64:10007))", {sum})};
         }},
        {"products behind sums",
         [&](Sketch &s) {
             const ValueId x = s.input({3, 40}, Element::i64);
             const ValueId sum = s.node(along(Reduce::Kind::sum, {1}), {x});
             return Outputs{s.elementwise("mul(sub(x0,i64:1),x1)", {sum, x}),
                            s.elementwise("mod(mul(x0,x0),i64:1000003)", {sum})};
         }},
        {"extremes of what is given",
         [&](Sketch &s) {
             const ValueId x = s.transpose(s.input({3, 40}, Element::i64), {1, 0});
             const ValueId most = s.node(along(Reduce::Kind::maximum, {0}), {x});
             return Outputs{most, s.node(along(Reduce::Kind::minimum, {1}), {x}),
                            s.elementwise("equal(x0,x1)", {x, most})};
         }},
        {"extremes of what is beyond 32 bits",
         [&](Sketch &s) {
             const ValueId x = s.elementwise("mul(x0,i64:-30007)", {s.input({5, 60}, Element::i64)});
             const ValueId most = s.node(along(Reduce::Kind::maximum, {1}), {x});
             return Outputs{most, s.node(along(Reduce::Kind::minimum, {0, 1}), {x}),
                            s.elementwise("equal(x0,x1)", {x, most})};
         }},
        {"what is joined with a constant, and with what is computed",
         [&](Sketch &s) {
             const ValueId x = s.input({3, 4}, Element::i64),
                           first = s.integers({3, 1}, {5, -7, 2147483647}, Element::i64);
             const ValueId last = s.elementwise("min(max(x0,i64:-9),i64:9)", {x});
             const ValueId all = s.node(Concat{1}, {first, x, last});
             return Outputs{s.elementwise("f32(add(x0,i64:1))", {all}), s.node(along(Reduce::Kind::sum, {1}), {all})};
         }},
        {"the least of what is computed in 32 bits",
         [&](Sketch &s) {
             const ValueId x = s.elementwise("min(max(mul(x0,i64:300),i64:-2000000000),i64:2000000000)",
                                             {s.input({5, 6}, Element::i64)});
             return Outputs{s.node(along(Reduce::Kind::minimum, {1}), {x})};
         }},
    };
    for (const int64_t unit : {1, 16'000'000}) expect_sketched(rows, unit);
}

// With all of their bits, unlike where something is computed of them.
TEST(Programs, IntegersOf64BitsAreMoved) {
    const SketchedRows rows{
        {"a transpose",
         [](Sketch &s) {
             return Outputs{s.transpose(s.input({2, 3, 4}, Element::i64), {2, 0, 1})};
         }},
        {"every other element, and one from outside",
         [](Sketch &s) {
             const Resample::Axis axis{1, 1, {5, 3, 1, Resample::outside}, {}};
             return Outputs{s.node(Resample{{axis}, 0}, {s.input({2, 6}, Element::i64)})};
         }},
        {"a pad with a number of more than 32 bits",
         [](Sketch &s) {
             const ValueId x = s.input({2, 3}, Element::i64);
             return Outputs{s.pad(x, 1, 1, 2, -5), s.pad(x, 0, 1, 0, 9e15)};
         }},
        {"elements by computed indices",
         [](Sketch &s) {
             const ValueId places = s.elementwise("max(min(x0,i32:2),i32:0)", {s.input({4}, Element::i32)});
             return Outputs{s.node(Gather{1}, {s.input({2, 3, 2}, Element::i64), places})};
         }},
        {"elements of one axis by what a convolution computes",
         [](Sketch &s) {
             const ValueId numbers = s.convolution({s.input({1, 8, 5, 6})}, 8, {1, 1});
             const ValueId places = s.elementwise("max(min(i32(x0),i32:2),i32:0)", {numbers});
             return Outputs{s.node(Gather{0}, {s.input({3}, Element::i64), places})};
         }},
        {"one move after the other",
         [](Sketch &s) {
             const Resample::Axis axis{0, 1, {2, 0}, {}};
             const ValueId turned = s.transpose(s.input({2, 3}, Element::i64), {1, 0});
             return Outputs{s.transpose(s.node(Resample{{axis}, 0}, {turned}), {1, 0}), turned};
         }},
    };
    expect_sketched(rows, 123456789012345);
}

}  // namespace
}  // namespace kiln::network
