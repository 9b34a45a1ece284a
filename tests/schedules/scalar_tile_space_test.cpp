#include "schedules/spaces/scalar/scalar_tile_space.h"

#include <gtest/gtest.h>

#include "rewrites/conv_loops.h"
#include "schedules/compiler_flags.h"
#include "schedules/spaces/scalar/scalar_tile_knobs.h"
#include "schedules/spaces/scalar/shared_tile_space.h"

namespace kiln {
namespace {

ConvLoops loops_of_key(const std::string &key) { return conv_loops(*parse_workload_key(key)); }

const std::string ending = "/dtype:i8/epilogue:bias,requantize_litert";

Space space_of(const std::string &key) {
    const ConvLoops loops = loops_of_key(key + ending);
    Candidate base;
    base.algorithm = loops.input_channels == 1 ? "scalar_depthwise" : "scalar_dense";
    return loops.input_channels == 1 ? scalar_depthwise_space(base, loops) : scalar_dense_space(base, loops);
}

TEST(ScalarTileSpace, DefaultsAreValid) {
    const struct {
        const char *key, *candidate;
    } rows[] = {
        {"conv2d/input:1x48x48x8/kernel:3x3x1x8/feature_group_count:8",
         "scalar_depthwise@1/scalar_tile@1/channels:8/flags:4/partition:2/pixels:4/rows:1"},
        {"conv2d/input:1x3x3x256/kernel:3x3x1x256/padding:1,1x1,1/feature_group_count:256",
         "scalar_depthwise@1/scalar_tile@1/channels:32/flags:4/partition:2/pixels:3/rows:1"},
        {"conv2d/input:1x12x12x64/kernel:3x3x1x64/strides:2x2/padding:0,1x0,1/feature_group_count:64",
         "scalar_depthwise@1/scalar_tile@1/channels:32/flags:4/partition:2/pixels:3/rows:1"},
        {"conv2d/input:1x6x6x128/kernel:3x3x1x128/padding:1,1x1,1/feature_group_count:128",
         "scalar_depthwise@1/scalar_tile@1/channels:32/flags:1/partition:1/pixels:6/rows:1"},
        {"conv2d/input:1x20x20x17/kernel:7x7x1x17/feature_group_count:17",
         "scalar_depthwise@1/scalar_tile@1/channels:17/flags:1/partition:1/pixels:5/rows:1"},
        {"conv2d/input:1x6x6x64/kernel:1x1x64x128",
         "scalar_dense@1/scalar_tile@1/channels:2/flags:1/paired:1/pixels:6/unroll:1"},
        {"conv2d/input:1x1x1x64/kernel:1x1x64x10",
         "scalar_dense@1/scalar_tile@1/channels:2/flags:1/paired:0/pixels:1/unroll:1"},
        {"conv2d/input:1x3x3x256/kernel:1x1x256x256",
         "scalar_dense@1/scalar_tile@1/channels:4/flags:1/paired:0/pixels:3/tiles:3/unroll:1"},
        {"conv2d/input:1x3x1x3/kernel:1x1x3x1",
         "scalar_dense@1/scalar_tile@1/channels:1/flags:1/paired:0/pixels:3/unroll:1"},
    };
    for (const auto &row : rows) {
        const Space space = space_of(row.key);
        EXPECT_EQ(to_text(space.default_candidate()), row.candidate) << row.key;
        const Status valid = space.check(space.default_candidate());
        EXPECT_TRUE(valid) << row.key << ": " << (valid ? "" : valid.error().message);
    }
}

TEST(ScalarTileSpace, RefusesWithTheReason) {
    const struct {
        const char *key, *candidate, *reason;
    } rows[] = {
        {"conv2d/input:1x48x48x8/kernel:5x5x1x8/feature_group_count:8",
         "scalar_depthwise@1/scalar_tile@1/channels:8/flags:0/partition:1/pixels:12/rows:1",
         "more products or results than are written out"},
        {"conv2d/input:1x48x48x8/kernel:3x3x1x8/feature_group_count:8",
         "scalar_depthwise@1/scalar_tile@1/channels:8/flags:0/partition:1/pixels:9/rows:2",
         "more products or results than are written out"},
        {"conv2d/input:1x48x48x8/kernel:3x3x1x8/feature_group_count:8",
         "scalar_depthwise@1/scalar_tile@1/channels:3/flags:0/partition:1/pixels:6/rows:1", "channels"},
        {"conv2d/input:1x6x6x64/kernel:1x1x64x128",
         "scalar_dense@1/scalar_tile@1/channels:2/flags:0/paired:1/pixels:5/unroll:1",
         "pairs need an even number of pixels"},
        {"conv2d/input:1x6x6x64/kernel:1x1x64x128",
         "scalar_dense@1/scalar_tile@1/channels:5/flags:0/paired:0/pixels:8/unroll:1",
         "more sums than the core has registers"},
        {"conv2d/input:1x6x6x64/kernel:1x1x64x128",
         "scalar_dense@1/scalar_tile@1/channels:2/flags:0/paired:1/pixels:6/tiles:0/unroll:1",
         "left out where it is 0"},
        {"conv2d/input:1x3x3x64/kernel:1x1x64x128",
         "scalar_dense@1/scalar_tile@1/channels:2/flags:0/paired:1/pixels:6/tiles:3/unroll:1",
         "a block has more pixels than there are"},
        {"conv2d/input:1x6x6x3/kernel:1x1x3x128",
         "scalar_dense@1/scalar_tile@1/channels:2/flags:0/paired:1/pixels:6/unroll:4",
         "more taps are written out than there are"},
        {"conv2d/input:1x6x6x64/kernel:1x1x64x128",
         "scalar_dense@1/scalar_tile@1/channels:2/flags:9/paired:1/pixels:6/unroll:1", "flags"},
    };
    for (const auto &row : rows) {
        const Status valid = space_of(row.key).check(*parse_candidate(row.candidate));
        ASSERT_FALSE(valid) << row.candidate;
        EXPECT_NE(valid.error().message.find(row.reason), std::string::npos) << valid.error().message;
    }
}

Space shared_space_of(const std::string &key) {
    const ConvLoops loops = loops_of_key(key + ending);
    Candidate base;
    base.algorithm = loops.input_channels == 1 ? "shared_depthwise" : "shared_dense";
    return loops.input_channels == 1 ? shared_depthwise_space(base, loops) : shared_dense_space(base, loops);
}

// Layers share code where their candidates are the same, so the default is the same wherever it can be.
TEST(SharedTileSpace, DefaultsAreTheSame) {
    const char *const depthwise = "shared_depthwise@1/shared_tile@1/channels:8/flags:4/pixels:2/rows:2",
                      *const dense = "shared_dense@1/shared_tile@1/channels:2/flags:4/pixels:6";
    const std::pair<const char *, const char *> rows[] = {
        {"conv2d/input:1x48x48x8/kernel:3x3x1x8/feature_group_count:8", depthwise},
        {"conv2d/input:1x1x1x256/kernel:1x1x1x256/padding:1,1x1,1/feature_group_count:256", depthwise},
        {"conv2d/input:1x48x48x1/kernel:3x3x1x8", depthwise},
        {"conv2d/input:1x48x48x1/kernel:3x3x1x32", depthwise},
        {"conv2d/input:1x8x8x4/kernel:3x3x1x12/feature_group_count:4",
         "shared_depthwise@1/shared_tile@1/channels:1/flags:4/pixels:2/rows:2"},
        {"conv2d/input:1x8x8x20/kernel:3x3x1x20/feature_group_count:20",
         "shared_depthwise@1/shared_tile@1/channels:4/flags:4/pixels:2/rows:2"},
        {"conv2d/input:1x6x6x64/kernel:1x1x64x128", dense},
        {"conv2d/input:1x1x1x3/kernel:1x1x3x2", dense},
        {"conv2d/input:1x6x6x64/kernel:1x1x64x5", "shared_dense@1/shared_tile@1/channels:1/flags:4/pixels:6"},
    };
    for (const auto &[key, candidate] : rows) {
        const Space space = shared_space_of(key);
        EXPECT_EQ(to_text(space.default_candidate()), candidate) << key;
        const Status valid = space.check(space.default_candidate());
        EXPECT_TRUE(valid) << key << ": " << (valid ? "" : valid.error().message);
    }
}

TEST(SharedTileSpace, RefusesWithTheReason) {
    const struct {
        const char *key, *candidate, *reason;
    } rows[] = {
        {"conv2d/input:1x48x48x8/kernel:3x3x1x8/feature_group_count:8",
         "shared_depthwise@1/shared_tile@1/channels:4/flags:4/pixels:2/rows:2", "channels"},
        {"conv2d/input:1x8x8x4/kernel:3x3x1x12/feature_group_count:4",
         "shared_depthwise@1/shared_tile@1/channels:4/flags:4/pixels:2/rows:2", "channels"},
        {"conv2d/input:1x6x6x64/kernel:1x1x64x5", "shared_dense@1/shared_tile@1/channels:2/flags:4/pixels:6",
         "channels"},
        {"conv2d/input:1x6x6x64/kernel:1x1x64x8", "shared_dense@1/shared_tile@1/channels:2/flags:4/pixels:5", "pixels"},
        {"conv2d/input:1x6x6x64/kernel:1x1x64x8", "shared_dense@1/shared_tile@1/channels:2/flags:3/pixels:6", "flags"},
    };
    for (const auto &row : rows) {
        const Status valid = shared_space_of(row.key).check(*parse_candidate(row.candidate));
        ASSERT_FALSE(valid) << row.candidate;
        EXPECT_NE(valid.error().message.find(row.reason), std::string::npos) << valid.error().message;
    }
}

TEST(CompilerFlags, AreThoseOfTheKnob) {
    const auto flags = [](const char *candidate) { return compiler_flags(*parse_candidate(candidate)).front(); };
    EXPECT_EQ(flags("quantized@1/cpu_tile@2/pixels:1"), std::vector<std::string>{"-O2"});
    EXPECT_EQ(flags("a@1/b@1/flags:1"), (std::vector<std::string>{"-O2", "-mtune=sifive-7-series"}));
    EXPECT_EQ(flags("a@1/b@1/flags:2"), (std::vector<std::string>{"-O2", "-fno-schedule-insns"}));
    EXPECT_EQ(flags("a@1/b@1/flags:3"), std::vector<std::string>{"-Os"});
    EXPECT_EQ(flags("a@1/b@1/flags:5"),
              (std::vector<std::string>{"-O2", "-mtune=sifive-7-series", "-frename-registers"}));
    EXPECT_EQ(flags("a@1/b@1/flags:6"), std::vector<std::string>{"-O2"});
}

}  // namespace
}  // namespace kiln
