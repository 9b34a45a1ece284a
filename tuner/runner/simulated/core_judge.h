// The program that runs kernels in the place of the simulator. It gets the path of an executable for RV32IM of at most 16 MiB,
// and prints
//   {"marked": [{"cycles": 812345, "instructions": 512345, ...}], "hash": 123456}
// what it counted between the marks, and the word at the beginning of the last segment, once the third mark was reached
// (Simulator::program_of()). bench/rtl/vexriscv.cpp is one.
#pragma once

#include <cstdint>
#include <string>

#include "tuner/protocol/runner_protocol.h"
#include "workload/result.h"

namespace kiln {

struct JudgedCounts {
    int64_t cycles = 0, instructions = 0;
    uint32_t hash = 0;
    std::string counts;  // JSON: everything that it told of the stretch
};

// What the judge says of an executable. Errors (environment): it fails, takes too long, or prints something else; the message
// names it.
Result<JudgedCounts> ask_judge(const CoreJudge &judge, const std::string &executable);

// Names the judge's own file, since its counts are as good as it.
Result<std::string> digest_of_judge(const CoreJudge &judge);

}  // namespace kiln
