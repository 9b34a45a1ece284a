// Kernels good and bad through the real measuring process. The kernels are in tests/tuner/measure/kernels.
#include "tuner/measure/process_runner.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <thread>

#include "tests/build_paths.h"
#include "tuner/process/measuring_lock.h"
#include "tuner/process/temporary_folder.h"
#include "tuner/reference/operands.h"
#include "tuner/reference/reference.h"

namespace kiln {
namespace {

Workload small_workload() {
    Workload w = convolution({2, 5, 6, 4}, {3, 3, 4, 8});
    w.padding = {{1, 1}, {1, 1}};
    w.epilogue = {EpilogueStep{EpilogueStep::Kind::bias}};
    return w;
}

class ProcessRunnerTest : public testing::Test {
protected:
    ProcessRunnerTest() : folder_(std::move(TemporaryFolder::create().value())) {
        options_.executable = binary_dir() + "/kiln-runner";
        options_.work_folder = folder_.path();
        options_.time_limit_ns = 10'000'000'000;
        options_.memory_limit_bytes = 256 << 20;
        options_.sampling = {.max_samples = 50, .min_total_ns = 1e6, .max_total_ns = 20e6, .unstable_spread = 100};
    }

    static RunRequest request(const std::string &kernel) {
        RunRequest request;
        request.workload = small_workload();
        request.artifact.shared_object_path = KILN_TEST_KERNELS "/" + kernel + ".so";
        return request;
    }

    // The result of a run that the environment must not fail.
    static RunResult run(ProcessRunner &runner, const RunRequest &request) {
        auto result = runner.run(request);
        EXPECT_TRUE(result.ok()) << result.error().message;
        return result.ok() ? *result : RunResult{Failure{}, 0};
    }

    TemporaryFolder folder_;
    ProcessRunnerOptions options_;
};

TEST_F(ProcessRunnerTest, MeasuresARightKernel) {
    ProcessRunner runner(options_);
    const RunResult result = run(runner, request("right"));
    ASSERT_TRUE(result.ok()) << result.failure().message;
    const RunReport &report = result.value();
    EXPECT_GE(report.samples.size(), 15u);
    for (const double sample : report.samples) {
        EXPECT_GT(sample, 0);
    }
    EXPECT_GT(report.errors.max, 0);
    EXPECT_LT(report.errors.max, 1e-6);
    EXPECT_GT(report.errors.rms, 0);
    EXPECT_LE(report.errors.rms, report.errors.max);
    EXPECT_LT(report.errors.wide, 1e-6);
    EXPECT_EQ(report.workspace_bytes, 0);
    EXPECT_NE(report.conditions.find("involuntary_switches"), std::string::npos) << report.conditions;
    EXPECT_GT(result.wall_ns, 0);
}

TEST_F(ProcessRunnerTest, CorrectnessOnlyTakesNoSamples) {
    ProcessRunner runner(options_);
    RunRequest r = request("right");
    r.measure = false;
    const RunResult result = run(runner, r);
    ASSERT_TRUE(result.ok()) << result.failure().message;
    EXPECT_TRUE(result.value().samples.empty());
    EXPECT_TRUE((result.ok() ? result.value().errors : result.failure().errors).max.has_value());
}

TEST_F(ProcessRunnerTest, ColdCache) {
    ProcessRunner runner(options_);
    RunRequest r = request("right");
    r.cache = CacheMode::cold;
    const RunResult result = run(runner, r);
    ASSERT_TRUE(result.ok()) << result.failure().message;
    EXPECT_GE(result.value().samples.size(), 15u);
}

TEST_F(ProcessRunnerTest, TellsHowFastTheMachineWas) {
    ProcessRunner runner(options_);
    const RunResult result = run(runner, request("right"));
    ASSERT_TRUE(result.ok()) << result.failure().message;
    EXPECT_GT(result.value().sentinel.before_ns, 0);
    EXPECT_GT(result.value().sentinel.after_ns, 0);
    for (const char *fact : {"sentinel_ns", "load", "steal_ms", "involuntary_switches", "cpu"}) {
        EXPECT_NE(result.value().conditions.find(fact), std::string::npos) << fact;
    }
}

TEST_F(ProcessRunnerTest, EndsTheSamplingOfASlowKernelEarly) {
    options_.sampling.max_samples = 5000;
    options_.sampling.min_total_ns = options_.sampling.max_total_ns = 20e6;
    ProcessRunner runner(options_);
    RunRequest r = request("right");
    r.cutoffs_ns = {1, 1, 1};
    const RunResult cut_off = run(runner, r);
    ASSERT_TRUE(cut_off.ok()) << cut_off.failure().message;
    EXPECT_NE(cut_off.value().conditions.find("cut_off"), std::string::npos);
    r.cutoffs_ns = {1e9, 1e9, 1e9};
    const RunResult whole = run(runner, r);
    ASSERT_TRUE(whole.ok()) << whole.failure().message;
    EXPECT_EQ(whole.value().conditions.find("cut_off"), std::string::npos);
    EXPECT_LT(cut_off.value().samples.size(), whole.value().samples.size());
}

// Networks have the result written over a tensor that is added to it.
TEST_F(ProcessRunnerTest, JudgesInTheAddendsMemory) {
    ProcessRunner runner(options_);
    RunRequest adds = request("adds");
    adds.workload.epilogue.push_back(EpilogueStep{EpilogueStep::Kind::add});
    const RunResult right = run(runner, adds);
    EXPECT_TRUE(right.ok()) << right.failure().message;

    RunRequest twice = request("adds_twice");
    twice.workload = adds.workload;
    const RunResult wrong = run(runner, twice);
    ASSERT_FALSE(wrong.ok());
    EXPECT_EQ(wrong.failure().status, TrialStatus::wrong_result);
    const std::string &message = wrong.failure().message;
    EXPECT_NE(message.find("(check with the addend in the result's memory"), std::string::npos) << message;
}

class HeatTest : public ProcessRunnerTest {
protected:
    static HeatRequest heat(const std::vector<std::string> &kernels) {
        HeatRequest request;
        request.workload = small_workload();
        request.rounds = 7;
        for (const std::string &kernel : kernels) {
            request.artifacts.push_back({.shared_object_path = KILN_TEST_KERNELS "/" + kernel + ".so"});
            if (kernel == "packs") request.artifacts.back().packed_bytes = 3 * 3 * 4 * 8 * 4 + 1;
        }
        return request;
    }
};

TEST_F(HeatTest, TimesEveryKernelOnceARound) {
    ProcessRunner runner(options_);
    for (const CacheMode cache : {CacheMode::warm, CacheMode::cold}) {
        HeatRequest request = heat({"right", "packs", "right"});
        request.cache = cache;
        const auto result = runner.heat(request);
        ASSERT_TRUE(result.ok()) << result.error().message;
        ASSERT_TRUE(result->ok()) << result->failure().message;
        const HeatReport *report = &result->value();
        ASSERT_EQ(report->times.size(), 3u);
        for (const Samples &times : report->times) {
            EXPECT_EQ(times.size(), 7u);
            for (const double ns : times) EXPECT_GT(ns, 0);
        }
        EXPECT_NE(report->conditions.find("sentinel_ns"), std::string::npos);
    }
}

TEST_F(HeatTest, AKernelThatFailsIsAFailure) {
    for (const auto &[kernel, status] : {std::pair{"crash", TrialStatus::crash},
                                         {"error_code", TrialStatus::crash},
                                         {"endless", TrialStatus::timeout}}) {
        options_.time_limit_ns = 1'000'000'000;
        ProcessRunner impatient(options_);
        const auto result = impatient.heat(heat({"right", kernel}));
        ASSERT_TRUE(result.ok()) << result.error().message;
        ASSERT_FALSE(result->ok()) << kernel;
        EXPECT_EQ(result->failure().status, status) << result->failure().message;
    }
}

TEST_F(HeatTest, HasTheWorkspaceThatItIsGiven) {
    ProcessRunner runner(options_);
    HeatRequest request = heat({"parallel"});
    request.workspace_bytes = 64 + 5056;
    request.workspace_bytes_per_thread = 64 + 1024;
    auto result = runner.heat(request);
    ASSERT_TRUE(result.ok()) << result.error().message;
    EXPECT_TRUE(result->ok()) << result->failure().message;
    request.workspace_bytes = 64;
    result = runner.heat(request);
    ASSERT_TRUE(result.ok()) << result.error().message;
    ASSERT_FALSE(result->ok());
    EXPECT_EQ(result->failure().status, TrialStatus::out_of_memory);
}

// As a forged record may ask for: the sizes that a race asks for are those of recorded trials.
TEST_F(HeatTest, NoKernelGetsMoreMemoryThanThereIs) {
    ProcessRunner runner(options_);
    for (const int64_t bytes : {std::numeric_limits<int64_t>::max(), int64_t(1) << 46}) {
        HeatRequest request = heat({"right", "parallel"});
        request.workspace_bytes = request.workspace_bytes_per_thread = bytes;
        const auto result = runner.heat(request);
        ASSERT_TRUE(result.ok()) << result.error().message;
        EXPECT_TRUE(result->ok()) << result->failure().message;
    }
    HeatRequest negative = heat({"right"});
    negative.workspace_bytes = negative.workspace_bytes_per_thread = -1;
    EXPECT_TRUE(runner.heat(negative).ok());
}

TEST_F(ProcessRunnerTest, MeasuresOneAtATime) {
    options_.lock = folder_.path() + "/lock";
    std::ofstream(options_.lock).close();
    std::atomic<bool> waited = false;
    options_.on_wait = [&](const std::optional<LockHolder> &) { waited = true; };
    std::optional<MeasuringLock> held = std::move(*MeasuringLock::acquire(options_.lock));
    ProcessRunner runner(options_);
    RunRequest unmeasured = request("right");
    unmeasured.measure = false;
    EXPECT_TRUE(run(runner, unmeasured).ok()) << "without times there is nothing to wait for";
    std::thread measuring([&] { EXPECT_TRUE(run(runner, request("right")).ok()); });
    while (!waited) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    held.reset();
    measuring.join();

    held = std::move(*MeasuringLock::acquire(options_.lock));
    RunRequest hurried = request("right");
    hurried.out_of_time = [] { return true; };
    const Result<RunResult> given_up = runner.run(hurried);
    ASSERT_FALSE(given_up.ok());
    EXPECT_EQ(given_up.error().code, ErrorCode::interrupted);
}

TEST_F(ProcessRunnerTest, PacksWeights) {
    ProcessRunner runner(options_);
    RunRequest r = request("packs");
    r.artifact.packed_bytes = 3 * 3 * 4 * 8 * 4 + 1;
    RunResult result = run(runner, r);
    EXPECT_TRUE(result.ok()) << result.failure().message;

    r.artifact.packed_bytes = 3 * 3 * 4 * 8 * 4;  // one byte less than it writes
    result = run(runner, r);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.failure().status, TrialStatus::crash);
    EXPECT_NE(result.failure().message.find("wrote 0 bytes past the end of the packed weights"), std::string::npos)
        << result.failure().message;

    r.artifact.packed_bytes = 0;
    EXPECT_EQ(run(runner, r).failure().status, TrialStatus::compile_error);
}

TEST_F(ProcessRunnerTest, WorkspaceIsTheSameForEveryNumberOfThreads) {
    ProcessRunner runner(options_);
    for (const int threads : {1, 2, 3}) {
        RunRequest r = request("parallel");
        r.target.threads = threads;
        const RunResult result = run(runner, r);
        ASSERT_TRUE(result.ok()) << threads << " threads: " << result.failure().message;
        // With the allocator's header of a cache line, in whole cache lines.
        EXPECT_EQ(result.value().workspace_bytes, 64 + 5056) << threads;
        EXPECT_EQ(result.value().workspace_bytes_per_thread, 64 + 1024) << threads;
    }
}

struct BadKernel {
    const char *kernel;
    TrialStatus status;
    const char *message;  // part of it
    int threads = 1;
};

TEST_F(ProcessRunnerTest, BadKernelsFailWithStatusAndMessage) {
    const BadKernel table[] = {
        {"wrong_numbers", TrialStatus::wrong_result, "output[n=0, h=2, w=1, c=5] is "},
        {"wrong_numbers", TrialStatus::wrong_result, "1 of 480 elements are wrong (first check, 1 thread"},
        {"crash", TrialStatus::crash, "wrote memory that it does not own, at address 16 (SIGSEGV) (in: first check"},
        {"abort", TrialStatus::crash, "signal 6 (SIGABRT) (in: first check"},
        {"illegal_instruction", TrialStatus::crash, "SIGILL"},
        {"overflows_stack", TrialStatus::crash, "overflowed its stack"},
        {"exhausts_workspace", TrialStatus::out_of_memory, "asked for 1048576 bytes of workspace"},
#if !defined(__SANITIZE_ADDRESS__)  // which leaves no limit of address space
        {"exhausts_memory", TrialStatus::out_of_memory, "the memory limit is reached"},
#endif
        {"writes_past_end", TrialStatus::crash, "wrote 8 bytes past the end of output (in: first check"},
        {"writes_before_start", TrialStatus::crash, "wrote 4 bytes before the start of output (in: second check"},
        {"reads_past_end", TrialStatus::crash, "read 0 bytes past the end of input"},
        {"writes_input", TrialStatus::crash, "wrote byte 12 of input, which is read-only"},
        {"incomplete", TrialStatus::wrong_result, "output[n=1, h=4, w=5, c=6] was not written"},
        {"incomplete", TrialStatus::wrong_result, "2 of 480 elements are wrong, 2 of them were not written"},
        {"error_code", TrialStatus::crash, "the kernel returned the error code -12"},
        {"missing_function", TrialStatus::compile_error, "kiln_compute_argv"},
        {"undefined_symbol", TrialStatus::compile_error, "halide_function_that_is_not_there"},
        {"remembers_first_output", TrialStatus::wrong_result, "(check on other inputs"},
        {"saturates", TrialStatus::wrong_result, "(check on data of wide range"},
        {"one_thread_only", TrialStatus::wrong_result, "2 threads", 2},
    };
    ProcessRunner runner(options_);
    for (const BadKernel &row : table) {
        SCOPED_TRACE(row.kernel);
        RunRequest r = request(row.kernel);
        r.target.threads = row.threads;
        const RunResult result = run(runner, r);
        ASSERT_FALSE(result.ok());
        EXPECT_EQ(result.failure().status, row.status) << result.failure().message;
        EXPECT_NE(result.failure().message.find(row.message), std::string::npos) << result.failure().message;
    }
}

// Bytes have no alignment to round the end of a tensor up to.
TEST_F(ProcessRunnerTest, TensorsOfBytesAreGuardedAtTheirLastOne) {
    ProcessRunner runner(options_);
    for (const auto &[elements, status] : {std::pair{1024, TrialStatus::ok}, {1000, TrialStatus::crash}}) {
        RunRequest r = request("stores_whole_lines");
        const std::string n = std::to_string(elements);
        const auto workload =
            parse_workload_key("nest/dtype:i8/loops:" + n + "/operands:" + n + "/reads:x0[i0]/term:x0");
        ASSERT_TRUE(workload) << workload.error().message;
        r.workload = *workload;
        const RunResult result = run(runner, r);
        EXPECT_EQ(result.ok() ? TrialStatus::ok : result.failure().status, status) << elements;
        if (result.ok()) continue;
        EXPECT_NE(result.failure().message.find("past the end of"), std::string::npos) << result.failure().message;
    }
}

// A call may take seconds, and a judgement makes many.
TEST_F(ProcessRunnerTest, ALargeWorkloadHasMoreTime) {
    options_.time_limit_ns = 1'000'000;
    ProcessRunner runner(options_);
    RunRequest r = request("endless");
    const RunResult small = run(runner, r);
    EXPECT_EQ(small.failure().status, TrialStatus::timeout);
    EXPECT_LT(small.wall_ns, 900'000'000);
    r.workload = convolution({1, 512, 512, 16}, {3, 3, 16, 16});  // 1.2 GFLOP, 34 MB
    r.workload.epilogue = small_workload().epilogue;
    const RunResult large = run(runner, r);
    EXPECT_EQ(large.failure().status, TrialStatus::timeout);
    EXPECT_GT(large.wall_ns, 1'000'000'000);
}

TEST_F(ProcessRunnerTest, ErrorsAreRecordedForWrongResultsToo) {
    ProcessRunner runner(options_);
    const RunResult off = run(runner, request("wrong_numbers"));
    ASSERT_TRUE(off.failure().errors.max.has_value());
    EXPECT_GT(*off.failure().errors.max, 1e-5);
    EXPECT_LT(*off.failure().errors.max, 1e-2);
    EXPECT_FALSE(off.failure().errors.wide.has_value());
    RunRequest generous = request("wrong_numbers");
    generous.error_budget = 1;
    EXPECT_TRUE(run(runner, generous).ok());
    // A crash or an output that is no number has no error.
    EXPECT_EQ(run(runner, request("crash")).failure().errors, ErrorMeasures());
    EXPECT_FALSE(run(runner, request("incomplete")).failure().errors.max.has_value());
}

TEST_F(ProcessRunnerTest, StderrIsKept) {
    ProcessRunner runner(options_);
    EXPECT_EQ(run(runner, request("abort")).failure().stderr_text, "last words\n");
}

TEST_F(ProcessRunnerTest, WhatAKernelPrintsIsNoAnswer) {
    ProcessRunner runner(options_);
    const RunResult result = run(runner, request("prints"));
    EXPECT_TRUE(result.ok()) << result.failure().message;
}

TEST_F(ProcessRunnerTest, AnEndlessKernelTimesOut) {
    options_.time_limit_ns = 500'000'000;
    ProcessRunner runner(options_);
    const RunResult result = run(runner, request("endless"));
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.failure().status, TrialStatus::timeout);
    EXPECT_NE(result.failure().message.find("did not end within 0.5 s (in: first check"), std::string::npos)
        << result.failure().message;
    EXPECT_LT(result.wall_ns, 3'000'000'000);
}

TEST_F(ProcessRunnerTest, TimesThatSpreadTooMuchAreUnstable) {
    options_.sampling.unstable_spread = -1;  // more than any
    ProcessRunner runner(options_);
    const RunResult result = run(runner, request("right"));
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.failure().status, TrialStatus::unstable);
    EXPECT_NE(result.failure().message.find("is the machine busy?"), std::string::npos) << result.failure().message;
    EXPECT_TRUE((result.ok() ? result.value().errors : result.failure().errors).max.has_value());
}

TEST_F(ProcessRunnerTest, AnEmptyOutputIsValid) {
    ProcessRunner runner(options_);
    RunRequest r = request("right");
    r.workload.padding = {{-2, -1}, {1, 1}};  // 2 rows are left for a window of 3
    ASSERT_EQ(output_shape(r.workload)[1], 0);
    // This kernel takes its loops from the input; one that takes them from the output ends at once.
    r.artifact.shared_object_path = KILN_TEST_KERNELS "/empty.so";
    const RunResult result = run(runner, r);
    ASSERT_TRUE(result.ok()) << result.failure().message;
    EXPECT_FALSE(result.value().samples.empty());
    EXPECT_EQ(result.value().errors.max, 0);
}

TEST_F(ProcessRunnerTest, ExecuteAnswersTheOutput) {
    ProcessRunner runner(options_);
    const RunRequest r = request("right");
    const Operands operands = make_operands(r.workload, Data::ordinary, 99);
    const auto outcome = runner.execute({r.workload, r.target, r.artifact}, operands);
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    ASSERT_TRUE(outcome->ok()) << outcome->failure().message;
    const Tensor *tensor = &outcome->value();
    EXPECT_EQ(tensor->shape, (std::vector<int64_t>{2, 5, 6, 8}));
    const Reference expected = *reference(r.workload, operands);
    for (int64_t i = 0; i < tensor->elements(); i++) {
        EXPECT_NEAR(reinterpret_cast<const float *>(tensor->data.data())[i], expected.expected[i], 1e-5);
    }
    const auto crash = runner.execute({r.workload, r.target, request("crash").artifact}, operands);
    ASSERT_TRUE(crash.ok());
    EXPECT_EQ(crash->failure().status, TrialStatus::crash);
}

TEST_F(ProcessRunnerTest, DataFilesAreMadeOnceAndRemoved) {
    const auto files = [&] {
        const std::filesystem::directory_iterator begin(folder_.path());
        return std::distance(begin, std::filesystem::directory_iterator());
    };
    const auto none = files();
    {
        ProcessRunner runner(options_);
        RunRequest r = request("right");
        r.measure = false;
        run(runner, r);
        const auto after_one = files();
        EXPECT_GT(after_one, none);
        run(runner, r);
        EXPECT_EQ(files(), after_one);
        (void)runner.execute({r.workload, r.target, r.artifact}, make_operands(r.workload, Data::ordinary, 1));
        EXPECT_EQ(files(), after_one);
    }
    EXPECT_EQ(files(), none);
}

TEST_F(ProcessRunnerTest, WhatNoKernelIsToBlameForIsAnError) {
    struct Row {
        std::function<void(ProcessRunnerOptions &, RunRequest &)> spoil;
        ErrorCode code;
        const char *message;
    };
    const Row table[] = {
        {[](auto &options, auto &) { options.executable = "/nowhere/kiln-runner"; }, ErrorCode::environment,
         "/nowhere/kiln-runner: cannot be started: No such file or directory"},
        {[](auto &options, auto &) { options.executable = "/bin/true"; }, ErrorCode::environment,
         "/bin/true: ended with exit status 0 before it did anything"},
        {[](auto &options, auto &) { options.work_folder = "/nowhere"; }, ErrorCode::environment, "cannot be written"},
        {[](auto &, auto &request) { request.workload.dtype = DType::i8; }, ErrorCode::unsupported, "no reference"},
    };
    for (const Row &row : table) {
        SCOPED_TRACE(row.message);
        ProcessRunnerOptions options = options_;
        RunRequest r = request("right");
        row.spoil(options, r);
        const auto result = ProcessRunner(options).run(r);
        ASSERT_FALSE(result.ok());
        EXPECT_EQ(result.error().code, row.code);
        EXPECT_NE(result.error().message.find(row.message), std::string::npos) << result.error().message;
    }
}

}  // namespace
}  // namespace kiln
