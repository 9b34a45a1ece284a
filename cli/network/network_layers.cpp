#include "cli/network/network_layers.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/network/network_program.h"
#include "text/quoted_text.h"

namespace kiln {
NetworkLayers layers_of(const network::Program &program) {
    NetworkLayers result;
    for (const network::Step &step : program.steps) {
        const auto *call = std::get_if<network::KernelCall>(&step.work);
        if (!call) continue;
        result.layers.push_back({.list = program.name, .name = quoted_line(step.name), .workload = call->workload});
    }
    const size_t calls = result.layers.size(), copies = program.steps.size() - calls;
    result.layers = merge_equal(result.layers);
    result.note = fmt::format("{} calls of {} distinct kernels", calls, result.layers.size());
    if (copies > 0) result.note += fmt::format(", {} copies", copies);
    return result;
}

Result<NetworkLayers> read_layers(const NetworkOptions &options) {
    const Result<network::Program> program = read_program(options);
    if (!program) return program.error();
    return layers_of(*program);
}

std::string network_name(const std::string &file) {
    const std::string stem = quoted_line(std::filesystem::path(file).stem().string());
    return stem.empty() ? "network" : stem;
}

}  // namespace kiln
