#include "cli/network/network_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/network/network_program.h"
#include "text/quoted_text.h"

namespace kiln {
namespace {

// A share of a network's time: less is not worth twice as many kernels to tune.
constexpr double worthwhile_gain = 0.01;
constexpr double odds_of_hopes = 0.25;

void add_hopes(NetworkLayers hoped_for, NetworkLayers *layers) {
    for (NamedWorkload &layer : hoped_for.layers) {
        const auto is_same = [&](const NamedWorkload &other) { return other.workload == layer.workload; };
        layer.odds = odds_of_hopes;
        if (std::ranges::none_of(layers->layers, is_same)) layers->layers.push_back(std::move(layer));
    }
}

}  // namespace

NetworkLayers layers_of(std::span<const network::Program *const> programs) {
    NetworkLayers result;
    size_t steps = 0;
    for (const network::Program *program : programs) {
        steps += program->steps.size();
        for (const network::Step &step : program->steps) {
            const auto *call = std::get_if<network::KernelCall>(&step.work);
            if (!call) continue;
            result.layers.push_back(
                {.list = program->name, .name = quoted_line(step.name), .workload = call->workload});
        }
    }
    const size_t calls = result.layers.size(), copies = steps - calls;
    result.layers = merge_equal(result.layers);
    result.note = fmt::format("{} calls of {} distinct kernels", calls, result.layers.size());
    if (copies > 0) result.note += fmt::format(", {} copies", copies);
    return result;
}

NetworkLayers layers_of(const network::Program &program) {
    const network::Program *const one[] = {&program};
    return layers_of(one);
}

NetworkLayers layers_of(const NetworkPrograms &programs) {
    std::vector<const network::Program *> all = {&programs.network};
    if (programs.preparation) all.push_back(&*programs.preparation);
    return layers_of(all);
}

Result<NetworkLayers> read_layers(const NetworkOptions &options) {
    const Result<graph::Graph> graph = read(options);
    if (!graph) return graph.error();
    const Result<NetworkPrograms> programs = programs_of(*graph, options);
    if (!programs) return programs.error();
    return layers_of(*programs);
}

Result<NetworkLayers> read_layers_to_tune(const NetworkOptions &options, const ChoiceContext &context) {
    const Result<graph::Graph> graph = read(options);
    if (!graph) return graph.error();
    if (is_soft_core(context.target)) {
        // Its algorithms for layers are channels-last, and alterations are not used.
        const Result<NetworkPrograms> programs = programs_of(*graph, options, choice_for(context));
        if (!programs) return programs.error();
        return layers_of(*programs);
    }
    const network::LayoutPrices known = prices_for(context);
    network::LayoutPrices hopes = known;
    hopes.unmeasured = network::Unmeasured::as_fast;
    const Result<NetworkPrograms> used = programs_of(*graph, options, {known, known});
    if (!used) return used.error();
    NetworkLayers layers = layers_of(*used);
    const Result<NetworkPrograms> hoped_for = programs_of(*graph, options, {hopes, known});
    if (!hoped_for) return hoped_for.error();
    const double cost_ns = used->network.layouts.cost_ns;
    if (hoped_for->network.layouts.cost_ns <= (1 - worthwhile_gain) * cost_ns)
        add_hopes(layers_of(*hoped_for), &layers);
    // Both sides of an alteration, so that times decide about it.
    for (const ProgramChoice &choice : {ProgramChoice{known, hopes}, ProgramChoice{known, known, false}}) {
        const Result<NetworkPrograms> other = programs_of(*graph, options, choice);
        if (!other) return other.error();
        add_hopes(layers_of(*other), &layers);
    }
    return layers;
}

std::string network_name(const std::string &file) {
    const std::string stem = quoted_line(std::filesystem::path(file).stem().string());
    return stem.empty() ? "network" : stem;
}

}  // namespace kiln
