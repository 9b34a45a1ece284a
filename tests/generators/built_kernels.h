// Candidates built by the real generator and run by the real runner: what tests of kernels share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

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
        GeneratorBuilderOptions tools{binary_dir() + "/" + generator_, folder_->path()};
        tools.cpu_limit_ns = 300'000'000'000;  // slow machines compile rare candidates of scattered results in minutes
        tools.time_limit_ns = 4 * tools.cpu_limit_ns;
        auto builder = GeneratorBuilder::create(tools);
        ASSERT_TRUE(builder) << builder.error().message;
        builder_ = std::move(*builder);
        ProcessRunnerOptions options;
        options.executable = binary_dir() + "/kiln-runner";
        options.work_folder = folder_->path();
        options.time_limit_ns = 120'000'000'000;  // more threads than cores, on a machine that others use
        runner_ = std::make_unique<ProcessRunner>(options);
    }

    bool runs(const Target &target) const { return missing_features(target, machine_.halide_target).empty(); }

    // Whether the machine runs kernels for this target that tests of the host on one thread do not have: where it has nothing
    // wider than AVX2, `avx2` is the host.
    bool adds_to_host(const Target &target) const {
        return runs(target) && target != *parse_target("host", 1, machine_.halide_target);
    }

    // Those of these names that the machine runs; one where two are the same.
    std::vector<Target> targets_of(std::initializer_list<const char *> names, int threads) const {
        std::vector<Target> all;
        for (const char *name : names) {
            const Target target = *parse_target(name, threads, machine_.halide_target);
            if (runs(target) && std::ranges::count(all, target) == 0) all.push_back(target);
        }
        return all;
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
        const auto request = build(workload, target, candidate);
        return request ? problem(*request, error_budget) : request.error().message;
    }

    std::string problem(RunRequest request, double error_budget = default_error_budget) {
        request.measure = false;
        request.error_budget = error_budget;
        const auto run = runner_->run(request);
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
