// What `kiln bench` counted of kernels for a soft core, as a table and as `bench/1` JSON: counts in place of times. Where the
// engine's values say nanoseconds, they are cycles.
#pragma once

#include <string>
#include <vector>

#include "cli/answers/answer.h"
#include "compare/bench.h"
#include "workload/lists/workload_list.h"
#include "workload/target.h"

namespace kiln {

struct CoreReport {
    std::vector<NamedWorkload> workloads;
    std::vector<Layer> layers;  // one each
    Target target;
    std::string core;  // its key
};

// The columns of the table, known before anything is counted.
std::vector<std::string> core_columns();

// The last row of several has what all calls of a network take.
Table core_table(const CoreReport &report);
void print_table(const CoreReport &report, const AnswerOptions &options);
std::string json_text(const CoreReport &report);

}  // namespace kiln
