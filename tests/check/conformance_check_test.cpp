#include "check/conformance_check.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "tests/build_paths.h"
#include "tuner/reference/operands.h"
#include "tuner/reference/reference.h"

namespace kiln {
namespace {

Machine test_machine() {
    Machine machine;
    machine.halide_target = parse_target("avx2", 1, "")->halide;
    return machine;
}

// Builds nothing: the candidate's text is the artifact's path, so that the fake kernel below can tell them apart.
class FakeBuilder : public Builder {
public:
    Result<BuildResult> build(const BuildRequest &request) override {
        requests.push_back(key(request.workload) + " " + to_text(request.candidate));
        if (fails) return BuildResult{Failure{TrialStatus::compile_error, "no such luck", "", {}}, 1};
        Artifact artifact;
        artifact.code = ObjectFile{to_text(request.candidate)};
        return BuildResult{artifact, 1};
    }
    const std::string &toolchain() const override { return toolchain_; }

    std::vector<std::string> requests;
    bool fails = false;

private:
    std::string toolchain_ = "fake 1";
};

Tensor right_answer(const ExecuteRequest &request, const Operands &operands) {
    const auto computed = reference(request.workload, operands);
    EXPECT_TRUE(computed);
    Tensor output{DType::f32, stored_result_shape(request.workload), {}};
    for (double value : computed->expected) {
        const float f = static_cast<float>(value);
        const auto *bytes = reinterpret_cast<const std::byte *>(&f);
        output.data.insert(output.data.end(), bytes, bytes + sizeof f);
    }
    return output;
}

using Outcome = Attempt<Tensor>;
using Output = Result<Outcome>;
Output right(const ExecuteRequest &request, const Operands &operands) {
    return Outcome{right_answer(request, operands), 0};
}

class ConformanceCheck : public testing::Test {
protected:
    CaseResult check(const std::string &suite_name, const std::string &id, const ExecuteKernel &execute = right) {
        ConformanceChecker checker(context_, options_, builder_, execute);
        const auto suite = read_conformance_suite(source_dir() + "/tests/conformance/" + suite_name + ".json");
        for (const ConformanceCase &c : suite->cases) {
            if (c.id != id) continue;
            const auto result = checker.check(c);
            EXPECT_TRUE(result) << result.error().message;
            return *result;
        }
        ADD_FAILURE() << id;
        return {};
    }

    Machine machine_ = test_machine();
    Target target_{machine_.halide_target, 1};
    ChoiceContext context_{.target = target_, .machine = machine_};
    CheckOptions options_;
    FakeBuilder builder_;
};

TEST_F(ConformanceCheck, ARightKernelPasses) {
    const CaseResult result = check("xla_conv", "x000_alexnet1.fwd");
    EXPECT_EQ(result.status, CaseStatus::passed) << result.reason;
    EXPECT_EQ(result.algorithm, "direct");
    EXPECT_TRUE(result.untuned);
    ASSERT_TRUE(result.max_error);
    EXPECT_LT(*result.max_error, 1e-4);
    EXPECT_TRUE(parse_candidate(result.candidate));
    EXPECT_TRUE(result.reason.empty());
}

TEST_F(ConformanceCheck, WhatGoesWrongIsFailedWithItsReason) {
    const auto wrong = [](const ExecuteRequest &request, const Operands &operands) -> Output {
        Tensor output = right_answer(request, operands);
        std::memset(output.data.data(), 0x42, 4);
        return Outcome{output, 0};
    };
    const auto crash = [](const ExecuteRequest &, const Operands &) -> Output {
        return Outcome{Failure{TrialStatus::crash, "signal 11 (SIGSEGV)", "", {}}, 0};
    };
    EXPECT_EQ(check("xla_conv", "x000_alexnet1.fwd", wrong).status, CaseStatus::failed);
    EXPECT_NE(check("xla_conv", "x000_alexnet1.fwd", wrong).reason.find("1 of 5408 elements"), std::string::npos);
    EXPECT_EQ(check("xla_conv", "x000_alexnet1.fwd", crash).reason, "crash: signal 11 (SIGSEGV)");
    EXPECT_EQ(check("xla_conv", "x037_sv_kinf_pad.fwd", crash).status, CaseStatus::failed);  // also where not judged
    builder_.fails = true;
    const CaseResult result = check("xla_conv", "x000_alexnet1.fwd");
    EXPECT_EQ(result.status, CaseStatus::failed);
    EXPECT_EQ(result.reason, "compile_error: no such luck");
}

TEST_F(ConformanceCheck, TheEnvironmentsErrorsEndTheRun) {
    ConformanceChecker checker(context_, options_, builder_, [](const ExecuteRequest &, const Operands &) -> Output {
        return environment_error("full");
    });
    const auto suite = read_conformance_suite(source_dir() + "/tests/conformance/xla_conv.json");
    EXPECT_FALSE(checker.check(suite->cases[0]));
}

TEST_F(ConformanceCheck, StatusesOfCasesThatAreNotJudged) {
    EXPECT_EQ(check("xla_conv", "x037_sv_kinf_pad.fwd").status, CaseStatus::recorded);
    context_.algorithms.algorithm = "no_such_*";
    EXPECT_EQ(check("xla_conv", "x000_alexnet1.fwd").status, CaseStatus::not_applicable);
    context_.algorithms.algorithm = "direct";
    const CaseResult shuffle = check("space_to_depth", "p000_s2d");
    EXPECT_EQ(shuffle.status, CaseStatus::not_applicable);
    EXPECT_NE(shuffle.reason.find("direct"), std::string::npos) << shuffle.reason;
}

TEST_F(ConformanceCheck, WhatIsNotApplicableNamesTheOptions) {
    const struct {
        AlgorithmFilter filter;
        const char *suite, *id, *reason;  // how the reason begins
    } rows[] = {
        {{"direct", ""}, "space_to_depth", "p000_s2d", "no algorithm applies with --algorithm `direct` (direct: "},
        {{"direct", "winograd*"},
         "space_to_depth",
         "p000_s2d",
         "no algorithm applies with --algorithm `direct` and --without `winograd*` (direct: "},
        {{"*", "*"}, "xla_conv", "x000_alexnet1.fwd", "no algorithm applies with --without `*`"},
    };
    for (const auto &row : rows) {
        context_.algorithms = row.filter;
        const CaseResult result = check(row.suite, row.id);
        EXPECT_EQ(result.status, CaseStatus::not_applicable) << row.reason;
        EXPECT_TRUE(result.reason.starts_with(row.reason)) << result.reason;
    }
}

TEST_F(ConformanceCheck, RandomCandidatesFollowTheSeed) {
    options_ = {.random_candidates = 4, .seed = 7};
    const CaseResult first = check("xla_conv", "x000_alexnet1.fwd");
    EXPECT_EQ(first.status, CaseStatus::passed) << first.reason;
    EXPECT_FALSE(first.untuned);
    const std::vector<std::string> requests = builder_.requests;
    EXPECT_EQ(std::set(requests.begin(), requests.end()).size(), 4u);
    builder_.requests.clear();
    check("xla_conv", "x000_alexnet1.fwd");
    EXPECT_EQ(builder_.requests, requests);
    builder_.requests.clear();
    options_.seed = 8;
    check("xla_conv", "x000_alexnet1.fwd");
    EXPECT_NE(builder_.requests, requests);
}

TEST_F(ConformanceCheck, TheWorstOfSeveralCandidatesIsReported) {
    options_ = {.random_candidates = 3, .seed = 7};
    int calls = 0;
    std::string bad;
    const CaseResult result =
        check("xla_conv", "x000_alexnet1.fwd", [&](const ExecuteRequest &r, const Operands &o) -> Output {
            Tensor output = right_answer(r, o);
            if (++calls == 2) {
                output.data[3] = std::byte(0x50);
                bad = *object_path(r.artifact);
            }
            return Outcome{output, 0};
        });
    EXPECT_EQ(result.status, CaseStatus::failed);
    EXPECT_EQ(result.candidate, bad);
    EXPECT_NE(result.reason.find("1 of 3 candidates failed; "), std::string::npos) << result.reason;
}

TEST_F(ConformanceCheck, EqualKernelsAreBuiltOnce) {
    ConformanceChecker checker(context_, options_, builder_, right);
    const auto suite = read_conformance_suite(source_dir() + "/tests/conformance/xla_conv.json");
    ASSERT_TRUE(checker.check(suite->cases[0]));
    ASSERT_TRUE(checker.check(suite->cases[0]));
    EXPECT_EQ(builder_.requests.size(), 1u);
}

TEST_F(ConformanceCheck, AnEmptyResultNeedsNoKernel) {
    ConformanceCase c{.id = "empty", .workload = convolution({1, 2, 2, 3}, {3, 3, 3, 4})};
    c.expected.shape = {1, 0, 0, 4};
    ConformanceChecker checker(context_, options_, builder_, right);
    const auto result = checker.check(c);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->status, CaseStatus::passed);
    EXPECT_TRUE(builder_.requests.empty());
}

TEST(CaseStatusNames, AreFrozen) {
    EXPECT_EQ(name(CaseStatus::passed), "passed");
    EXPECT_EQ(name(CaseStatus::failed), "failed");
    EXPECT_EQ(name(CaseStatus::unsupported), "unsupported");
    EXPECT_EQ(name(CaseStatus::recorded), "recorded");
    EXPECT_EQ(name(CaseStatus::not_applicable), "not_applicable");
}

}  // namespace
}  // namespace kiln
