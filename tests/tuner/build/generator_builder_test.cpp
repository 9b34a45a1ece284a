// What becomes of a build, whatever the compiler does: the real builder with scripts in the generator's place.

#include "tuner/build/generator_builder.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/database/scratch_folder.h"
#include "tuner/build/killed_build.h"

namespace kiln {
namespace {

class GeneratorBuilderTest : public ::testing::Test {
protected:
    // A generator that answers --version, and otherwise runs `script`.
    Result<std::unique_ptr<GeneratorBuilder>> builder(const std::string &script, GeneratorBuilderOptions options = {
                                                                                     .time_limit_ns = 1'000'000'000}) {
        const std::string path = folder_ / "generator";
        ScratchFolder::write(path, "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'halide 0'; exit 0; fi\n" + script);
        std::filesystem::permissions(path, std::filesystem::perms(0755));
        options.generator = path;
        options.work_folder = folder_ / ".";
        options.memory_limit_bytes = int64_t(1) << 30;
        return GeneratorBuilder::create(options);
    }

    struct Expected {
        TrialStatus status;
        const char *message, *stderr_text;  // parts of them
    };
    void expect_failure(const Result<std::unique_ptr<GeneratorBuilder>> &made, const Expected &expected) {
        ASSERT_TRUE(made.ok()) << made.error().message;
        const Result<BuildResult> built = (*made)->build(request_);
        ASSERT_TRUE(built.ok()) << built.error().message;
        ASSERT_FALSE(built->ok());
        const auto &failure = built->failure();
        EXPECT_EQ(failure.status, expected.status);
        EXPECT_NE(failure.message.find(expected.message), std::string::npos) << failure.message;
        EXPECT_NE(failure.stderr_text.find(expected.stderr_text), std::string::npos) << failure.stderr_text;
        EXPECT_GT(built->wall_ns, 0);
    }

    BuildRequest request_{
        convolution({1, 8, 8, 4}, {3, 3, 4, 16}), {"x86-64-linux", 1}, Candidate{"direct", 1, "cpu_tile", 1, {}}};
    ScratchFolder folder_;
};

TEST_F(GeneratorBuilderTest, EveryWayToFailHasItsStatus) {
    const struct {
        const char *script;
        TrialStatus status;
        const char *message, *stderr_text;
    } cases[] = {
        {"echo 'no schedule' >&2; exit 1", TrialStatus::compile_error, "no schedule", "no schedule"},
        {"exit 3", TrialStatus::compile_error, "kiln-generator: exit status 3", ""},
        {"kill -SEGV $$", TrialStatus::compile_error, "kiln-generator: signal 11 (SIGSEGV)", ""},
        {"echo begun >&2; sleep 100", TrialStatus::compile_timeout, "no end after 1.0 s", "begun"},
        {"echo 'std::bad_alloc' >&2; exit 1", TrialStatus::out_of_memory, "", "bad_alloc"},
        {"echo 'LLVM ERROR: out of memory' >&2; kill -ABRT $$", TrialStatus::out_of_memory, "", "out of memory"},
        {"echo 'tile is too large' >&2; exit 4", TrialStatus::refused, "tile is too large", ""},
        {"echo '{\"packed_bytes\":0,\"prepared_bytes\":0}'; echo text > \"${10}\"", TrialStatus::compile_error,
         "not recognized", ""},
    };
    for (const auto &c : cases) {
        SCOPED_TRACE(c.script);
        expect_failure(builder(c.script), {c.status, c.message, c.stderr_text});
    }
}

TEST_F(GeneratorBuilderTest, AnObjectHasOnlyInstructionsOfItsTarget) {
    const std::string script =
        "echo '{\"packed_bytes\":0,\"prepared_bytes\":0}'; echo 'extrq $8, $16, %xmm0' | as -o \"${10}\" -";
    const auto other = builder(script);
    ASSERT_TRUE(other) << other.error().message;
    const auto built = (*other)->build(request_);
    EXPECT_TRUE(built.ok() && built->ok());
    request_.target = *parse_target("avx512vnni", 1, "");
    expect_failure(builder(script), {TrialStatus::compile_error, "the compiler used `extrq`", ""});
}

TEST_F(GeneratorBuilderTest, WhatIsNoneOfItsTargetIsCompiledOnceMore) {
    request_.target = *parse_target("avx512vnni", 1, "");
    const auto made = builder(
        "echo '{\"packed_bytes\":0,\"prepared_bytes\":0}'\n"
        "if [ \"${11}\" = --without-vnni ]; then line='pand %xmm1, %xmm0'; else line='extrq $8, $16, %xmm0'; fi\n"
        "echo \"$line\" | as -o \"${10}\" -");
    ASSERT_TRUE(made) << made.error().message;
    const auto built = (*made)->build(request_);
    ASSERT_TRUE(built) << built.error().message;
    EXPECT_TRUE(built->ok()) << built->failure().message;
}

// A busy machine gives a compiler its CPU time slowly, which is not the candidate's fault.
TEST_F(GeneratorBuilderTest, TheLimitIsOfCpuTime) {
    EXPECT_GE(GeneratorBuilderOptions().time_limit_ns, 4 * GeneratorBuilderOptions().cpu_limit_ns);
    const struct {
        const char *script;
        TrialStatus status;
        const char *message;
    } cases[] = {{"while :; do :; done", TrialStatus::compile_timeout, " s of CPU time"},
                 {"sleep 1; echo slow >&2; exit 1", TrialStatus::compile_error, "slow"}};
    for (const auto &c : cases) {
        SCOPED_TRACE(c.script);
        expect_failure(builder(c.script, {.cpu_limit_ns = 300'000'000}), {c.status, c.message, ""});
    }
}

// The number of attempts stands in a file, as lines.
TEST_F(GeneratorBuilderTest, WhatASignalEndedIsTriedAgain) {
    const struct {
        const char *script;
        int attempts;
        TrialStatus status;
        const char *message;
        bool is_killed;
    } cases[] = {
        {"kill -KILL $$", 3, TrialStatus::out_of_memory,
         "kiln-generator was killed: signal 9 (SIGKILL) in each of 3 attempts", true},
        {"kill -TERM $$", 3, TrialStatus::compile_error,
         "kiln-generator was killed: signal 15 (SIGTERM) in each of 3 attempts", true},
        {"kill -SEGV $$", 2, TrialStatus::compile_error, "kiln-generator: signal 11 (SIGSEGV)", false},
        {"exit 1", 1, TrialStatus::compile_error, "kiln-generator: exit status 1", false},
        {"test $(wc -l < \"$0.runs\") -gt 2 || kill -KILL $$; echo works >&2; exit 1", 3, TrialStatus::compile_error,
         "works", false},
        {"test $(wc -l < \"$0.runs\") -gt 1 || kill -SEGV $$; echo works >&2; exit 1", 2, TrialStatus::compile_error,
         "works", false},
    };
    for (const auto &c : cases) {
        const std::string runs = folder_ / "generator.runs";
        ScratchFolder::write(runs, "");
        const auto made = builder(std::string("echo run >> \"$0.runs\"\n") + c.script);
        ASSERT_TRUE(made.ok()) << made.error().message;
        const Result<BuildResult> built = (*made)->build(request_);
        ASSERT_TRUE(built.ok()) << c.script << built.error().message;
        ASSERT_FALSE(built->ok()) << c.script;
        EXPECT_EQ(ScratchFolder::read(runs).size(), 4u * c.attempts) << c.script;
        Trial trial;
        trial.status = built->failure().status;
        trial.message = built->failure().message;
        EXPECT_EQ(trial.status, c.status) << c.script;
        EXPECT_TRUE(trial.message.starts_with(c.message)) << trial.message;
        EXPECT_EQ(is_killed_build(trial), c.is_killed) << c.script;
    }
}

TEST(KilledBuild, IsRecognisedInWhatIsRecorded) {
    const struct {
        TrialStatus status;
        const char *message;
        bool is_killed;
    } cases[] = {
        {TrialStatus::compile_error, "kiln-generator: signal 9 (SIGKILL)", true},
        {TrialStatus::compile_error, "ld: signal 15 (SIGTERM)", true},
        {TrialStatus::compile_error, "kiln-generator: signal 1 (SIGHUP)", true},
        {TrialStatus::compile_error, "kiln-generator: signal 6 (SIGABRT)", false},
        {TrialStatus::compile_error, "kiln-generator: signal 11 (SIGSEGV)", false},
        {TrialStatus::compile_error, "kiln-generator: signal ", false},
        {TrialStatus::compile_error, "kiln-generator: exit status 9", false},
        {TrialStatus::out_of_memory, "the measuring process was killed, probably because ...", false},
        {TrialStatus::ok, "kiln-generator was killed: by a forger", false},
    };
    for (const auto &c : cases) {
        Trial trial;
        trial.status = c.status;
        trial.message = c.message;
        EXPECT_EQ(is_killed_build(trial), c.is_killed) << c.message;
    }
}

TEST_F(GeneratorBuilderTest, WhatNoCandidateCanBeBlamedForEndsTheJob) {
    const auto full = builder("echo 'kernel0.o: No space left on device' >&2; exit 1");
    ASSERT_TRUE(full.ok());
    const Result<BuildResult> built = (*full)->build(request_);
    ASSERT_FALSE(built.ok());
    EXPECT_EQ(built.error().code, ErrorCode::environment);
    EXPECT_NE(built.error().message.find("no space left"), std::string::npos) << built.error().message;

    GeneratorBuilderOptions missing;
    missing.generator = folder_ / "missing";
    EXPECT_EQ(GeneratorBuilder::create(missing).error().code, ErrorCode::environment);
}

}  // namespace
}  // namespace kiln
