// The program of a network on the command line: the model behind all passes, as kernel calls.
#pragma once

#include "cli/network/network_options.h"
#include "network/layout_costs.h"
#include "network/program.h"
#include "tuner/job/candidate_choice.h"
#include "workload/result.h"

namespace kiln {

// Errors begin with the file and may have several lines: what the model has that kiln cannot compute (unsupported), or what is wrong
// with it or with the shapes.
Result<graph::Graph> read_graph(const NetworkOptions &options);
Result<network::Program> program_of(const graph::Graph &graph, const NetworkOptions &options,
                                    const network::LayoutPrices &prices = {});

// Both. Its layouts are chosen by the times that the context's database has; without a database all are estimated.
Result<network::Program> read_program(const NetworkOptions &options, const ChoiceContext &context);

// Times of the kernels that the context would choose. It outlives them. Where the database cannot be read, nothing is measured.
network::KernelTimes kernel_times(const ChoiceContext &context);

}  // namespace kiln
