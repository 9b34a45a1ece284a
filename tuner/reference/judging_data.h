// What the kernels of a workload are judged by, in files: random operands, and what a kernel has to make of them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "workload/result.h"
#include "workload/workload.h"

namespace kiln {

struct JudgingFiles {
    std::vector<std::string> operands;  // in the order of operand_list()
    std::string expected, magnitude;    // of Reference, as doubles
};

// Ordinary data, other ordinary data, data of wide range. Of a large layer this takes long and much memory. Errors: a file
// cannot be written (environment), or as check_reference().
Status write_judging_data(const Workload &workload, const std::array<JudgingFiles, 3> &files);

}  // namespace kiln
