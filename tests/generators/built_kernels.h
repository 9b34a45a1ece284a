// Candidates built by the real generator and run by the real runner: what tests of kernels share.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "catalog/catalog.h"
#include "tests/build_paths.h"
#include "tests/test_seed.h"
#include "tuner/build/generator_builder.h"
#include "tuner/measure/process_runner.h"
#include "tuner/process/host_machine.h"
#include "tuner/process/temporary_folder.h"

namespace kiln {

class BuiltKernels : public testing::Test {
protected:
    explicit BuiltKernels(std::string generator = "kiln-generator") : generator_(std::move(generator)) {}

    void SetUp() override {
        auto folder = TemporaryFolder::create();
        ASSERT_TRUE(folder) << folder.error().message;
        folder_ = std::make_unique<TemporaryFolder>(std::move(*folder));
        auto builder = GeneratorBuilder::create({binary_dir() + "/" + generator_, folder_->path()});
        ASSERT_TRUE(builder) << builder.error().message;
        builder_ = std::move(*builder);
        ProcessRunnerOptions options;
        options.executable = binary_dir() + "/kiln-runner";
        options.work_folder = folder_->path();
        options.time_limit_ns = 120'000'000'000;  // more threads than cores, on a machine that others use
        runner_ = std::make_unique<ProcessRunner>(options);
    }

    Result<RunRequest> build(const Workload &workload, const Target &target, const Candidate &candidate) {
        const auto built = builder_->build({workload, target, candidate});
        if (!built) return built.error();
        if (!built->ok()) return environment_error(built->failure().message + built->failure().stderr_text);
        return RunRequest{workload, target, built->value()};
    }

    // What the runner has against a candidate, on random operands; empty where all is right.
    std::string problem(const Workload &workload, const Target &target, const Candidate &candidate,
                        double error_budget = default_error_budget) {
        auto request = build(workload, target, candidate);
        if (!request) return request.error().message;
        request->measure = false;
        request->error_budget = error_budget;
        const auto run = runner_->run(*request);
        if (!run) return run.error().message;
        return run->ok() ? "" : run->failure().message;
    }

    // The result on these operands.
    Result<Tensor> result_of(const Workload &workload, const Target &target, const Candidate &candidate,
                             const Operands &operands) {
        const auto request = build(workload, target, candidate);
        if (!request) return request.error();
        auto output = runner_->execute({workload, target, request->artifact}, operands);
        if (!output) return output.error();
        if (!output->ok()) return environment_error(output->failure().message);
        return std::move(output->value());
    }

    const std::string generator_;  // the program's name
    const Machine machine_ = read_machine();
    std::unique_ptr<TemporaryFolder> folder_;
    std::unique_ptr<GeneratorBuilder> builder_;
    std::unique_ptr<ProcessRunner> runner_;
};

}  // namespace kiln
