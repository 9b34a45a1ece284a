#include "cli/network/network_program.h"

#include <fmt/format.h>

#include "cli/network/network_layers.h"
#include "graph/passes/passes.h"
#include "network/emit.h"
#include "text/quoted_text.h"

namespace kiln {

Result<network::Program> read_program(const NetworkOptions &options) {
    const Result<graph::Graph> network = read(options);
    if (!network) return network.error();
    const Result<graph::Graph> graph = graph::run_passes(*network);
    if (!graph) return graph.error();
    Result<network::Program> program = network::emit(*graph);
    if (!program) {
        return Error{program.error().code, fmt::format("{}: {}", quoted_line(options.file), program.error().message)};
    }
    program->name = network_name(options.file);
    return program;
}

}  // namespace kiln
