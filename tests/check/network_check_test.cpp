#include "check/network_check.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "check/npy.h"
#include "network/alter/alter.h"
#include "network/emit.h"
#include "tests/build_paths.h"

namespace kiln {
namespace {

const std::string corpus = source_dir() + "/tests/conformance/";

ConformanceCase corpus_case(const std::string &suite, const std::string &id) {
    const auto read = read_conformance_suite(corpus + suite + ".json");
    for (const ConformanceCase &c : read->cases) {
        if (c.id == id) return c;
    }
    ADD_FAILURE() << id;
    return {};
}

Result<network::Program> usual_plan(const graph::Graph &graph) {
    const auto improved = network::improve(graph, {});
    return improved ? network::emit(improved->graph) : improved.error();
}

std::string keys_of(const network::Program &program) {
    std::string keys;
    for (const network::Step &step : program.steps) {
        const auto *call = std::get_if<network::KernelCall>(&step.work);
        if (call) keys += key(call->workload) + "\n";
    }
    return keys;
}

// Answers what it is told to, whatever it is given.
class FakeRunner : public NetworkRunner {
public:
    Result<Attempt<NetworkRunReport>> run(const NetworkRunRequest &request) override {
        requests.push_back(request);
        if (failure) return Attempt<NetworkRunReport>{*failure, 0};
        for (size_t i = 0; i < request.outputs.size(); i++) std::ofstream(request.outputs[i]) << outputs.at(i);
        return Attempt<NetworkRunReport>{NetworkRunReport{}, 0};
    }

    std::vector<std::string> outputs;
    std::optional<Failure> failure;
    std::vector<NetworkRunRequest> requests;
};

std::string elements_of(const NetworkTensor &tensor) {
    const auto array = read_npy(tensor.path);
    EXPECT_TRUE(array);
    return {reinterpret_cast<const char *>(array->data.data()), array->data.size()};
}

class NetworkChecks : public testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directories(folder_); }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    CaseResult check(const ConformanceCase &c) {
        const auto planned = plan_network(*c.network, plan_);
        EXPECT_TRUE(planned) << planned.error().message;
        const auto build = [&](const network::Program &program) {
            built_.push_back(keys_of(program));
            return Result<NetworkBuild>(build_);
        };
        const auto result = check_network(c, *planned, {build, runner_, folder_, 1});
        EXPECT_TRUE(result) << result.error().message;
        return *result;
    }
    void answer_rightly(const ConformanceCase &c) {
        runner_.outputs.clear();
        for (const NetworkTensor &tensor : c.network->expected) runner_.outputs.push_back(elements_of(tensor));
    }

    std::string folder_ = testing::TempDir() + "/kiln_network_check_test_" + std::to_string(getpid());
    FakeRunner runner_;
    PlanNetwork plan_ = usual_plan;
    std::vector<std::string> built_;  // what each program calls
    NetworkBuild build_ =
        BuiltNetwork{.files = {"lib.so", ""}, .algorithms = {"direct", "nest"}, .kernels = 2, .untuned = true};
};

TEST_F(NetworkChecks, RightOutputsPass) {
    const ConformanceCase c = corpus_case("onnx_graph", "n00_first_conv_relu");
    answer_rightly(c);
    const CaseResult result = check(c);
    EXPECT_EQ(result.status, CaseStatus::passed) << result.reason;
    EXPECT_EQ(result.max_error, 0);
    EXPECT_EQ(result.algorithm, "direct+nest");
    EXPECT_NE(result.candidate.find("2 kernels"), std::string::npos) << result.candidate;
    EXPECT_TRUE(result.untuned);
    ASSERT_EQ(runner_.requests.size(), 1);
    EXPECT_EQ(runner_.requests[0].repeats, 2);
    EXPECT_TRUE(runner_.requests[0].compare_threads);
    EXPECT_EQ(std::filesystem::file_size(runner_.requests[0].inputs.at(0)), elements_of(c.network->inputs[0]).size());
}

TEST_F(NetworkChecks, EveryOutputIsJudged) {
    const ConformanceCase c = corpus_case("onnx_graph", "n01_residual_broadcast");
    answer_rightly(c);
    float wrong = 1e6f;
    std::memcpy(runner_.outputs.back().data(), &wrong, sizeof wrong);
    const CaseResult result = check(c);
    EXPECT_EQ(result.status, CaseStatus::failed);
    EXPECT_GT(result.max_error.value_or(0), 1);
    EXPECT_NE(result.reason.find("output `" + c.network->expected.back().name), std::string::npos) << result.reason;
}

TEST_F(NetworkChecks, FailuresHaveTheirReason) {
    const ConformanceCase c = corpus_case("onnx_graph", "n00_first_conv_relu");
    runner_.failure = Failure{TrialStatus::wrong_result, "two calls differ", "", {}};
    CaseResult result = check(c);
    EXPECT_EQ(result.status, CaseStatus::failed);
    EXPECT_EQ(result.reason, "wrong_result: two calls differ");
    build_ = Unbuilt{CaseStatus::not_applicable, "line 1\nline 2"};
    result = check(c);
    EXPECT_EQ(result.status, CaseStatus::not_applicable);
    EXPECT_EQ(result.reason, "line 1;line 2");
}

TEST_F(NetworkChecks, TensorsThatAreNotTheNetworks) {
    const struct {
        const char *what, *reason;
        void (*change)(NetworkCase &);
    } table[] = {
        {"no input", "the case has no input `x`", [](NetworkCase &c) { c.inputs.clear(); }},
        {"other shape", "input `x` is f32 [1, 3, 45, 45], but the case has f32 [1]",
         [](NetworkCase &c) { c.inputs[0].shape = {1}; }},
        {"other type", "but the case has i8", [](NetworkCase &c) { c.inputs[0].type = scalar::Element::i8; }},
        {"no such output", "the network has no output `z`", [](NetworkCase &c) { c.expected[0].name = "z"; }},
        {"an output that is not compared", "the case expects nothing of output `t2_relu`",
         [](NetworkCase &c) { c.expected.clear(); }},
    };
    for (const auto &row : table) {
        ConformanceCase c = corpus_case("onnx_graph", "n00_first_conv_relu");
        row.change(*c.network);
        const CaseResult result = check(c);
        EXPECT_EQ(result.status, CaseStatus::failed) << row.what;
        EXPECT_NE(result.reason.find(row.reason), std::string::npos) << result.reason;
    }
}

TEST_F(NetworkChecks, WhatHasNoProgramIsUnsupported) {
    ConformanceCase c = corpus_case("networks", "ch_ppocr_mobile_v2.0_cls_mobile");
    c.network->input_shapes.clear();
    const CaseResult result = check(c);
    EXPECT_EQ(result.status, CaseStatus::unsupported);
    EXPECT_NE(result.reason.find("--shape"), std::string::npos) << result.reason;
    EXPECT_EQ(result.reason.find('\n'), std::string::npos);
    EXPECT_TRUE(runner_.requests.empty());
}

TEST_F(NetworkChecks, AMissingModelIsAnError) {
    ConformanceCase c = corpus_case("onnx_graph", "n00_first_conv_relu");
    c.network->model += ".lost";
    const auto planned = plan_network(*c.network, usual_plan);
    ASSERT_FALSE(planned);
    EXPECT_NE(planned.error().message.find("lost"), std::string::npos);
}

// The plan is the caller's: what is built is what it made of the graph before any pass.
TEST_F(NetworkChecks, WhatWasPlannedIsBuilt) {
    const ConformanceCase c = corpus_case("onnx_graph", "n00_first_conv_relu");
    answer_rightly(c);
    EXPECT_EQ(check(c).status, CaseStatus::passed);
    plan_ = [](const graph::Graph &graph) {
        const auto improved = network::improve(graph, {.is_off = [](std::string_view) { return true; }});
        return network::emit(improved->graph);
    };
    const CaseResult apart = check(c);
    EXPECT_EQ(apart.status, CaseStatus::passed) << apart.reason;
    ASSERT_EQ(built_.size(), 2);
    EXPECT_NE(built_[0].find("epilogue:bias,relu"), std::string::npos) << built_[0];
    EXPECT_EQ(built_[1].find("relu"), std::string::npos) << built_[1];
}

TEST_F(NetworkChecks, OnlyWhatIsUnsupportedIsAReason) {
    const ConformanceCase c = corpus_case("onnx_graph", "n00_first_conv_relu");
    plan_ = [](const graph::Graph &) -> Result<network::Program> { return unsupported("line 1\nline 2"); };
    const CaseResult result = check(c);
    EXPECT_EQ(result.status, CaseStatus::unsupported);
    EXPECT_EQ(result.reason, "line 1;line 2");
    const auto broken = [](const graph::Graph &) -> Result<network::Program> { return bad_input("damaged"); };
    const auto planned = plan_network(*c.network, broken);
    ASSERT_FALSE(planned);
    EXPECT_EQ(planned.error().message, "damaged");
}

}  // namespace
}  // namespace kiln
