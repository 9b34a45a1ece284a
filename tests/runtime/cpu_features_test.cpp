// What CPUs and systems report becomes the features that kernels are chosen by.
#include "runtime/cpu_features.h"

#include <gtest/gtest.h>

#include <string>

namespace kiln {
namespace {

std::string names_of(uint64_t features) {
    std::string names;
    for (const CpuFeature &feature : cpu_features) {
        if (features & feature.bit) names += std::string(names.empty() ? "" : " ") + feature.name;
    }
    return names;
}

// Bits of CPUID, by what came with them.
constexpr uint32_t fma = cpuid_bits(12), bmi2 = cpuid_bits(8);
constexpr uint32_t sse41 = cpuid_bits(19), avx2_in_one = sse41 | fma | cpuid_bits(22, 23, 28, 29),
                   avx2 = bmi2 | cpuid_bits(3, 5);
constexpr uint32_t skylake = avx2 | cpuid_bits(16, 28, 31, 30, 17), cannonlake = skylake | cpuid_bits(21);
constexpr uint32_t vbmi = cpuid_bits(1), vnni = vbmi | cpuid_bits(11), icelake = vnni | cpuid_bits(6, 8, 12, 14),
                   tiles = cpuid_bits(22, 24), intersect = cpuid_bits(8);
constexpr uint32_t bf16 = cpuid_bits(5), avxvnni = cpuid_bits(4);
constexpr uint32_t zen3 = 0x19, zen4 = 0x19, zen5 = 0x1a;

TEST(CpuFeatures, FollowFromWhatIsReported) {
    const std::string upto_avx2 = "sse41 avx f16c fma avx2", upto_skylake = upto_avx2 + " avx512 avx512_skylake",
                      upto_cannonlake = upto_skylake + " avx512_cannonlake",
                      upto_icelake = upto_cannonlake + " avx512_icelake";
    const struct {
        const char *cpu;
        CpuReport report;
        std::string features;
    } table[] = {
        {"without anything", {}, ""},
        {"SSE4.1", {{.ecx1 = sse41}, no_state}, "sse41"},
        {"Haswell", {{.ecx1 = avx2_in_one, .ebx7 = avx2}, ymm_state}, upto_avx2},
        {"Zhaoxin KX-6000: AVX2 without FMA",
         {{.ecx1 = avx2_in_one & ~fma, .ebx7 = avx2}, ymm_state},
         "sse41 avx f16c"},
        {"an emulator of Haswell without BMI2", {{avx2_in_one, avx2 & ~bmi2}, ymm_state}, "sse41 avx f16c fma"},
        {"a system that saves no vectors", {{.ecx1 = avx2_in_one, .ebx7 = avx2, .eax7_1 = avxvnni}, no_state}, "sse41"},
        {"Alder Lake", {{.ecx1 = avx2_in_one, .ebx7 = avx2, .eax7_1 = avxvnni}, ymm_state}, upto_avx2 + " avxvnni"},
        {"Skylake server", {{.ecx1 = avx2_in_one, .ebx7 = skylake}, zmm_state}, upto_skylake},
        {"the same, vectors of 256 bits saved", {{.ecx1 = avx2_in_one, .ebx7 = skylake}, ymm_state}, upto_avx2},
        {"Cannon Lake", {{avx2_in_one, cannonlake, vbmi, 0, 0}, zmm_state}, upto_cannonlake},
        {"Cascade Lake", {{avx2_in_one, skylake, cpuid_bits(11), 0, 0}, zmm_state}, upto_skylake},
        {"Ice Lake", {{avx2_in_one, cannonlake, icelake, 0, 0}, zmm_state}, upto_icelake},
        {"Ice Lake behind a hypervisor that hides GFNI",
         {{avx2_in_one, cannonlake, icelake & ~cpuid_bits(8), 0, 0}, zmm_state},
         upto_cannonlake},
        {"Sapphire Rapids",
         {{avx2_in_one, cannonlake, vnni, tiles, bf16 | avxvnni}, zmm_state | tile_state},
         upto_icelake + " avxvnni avx512_sapphirerapids"},
        {"the same, tiles not saved",
         {{avx2_in_one, cannonlake, icelake, tiles, bf16 | avxvnni}, zmm_state},
         upto_icelake + " avxvnni"},
        {"the same behind a hypervisor that hides AMX, BF16 and AVX-VNNI",
         {{avx2_in_one, cannonlake, icelake, 0, 0}, zmm_state},
         upto_icelake},
        {"Zen 3", {{.ecx1 = avx2_in_one, .ebx7 = avx2}, ymm_state, zen3}, upto_avx2},
        {"Zen 4", {{avx2_in_one, cannonlake, vnni, 0, bf16}, zmm_state, zen4}, upto_icelake + " avx512_zen4"},
        {"Zen 5",
         {{avx2_in_one, cannonlake, vnni, intersect, bf16 | avxvnni}, zmm_state, zen5},
         upto_icelake + " avx512_zen4 avxvnni avx512_zen5"},
        {"Zen 5 behind a hypervisor that hides one feature",
         {{avx2_in_one, cannonlake, vnni, 0, bf16 | avxvnni}, zmm_state, zen5},
         upto_icelake + " avx512_zen4 avxvnni"},
        {"a later one of another maker",
         {{avx2_in_one, cannonlake, icelake, intersect, bf16 | avxvnni}, zmm_state},
         upto_icelake + " avxvnni"},
    };
    for (const auto &row : table) EXPECT_EQ(names_of(cpu_features_of(row.report)), row.features) << row.cpu;
}

// Databases have the target strings of machines that were measured.
TEST(CpuFeatures, AFeatureThatAnotherIncludesIsNotNamedBesideIt) {
    const uint64_t zen = cpu_features_of({{avx2_in_one, cannonlake, vnni, 0, bf16}, zmm_state, zen4});
    EXPECT_EQ(names_of(zen & ~unnamed_features(zen)),
              "sse41 avx f16c fma avx2 avx512 avx512_skylake avx512_cannonlake avx512_zen4");
    const uint64_t lake = cpu_features_of({{avx2_in_one, cannonlake, icelake, 0, 0}, zmm_state});
    EXPECT_EQ(unnamed_features(lake), 0u);
}

TEST(CpuFeatures, StandBehindWhatTheyNeed) {
    uint64_t before = 0;
    for (const CpuFeature &feature : cpu_features) {
        EXPECT_EQ((feature.needs | feature.includes) & ~before, 0u) << feature.name;
        EXPECT_EQ(feature.bit & before, 0u) << feature.name << " has the bit of another";
        before |= feature.bit;
    }
}

}  // namespace
}  // namespace kiln
