// A network on the command line: an ONNX model and the shapes of its inputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "graph/lower/lower.h"
#include "graph/onnx/model.h"
#include "workload/result.h"

namespace CLI {
class App;
}

namespace kiln {

struct NetworkOptions {
    std::string file;
    std::vector<std::string> shapes;            // NAME=1x3x480x480
    std::vector<std::string> constants = {};    // --constant: NAME=16000, NAME=1,2,3
    std::vector<std::string> outputs = {};      // --outputs: values of the model in place of its outputs; empty: those
    std::vector<std::string> alterations = {};  // --alterations: shared libraries
    std::string without = {};                   // --without: a glob over names of alterations; empty: all may be used
    bool prepares_input = false;                // --prepare-input
    int64_t batch = 1;                          // --batch: images at once; 1: the model as it is
};
void add_model_options(CLI::App &command, NetworkOptions &options);  // --shape, --constant, --batch, --outputs
void add_alterations_option(CLI::App &command, NetworkOptions &options);
void add_prepare_option(CLI::App &command, NetworkOptions &options);
void add_network_options(CLI::App &command, NetworkOptions &options);  // all of them, --network too

// Errors (usage): the text is no shape; the message shows how one is written.
Result<graph::InputShape> parse_input_shape(const std::string &text);

// Errors (usage): the text is no list of finite numbers; the message shows how one is written.
Result<graph::InputConstant> parse_input_constant(const std::string &text);

// Makes named values the outputs of a model, so that it ends there. Errors (usage): the model has no such value, or it is named
// twice.
Status choose_outputs(const std::vector<std::string> &names, graph::onnx::Model *model);

// Inputs that --constant makes constants, for what runs the model itself. Errors are some of those of read().
Result<std::vector<graph::ConstantInput>> read_constants(const NetworkOptions &options);

// The graph before any pass. An error begins with the file, and has a line for each thing that stands in the way.
Result<graph::Graph> read(const NetworkOptions &options);

}  // namespace kiln
