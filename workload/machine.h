// The machine that measures: CPU model, caches, cores, features. Results depend on these facts, and defaults are computed
// from them. They are an argument everywhere; tuner/process/host_machine.h reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kiln {

struct Machine {
    std::string cpu_model;  // brand string of the CPU, blanks collapsed
    std::string cpu_id;     // vendor-family-model-stepping, "AuthenticAMD-25-17-1"
    int cores = 1;          // that this process may use
    int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20, l3_bytes = 0;  // data caches; L3 is 0 where there is none
    std::string halide_target;  // canonical Halide target string of this CPU: features it has and the system enabled

    bool operator==(const Machine &) const = default;
};

// The fingerprint: the text that the database compares. Two machines with equal keys may share measurements.
//   "AuthenticAMD-25-17-1/l1:32768/l2:1048576/l3:33554432/cores:2/AMD EPYC"
std::string key(const Machine &machine);

// The machine that has this key, all but its Halide target, which keys leave out; nothing where the text is no such key.
std::optional<Machine> parse_machine_key(std::string_view text);

}  // namespace kiln
