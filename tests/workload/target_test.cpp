#include "workload/target.h"

#include <gtest/gtest.h>

#include "workload/machine.h"

namespace kiln {
namespace {

constexpr const char *host = "x86-64-linux-avx-avx2-f16c-fma-sse41";

TEST(Target, CanonicalForms) {
    struct Row {
        const char *text, *halide;
        int vector_bytes, registers;
    };
    constexpr Row rows[] = {
        {"host", host, 32, 16},
        {"baseline", "x86-64-linux", 16, 16},
        {"sse41", "x86-64-linux-sse41", 16, 16},
        {"avx2", "x86-64-linux-avx-avx2-f16c-fma-sse41", 32, 16},
        {"avxvnni", "x86-64-linux-avx-avx2-avxvnni-f16c-fma-sse41", 32, 16},
        {"avx512", "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41", 64, 32},
        {"avx512vnni", "x86-64-linux-avx-avx2-avx512-avx512_cannonlake-avx512_icelake-avx512_skylake-f16c-fma-sse41",
         64, 32},
        {"x86-64-linux-sse41-fma-avx-avx", "x86-64-linux-avx-fma-sse41", 32, 16},
        {"arm-64-linux", "arm-64-linux", 16, 32},
        {"arm-32-linux-no_neon", "arm-32-linux-no_neon", 4, 16},
        {"riscv-64-linux-rvv-vector_bits_128", "riscv-64-linux-rvv-vector_bits_128", 16, 32},
        {"wasm-32-wasmrt-wasm_simd128", "wasm-32-wasmrt-wasm_simd128", 16, 16},
        {"wasm-32-wasmrt", "wasm-32-wasmrt", 4, 16},
        {"powerpc-64-linux", "powerpc-64-linux", 16, 32},
        {"arm-32-linux", "arm-32-linux", 16, 16},
        {"x86-64-linux-avx", "x86-64-linux-avx", 32, 16},
        {"x86-64-linux-avx2", "x86-64-linux-avx2", 32, 16},
        {"x86-64-linux-avx512_knl", "x86-64-linux-avx512_knl", 64, 32},
        {"x86-64-linux-avx512_zen5", "x86-64-linux-avx512_zen5", 64, 32},
        {"x86-64-linux-avx10_1", "x86-64-linux-avx10_1", 64, 32},
        {"x86-64-linux-avx512_sapphirerapids", "x86-64-linux-avx512_sapphirerapids", 64, 32},
    };
    for (const Row &row : rows) {
        const auto target = parse_target(row.text, 2, host);
        ASSERT_TRUE(target) << target.error().message;
        EXPECT_EQ(target->halide, row.halide);
        EXPECT_EQ(vector_bytes(*target), row.vector_bytes) << row.text;
        EXPECT_EQ(vector_registers(*target), row.registers) << row.text;
    }
    EXPECT_EQ(to_text(*parse_target("sse41", 2, host)), "x86-64-linux-sse41/threads:2");
}

TEST(Target, SoftCoresRunAnywhereInOneThread) {
    for (const char *text : {"rv32im", "riscv-32-noos"}) {
        const auto target = parse_target(text, 1, host);
        ASSERT_TRUE(target) << target.error().message;
        EXPECT_EQ(target->halide, "riscv-32-noos");
        EXPECT_TRUE(is_soft_core(*target));
        EXPECT_EQ(vector_bytes(*target), 4);
        EXPECT_TRUE(missing_features(*target, host).empty());
        const auto threads = parse_target(text, 2, host);
        ASSERT_FALSE(threads);
        EXPECT_NE(threads.error().message.find("a soft core runs one thread; got 2"), std::string::npos);
    }
    EXPECT_FALSE(is_soft_core(*parse_target("riscv-64-linux-rvv-vector_bits_128", 1, host)));
    EXPECT_FALSE(is_soft_core(*parse_target("host", 1, host)));
}

TEST(Target, RefusesWithTheWayOut) {
    for (const char *text :
         {"", "avx3", "x86", "x86-64", "x86-16-linux", "x86-64-dos", "x86-64-linux-avx7", "x86-64-linux-",
          "x86-64-linux-vector_bits_", "riscv-64-linux-vector_bits_99999999999999999999", "host-avx2"}) {
        const auto target = parse_target(text, 1, host);
        ASSERT_FALSE(target) << text;
        EXPECT_EQ(target.error().code, ErrorCode::usage);
    }
    EXPECT_FALSE(parse_target("host", 0, host));
    EXPECT_FALSE(parse_target("host", 100000, host));
}

TEST(Target, MissingFeatures) {
    EXPECT_TRUE(missing_features(*parse_target("avx2", 1, host), host).empty());
    EXPECT_TRUE(missing_features(*parse_target("baseline", 1, host), host).empty());
    EXPECT_EQ(missing_features(*parse_target("avx512", 1, host), host),
              (std::vector<std::string>{"avx512", "avx512_skylake"}));
    EXPECT_EQ(missing_features(*parse_target("arm-64-linux", 1, host), host), (std::vector<std::string>{"arm"}));
    // Zen 4 and Sapphire Rapids have what Ice Lake has, and their strings do not name it.
    for (const std::string feature : {"avx512_zen4", "avx512_sapphirerapids", "avx512_icelake"}) {
        const std::string later =
            "x86-64-linux-avx-avx2-avx512-avx512_cannonlake-avx512_skylake-f16c-fma-sse41-" + feature;
        EXPECT_TRUE(missing_features(*parse_target("avx512vnni", 1, host), later).empty()) << feature;
    }
    const std::string cannonlake = "x86-64-linux-avx-avx2-avx512-avx512_cannonlake-avx512_skylake-f16c-fma-sse41";
    EXPECT_EQ(missing_features(*parse_target("avx512vnni", 1, host), cannonlake),
              (std::vector<std::string>{"avx512_icelake"}));
    EXPECT_EQ(missing_features(*parse_target("x86-64-linux-avx512_zen4", 1, host), cannonlake + "-avx512_icelake"),
              (std::vector<std::string>{"avx512_zen4"}));
}

TEST(Machine, KeyIsFrozen) {
    Machine machine;
    machine.cpu_id = "GenuineIntel-6-143-8";
    machine.cpu_model = "Intel(R) Xeon(R) Platinum";
    machine.cores = 2;
    machine.l1_bytes = 49152, machine.l2_bytes = 2097152, machine.l3_bytes = 110100480;
    EXPECT_EQ(key(machine), "GenuineIntel-6-143-8/l1:49152/l2:2097152/l3:110100480/cores:2/Intel(R) Xeon(R) Platinum");
}

TEST(MachineKey, ReadsBack) {
    Machine machine = {.cpu_model = "A/CPU @ 2.0 GHz",
                       .cpu_id = "AuthenticAMD-25-17-1",
                       .cores = 12,
                       .l1_bytes = 49152,
                       .l2_bytes = 2 << 20,
                       .l3_bytes = 0,
                       .halide_target = ""};
    EXPECT_EQ(parse_machine_key(key(machine)), machine);
    machine.cpu_model.clear();
    EXPECT_EQ(parse_machine_key(key(machine)), machine);
    for (const char *text :
         {"", "x", "/l1:1/l2:1/l3:1/cores:1/m", "x/l1:1/l2:1/l3:1/m", "x/l1:/l2:1/l3:1/cores:1/m",
          "x/l1:-1/l2:1/l3:1/cores:1/m", "x/l2:1/l1:1/l3:1/cores:1/m", "x/l1:1x/l2:1/l3:1/cores:1/m"}) {
        EXPECT_EQ(parse_machine_key(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace kiln
