#include "tuner/measure/hardware_probe.h"

#include <gtest/gtest.h>

#include "tuner/process/host_machine.h"

namespace kiln {
namespace {

// Plausible on any machine that this is tested on, sanitizers and busy neighbours included; not more can be asked.
TEST(HardwareProbe, PeaksOfAllRunnableTargetsArePlausible) {
    const Machine machine = read_machine();
    for (const TargetAlias &alias : target_aliases()) {
        const Result<Target> target = parse_target(alias.halide, 1, machine.halide_target);
        ASSERT_TRUE(target);
        if (!missing_features(*target, machine.halide_target).empty()) continue;
        const FmaPeak peak = measure_fma_peak(*target);
        EXPECT_EQ(peak.instructions, fma_instructions(*target));
        EXPECT_GT(peak.gflops, 0) << alias.name;
        EXPECT_GT(peak.frequency_ghz, 0.2) << alias.name;
        EXPECT_LT(peak.frequency_ghz, 8) << alias.name;
        EXPECT_GT(peak.flop_per_cycle, 1) << alias.name;
        EXPECT_LT(peak.flop_per_cycle, 128) << alias.name;
        const FmaPeak int8_peak = measure_int8_peak(*target);
        EXPECT_EQ(int8_peak.instructions, int8_instructions(*target));
        EXPECT_GT(int8_peak.flop_per_cycle, 1) << alias.name;
        EXPECT_LT(int8_peak.flop_per_cycle, int8_peak.instructions == "AMX tiles" ? 4096 : 512) << alias.name;
    }
}

TEST(HardwareProbe, TargetsChooseInstructions) {
    struct Row {
        const char *target, *instructions, *of_integers;
    };
#if defined(__x86_64__)
    constexpr Row rows[] = {
        {"baseline", "SSE multiply + add", "SSE pairs of i16"},
        {"sse41", "SSE multiply + add", "SSE pairs of i16"},
        {"x86-64-linux-avx", "AVX multiply + add", "SSE pairs of i16"},
        {"avx2", "AVX FMA", "AVX2 pairs of i16"},
        {"avxvnni", "AVX FMA", "AVX VNNI"},
        {"avx512", "AVX-512 FMA", "AVX-512 pairs of i16"},
        {"avx512vnni", "AVX-512 FMA", "AVX-512 VNNI"},
        {"amx", "AVX-512 FMA", "AMX tiles"},
        {"x86-64-linux-avx512_zen4", "AVX-512 FMA", "AVX-512 VNNI"},
        {"arm-64-linux", "portable loop", "portable loop of integers"},
    };
#else
    constexpr Row rows[] = {{"arm-64-linux", "portable loop", "portable loop of integers"},
                            {"avx2", "portable loop", "portable loop of integers"}};
#endif
    for (const Row &row : rows) {
        const Result<Target> target = parse_target(row.target, 1, "x86-64-linux");
        ASSERT_TRUE(target) << row.target;
        EXPECT_EQ(fma_instructions(*target), row.instructions) << row.target;
        EXPECT_EQ(int8_instructions(*target), row.of_integers) << row.target;
    }
}

TEST(HardwareProbe, ATargetOfAnotherArchitectureIsMeasuredByThePortableLoop) {
    const FmaPeak peak = measure_fma_peak({"arm-64-linux", 1});
    EXPECT_GT(peak.gflops, 0);
    EXPECT_GT(peak.flop_per_cycle, 0);
}

TEST(HardwareProbe, BandwidthsCoverTheCachesThatThereAre) {
    Machine machine = read_machine();
    machine.l3_bytes = 0;  // as on machines without one; keeps the test's memory small too
    const std::vector<Bandwidth> bandwidths = measure_bandwidths(machine, 1);
    ASSERT_EQ(bandwidths.size(), 3u);
    EXPECT_EQ(bandwidths[0].level, "L1");
    EXPECT_EQ(bandwidths[1].level, "L2");
    EXPECT_EQ(bandwidths[2].level, "DRAM");
    for (const Bandwidth &b : bandwidths) {
        EXPECT_GT(b.read_gb_s, 0.1) << b.level;
        EXPECT_GT(b.copy_gb_s, 0.1) << b.level;
        EXPECT_LT(b.read_gb_s, 10000) << b.level;
    }
    EXPECT_LT(bandwidths[0].working_set_bytes, machine.l1_bytes);
    EXPECT_GT(bandwidths[2].working_set_bytes, machine.l2_bytes);
}

}  // namespace
}  // namespace kiln
