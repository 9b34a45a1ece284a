// Convolutions whose small results count for themselves.
#include <gtest/gtest.h>

#include "graph/passes/passes.h"
#include "tests/graph/passes/rows.h"

namespace kiln::graph {
namespace {

// Of 1 x 8 x 6 x 6 to 16 channels.
ValueId made_convolution(Sketch &s, std::vector<EpilogueStep> epilogue = {}, std::vector<ValueId> further = {}) {
    std::vector<ValueId> inputs{s.input({1, 8, 6, 6})};
    inputs.insert(inputs.end(), further.begin(), further.end());
    Convolution op;
    op.epilogue = std::move(epilogue);
    return s.convolution(std::move(inputs), 16, {1, 1}, std::move(op));
}

ValueId length(Sketch &s, ValueId x, const std::string &least) {
    const ValueId squares = s.node(Reduce{Reduce::Kind::sum, {1}}, {s.elementwise("pow(x0,2)", {x})});
    return s.elementwise("max(sqrt(x0)," + least + ")", {squares});
}

ValueId normalized(Sketch &s, ValueId x, const std::string &least) {
    return s.elementwise("div(x0,x1)", {x, length(s, x, least)});
}

ValueId variance(Sketch &s, ValueId x, double epsilon) {
    return s.node(Normalize{Normalize::Kind::mean_variance, {1}, epsilon}, {x});
}

std::vector<bool> marks(const Graph &graph) {
    std::vector<bool> result;
    for (const Node &node : graph.nodes) {
        if (const auto *op = std::get_if<Convolution>(&node.op)) result.push_back(op->separate_sums);
    }
    return result;
}

TEST(SeparateSums, whose_errors_are_enlarged) {
    using Kind = EpilogueStep::Kind;
    using Marks = std::vector<bool>;
    const struct {
        const char *what;
        std::function<ValueId(Sketch &)> output;
        Marks marks;
    } rows[] = {
        {"an output of the network", [](Sketch &s) { return made_convolution(s); }, {false}},
        {"rows divided by their lengths",
         [](Sketch &s) { return normalized(s, made_convolution(s), "1e-12"); },
         {true}},
        {"the same behind what moves elements",
         [](Sketch &s) {
             const ValueId part = s.pad(s.reshape(made_convolution(s), {1, 16, 36}), 2, 4, -2);
             return normalized(s, s.transpose(part, {0, 1, 2}), "1e-12");
         },
         {true}},
        {"by no less than a number", [](Sketch &s) { return normalized(s, made_convolution(s), "0.001"); }, {false}},
        {"the reciprocal of a root",
         [](Sketch &s) { return s.elementwise("reciprocal(sqrt(add(mul(x0,x0),1e-12)))", {made_convolution(s)}); },
         {true}},
        {"and of a larger one",
         [](Sketch &s) { return s.elementwise("reciprocal(sqrt(add(mul(x0,x0),1e-06)))", {made_convolution(s)}); },
         {false}},
        {"a negative power", [](Sketch &s) { return s.elementwise("pow(x0,-0.5)", {made_convolution(s)}); }, {true}},
        {"a divisor that is 1 and more, as in a local response normalization",
         [](Sketch &s) {
             const ValueId x = made_convolution(s), squares = s.elementwise("pow(x0,2)", {x});
             return s.elementwise("div(x0,pow(add(mul(x1,0.0001),1),0.75))", {x, squares});
         },
         {false}},
        {"a dividend",
         [](Sketch &s) {
             return s.elementwise("div(x0,x1)", {made_convolution(s), s.input({})});
         },
         {false}},
        {"a normalization, as networks have it",
         [](Sketch &s) { return variance(s, made_convolution(s), 1e-6); },
         {false}},
        {"a normalization by nearly nothing",
         [](Sketch &s) { return variance(s, made_convolution(s), 1e-12); },
         {true}},
        {"softmax",
         [](Sketch &s) {
             return s.node(Normalize{Normalize::Kind::softmax, {1}, 0}, {made_convolution(s)});
         },
         {false}},
        {"softmax in its parts",
         [](Sketch &s) {
             const ValueId powers = s.elementwise("exp(x0)", {made_convolution(s)});
             return s.elementwise("log(div(x0,x1))", {powers, s.node(Reduce{Reduce::Kind::sum, {1}}, {powers})});
         },
         {false}},
        {"a logarithm", [](Sketch &s) { return s.elementwise("log(max(x0,0.01))", {made_convolution(s)}); }, {true}},
        {"of no small numbers",
         [](Sketch &s) { return s.elementwise("log(add(mul(x0,x0),1))", {made_convolution(s)}); },
         {false}},
        {"with a bias",
         [](Sketch &s) {
             return normalized(s, made_convolution(s, {{Kind::bias}, {Kind::prelu}}, {s.random({16}), s.random({16})}),
                               "1e-12");
         },
         {true}},
        {"behind a clamp of the epilogue",
         [](Sketch &s) {
             return s.elementwise("log(x0)", {made_convolution(s, {{Kind::clamp, 1e-7F, INFINITY}})});
         },
         {true}},
        {"behind a clamp that leaves no small numbers",
         [](Sketch &s) {
             return s.elementwise("log(x0)", {made_convolution(s, {{Kind::clamp, 1, INFINITY}})});
         },
         {false}},
        {"behind a function of the epilogue",
         [](Sketch &s) { return s.elementwise("log(x0)", {made_convolution(s, {{Kind::sigmoid}})}); },
         {false}},
        {"added to another activation",
         [](Sketch &s) {
             return normalized(s, s.elementwise("add(x0,x1)", {made_convolution(s), s.input({1, 16, 6, 6})}), "1e-12");
         },
         {false}},
        {"added to another activation in the epilogue",
         [](Sketch &s) {
             return normalized(s, made_convolution(s, {{Kind::add}}, {s.input({1, 16, 6, 6})}), "1e-12");
         },
         {false}},
        {"added to a constant",
         [](Sketch &s) {
             return normalized(s, s.elementwise("add(x0,x1)", {made_convolution(s), s.random({1, 16, 1, 1})}), "1e-12");
         },
         {true}},
        {"added to itself, moved",
         [](Sketch &s) {
             const ValueId x = made_convolution(s);
             return normalized(s, s.elementwise("add(x0,x1)", {x, s.transpose(x, {0, 1, 3, 2})}), "1e-12");
         },
         {true}},
        {"another convolution in between",
         [](Sketch &s) {
             return normalized(s, s.convolution({made_convolution(s)}, 16, {1, 1}), "1e-12");
         },
         {false, true}},
        {"a spectrum: another convolution of squares",
         [](Sketch &s) {
             const ValueId squares = s.elementwise("mul(x0,x0)", {made_convolution(s)});
             const ValueId sizes = s.node(Reduce{Reduce::Kind::sum, {2}}, {squares});
             return s.elementwise("log(add(x0,1e-06))", {s.convolution({sizes}, 4, {1, 1})});
         },
         {true, true}},
        {"groups, which are not mixed anyway",
         [](Sketch &s) {
             Convolution op;
             op.groups = 4;
             return s.elementwise("log(x0)", {s.convolution({s.input({1, 8, 6, 6})}, 16, {3, 3}, op)});
         },
         {false}},
    };
    for (const auto &row : rows) {
        SCOPED_TRACE(row.what);
        Sketch sketch;
        const ValueId output = row.output(sketch);
        const Graph after = separate_sums(std::move(sketch).finish({output}));
        EXPECT_EQ(marks(after), row.marks);
        EXPECT_EQ(separate_sums(after), after);
    }
}

}  // namespace
}  // namespace kiln::graph
