#include <gtest/gtest.h>

#include <limits>

#include "tuner/protocol/runner_protocol.h"

namespace kiln {
namespace {

const RunnerCall call{"conv2d/input:1x9x9x8/kernel:3x3x8x16", 2, int64_t(4) << 30};
const RunnerKernel kernel{"/tmp/k \"1\".so", 100, 200};

JudgeJob judge_job() {
    JudgeJob job{call, kernel, 1e-5, SamplingOrder{}, {}};
    job.sampling->cache = CacheMode::cold;
    job.sampling->limits.unstable_spread = -1;
    job.sampling->cutoffs_ns = {1.5, 2};
    job.sampling->memory_bytes = 12 << 20;
    job.sampling->patience_ns = 5'000;
    job.data.ordinary = {{"a", "b"}, "c", "d"};
    job.data.wide = {{"e"}, "f", "g"};
    return job;
}

HeatJob heat_job() {
    return {call, {kernel, kernel}, CacheMode::warm, 7, std::numeric_limits<uint64_t>::max(), 1, 2, {"a"}, 5};
}

NetworkJob network_job() {
    NetworkJob job{call, "libn.so", "n.weights", {"a", "b"}, {"c"}, 3, true, SamplingOrder{}, 4};
    job.sampling->limits.max_samples = 9;
    return job;
}

TEST(RunnerJob, IsReadBackAsItWas) {
    JudgeJob unmeasured = judge_job();
    unmeasured.sampling.reset();
    RunnerCall simulated = call;
    simulated.core = CoreDescription{"a", 1, {2, 3, 4}, {5, 6, 7}, 8, 9, 10, 11, 12, 13, 14, 15};
    const RunnerKernel sized{"k.elf", 1, 0, 2, 3, 4};
    const RunnerJob in_simulation = ExecuteJob{simulated, sized, {"a"}, "out"};
    EXPECT_EQ(*parse_runner_job(to_json(in_simulation)), in_simulation);
    HeatJob judged = heat_job();
    judged.judge = {"/judge \"1\"", "k.elf", 12};
    const ExecuteJob twice{call, kernel, {"a"}, "out", judged.judge};
    for (const RunnerJob &job :
         {RunnerJob(judge_job()), RunnerJob(unmeasured), RunnerJob(heat_job()), RunnerJob(judged), RunnerJob(twice),
          RunnerJob(ExecuteJob{call, kernel, {"a", "b"}, "out"}), RunnerJob(PrepareJob{call, judge_job().data}),
          RunnerJob(PackJob{call, kernel, "a", "b"}), RunnerJob(network_job())}) {
        const Result<RunnerJob> back = parse_runner_job(to_json(job));
        ASSERT_TRUE(back.ok()) << back.error().message;
        EXPECT_EQ(*back, job);
        EXPECT_EQ(call_of(*back), call);
    }
}

TEST(RunnerJob, BadOnesAreRefusedWithThePlace) {
    const std::string good = to_json(judge_job()), heat = to_json(heat_job()), network = to_json(network_job());
    const auto changed = [](std::string text, const std::string &from, const std::string &to) {
        const size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        return text.replace(at, from.size(), to);
    };
    const struct {
        std::string text;
        const char *message;
    } cases[] = {
        {"", "not JSON"},
        {good.substr(0, good.size() / 2), "not JSON"},
        {"{}", "neither of `judge`, `heat`, `execute`"},
        {changed(good, "\"judge\"", "\"time\""), "neither of"},
        {changed(good, "\"threads\":2", "\"threads\":0"), "less than one thread"},
        {changed(good, "\"threads\":2,", ""), "threads: is missing"},
        {changed(good, "\"cold\"", "\"tepid\""), "cache: needs warm or cold"},
        {changed(good, "\"packed_bytes\":100", "\"packed_bytes\":0.5"), "packed_bytes: needs a whole number"},
        {changed(heat, "\"rounds\":7", "\"rounds\":0"), "without a kernel or a round"},
        {changed(network, "\"repeats\":3", "\"repeats\":0"), "a network without a call"},
        {changed(network, "\"compare_threads\":true", "\"compare_threads\":1"), "compare_threads: "},
        {changed(network, "\"step_calls\":4", "\"step_calls\":-1"), "a negative number of calls"},
        {changed(heat, "\"seed\":18446744073709551615", "\"seed\":-1"), "seed: needs a whole number"},
    };
    for (const auto &c : cases) {
        const Result<RunnerJob> job = parse_runner_job(c.text);
        ASSERT_FALSE(job.ok()) << c.message;
        EXPECT_NE(job.error().message.find(c.message), std::string::npos) << job.error().message;
        EXPECT_TRUE(job.error().message.starts_with("job of the measuring process: ")) << job.error().message;
    }
}

TEST(RunnerAnswer, LinesThatAreNotWholeAreSkipped) {
    RunnerAnswer end;
    end.status = TrialStatus::ok;
    end.samples = {1, 2.5};
    end.heat = {{1}, {2}};
    end.steps = {{3, 4}, {5, 6}};
    end.message = "not UTF-8: \xff";
    const std::string lines = step_line("loading") + errors_line({.max = 1e-7, .rms = {}, .wide = 2e-7}) +
                              "{\"step\": \"ha\n" + "[]\n" + end_line(end);
    const RunnerAnswer answer = parse_runner_answer(lines);
    EXPECT_EQ(answer.step, "loading");
    EXPECT_EQ(answer.errors, (ErrorMeasures{.max = 1e-7, .rms = {}, .wide = 2e-7}));
    EXPECT_EQ(answer.status, TrialStatus::ok);
    EXPECT_EQ(answer.samples, end.samples);
    EXPECT_EQ(answer.heat, end.heat);
    EXPECT_EQ(answer.steps, end.steps);
    EXPECT_FALSE(parse_runner_answer(lines.substr(0, lines.size() - 2)).status) << "it died while it wrote the end";
}

TEST(RunnerAnswer, ALineThatIsWrongInOneFieldSaysNothing) {
    const std::string before = step_line("loading") + errors_line({.max = 1e-7, .rms = 1e-8, .wide = 2e-7});
    for (const char *line : {
             R"({"step":"timing","environment":7})",
             R"({"step":"timing","errors":{"max":1e999}})",
             R"({"step":"timing","errors":{"max":1e-9,"rms":"small"}})",
             R"({"step":"timing","errors":[1e-9]})",
             R"({"step":"timing","status":"no such status"})",
             R"({"step":"timing","status":"ok","samples":[1,2,"3"]})",
             R"({"status":"ok","message":"m","samples":[1],"heat":[[1],2]})",
             R"({"status":"ok","samples":[1],"workspace_bytes":0.5})",
             R"({"status":"ok","samples":[1],"workspace_bytes":true})",
             R"({"status":"ok","samples":[1],"workspace_bytes":-64})",
             R"({"status":"ok","samples":[1],"workspace_bytes_per_thread":9223372036854775808})",
         }) {
        const RunnerAnswer answer = parse_runner_answer(before + line + "\n");
        EXPECT_EQ(answer.step, "loading") << line;
        EXPECT_EQ(answer.errors, (ErrorMeasures{.max = 1e-7, .rms = 1e-8, .wide = 2e-7})) << line;
        EXPECT_FALSE(answer.status) << line;
        EXPECT_TRUE(answer.message.empty() && answer.samples.empty() && answer.environment.empty()) << line;
        EXPECT_EQ(answer.workspace_bytes, 0) << line;
    }
}

}  // namespace
}  // namespace kiln
