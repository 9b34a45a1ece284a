#include "cli/layer_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "cli/network/network_layers.h"
#include "text/shell_word.h"
#include "workload/lists/glob.h"

namespace kiln {
Result<std::vector<NamedWorkload>> filtered(const LayerOptions &options, NetworkLayers network) {
    std::vector<NamedWorkload> chosen;
    std::vector<std::string> names;
    for (NamedWorkload &layer : network.layers) {
        names.push_back(layer.list + "/" + layer.name);
        if (glob_match(options.workloads.filter, names.back())) chosen.push_back(std::move(layer));
    }
    if (names.empty()) return bad_input(fmt::format("{}: {}; nothing to do", options.network.file, network.note));
    if (chosen.empty()) return no_match(options.workloads.filter, "layer", names);
    return chosen;
}

Status check(const LayerOptions &options) {
    const bool of_lists = !options.workloads.files.empty();
    if (of_lists && options.of_network()) return usage_error("--workloads and --network exclude each other; leave one");
    if (!of_lists && !options.of_network()) return usage_error("needs --workloads FILE... or --network M.onnx");
    if (of_lists && !options.network.shapes.empty()) return usage_error("--shape needs --network");
    if (of_lists && !options.network.constants.empty()) return usage_error("--constant needs --network");
    if (of_lists && options.network.batch != 1) return usage_error("--batch needs --network");
    if (of_lists && !options.network.outputs.empty()) return usage_error("--outputs needs --network");
    if (of_lists && !options.network.alterations.empty()) return usage_error("--alterations needs --network");
    if (of_lists && options.network.prepares_input) return usage_error("--prepare-input needs --network");
    return {};
}

void add_options(CLI::App &command, LayerOptions &options) {
    add_options(command, options.workloads);
    command.get_option("--workloads")->required(false);
    add_network_options(command, options.network);
}

Result<std::vector<NamedWorkload>> read(const LayerOptions &options) {
    if (Status s = check(options); !s) return s.error();
    if (!options.of_network()) return read(options.workloads);
    Result<NetworkLayers> network = read_layers(options.network);
    if (!network) return network.error();
    return filtered(options, std::move(*network));
}

Result<std::vector<NamedWorkload>> read_to_tune(const LayerOptions &options, const ChoiceContext &context) {
    if (Status s = check(options); !s) return s.error();
    if (!options.of_network()) return read(options.workloads);
    Result<NetworkLayers> network = read_layers_to_tune(options.network, context);
    if (!network) return network.error();
    return filtered(options, std::move(*network));
}

int fail(const LayerOptions &options, const Error &error) {
    return options.of_network() ? fail_in_lines(error) : fail(error);
}

std::string command_text(const LayerOptions &options) {
    std::string text = options.of_network() ? "--network " + shell_word(options.network.file) : "--workloads";
    for (const std::string &file : options.workloads.files) text += " " + shell_word(file);
    const std::string &filter = options.workloads.filter;
    if (!options.of_network() && filter != WorkloadOptions().filter) text += " --filter " + shell_word(filter);
    for (const std::string &shape : options.network.shapes) text += " --shape " + shell_word(shape);
    for (const std::string &constant : options.network.constants) text += " --constant " + shell_word(constant);
    if (options.network.batch != 1) text += fmt::format(" --batch {}", options.network.batch);
    for (const std::string &output : options.network.outputs) text += " --outputs " + shell_word(output);
    for (const std::string &library : options.network.alterations) text += " --alterations " + shell_word(library);
    if (options.network.prepares_input) text += " --prepare-input";
    return text;
}

}  // namespace kiln
