// Who has the last word on a soft core: the model, or a program that runs kernels, such as the core's hardware description.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "tuner/job/workshop.h"
#include "workload/result.h"

namespace kiln {

struct JudgeOptions {
    std::string judge = "model", rtl;
};

// `what`: what that program does in this command.
void add_options(CLI::App &command, JudgeOptions &options, const std::string &what);

// The path of the program that --judge rtl asks for; empty: the model alone judges. Errors (usage): not on a soft core;
// (environment): there is no such program.
Result<std::string> core_judge(const JudgeOptions &options, const SimulatedCore &core);

}  // namespace kiln
