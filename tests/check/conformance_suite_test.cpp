#include "check/conformance_suite.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "check/npy.h"
#include "tests/build_paths.h"
#include "tuner/reference/operands.h"
#include "tuner/reference/reference.h"

namespace kiln {
namespace {

const std::string corpus = source_dir() + "/tests/conformance/";

ConformanceSuite corpus_suite(const std::string &name) {
    auto suite = read_conformance_suite(corpus + name + ".json");
    EXPECT_TRUE(suite) << suite.error().message;
    return suite ? *suite : ConformanceSuite{};
}

const ConformanceCase *find(const ConformanceSuite &suite, const std::string &id) {
    for (const ConformanceCase &c : suite.cases) {
        if (c.id == id) return &c;
    }
    ADD_FAILURE() << id;
    return nullptr;
}

TEST(ConformanceSuite, EveryManifestOfTheCorpusParses) {
    struct Row {
        const char *name;
        size_t cases, workloads, networks, judged;
    };
    constexpr Row rows[] = {
        {"xla_conv", 152, 152, 0, 151},  {"winograd", 24, 24, 0, 24},  {"space_to_depth", 25, 25, 0, 25},
        {"layout", 30, 30, 0, 30},       {"int8_conv", 41, 41, 0, 41}, {"onnx_graph", 8, 0, 8, 8},
        {"onnx_node", 493, 0, 493, 493}, {"networks", 9, 0, 9, 9},
    };
    for (const Row &row : rows) {
        const ConformanceSuite suite = corpus_suite(row.name);
        EXPECT_EQ(suite.name, row.name);
        size_t mapped = 0, networks = 0, judged = 0;
        for (const ConformanceCase &c : suite.cases) {
            mapped += c.workload.has_value();
            judged += c.judged;
            networks += c.network.has_value();
            EXPECT_EQ(c.workload.has_value() + c.network.has_value() + !c.reason.empty(), 1) << c.id;
            if (!c.workload) continue;
            EXPECT_TRUE(validate(*c.workload)) << c.id;
            EXPECT_TRUE(parse_workload_key(key(*c.workload))) << c.id;
            EXPECT_TRUE(read_operands(c)) << c.id;
            EXPECT_TRUE(read_expected(c)) << c.id;
        }
        EXPECT_EQ(suite.cases.size(), row.cases) << row.name;
        EXPECT_EQ(mapped, row.workloads) << row.name;
        EXPECT_EQ(networks, row.networks) << row.name;
        EXPECT_EQ(judged, row.judged) << row.name;
    }
}

TEST(ConformanceSuite, CasesBecomeTheWorkloadsTheyDescribe) {
    struct Row {
        const char *suite, *id, *key;
    };
    constexpr Row rows[] = {
        {"xla_conv", "x000_alexnet1.fwd", "conv2d/input:1x59x59x3/kernel:11x11x3x32/strides:4x4"},
        {"xla_conv", "x000_alexnet1.bpi", "conv2d_backprop_input/input:1x59x59x3/kernel:11x11x3x32/strides:4x4"},
        {"xla_conv", "x000_alexnet1.bpk", "conv2d_backprop_kernel/input:1x59x59x3/kernel:11x11x3x32/strides:4x4"},
    };
    for (const Row &row : rows) {
        const ConformanceSuite suite = corpus_suite(row.suite);
        const ConformanceCase *c = find(suite, row.id);
        ASSERT_TRUE(c && c->workload) << row.id;
        EXPECT_EQ(key(*c->workload), row.key);
    }
}

TEST(ConformanceSuite, TagsDecideWhatIsAskedFor) {
    const ConformanceSuite suite = corpus_suite("xla_conv");
    EXPECT_EQ(find(suite, "x035_sv_xnan.fwd")->workload->special_values, SpecialValues::exact);
    EXPECT_EQ(find(suite, "x000_alexnet1.fwd")->workload->special_values, SpecialValues::finite);
    EXPECT_FALSE(find(suite, "x037_sv_kinf_pad.fwd")->judged);
    EXPECT_NEAR(find(suite, "x000_alexnet1.fwd")->tolerance.value, 0.000589440, 1e-8);
}

// The corpus and the reference were made by different hands; each confirms the other, and the mapping between them.
TEST(ConformanceSuite, TheReferenceAgreesWithEveryJudgedCase) {
    int compared = 0;
    for (const char *name : {"xla_conv", "winograd", "space_to_depth", "layout"}) {
        const ConformanceSuite suite = corpus_suite(name);
        for (const ConformanceCase &c : suite.cases) {
            if (!c.workload || !c.judged || c.workload->output_dtype != DType::f32) continue;
            const auto operands = read_operands(c);
            const auto expected = read_expected(c);
            ASSERT_TRUE(operands && expected) << c.id;
            const auto computed = reference(*c.workload, *operands);
            if (!computed) continue;  // not a convolution
            Tensor got{DType::f32, stored_result_shape(*c.workload), std::vector<std::byte>(expected->data.size())};
            for (size_t i = 0; i < computed->expected.size(); i++) {
                reinterpret_cast<float *>(got.data.data())[i] = static_cast<float>(computed->expected[i]);
            }
            const Verdict verdict = judge(got, *expected, c.tolerance);
            EXPECT_TRUE(verdict.passed) << c.id << ": " << verdict.reason;
            compared++;
        }
    }
    EXPECT_GE(compared, 170);
}

class BadManifest : public testing::Test {
protected:
    void SetUp() override {
        folder_ = testing::TempDir() + "/kiln_suite_test_" + std::to_string(getpid());
        std::filesystem::create_directories(folder_);
        for (const auto &[name, shape] : {std::pair<const char *, std::vector<int64_t>>{"x", {1, 4, 4, 2}},
                                          {"k", {3, 3, 2, 5}},
                                          {"y", {1, 2, 2, 5}},
                                          {"bias", {5}}}) {
            ASSERT_TRUE(write_npy(path(std::string(name) + ".npy"),
                                  {"<f4", shape, std::vector<std::byte>(4 * elements(shape))}));
        }
        manifest_ = nlohmann::json::parse(R"({"format": 1, "suite": "tiny", "cases": [{"id": "one", "op": "conv_fwd",
            "tags": [], "tolerance": {"kind": "seed", "value_floored": 1e-4},
            "attrs": {"window_strides": [1, 1], "padding": [[0, 0], [0, 0]], "lhs_dilation": [1, 1],
                "rhs_dilation": [1, 1], "feature_group_count": 1, "batch_group_count": 1, "input_layout": "NHWC",
                "output_layout": "NHWC", "kernel_layout": "RSIO", "operand_dtype": "float32",
                "accumulate_dtype": "float32", "output_dtype": "float32", "N": 1, "H": 4, "C": 2, "KCo": 5},
            "tensors": {"x": {"file": "x.npy", "shape": [1, 4, 4, 2], "dtype": "float32"},
                "k": {"file": "k.npy", "shape": [3, 3, 2, 5], "dtype": "float32"},
                "bias": {"file": "bias.npy", "shape": [5], "dtype": "float32"},
                "y": {"file": "y.npy", "shape": [1, 2, 2, 5], "dtype": "float32"}}}]})");
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string path(const std::string &name) const { return folder_ + "/" + name; }
    Result<ConformanceSuite> read(const std::string &text) const {
        std::ofstream(path("tiny.json")) << text;
        return read_conformance_suite(path("tiny.json"));
    }

    std::string folder_;
    nlohmann::json manifest_;
};

TEST_F(BadManifest, TheUnchangedOneIsGood) {
    const auto suite = read(manifest_.dump());
    ASSERT_TRUE(suite) << suite.error().message;
    EXPECT_EQ(key(*suite->cases[0].workload), "conv2d/input:1x4x4x2/kernel:3x3x2x5");
}

TEST_F(BadManifest, OtherLayoutsAndRanksMap) {
    struct Row {
        std::string layout, kernel_layout;
        std::vector<int64_t> x, k, y;
        std::string attrs, key;
    };
    const Row rows[] = {
        {"NWC", "SIO", {2, 9, 3}, {4, 3, 5}, {2, 6, 5}, R"({"C": 3, "Wo": 6})", "conv1d/input:2x9x3/kernel:4x3x5"},
        {"NDHWC",
         "TRSIO",
         {1, 4, 4, 4, 2},
         {3, 3, 3, 2, 5},
         {1, 2, 2, 2, 5},
         R"({"D": 4, "T": 3, "Do": 2})",
         "conv3d/input:1x4x4x4x2/kernel:3x3x3x2x5"},
        {"NCHW",
         "RSOI",
         {1, 2, 4, 4},
         {3, 3, 5, 2},
         {1, 5, 2, 2},
         "{}",
         "conv2d/input:1x4x4x2/kernel:3x3x2x5/input_layout:NCHW/output_layout:NCHW/kernel_layout:HWOI"},
        {"NCHW4c",
         "HWIO",
         {1, 1, 4, 4, 4},
         {3, 3, 2, 5},
         {1, 2, 2, 2, 4},
         R"({"C": 2})",
         "conv2d/input:1x4x4x2/kernel:3x3x2x5/input_layout:NCHW4c/output_layout:NCHW4c"},
    };
    for (const Row &row : rows) {
        nlohmann::json m = manifest_;
        auto &c = m["cases"][0];
        const size_t rank = row.k.size() - 2;
        for (const char *field : {"N", "H", "C", "KCo"}) c["attrs"].erase(field);
        for (const char *field : {"window_strides", "lhs_dilation", "rhs_dilation"}) {
            c["attrs"][field] = std::vector<int64_t>(rank, 1);
        }
        c["attrs"]["padding"] = std::vector<std::vector<int64_t>>(rank, {0, 0});
        c["attrs"]["input_layout"] = c["attrs"]["output_layout"] = row.layout;
        c["attrs"]["kernel_layout"] = row.kernel_layout;
        c["attrs"].update(nlohmann::json::parse(row.attrs));
        c["tensors"]["x"]["shape"] = row.x;
        c["tensors"]["k"]["shape"] = row.k;
        c["tensors"]["y"]["shape"] = row.y;
        const auto suite = read(m.dump());
        ASSERT_TRUE(suite) << row.key << ": " << suite.error().message;
        ASSERT_TRUE(suite->cases[0].workload) << suite->cases[0].reason;
        EXPECT_EQ(key(*suite->cases[0].workload), row.key);
    }
}

TEST_F(BadManifest, IsRefusedByFileCaseAndField) {
    struct Row {
        const char *patch, *message;  // a JSON merge patch of the case
    };
    constexpr Row rows[] = {
        {R"({"id": 3})", "id: needs a text; got 3"},
        {R"({"op": null})", "op: is missing"},
        {R"({"attrs": null})", "attrs"},
        {R"({"attrs": {"H": 5}})", "H: is 5, but the tensors' shapes make it 4"},
        {R"({"attrs": {"KCo": 6}})", "KCo: is 6"},
        {R"({"attrs": {"Ho": 3}})", "Ho: is 3"},
        {R"({"attrs": {"window_strides": null}})", "window_strides: is missing"},
        {R"({"attrs": {"window_strides": [0, 1]}})", "window_strides: needs an integer from 1 to 2147483647; got 0"},
        {R"({"attrs": {"window_strides": [1, 1.5]}})",
         "window_strides: needs an integer from 1 to 2147483647; got 1.5"},
        {R"({"attrs": {"padding": [[0, 0]]}})", "padding has 1 entries"},
        {R"({"attrs": {"padding": [0, 0]}})", "padding: needs a list of pairs"},
        {R"({"attrs": {"padding": [[1, 1], [1, 1]]}})", "y: has shape [1, 2, 2, 5]"},
        {R"({"attrs": {"feature_group_count": 2}})", "feature_group_count"},
        {R"({"attrs": {"feature_group_count": "2"}})",
         "feature_group_count: needs an integer from 1 to 2147483647; got \"2\""},
        {R"({"attrs": {"operand_dtype": "float16"}})", "operand_dtype: is float16"},
        {R"({"attrs": {"output_dtype": "bfloat16"}})", "output_dtype: is bfloat16"},
        {R"({"attrs": {"input_layout": "NCHW8c"}})", "x: has 4 dimensions; its layout has 5"},
        {R"({"attrs": {"bias": 1}})", "bias: needs true or false"},
        {R"({"attrs": {"bias": true}, "tensors": {"bias": null}})", "bias: the case has no such tensor"},
        {R"({"attrs": {"bias": true}, "tensors": {"bias": {"shape": [4]}}})", "bias: has shape [4]"},
        {R"({"tensors": {"k": null}})", "k: the case has no such tensor"},
        {R"({"tensors": {"x": {"file": "gone.npy"}}})", "gone.npy does not exist"},
        {R"({"tensors": {"x": {"file": "../../../../../../../etc/passwd"}}})", "outside of the suite's folder"},
        {R"({"tensors": {"x": {"file": "/etc/passwd"}}})", "does not exist"},
        {R"({"tensors": {"x": {"file": ""}}})", "is no regular file"},
        {R"({"tensors": {"x": {"file": "passwd.npy"}}})", "passwd.npy lies outside of the suite's folder"},
        {R"({"tensors": {"x": {"file": "zero.npy"}}})", "is no regular file"},
        {R"({"tensors": {"x": {"file": "queue.npy"}}})", "is no regular file"},
        {R"({"tensors": {"x": {"shape": [1, 4, 4]}}})", "x: has 3 dimensions; its layout has 4"},
        {R"({"tensors": {"x": {"shape": "wide"}}})", "tensors: x: shape: needs a list; got \"wide\""},
        {R"({"tensors": {"x": {"shape": [1, 4, 4, -2]}}})", "tensors: x: shape: needs extents from 0"},
        {R"({"tensors": []})", "tensors"},
        {R"({"tolerance": {"value_floored": null}})", "tolerance: value_floored: is missing"},
        {R"({"tolerance": {"kind": null}})", "tolerance: kind: is missing"},
        {R"({"tolerance": {"kind": "ulp"}})",
         "tolerance: kind: `ulp` is unknown; there are exact, quanta, relative_or_absolute, seed"},
        {R"({"tags": "strided"})", "tags: needs a list; got \"strided\""},
    };
    std::filesystem::create_symlink("/etc/passwd", path("passwd.npy"));
    std::filesystem::create_symlink("/dev/zero", path("zero.npy"));
    ASSERT_EQ(mkfifo(path("queue.npy").c_str(), 0600), 0);
    for (const Row &row : rows) {
        nlohmann::json m = manifest_;
        m["cases"][0].merge_patch(nlohmann::json::parse(row.patch));
        const auto suite = read(m.dump());
        ASSERT_FALSE(suite) << row.patch;
        EXPECT_NE(suite.error().message.find("tiny.json: case"), std::string::npos) << suite.error().message;
        EXPECT_NE(suite.error().message.find(row.message), std::string::npos) << suite.error().message;
    }
}

TEST(ConformanceSuite, ToleranceOfATensorComesFirst) {
    const ConformanceSuite suite = corpus_suite("networks");
    const nlohmann::json manifest = nlohmann::json::parse(std::ifstream(corpus + "networks.json"));
    size_t own = 0;
    for (const ConformanceCase &c : suite.cases) {
        const auto &cases = manifest["cases"];
        const auto found = std::find_if(cases.begin(), cases.end(), [&](const auto &m) { return m["id"] == c.id; });
        for (const NetworkTensor &tensor : c.network->expected) {
            const auto &stated = (*found)["tensors"][tensor.name];
            own += stated.contains("tolerance");
            const auto &tolerance = stated.contains("tolerance") ? stated["tolerance"] : (*found)["tolerance"];
            EXPECT_EQ(tensor.tolerance.value, tolerance["value_floored"].get<double>()) << tensor.name;
            EXPECT_EQ(tensor.tolerance.is_absolute, tolerance["kind"] == "quanta") << tensor.name;
        }
    }
    EXPECT_GT(own, 0);
}

TEST_F(BadManifest, NetworksAreReadAndRefused) {
    const struct {
        const char *patch, *message;  // empty: none
    } rows[] = {
        {R"({"op": "onnx_graph"})", "model"},
        {R"({"op": "onnx_graph", "model": "lost.onnx"})", "lost.onnx does not exist"},
        {R"({"op": "onnx_graph", "model": "/etc/passwd"})", "does not exist"},
        {R"({"op": "onnx_graph", "model": "../../../../../etc/passwd"})", "lies outside"},
        {R"({"op": "onnx_graph", "model": 3})", "model"},
    };
    for (const auto &row : rows) {
        nlohmann::json m = manifest_;
        m["cases"][0].merge_patch(nlohmann::json::parse(row.patch));
        const auto suite = read(m.dump());
        ASSERT_FALSE(suite) << row.patch;
        EXPECT_NE(suite.error().message.find(row.message), std::string::npos) << suite.error().message;
    }
}

// What nobody knows must not pass as what need not be compared.
TEST_F(BadManifest, RolesAndTolerancesOfNetworksAreKnown) {
    manifest_["cases"][0].merge_patch(nlohmann::json::parse(R"({"op": "onnx_graph", "model": "x.npy", "tensors": {
        "x": {"role": "input"}, "k": {"role": "intermediate"}, "bias": {"role": "alternative"},
        "y": {"role": "expected", "tolerance": {"kind": "quanta", "value_floored": 0.5}}}})"));
    const struct {
        const char *patch, *message;  // empty: none
    } rows[] = {
        {"{}", ""},
        {R"({"tensors": {"k": {"role": "quantization"}}})", ""},
        {R"({"tensors": {"x": {"role": null}}})", "tensors: x: role: is missing"},
        {R"({"tensors": {"x": {"role": "inputs"}}})",
         "tensors: x: role: `inputs` is unknown; there are input, expected, quantization, alternative, intermediate"},
        {R"({"tensors": {"y": {"role": "Expected"}}})", "tensors: y: role: `Expected` is unknown"},
        {R"({"tensors": {"y": {"role": "intermediate"}}})", "tensors: none has the role `expected`"},
        {R"({"tensors": {"y": {"tolerance": {"kind": "exat"}}}})", "tensors: y: tolerance: kind: `exat` is unknown"},
        {R"({"tolerance": {"kind": "ulp"}})", "tolerance: kind: `ulp` is unknown"},
    };
    for (const auto &row : rows) {
        nlohmann::json m = manifest_;
        m["cases"][0].merge_patch(nlohmann::json::parse(row.patch));
        const auto suite = read(m.dump());
        if (*row.message == 0) {
            ASSERT_TRUE(suite) << row.patch << suite.error().message;
            ASSERT_EQ(suite->cases[0].network->expected.size(), 1) << row.patch;
            EXPECT_TRUE(suite->cases[0].network->expected[0].tolerance.is_absolute) << row.patch;
            continue;
        }
        ASSERT_FALSE(suite) << row.patch;
        EXPECT_NE(suite.error().message.find("tiny.json: case `one`: "), std::string::npos) << suite.error().message;
        EXPECT_NE(suite.error().message.find(row.message), std::string::npos) << suite.error().message;
    }
}

TEST_F(BadManifest, WhatHasNoWordsIsAReasonAndNoError) {
    struct Row {
        const char *patch, *reason;
    };
    constexpr Row rows[] = {
        {R"({"op": "fft"})", "operation `fft` is not known"},
        {R"({"attrs": {"input_layout": "CHWN"}})", "layouts CHWN"},
        {R"({"attrs": {"accumulate_dtype": "float64"}})", "sums float64"},
        {R"({"attrs": {"operand_dtype": "float8"}})", "operands float8"},
    };
    for (const Row &row : rows) {
        nlohmann::json m = manifest_;
        m["cases"][0].merge_patch(nlohmann::json::parse(row.patch));
        const auto suite = read(m.dump());
        ASSERT_TRUE(suite) << row.patch << suite.error().message;
        EXPECT_FALSE(suite->cases[0].workload) << row.patch;
        EXPECT_NE(suite->cases[0].reason.find(row.reason), std::string::npos) << suite->cases[0].reason;
    }
}

TEST_F(BadManifest, FilesAreRefused) {
    EXPECT_FALSE(read_conformance_suite(path("missing.json")));
    EXPECT_FALSE(read_conformance_suite(folder_));
    const std::string deep =
        R"({"format": 1, "suite": )" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}";
    for (const char *text :
         {"", "[1, 2", "[]", "3", R"({"format": 2, "suite": "s", "cases": []})", R"({"format": 1, "suite": "s"})",
          R"({"format": 1, "suite": "s", "cases": [4]})", deep.c_str()}) {
        const auto suite = read(text);
        ASSERT_FALSE(suite) << text;
        EXPECT_NE(suite.error().message.find("tiny.json"), std::string::npos) << suite.error().message;
    }
    manifest_["cases"].push_back(manifest_["cases"][0]);
    const auto twice = read(manifest_.dump());
    ASSERT_FALSE(twice);
    EXPECT_NE(twice.error().message.find("used twice"), std::string::npos);
}

TEST_F(BadManifest, ALinkToTheSuitesFolderLeadsToTheSuite) {
    const std::string link = folder_ + "_link";
    std::filesystem::remove(link);
    std::filesystem::create_directory_symlink(folder_, link);
    std::ofstream(path("tiny.json")) << manifest_.dump();
    const auto suite = read_conformance_suite(link + "/tiny.json");
    std::filesystem::remove(link);
    EXPECT_TRUE(suite) << suite.error().message;
}

TEST_F(BadManifest, FilesMustHoldWhatTheManifestSays) {
    ASSERT_TRUE(write_npy(path("k.npy"), {"<f4", {3, 3, 5, 2}, std::vector<std::byte>(360)}));
    const auto suite = read(manifest_.dump());
    ASSERT_TRUE(suite);
    const auto operands = read_operands(suite->cases[0]);
    ASSERT_FALSE(operands);
    EXPECT_NE(operands.error().message.find("k.npy: has shape (3, 3, 5, 2)"), std::string::npos);
}

}  // namespace
}  // namespace kiln
