#include "cli/network/network_program.h"

#include <fmt/format.h>

#include "cli/network/network_layers.h"
#include "graph/passes/passes.h"
#include "network/emit.h"
#include "text/quoted_text.h"

namespace kiln {

Result<graph::Graph> read_graph(const NetworkOptions &options) {
    const Result<graph::Graph> network = read(options);
    if (!network) return network.error();
    return graph::run_passes(*network);
}

Result<network::Program> program_of(const graph::Graph &graph, const NetworkOptions &options,
                                    const network::LayoutPrices &prices) {
    Result<network::Program> program = network::emit(graph, prices);
    if (!program) {
        return Error{program.error().code, fmt::format("{}: {}", quoted_line(options.file), program.error().message)};
    }
    program->name = network_name(options.file);
    return program;
}

Result<network::Program> read_program(const NetworkOptions &options, const ChoiceContext &context) {
    const Result<graph::Graph> graph = read_graph(options);
    if (!graph) return graph.error();
    return program_of(*graph, options, {.times = kernel_times(context)});
}

network::KernelTimes kernel_times(const ChoiceContext &context) {
    if (context.store == nullptr) return {};
    return [&context](const Workload &workload) -> std::optional<double> {
        const auto usable = usable_algorithms(workload, context);
        if (!usable || usable->empty()) return std::nullopt;
        const Result<CandidateChoice> choice = choose_candidate(workload, *usable, context);
        if (!choice || !choice->best) return std::nullopt;
        return choice->best->measurement.median;
    };
}

}  // namespace kiln
