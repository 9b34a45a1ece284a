// What each step of a network runs, for people: `kiln explain --network M.onnx --pass plan`.
#pragma once

#include <string>
#include <vector>

#include "cli/answers/table.h"
#include "cli/network/peer_steps.h"
#include "network/program.h"
#include "tuner/job/candidate_choice.h"

namespace kiln {

extern const std::vector<std::string> plan_columns;

// A row for each step: which of the model's nodes it computes, and the candidate that `build` would choose.
Table plan_table(const network::Program &program, const ChoiceContext &context);
TableForm plan_form();

// The same with the time of each step, and what peers spend on its nodes.
struct StepTimes {
    std::vector<double> ns;  // in the order of the steps
    std::vector<PeerSteps> peers;
};
Table timed_plan_table(const network::Program &program, const ChoiceContext &context, const StepTimes &times);
TableForm timed_plan_form(const std::vector<std::string> &peers);
std::vector<std::string> timed_plan_columns(const std::vector<std::string> &peers);

std::string step_kind(const network::Step &step);  // "conv2d", "move", "copy"...

// Lines: calls, what only moves data, and the memory beside its lower bound.
std::vector<std::string> plan_summary(const network::Program &program);

}  // namespace kiln
