#include "tuner/process/host_machine.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "runtime/cpu_features.h"
#include "workload/target.h"

namespace kiln {
namespace {

TEST(HostMachine, HasPlausibleFacts) {
    const Machine machine = read_machine();
    EXPECT_GE(machine.cores, 1);
    EXPECT_GE(machine.l1_bytes, 4 << 10);
    EXPECT_GE(machine.l2_bytes, machine.l1_bytes);
    EXPECT_TRUE(parse_target("host", 1, machine.halide_target)) << machine.halide_target;
    EXPECT_EQ(key(machine), key(read_machine()));
}

#if defined(__x86_64__)
// The first line of /proc/cpuinfo that begins so, after its colon.
std::string cpuinfo(const std::string &field) {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(field + "\t")) return line.substr(line.find(':') + 2);
    }
    return "";
}

// Linux decodes CPUID, too.
TEST(HostMachine, IsTheOneThatLinuxDescribes) {
    const Machine machine = read_machine();
    EXPECT_EQ(machine.cpu_id,
              cpuinfo("vendor_id") + "-" + cpuinfo("cpu family") + "-" + cpuinfo("model") + "-" + cpuinfo("stepping"));
    std::istringstream words(cpuinfo("model name"));
    std::string model;
    for (std::string word; words >> word;) model += (model.empty() ? "" : " ") + word;
    EXPECT_EQ(machine.cpu_model, model);
}

TEST(HostMachine, HasTheFeaturesThatLinuxLists) {
    const std::pair<const char *, const char *> flags[] = {
        {"sse41", "sse4_1"},
        {"avx", "avx"},
        {"f16c", "f16c"},
        {"fma", "fma"},
        {"avx2", "avx2"},
        {"avx512", "avx512cd"},
        {"avx512_skylake", "avx512vl"},
        {"avx512_cannonlake", "avx512vbmi"},
    };
    const std::string listed = " " + cpuinfo("flags") + " ";
    const Target target{read_machine().halide_target};
    for (const auto &[halide, flag] : flags) {
        EXPECT_EQ(has_feature(target, halide), listed.find(" " + std::string(flag) + " ") != std::string::npos) << flag;
    }
}
#endif

}  // namespace
}  // namespace kiln
