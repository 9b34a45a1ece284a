// The files that a network reads and writes on the command line, `--input [NAME=]x.npy` and DIR/NAME.npy.
#pragma once

#include <string>
#include <vector>

#include "check/npy.h"
#include "network/program.h"
#include "workload/result.h"

namespace kiln {

// One array for each input of the network, in their order. A file needs no name where there is one input. The error (usage or
// bad input) has a line for everything that is missing, unknown or does not fit, each with the way out.
Result<std::vector<NpyArray>> read_inputs(const std::vector<network::Port> &inputs,
                                          const std::vector<std::string> &files);

// A file name for each output: its name, with `_` for what a file name cannot have. Where that is taken, a number follows: the
// outputs `a/b` and `a_b` are a_b_2.npy and a_b.npy.
std::vector<std::string> output_file_names(const std::vector<network::Port> &outputs);

}  // namespace kiln
