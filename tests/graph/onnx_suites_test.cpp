// Models of the conformance suites, from their files to outputs of the reference, before and after all passes and as programs
// of workloads, judged by the suites' own rule; and where the values of each lie.
//
// KILN_CONFORMANCE names another folder with these suites: there the manifest of real networks has the large ones too.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "check/npy.h"
#include "check/tolerance.h"
#include "graph/evaluate/evaluate.h"
#include "graph/lower/lower.h"
#include "graph/memory/memory_plan.h"
#include "graph/passes/passes.h"
#include "network/emit.h"
#include "package/network/program_reference.h"
#include "tests/build_paths.h"

namespace kiln::graph {
namespace {

using Json = nlohmann::json;

std::string folder() {
    const char *other = std::getenv("KILN_CONFORMANCE");
    return other ? other : source_dir() + "/tests/conformance";
}

Json manifest(const std::string &suite) {
    std::ifstream file(folder() + "/" + suite + ".json");
    return Json::parse(file);
}

Result<Numbers> read_numbers(const Json &tensor) {
    auto array = read_npy(folder() + "/" + tensor.at("file").get<std::string>());
    if (!array) return array.error();
    constexpr std::pair<std::string_view, Element> types[] = {{"<f4", Element::f32},
                                                              {"<i8", Element::i64},
                                                              {"<i4", Element::i32},
                                                              {"|i1", Element::i8},
                                                              {"|u1", Element::u8}};
    const auto *type = std::ranges::find(types, array->descr, &std::pair<std::string_view, Element>::first);
    if (type == std::end(types)) return bad_input("an array of " + array->descr);
    return from_constant({type->second, array->shape}, ConstantData(std::move(array->data)));
}

double tolerance_of(const Json &c, const Json &tensor) {
    return (tensor.contains("tolerance") ? tensor : c).at("tolerance").at("value_floored").get<double>();
}

std::vector<std::byte> bytes_of(const Numbers &numbers) {
    const ConstantData data = to_constant(numbers);
    return {data.bytes().begin(), data.bytes().end()};
}

// Why an output is wrong, or nothing.
std::string judge_output(const Numbers &got, const Numbers &expected, double tolerance) {
    if (got.form != expected.form) {
        return std::string(name(got.form.type)) + " " + to_text(got.form.shape) + " instead of " +
               std::string(name(expected.form.type)) + " " + to_text(expected.form.shape);
    }
    if (expected.form.type != Element::f32) return bytes_of(got) == bytes_of(expected) ? "" : "other integers";
    const auto tensor = [&](const Numbers &numbers) {
        return Tensor{DType::f32, numbers.form.shape, bytes_of(numbers)};
    };
    return judge(tensor(got), tensor(expected), {tolerance}).reason;
}

Result<Graph> graph_of(const Json &c) {
    const auto model = onnx::read_model(folder() + "/" + c.at("model").get<std::string>());
    if (!model) return model.error();
    StatedInputs stated;
    if (c.at("attrs").contains("input_shapes")) {
        for (const auto &[input, shape] : c.at("attrs").at("input_shapes").items())
            stated.shapes.push_back({input, shape});
    }
    return lower(*model, stated);
}

// Why a graph does not compute what a case expects, or nothing.
std::string run_graph(const Graph &graph, const Json &c) {
    if (const Status s = validate(graph); !s) return s.error().message;
    const Json &tensors = c.at("tensors");
    std::vector<Numbers> inputs;
    for (ValueId id : graph.inputs) {
        auto numbers = read_numbers(tensors.at(graph.values[id].name));
        if (!numbers) return numbers.error().message;
        inputs.push_back(std::move(*numbers));
    }
    const auto outputs = evaluate(graph, inputs);
    if (!outputs) return outputs.error().message;
    std::map<std::string, const Numbers *> by_name;
    for (size_t i = 0; i < outputs->size(); i++) by_name[graph.outputs[i].name] = &(*outputs)[i];
    for (const auto &[output, tensor] : tensors.items()) {
        if (tensor.at("role") != "expected") continue;
        if (!by_name.contains(output)) return "no output `" + output + "`";
        const auto expected = read_numbers(tensor);
        if (!expected) return expected.error().message;
        const std::string reason = judge_output(*by_name[output], *expected, tolerance_of(c, tensor));
        if (!reason.empty()) return "output `" + output + "`: " + reason;
    }
    return "";
}

// Why a plan is wrong or larger than it need be, or nothing.
std::string plan_fault(const Graph &graph) {
    const MemoryNeeds needs{row_major_storages(graph), {}};
    const MemoryPlan plan = plan_memory(graph, needs);
    if (const Status s = check_plan(graph, needs, plan); !s) return s.error().message;
    if (static_cast<double>(plan.workspace) <= 1.1 * static_cast<double>(plan.lower_bound)) return "";
    return std::to_string(plan.workspace) + " bytes of workspace where " + std::to_string(plan.lower_bound) +
           " must be";
}

// Why the program of a graph does not compute what a case expects, or nothing.
std::string program_fault(const Graph &graph, const Json &c) {
    const auto program = network::emit(graph);
    if (!program) return program.error().message;
    const Json &tensors = c.at("tensors");
    std::vector<network::Bytes> inputs;
    for (const network::Port &port : program->inputs) {
        const auto numbers = read_numbers(tensors.at(port.name));
        if (!numbers) return numbers.error().message;
        inputs.push_back(bytes_of(*numbers));
    }
    auto outputs = network::run_program(*program, inputs);
    if (!outputs) return outputs.error().message;
    for (const auto &[output, tensor] : tensors.items()) {
        if (tensor.at("role") != "expected") continue;
        const auto has_name = [&](const network::Port &port) { return port.name == output; };
        const size_t i = std::ranges::find_if(program->outputs, has_name) - program->outputs.begin();
        if (i == program->outputs.size()) return "no output `" + output + "`";
        const network::Port &port = program->outputs[i];
        const auto expected = read_numbers(tensor);
        if (!expected) return expected.error().message;
        const Numbers got = from_constant(port.form, ConstantData((*outputs)[i]));
        const std::string reason = judge_output(got, *expected, tolerance_of(c, tensor));
        if (!reason.empty()) return "output `" + port.name + "`: " + reason;
    }
    return "";
}

// Why a case fails, or nothing.
std::string run_case(const Json &c) {
    const auto graph = graph_of(c);
    if (!graph) return graph.error().message;
    const auto passed = run_passes(*graph);
    if (!passed) return passed.error().message;
    for (const Graph *g : {&*graph, &*passed}) {
        const std::string when = g == &*graph ? "" : "behind all passes: ";
        if (const std::string reason = run_graph(*g, c); !reason.empty()) return when + reason;
        if (const std::string reason = plan_fault(*g); !reason.empty()) return when + reason;
    }
    if (const std::string reason = program_fault(*passed, c); !reason.empty()) return "as a program: " + reason;
    return "";
}

void run_suite(const std::string &suite, size_t least_cases) {
    size_t passed = 0;
    const Json cases = manifest(suite).at("cases");
    for (const Json &c : cases) {
        const std::string reason = run_case(c);
        EXPECT_EQ(reason, "") << c.at("id");
        passed += reason.empty();
    }
    EXPECT_GE(passed, least_cases);
}

TEST(OnnxSuites, Nodes) { run_suite("onnx_node", 493); }
TEST(OnnxSuites, Graphs) { run_suite("onnx_graph", 8); }
TEST(OnnxSuites, Quantized) { run_suite("onnx_int8", 59); }
TEST(OnnxSuites, Networks) { run_suite("networks", 9); }

}  // namespace
}  // namespace kiln::graph
