// Graphs as programs: which workloads and copies small graphs become, what is refused, and that programs of graphs drawn at
// random compute what the graphs do.
#include "network/emit.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "graph/passes/passes.h"
#include "package/network/program_reference.h"
#include "tests/graph/passes/quantized_graphs.h"
#include "tests/graph/passes/random_graphs.h"
#include "tests/graph/passes/sketch.h"
#include "tests/test_seed.h"

namespace kiln::network {
namespace {

using namespace graph;
using Ids = std::vector<ValueId>;

std::string told(const Place &place) {
    const std::string at = std::to_string(place.offset);
    switch (place.memory) {
        case Place::Memory::input:
            return "x" + std::to_string(place.index) + (place.offset ? "+" + at : "");
        case Place::Memory::output:
            return "y" + std::to_string(place.index) + (place.offset ? "+" + at : "");
        case Place::Memory::constant:
            return "c" + std::to_string(place.index) + (place.offset ? "+" + at : "");
        case Place::Memory::workspace:
            break;
    }
    return "w" + at;
}

std::string told(const KernelCall &call) {
    std::string text = key(call.workload) + " (";
    for (size_t i = 0; i < call.operands.size(); i++) text += (i ? ", " : "") + told(call.operands[i]);
    return text + ") -> " + told(call.result);
}

std::string told(const Copy &copy) {
    const std::string rows = copy.rows == 1 ? "" : std::to_string(copy.rows) + " x ";
    const std::string pitches =
        copy.rows == 1 ? "" : " by " + std::to_string(copy.from_pitch) + " and " + std::to_string(copy.to_pitch);
    return "copy " + rows + std::to_string(copy.row_bytes) + pitches + " (" + told(copy.from) + ") -> " + told(copy.to);
}

std::string told(const Program &program) {
    std::string text;
    for (const Step &step : program.steps) {
        text += (text.empty() ? "" : "\n") + std::visit([](const auto &work) { return told(work); }, step.work);
    }
    return text;
}

std::vector<Bytes> bytes_of(const std::vector<Numbers> &numbers) {
    std::vector<Bytes> result;
    for (const Numbers &n : numbers) {
        const ConstantData data = to_constant(n);
        result.emplace_back(data.bytes().begin(), data.bytes().end());
    }
    return result;
}

using Run = std::function<Result<std::vector<Bytes>>(const std::vector<Bytes> &)>;

// That it computes what the graph does, up to the rounding of values between steps.
void expect_right(const Graph &graph, const Run &run, uint64_t seed) {
    const std::vector<Numbers> inputs = drawn_inputs(graph, seed);
    const auto expected = evaluate(graph, inputs);
    ASSERT_TRUE(expected) << expected.error().message;
    const auto got = run(bytes_of(inputs));
    ASSERT_TRUE(got) << got.error().message;
    ASSERT_EQ(got->size(), expected->size());
    for (size_t i = 0; i < got->size(); i++) {
        if (!is_float((*expected)[i].form.type)) {
            ASSERT_EQ((*got)[i], bytes_of({(*expected)[i]})[0]) << "output " << i;
            continue;
        }
        const auto &wanted = std::get<std::vector<double>>((*expected)[i].elements);
        double largest = 1;
        for (double number : wanted) largest = std::max(largest, std::abs(number));
        ASSERT_EQ((*got)[i].size(), wanted.size() * sizeof(float));
        for (size_t k = 0; k < wanted.size(); k++) {
            float element = 0;
            std::memcpy(&element, (*got)[i].data() + k * sizeof element, sizeof element);
            const bool is_right =
                (std::isnan(element) && std::isnan(wanted[k])) || std::abs(element - wanted[k]) <= 1e-4 * largest;
            ASSERT_TRUE(is_right) << "output " << i << ", element " << k << " is " << element << ", not " << wanted[k];
        }
    }
}

void expect_right(const Graph &graph, const Program &program, uint64_t seed) {
    ASSERT_EQ(program.outputs.size(), graph.outputs.size());
    for (size_t i = 0; i < graph.outputs.size(); i++) {
        ASSERT_EQ(program.outputs[i].form, graph.values[graph.outputs[i].value].form) << "output " << i;
    }
    expect_right(
        graph, [&](const auto &inputs) { return run_program(program, inputs); }, seed);
}

// The two programs, one after the other, whose ports must meet.
void expect_right(const Graph &graph, const SplitProgram &split, uint64_t seed) {
    for (size_t i = 0; i < graph.outputs.size(); i++) {
        ASSERT_EQ(split.network.outputs[i].form, graph.values[graph.outputs[i].value].form) << "output " << i;
    }
    ASSERT_EQ(split.preparation.outputs, split.network.inputs);
    const auto run = [&](const std::vector<Bytes> &inputs) -> Result<std::vector<Bytes>> {
        const auto prepared = run_program(split.preparation, inputs);
        return prepared ? run_program(split.network, *prepared) : prepared;
    };
    expect_right(graph, run, seed);
}

struct EmissionRow {
    const char *what;
    std::function<Ids(Sketch &)> graph;  // returns the outputs
    std::string program;
};

// A float as the half of an integer of 64 bits that `half` says, 0 for the lower one.
std::string halves_of(const std::string &x, const std::string &half) {
    const std::string size = "floor(abs(" + x + "))", upper = "floor(mul(" + size + ",2.3283064365386963e-10))";
    const std::string lower = "sub(" + size + ",mul(" + upper + ",4294967296))", low = "i32(u32(" + lower + "))";
    const std::string complement = "sub(neg(" + upper + "),f32(less(0," + lower + ")))", sign = "less(" + x + ",0)";
    return "select(equal(" + half + ",0),select(" + sign + ",neg(" + low + ")," + low + "),i32(select(" + sign + "," +
           complement + "," + upper + ")))";
}

// The same of an integer that is computed in 64 bits.
std::string halves_of_wide(const std::string &x, const std::string &half) {
    return "select(equal(" + half + ",0),i32(u32(" + x + ")),i32(div(sub(" + x + ",i64(u32(" + x +
           "))),i64:4294967296)))";
}

TEST(Emit, table) {
    const std::vector<EmissionRow> rows{
        {"a value in row-major order is moved to channels-last and back",
         [](Sketch &s) {
             return Ids{s.convolution({s.input({1, 3, 4, 4})}, 8, {1, 1})};
         },
         "nest/loops:16x3/operands:3x16/reads:x0[i1,i0]/term:x0 (x0) -> w512\n"
         "conv2d/input:1x4x4x3/kernel:1x1x3x8 (w512, c0) -> w0\n"
         "nest/loops:8x16/operands:16x8/reads:x0[i1,i0]/term:x0 (w0) -> y0"},
        {"operands of an epilogue in the order of the signature",
         [](Sketch &s) {
             const ValueId x = s.input({1, 3, 1, 1});
             const Convolution op{
                 .epilogue = {{EpilogueStep::Kind::prelu}, {EpilogueStep::Kind::add}, {EpilogueStep::Kind::bias}}};
             return Ids{s.convolution({x, s.random({3}), x, s.input({3})}, 3, {1, 1}, op)};
         },
         "conv2d/input:1x1x1x3/kernel:1x1x3x3/epilogue:prelu,add,bias (x0, c0, x1, x0, c1) -> y0"},
        {"element by element in one loop, in the place of an operand",
         [](Sketch &s) {
             const ValueId x = s.input({2, 3, 4});
             return Ids{s.elementwise("add(x0,1)", {s.elementwise("mul(x0,x1)", {x, s.input({2, 3, 4})})})};
         },
         "nest/loops:24/operands:24,24/reads:x0[i0];x1[i0]/term:mul(x0,x1) (x0, x1) -> y0\n"
         "nest/loops:24/operands:24/reads:x0[i0]/term:add(x0,1) (y0) -> y0"},
        {"numbers without an operand are a constant",
         [](Sketch &s) {
             const ValueId x = s.input({2, 3});
             const ValueId two = s.node(Elementwise{scalar::constant(2), {2, 3}}, {});
             return Ids{two, s.elementwise("add(x0,x1)", {x, two})};
         },
         "nest/loops:6/operands:6,6/reads:x0[i0];x1[i0]/term:add(x0,x1) (x0, c0) -> y1\n"
         "copy 24 (c0) -> y0"},
        {"many of them repeat one",
         [](Sketch &s) {
             const ValueId two = s.node(Elementwise{scalar::constant(2), {2048, 1024}}, {});
             return Ids{s.elementwise("mul(x0,x1)", {s.input({2048, 1024}), two})};
         },
         "nest/loops:2097152/operands:1/reads:x0[0]/term:x0 (c0) -> y0\n"
         "nest/loops:2097152/operands:2097152,2097152/reads:x0[i0];x1[i0]/term:mul(x0,x1) (x0, y0) -> y0"},
        {"what one other nest reads becomes part of it",
         [](Sketch &s) {
             return Ids{s.pad(s.elementwise("mul(x0,2)", {s.input({2, 3})}), 1, 1, 1)};
         },
         "nest/loops:2x5/operands:2x3/reads:x0[i0,i1-1]/term:mul(x0,2) (x0) -> y0"},
        {"what two nests read stays",
         [](Sketch &s) {
             const ValueId y = s.elementwise("mul(x0,2)", {s.input({2, 3})});
             return Ids{s.pad(y, 1, 1, 1), s.transpose(y, {1, 0})};
         },
         "nest/loops:6/operands:6/reads:x0[i0]/term:mul(x0,2) (x0) -> w0\n"
         "nest/loops:2x5/operands:2x3/reads:x0[i0,i1-1]/term:x0 (w0) -> y0\n"
         "nest/loops:3x2/operands:2x3/reads:x0[i1,i0]/term:x0 (w0) -> y1"},
        {"what one nest reads twice stays, also where one of both was a transpose",
         [](Sketch &s) {
             const ValueId y = s.elementwise("mul(x0,2)", {s.input({3, 3})});
             return Ids{s.elementwise("i8(add(x0,x1))", {y, s.transpose(y, {1, 0})})};
         },
         "nest/loops:9/operands:9/reads:x0[i0]/term:mul(x0,2) (x0) -> w0\n"
         "nest/output_dtype:i8/loops:3x3/operands:9,3x3/reads:x0[3*i0+i1];x1[i1,i0]/term:i8(add(x0,x1)) (w0, w0) -> "
         "y0"},
        {"a vector for each channel",
         [](Sketch &s) {
             return Ids{s.elementwise("add(x0,x1)", {s.input({2, 3, 4, 5}), s.input({3, 1, 1})})};
         },
         "nest/loops:2x3x20/operands:2x3x20,3/reads:x0[i0,i1,i2];x1[i1]/term:add(x0,x1) (x0, x1) -> y0"},
        {"a reduction of all",
         [](Sketch &s) {
             return Ids{s.node(Reduce{Reduce::Kind::mean, {1, 2}}, {s.input({1, 6, 7})})};
         },
         "nest/loops:1/over:42/operands:42/reduction:mean/reads:x0[r0]/term:x0 (x0) -> y0"},
        {"a reduction of one element is none",
         [](Sketch &s) {
             return Ids{s.node(Reduce{Reduce::Kind::sum, {1}}, {s.input({5, 1})})};
         },
         "nest/loops:5/operands:5/reads:x0[i0]/term:x0 (x0) -> y0"},
        {"a product of activations",
         [](Sketch &s) {
             return Ids{s.node(MatrixProduct{}, {s.input({6, 2, 3}), s.input({6, 3, 4})})};
         },
         "nest/loops:6x2x4/over:3/operands:6x2x3,6x3x4/reduction:sum/reads:x0[i0,i1,r0];x1[i0,r0,i2]"
         "/term:mul(x0,x1) (x0, x1) -> y0"},
        {"a pool with padding",
         [](Sketch &s) {
             const Pool op{Pool::Kind::maximum, {3, 3}, {2, 2}, {1, 1}, {{1, 1}, {1, 1}}, {0, 0}};
             return Ids{s.node(op, {s.input({1, 2, 8, 8})})};
         },
         "nest/loops:2x4x4/over:3x3/operands:2x8x8/reduction:maximum/reads:x0[i0,2*i1+r0-1,2*i2+r1-1]/term:x0"
         " (x0) -> y0"},
        {"an average that counts padding, where windows at the borders are cut",
         [](Sketch &s) {
             const Pool op{Pool::Kind::average, {2}, {2}, {1}, {{0, 0}}, {1}, true};
             return Ids{s.node(op, {s.input({1, 1, 5})})};
         },
         "nest/loops:3/over:2/operands:5,3/reduction:sum/reads:x0[2*i0+r0];x1[i0]/term:x0/finish:div(x2,x1)"
         " (x0, c0) -> y0"},
        {"an average of one element each",
         [](Sketch &s) {
             const Pool op{Pool::Kind::average, {1, 1}, {1, 1}, {1, 1}, {{0, 0}, {0, 0}}, {0, 0}, true};
             return Ids{s.node(op, {s.input({1, 1, 2, 3})})};
         },
         "nest/loops:6/operands:6/reads:x0[i0]/term:div(x0,1) (x0) -> y0"},
        {"an average of windows that fit nowhere",
         [](Sketch &s) {
             const Pool op{Pool::Kind::average, {3}, {1}, {1}, {{0, 0}}, {0}, true};
             return Ids{s.node(op, {s.input({1, 1, 2})})};
         },
         ""},
        {"a slice of the outermost axis is a view",
         [](Sketch &s) {
             return Ids{s.pad(s.input({4, 3}), 0, -1, -1)};
         },
         "copy 24 (x0+12) -> y0"},
        {"a slice of the innermost axis reads on a line",
         [](Sketch &s) {
             return Ids{s.pad(s.input({4, 5}), 1, -1, -1)};
         },
         "nest/loops:4x3/operands:4x5/reads:x0[i0,i1+1]/term:x0 (x0) -> y0"},
        {"zeros around are what lies outside", [](Sketch &s) { return Ids{s.pad(s.input({4}), 0, 1, 2)}; },
         "nest/loops:7/operands:4/reads:x0[i0-1]/term:x0 (x0) -> y0"},
        {"parts of the outermost axis are computed where they belong",
         [](Sketch &s) {
             const ValueId x = s.input({2, 3});
             const ValueId a = s.elementwise("exp(x0)", {x}), b = s.elementwise("neg(x0)", {x});
             return Ids{s.node(Concat{0}, {a, b})};
         },
         "nest/loops:6/operands:6/reads:x0[i0]/term:exp(x0) (x0) -> y0\n"
         "nest/loops:6/operands:6/reads:x0[i0]/term:neg(x0) (x0) -> y0+24"},
        {"parts of an inner axis are copied",
         [](Sketch &s) {
             return Ids{s.node(Concat{1}, {s.input({2, 3}), s.input({2, 1})})};
         },
         "copy 2 x 12 by 12 and 16 (x0) -> y0\ncopy 2 x 4 by 4 and 16 (x1) -> y0+12"},
        {"an output that is an input",
         [](Sketch &s) {
             return Ids{s.input({2, 3})};
         },
         "copy 24 (x0) -> y0"},
        {"a sum of nothing",
         [](Sketch &s) {
             return Ids{s.node(Reduce{Reduce::Kind::sum, {1}}, {s.input({2, 0})})};
         },
         "copy 8 (c0) -> y0"},
        {"nothing",
         [](Sketch &s) {
             return Ids{s.elementwise("neg(x0)", {s.input({2, 0})})};
         },
         ""},
        {"a condition is stored as f32",
         [](Sketch &s) {
             const ValueId x = s.input({1, 1}), small = s.elementwise("less(x0,1)", {x});
             return Ids{s.elementwise("select(x0,x1,0)", {small, s.input({2, 3})})};
         },
         "nest/loops:1/operands:1/reads:x0[0]/term:f32(less(x0,1)) (x0) -> w0\n"
         "nest/loops:6/operands:1,6/reads:x0[0];x1[i0]/term:select(bool(x0),x1,0) (w0, x1) -> y0"},
        {"a condition that is an input is a byte",
         [](Sketch &s) {
             const ValueId given = s.input({2, 1}, Element::boolean), x = s.input({2, 3});
             const ValueId turned = s.node(Transpose{{1, 0}}, {given});
             return Ids{s.elementwise("select(x0,x1,0)", {given, x}), s.elementwise("f32(not(x0))", {turned})};
         },
         "nest/dtype:u8/output_dtype:f32/loops:2/operands:2/reads:x0[i0]/term:f32(x0) (x0) -> y1\n"
         "nest/dtype:u8/output_dtype:f32/loops:2/operands:2/reads:x0[i0]/term:f32(x0) (x0) -> w0\n"
         "nest/loops:2x3/operands:2,2x3/reads:x0[i0];x1[i0,i1]/term:select(bool(x0),x1,0) (w0, x1) -> y0\n"
         "nest/loops:2/operands:2/reads:x0[i0]/term:f32(not(bool(x0))) (y1) -> y1"},
        {"integers of 64 bits that are inputs are read as their lower halves",
         [](Sketch &s) {
             const ValueId given = s.input({2, 1}, Element::i64);
             const ValueId turned = s.node(Transpose{{1, 0}}, {given});
             return Ids{s.elementwise("f32(add(x0,i64:1))", {given}), s.elementwise("i32(x0)", {turned})};
         },
         "nest/dtype:i32/loops:2/operands:2x2/reads:x0[i0,0]/term:x0 (x0) -> y0\n"
         "nest/dtype:i32/output_dtype:f32/loops:2/operands:2/reads:x0[i0]/term:f32(add(i64(x0),i64:1)) (y0) -> y0\n"
         "nest/dtype:i32/loops:2/operands:2x2/reads:x0[i0,0]/term:x0 (x0) -> y1\n"
         "nest/dtype:i32/loops:2/operands:2/reads:x0[i0]/term:i32(i64(x0)) (y1) -> y1"},
        {"integers of 64 bits that are only moved",
         [](Sketch &s) {
             const ValueId a = s.input({2}, Element::i64), b = s.input({1}, Element::i64);
             return Ids{s.reshape(s.node(Concat{0}, {a, b}), {3, 1})};
         },
         "copy 16 (x0) -> y0\ncopy 8 (x1) -> y0+16"},
        {"integers of 32 bits as ones of 64",
         [](Sketch &s) { return Ids{s.elementwise("i64(x0)", {s.input({3}, Element::i32)})}; },
         "nest/dtype:i32/loops:3x2/operands:3,2/operand_dtypes:i32,f32/reads:x0[i0];x1[i1]"
         "/term:select(equal(x1,0),x0,select(less(x0,i32:0),i32:-1,i32:0)) (x0, c0) -> y0"},
        {"weighted sums along two axes, one after the other",
         [](Sketch &s) {
             const Resample::Axis of_rows{0, 2, {0, 0, 0, 1, 1, 1}, {0.5, 0.5, 0.25, 0.75, 1, 0}};
             const Resample::Axis of_columns{1, 2, {0, 1, 1, 2}, {0.5, 0.5, 0.25, 0.75}};
             return Ids{s.node(Resample{{of_rows, of_columns}, 0}, {s.input({2, 3})})};
         },
         "nest/loops:3x3/over:2/operands:3x2,3x2,2x3/reduction:sum/reads:x0[i0,r0];x2[x1[i0,r0],i1]/term:mul(x1,x0) "
         "(c0, c1, x0) -> w0\n"
         "nest/loops:3x2/over:2/operands:2x2,2x2,3x3/reduction:sum/reads:x0[i1,r0];x2[i0,x1[i1,r0]]/term:mul(x1,x0) "
         "(c2, c3, w0) -> y0"},
        {"and with what lies outside, together",
         [](Sketch &s) {
             const Resample::Axis of_rows{0, 2, {0, 0, 0, 1, -1, -1}, {0.5, 0.5, 0.25, 0.75, 1, 0}};
             const Resample::Axis of_columns{1, 2, {0, 1, 1, 2}, {0.5, 0.5, 0.25, 0.75}};
             return Ids{s.node(Resample{{of_rows, of_columns}, 7}, {s.input({2, 3})})};
         },
         "nest/loops:3x2/over:2x2/operands:3x2,3,3x2,2x2,2x2,2x3/reduction:sum/"
         "reads:x0[i0,r0];x1[i0];x3[i1,r1];x5[x2[i0,r0],x4[i1,r1]]/term:mul(mul(x3,x0),x2)/"
         "finish:select(less(0,x1),x4,7) (c0, c1, c2, c3, c4, x0) -> y0"},
        {"rows of a table by computed indices",
         [](Sketch &s) {
             const ValueId table = s.random({5, 3}), given = s.input({2, 4}, Element::i32);
             return Ids{s.node(Gather{0}, {table, s.elementwise("max(x0,i32:0)", {given})})};
         },
         "nest/dtype:i32/loops:8/operands:8/reads:x0[i0]/term:max(x0,i32:0) (x0) -> w0\n"
         "nest/loops:2x4x3/operands:2x4,5x3/reads:x1[x0[i0,i1],i2]/term:x0 (w0, c0) -> y0"},
        {"floats that bytes choose",
         [](Sketch &s) {
             return Ids{s.node(Gather{0}, {s.random({256}), s.input({2, 4}, Element::u8)})};
         },
         "nest/loops:2x4/operands:2x4,256/operand_dtypes:u8,f32/reads:x1[x0[i0,i1]]/term:x0 (x0, c0) -> y0"},
        {"a single index of the first axis",
         [](Sketch &s) {
             return Ids{s.node(Gather{0}, {s.input({2, 3}), s.input({}, Element::i32)})};
         },
         "nest/loops:3/operands:1,2x3/reads:x1[x0[0],i0]/term:x0 (x1, x0) -> y0"},
        {"an index of an axis in the middle, and a single one",
         [](Sketch &s) {
             const ValueId x = s.input({2, 3, 4}), index = s.elementwise("neg(x0)", {s.input({}, Element::i32)});
             return Ids{s.node(Gather{1}, {x, index})};
         },
         "nest/dtype:i32/loops:1/operands:1/reads:x0[0]/term:neg(x0) (x1) -> w0\n"
         "nest/loops:2x4/operands:1,2x3x4/reads:x1[i0,x0[0],i1]/term:x0 (w0, x0) -> y0"},
        {"more axes with a fill than a nest has operands for",
         [](Sketch &s) {
             ValueId x = s.input({2, 2, 2, 2});
             Resample op;
             for (int axis = 0; axis < 4; axis++) op.axes.push_back({axis, 1, {0, 1, Resample::outside}, {}});
             op.fill = 5;
             return Ids{s.node(op, {x})};
         },
         "nest/loops:3x3x3x2/operands:3,3,2x2x2x2/reads:x0[i0];x0[i1];x0[i2];x2[x1[i0],x1[i1],x1[i2],i3]"
         "/term:select(less(0,mul(mul(x0,x1),x2)),x3,5) (c0, c1, x0) -> w0\n"
         "nest/loops:27x3/operands:3,3,27x2/reads:x0[i1];x2[i0,x1[i1]]/term:select(less(0,x0),x1,5)"
         " (c2, c3, w0) -> y0"},
        {"a fill of -0, which is no 0",
         [](Sketch &s) {
             Resample op{{{0, 1, {0, 1, Resample::outside}, {}}}, -0.0};
             return Ids{s.node(op, {s.input({2})})};
         },
         "nest/loops:3/operands:3,3,2/reads:x0[i0];x2[x1[i0]]/term:select(less(0,x0),x1,-0) (c0, c1, x0) -> y0"},
        {"a condition that is an output is a byte",
         [](Sketch &s) {
             return Ids{s.elementwise("less(x0,1)", {s.input({2, 3})})};
         },
         "nest/output_dtype:u8/loops:6/operands:6/reads:x0[i0]/term:u8(bool(f32(less(x0,1)))) (x0) -> y0"},
        {"the places of maxima as integers of 64 bits",
         [](Sketch &s) {
             const ValueId x = s.input({2, 5}), peak = s.node(Reduce{Reduce::Kind::maximum, {1}}, {x});
             const ValueId all = s.integers({1, 5}, {0, 1, 2, 3, 4}, Element::i64);
             const ValueId here = s.elementwise("select(equal(x0,x1),x2,i64:5)", {x, peak, all});
             return Ids{s.reshape(s.node(Reduce{Reduce::Kind::minimum, {1}}, {here}), {2})};
         },
         "nest/loops:2/over:5/operands:2x5/reduction:maximum/reads:x0[i0,r0]/term:x0 (x0) -> w0\n"
         "nest/loops:2/over:5/operands:2x5,2,5/reduction:minimum/reads:x0[i0,r0];x1[i0];x2[r0]"
         "/term:f32(select(equal(x0,x1),i64(x2),i64:5)) (x0, w0, c0) -> w64\n"
         "nest/output_dtype:i32/loops:2x2/operands:2,2/reads:x0[i0];x1[i1]/term:" +
             halves_of("x0", "x1") + " (w64, c1) -> y0"},
        {"a comparison of all with all is never stored, though its sum would fit the place of what it reads",
         [](Sketch &s) {
             const ValueId x = s.elementwise("exp(x0)", {s.input({300})});
             const ValueId each = s.elementwise("f32(less(x0,x1))", {s.reshape(x, {300, 1}), s.reshape(x, {1, 300})});
             return Ids{s.transpose(s.reshape(s.node(Reduce{Reduce::Kind::sum, {0}}, {each}), {20, 15}), {1, 0})};
         },
         "nest/loops:300/operands:300/reads:x0[i0]/term:exp(x0) (x0) -> w0\n"
         "nest/loops:300/over:300/operands:300,300/reduction:sum/reads:x0[r0];x1[i0]/term:f32(less(x0,x1)) "
         "(w0, w0) -> w1216\n"
         "nest/loops:15x20/operands:20x15/reads:x0[i1,i0]/term:x0 (w1216) -> y0"},
        {"floats that are cut off to integers of 64 bits",
         [](Sketch &s) {
             return Ids{s.elementwise("i64(mul(x0,1099511627776))", {s.input({2, 3})})};
         },
         "nest/output_dtype:i32/loops:6x2/operands:6,2/reads:x0[i0];x1[i1]/term:" +
             halves_of("mul(x0,1099511627776)", "x1") + " (x0, c0) -> y0"},
        {"small ones, which have bits that the sum of their halves has not",
         [](Sketch &s) {
             return Ids{s.elementwise("i64(mul(x0,16777216))", {s.input({2, 3})})};
         },
         "nest/output_dtype:i32/loops:6x2/operands:6,2/reads:x0[i0];x1[i1]/term:" +
             halves_of("mul(x0,16777216)", "x1") + " (x0, c0) -> y0"},
        {"arithmetic in integers of 64 bits",
         [](Sketch &s) { return Ids{s.elementwise("div(i64(x0),i64:5)", {s.input({3}, Element::i32)})}; },
         "nest/dtype:i32/loops:3x2/operands:3,2/operand_dtypes:i32,f32/reads:x0[i0];x1[i1]/term:" +
             halves_of_wide("div(i64(x0),i64:5)", "x1") + " (x0, c0) -> y0"},
        {"arithmetic of floats that were cut off",
         [](Sketch &s) {
             return Ids{s.elementwise("mul(i64(mul(x0,16777216)),i64:300)", {s.input({2, 3})})};
         },
         "nest/output_dtype:i32/loops:6x2/operands:6,2/reads:x0[i0];x1[i1]/term:" +
             halves_of_wide("mul(i64(mul(x0,16777216)),i64:300)", "x1") + " (x0, c0) -> y0"},
        {"channels shuffled in one move",
         [](Sketch &s) {
             const ValueId x = s.convolution({s.convolution({s.input({1, 4, 1, 1})}, 6, {1, 1})}, 6, {1, 1});
             const ValueId shuffled =
                 s.reshape(s.transpose(s.reshape(x, {1, 2, 3, 1, 1}), {0, 2, 1, 3, 4}), {1, 6, 1, 1});
             return Ids{s.convolution({shuffled}, 2, {1, 1})};
         },
         "conv2d/input:1x1x1x4/kernel:1x1x4x6 (x0, c0) -> w0\n"
         "conv2d/input:1x1x1x6/kernel:1x1x6x6 (w0, c1) -> w64\n"
         "nest/loops:3x2/operands:2x3/reads:x0[i1,i0]/term:x0 (w64) -> w0\n"
         "conv2d/input:1x1x1x6/kernel:1x1x6x2 (w0, c2) -> y0"},
    };
    uint64_t seed = 1;
    for (const EmissionRow &row : rows) {
        SCOPED_TRACE(row.what);
        Sketch sketch(seed);
        const Ids outputs = row.graph(sketch);
        const Graph graph = std::move(sketch).finish(outputs);
        const auto program = emit(graph);
        ASSERT_TRUE(program) << program.error().message;
        EXPECT_EQ(told(*program), row.program);
        expect_right(graph, *program, seed++);
    }
}

TEST(Emit, names_every_node_without_a_kernel) {
    Sketch s;
    const ValueId x = s.input({2, 3}, Element::i64);
    const ValueId many = s.input({2, 3, 2, 3, 2, 3, 2, 3, 2, 3});
    const ValueId wide = s.node(Reduce{Reduce::Kind::product, {0}}, {s.elementwise("add(x0,i64:1)", {x})});
    const Ids outputs{wide, s.transpose(many, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0})};
    const auto program = emit(std::move(s).finish(outputs));
    ASSERT_FALSE(program);
    EXPECT_EQ(program.error().code, ErrorCode::unsupported);
    EXPECT_NE(program.error().message.find("(product): of i64, but networks compute with f32, i32, i8 and u8"),
              std::string::npos)
        << program.error().message;
    EXPECT_NE(program.error().message.find("(transpose): with 10 loops of at most 8"), std::string::npos)
        << program.error().message;
}

TEST(Emit, programs_of_drawn_graphs_compute_what_the_graphs_do) {
    size_t in_blocks = 0;  // steps
    for (uint64_t i = 0; i < 60 && !testing::Test::HasFailure(); i++) {
        const uint64_t seed = test_seed() * 1000000 + i;
        SCOPED_TRACE(seed);
        const Graph graph = random_graph(seed, {.nodes = 30});
        const Graph passed = *run_passes(graph);
        for (const Graph *g : {&graph, &passed}) {
            // Drawn times choose any layouts.
            const KernelTimes times = [&](const Workload &w) {
                return double(std::hash<std::string>()(key(w) + std::to_string(seed)) % 1000);
            };
            const LayoutPrices kinds[] = {
                {}, {.times = times}, {.times = times, .block = 2}, {.times = times, .block = 4}};
            for (LayoutPrices prices : kinds) {
                const auto program = emit(*g, prices);
                ASSERT_TRUE(program) << program.error().message;
                expect_right(*g, *program, seed);
                in_blocks += size_t(
                    std::ranges::count_if(program->steps, [](const Step &step) { return step.layout.ends_with("c"); }));
                prices.is_input_prepared = true;
                const auto split = emit_split(*g, prices);
                ASSERT_TRUE(split) << split.error().message;
                expect_right(*g, *split, seed);
            }
        }
    }
    EXPECT_GT(in_blocks, 0);
}

TEST(Emit, programs_of_drawn_quantized_graphs_are_right) {
    for (uint64_t i = 0; i < 60 && !testing::Test::HasFailure(); i++) {
        const uint64_t seed = test_seed() * 1000000 + i;
        SCOPED_TRACE(seed);
        const Graph graph = quantized_graph(seed);
        const Graph passed = *run_passes(graph);
        const auto program = emit(passed);
        ASSERT_TRUE(program) << program.error().message;
        expect_right(graph, *program, seed);
        const auto split = emit_split(passed, {.is_input_prepared = true});
        ASSERT_TRUE(split) << split.error().message;
        expect_right(graph, *split, seed);
    }
}

TEST(Emit, operands_of_a_quantized_convolution_are_in_their_ranges) {
    constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
    const struct {
        int64_t input_zero_point = 0, bound = 127;
        double scale = 1, factor = 1;
        const char *message = "";
    } rows[] = {
        {.message = ""},
        {.input_zero_point = 200, .message = "its input_zero_point has the value 200; needs -128 to 127"},
        {.bound = 128, .message = "its result_bounds has the value 128; needs -128 to 127"},
        {.scale = 0, .message = ""},
        {.scale = -0.5, .message = "its scale has the value -0.500000; needs finite numbers from 0 on"},
        {.scale = infinity, .message = "its scale has the value inf; needs finite"},
        {.scale = nan, .message = "its scale has the value nan; needs finite"},
        {.factor = -0x1p64, .message = ""},
        {.factor = 0x1p65, .message = "needs numbers from -2^64 to 2^64"},
        {.factor = nan, .message = "its addition_factors has the value nan; needs numbers from -2^64 to 2^64"},
    };
    for (const auto &row : rows) {
        SCOPED_TRACE(row.message);
        Sketch s;
        const Convolution op{.strides = {1},
                             .input_dilation = {1},
                             .dilations = {1},
                             .padding = {{0, 0}},
                             .epilogue = {{EpilogueStep::Kind::requantize_onnx}, {EpilogueStep::Kind::add}},
                             .result_type = Element::i8};
        const ValueId w = s.integers({2, 3, 1}, {1, 2, 3, 4, 5, 6}, Element::i8);
        const ValueId y =
            s.node(op, {s.input({1, 3, 4}, Element::i8), w, s.integers({1}, {row.input_zero_point}),
                        s.constant({2}, {1, row.scale}), s.integers({1}, {0}), s.integers({2}, {-128, row.bound}),
                        s.input({1, 2, 4}, Element::i8), s.constant({3}, {1, row.factor, 0}), s.integers({1}, {0}),
                        s.integers({2}, {-128, 127})});
        const auto program = emit(std::move(s).finish({y}));
        const std::string message = program ? "" : program.error().message;
        EXPECT_EQ(program.ok(), row.message[0] == '\0') << message;
        EXPECT_NE(message.find(row.message), std::string::npos) << message;
    }
}

}  // namespace
}  // namespace kiln::network
