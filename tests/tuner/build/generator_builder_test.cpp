// What becomes of a build, whatever the compiler does: the real builder with scripts in the generator's place.

#include "tuner/build/generator_builder.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/database/scratch_folder.h"

namespace kiln {
namespace {

class GeneratorBuilderTest : public ::testing::Test {
protected:
    // A generator that answers --version, and otherwise runs `script`.
    Result<std::unique_ptr<GeneratorBuilder>> builder(const std::string &script) {
        const std::string path = folder_ / "generator";
        ScratchFolder::write(path, "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'halide 0'; exit 0; fi\n" + script);
        std::filesystem::permissions(path, std::filesystem::perms(0755));
        GeneratorBuilderOptions options;
        options.generator = path;
        options.work_folder = folder_ / ".";
        options.time_limit_ns = 1'000'000'000;
        options.memory_limit_bytes = int64_t(1) << 30;
        return GeneratorBuilder::create(options);
    }

    const BuildRequest request_{
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
        const auto made = builder(c.script);
        ASSERT_TRUE(made.ok()) << made.error().message;
        const Result<BuildResult> built = (*made)->build(request_);
        ASSERT_TRUE(built.ok()) << c.script << built.error().message;
        ASSERT_FALSE(built->ok()) << c.script;
        EXPECT_EQ(built->failure().status, c.status) << c.script;
        EXPECT_NE(built->failure().message.find(c.message), std::string::npos) << built->failure().message;
        EXPECT_NE(built->failure().stderr_text.find(c.stderr_text), std::string::npos) << built->failure().stderr_text;
        EXPECT_GT(built->wall_ns, 0);
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
