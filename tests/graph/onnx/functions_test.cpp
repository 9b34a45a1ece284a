// Calls of functions that a model defines.
#include <gtest/gtest.h>

#include <utility>

#include "tests/graph/onnx/parsed.h"

namespace kiln::graph::onnx {
namespace {

namespace dt = data_type;

struct FunctionParts {
    std::string name;
    std::vector<std::string> inputs, outputs;
    std::vector<Message> nodes, defaults;
    int64_t opset = 17;
    std::string overload = "";
};

Message function(const FunctionParts &parts) {
    Message f;
    f.text(1, parts.name).text(10, "mine");
    for (const std::string &input : parts.inputs) f.text(4, input);
    for (const std::string &output : parts.outputs) f.text(5, output);
    for (const Message &node : parts.nodes) f.message(7, node);
    for (const Message &attribute : parts.defaults) f.message(11, attribute);
    if (!parts.overload.empty()) f.text(13, parts.overload);
    return f.message(9, Message().text(1, "").number(2, parts.opset))
        .message(9, Message().text(1, "mine").number(2, 1));
}

Message call(std::string_view name, std::string_view type, const std::vector<std::string> &inputs,
             const std::vector<std::string> &outputs) {
    return node(name, type, inputs, outputs).text(7, "mine");
}

Message integer(std::string_view name, int64_t value) { return Message().text(1, name).number(3, value).number(20, 2); }
Message reference(std::string_view name, std::string_view of_call) {
    return Message().text(1, name).text(21, of_call).number(20, 2);
}
Message branch(std::string_view name, const Message &body) {
    return Message().text(1, name).message(6, body).number(20, 5);
}

Message calling(const std::vector<Message> &nodes, const std::vector<FunctionParts> &functions) {
    Message model =
        model_of(graph({.nodes = nodes, .inputs = {value("x", dt::f32, {1})}, .outputs = {value("y", dt::f32, {1})}}));
    for (const FunctionParts &parts : functions) model.message(25, function(parts));
    return model.message(8, Message().text(1, "mine").number(2, 1));
}

// "name=Operator(inputs)->outputs{attributes}", in the order of the model.
std::string text_of(const Body &body);

std::string text_of(const Node &node) {
    const auto joined = [](const std::vector<std::string> &names) {
        std::string text;
        for (const std::string &name : names) text += (text.empty() ? "" : ",") + name;
        return text;
    };
    std::string text = node.name + "=" + node.op_type + "(" + joined(node.inputs) + ")->" + joined(node.outputs);
    for (const Attribute &attribute : node.attributes) {
        text += "{" + attribute.name + ":";
        if (const auto *number = std::get_if<int64_t>(&attribute.value)) text += std::to_string(*number);
        if (const auto *body = std::get_if<std::shared_ptr<const Body>>(&attribute.value))
            text += text_of(**body) + " of " + joined((*body)->outer_names);
        if (std::holds_alternative<Attribute::Unread>(attribute.value)) text += "unread";
        text += "}";
    }
    return text;
}

std::string text_of(const Body &body) {
    std::string text;
    for (const Node &node : body.nodes) text += (text.empty() ? "" : " ") + text_of(node);
    return text;
}

const FunctionParts twice{
    "Twice", {"a"}, {"b"}, {node("one", "Relu", {"a"}, {"t"}), node("two", "Add", {"t", "a"}, {"b"})}};

TEST(Functions, CallsAreWrittenOut) {
    const Message branches = node("choose", "If", {"a"}, {"b"})
                                 .message(5, branch("then_branch", graph({.nodes = {node("", "Relu", {"a"}, {"r"})},
                                                                          .outputs = {value("r", dt::f32, {})}})));
    const struct {
        std::string what;
        std::vector<Message> nodes;
        std::vector<FunctionParts> functions;
        std::string text;
    } rows[] = {
        {"once", {call("n", "Twice", {"x"}, {"y"})}, {twice}, "n/one=Relu(x)->n/t n/two=Add(n/t,x)->y"},
        {"two calls of one name, in any order",
         {call("n", "Twice", {"p"}, {"y"}), call("n", "Twice", {"x"}, {"p"})},
         {twice},
         "n_1/one=Relu(x)->n_1/t n_1/two=Add(n_1/t,x)->p n/one=Relu(p)->n/t n/two=Add(n/t,p)->y"},
        {"without a name",
         {call("", "Twice", {"x"}, {"y"})},
         {twice},
         "Twice/one=Relu(x)->Twice/t Twice/two=Add(Twice/t,x)->y"},
        {"a function that calls another",
         {call("n", "Four", {"x"}, {"y"})},
         {{"Four", {"a"}, {"b"}, {call("f", "Twice", {"a"}, {"m"}), call("g", "Twice", {"m"}, {"b"})}}, twice},
         "n/f/one=Relu(x)->n/f/t n/f/two=Add(n/f/t,x)->n/m n/g/one=Relu(n/m)->n/g/t n/g/two=Add(n/g/t,n/m)->y"},
        {"inputs and outputs that are left out",
         {call("n", "Clipped", {"x", ""}, {"", "y"})},
         {{"Clipped",
           {"a", "low", "high"},
           {"b", "c"},
           {node("one", "Clip", {"a", "low", "high"}, {"b"}), node("two", "Relu", {"b"}, {"c"})}}},
         "n/one=Clip(x,,)->n/b n/two=Relu(n/b)->y"},
        {"an output that is an input",
         {call("n", "Same", {"x"}, {"y"})},
         {{"Same", {"a"}, {"a"}, {}}},
         "=Identity(x)->y"},
        {"attributes of the call, by default, and left out",
         {call("n", "Cut", {"x"}, {"y"}).message(5, integer("from", 3))},
         {{"Cut",
           {"a"},
           {"b"},
           {node("one", "Op", {"a"}, {"b"})
                .message(5, reference("start", "from"))
                .message(5, reference("end", "to"))
                .message(5, reference("step", "by"))
                .message(5, integer("fixed", 1))},
           {integer("from", 8), integer("to", 9)}}},
         "n/one=Op(x)->y{start:3}{end:9}{fixed:1}"},
        {"a graph in an attribute reads values around it",
         {call("n", "Choose", {"x"}, {"y"})},
         {{"Choose", {"a"}, {"b"}, {branches}}},
         "n/choose=If(x)->y{then_branch:=Relu(x)->n/r of x}"},
        {"a call in a graph in an attribute",
         {node("if", "If", {"x"}, {"y"})
              .message(5, branch("then_branch", graph({.nodes = {call("n", "Twice", {"x"}, {"r"})},
                                                       .outputs = {value("r", dt::f32, {})}})))},
         {twice},
         "if=If(x)->y{then_branch:n/one=Relu(x)->n/t n/two=Add(n/t,x)->r of x}"},
        {"one of two overloads",
         {call("n", "Twice", {"x"}, {"y"}).text(8, "fast")},
         {twice, {"Twice", {"a"}, {"b"}, {node("one", "Abs", {"a"}, {"b"})}, {}, 17, "fast"}},
         "n/one=Abs(x)->y"},
    };
    for (const auto &row : rows) {
        const Result<Model> model = parsed(calling(row.nodes, row.functions));
        ASSERT_TRUE(model) << row.what << ": " << model.error().message;
        EXPECT_EQ(text_of(*model), row.text) << row.what;
    }
}

TEST(Functions, CallsThatAreRefused) {
    FunctionParts of_another_opset = twice;
    of_another_opset.opset = 18;
    const FunctionParts endless{"Endless", {"a"}, {"b"}, {call("again", "Endless", {"a"}, {"b"})}};
    // Each calls the next one twice: 2^24 nodes.
    std::vector<FunctionParts> doubling;
    for (int i = 0; i < 24; i++) {
        const std::string next = i < 23 ? "F" + std::to_string(i + 1) : "Relu";
        const auto one = [&](const std::string &in, const std::string &out) {
            return i < 23 ? call("", next, {in}, {out}) : node("", next, {in}, {out});
        };
        doubling.push_back({"F" + std::to_string(i), {"a"}, {"b"}, {one("a", "t"), one("t", "b")}});
    }
    // Calls of one function in a row, each with a graph, or a list of the call, that is large.
    Parts large{.outputs = {value("r", dt::f32, {})}};
    for (int i = 0; i < 2000; i++) large.nodes.push_back(node("", "Relu", {"a"}, {i ? "r" + std::to_string(i) : "r"}));
    const FunctionParts with_graph{
        "Branch", {"a"}, {"b"}, {node("", "If", {"a"}, {"b"}).message(5, branch("then_branch", graph(large)))}};
    const FunctionParts with_list{
        "List",
        {"a"},
        {"b"},
        {node("", "Op", {"a"}, {"b"}).message(5, Message().text(1, "all").text(21, "list").number(20, 7))}};
    const auto in_a_row = [](const char *type, const Message &attribute) {
        std::vector<Message> calls;
        for (int i = 0; i < 1000; i++) {
            const std::string from = i ? "v" + std::to_string(i) : "x",
                              to = i < 999 ? "v" + std::to_string(i + 1) : "y";
            calls.push_back(call("", type, {from}, {to}).message(5, attribute));
        }
        return calls;
    };
    const Message list = Message().text(1, "list").packed(8, std::vector<int64_t>(2000, 1)).number(20, 7);
    const struct {
        std::vector<Message> nodes;
        std::vector<FunctionParts> functions;
        std::string message;
    } rows[] = {
        {in_a_row("Branch", integer("unused", 1)), {with_graph}, "nodes, names and numbers when they are written out"},
        {in_a_row("List", list), {with_list}, "nodes, names and numbers when they are written out"},
        {{call("n", "Twice", {"x", "x"}, {"y"})},
         {twice},
         "node 'n' (Twice): calls a function of 1 inputs and 1 outputs with 2 and 1"},
        {{call("n", "Twice", {"x"}, {"y"})},
         {of_another_opset},
         "node 'n' (Twice): calls a function that imports opset 18 of the domain '', where the model imports 17"},
        {{call("n", "Endless", {"x"}, {"y"})}, {endless}, "calls a function that calls others beyond 32"},
        {{call("n", "F0", {"x"}, {"y"})},
         doubling,
         "are more than 1048576 nodes, names and numbers when they are written out"},
        {{call("n", "Broken", {"x"}, {"y"})},
         {{"Broken", {"a"}, {"b"}, {node("one", "Relu", {"c"}, {"b"})}}},
         "function 'Broken': node 'one' (Relu) takes 'c', which is no input"},
    };
    for (const auto &row : rows) {
        const std::string error = error_of(parsed(calling(row.nodes, row.functions)));
        EXPECT_NE(error.find(row.message), std::string::npos) << error.substr(0, 500);
    }
}

}  // namespace
}  // namespace kiln::graph::onnx
