#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "cli/answers/output.h"
#include "cli/command.h"
#include "cli/network/network_layers.h"
#include "cli/network/network_options.h"
#include "package/output/text_files.h"
#include "workload/lists/workload_list_text.h"

namespace kiln {
namespace {

struct ImportArguments {
    NetworkOptions network;
    std::string output;
};

int run(const ImportArguments &arguments) {
    const Result<NetworkLayers> network = read_layers(arguments.network);
    if (!network) return fail_in_lines(network.error());
    if (network->layers.empty()) {
        return fail(bad_input(fmt::format("{}: {}; nothing to write", arguments.network.file, network->note)));
    }
    const std::string text = workload_list_text(network_name(arguments.network.file), network->layers);
    if (arguments.output.empty()) {
        print_document(text);
    } else if (Status s = write_text(std::filesystem::absolute(arguments.output), text); !s) {
        return fail(s.error());
    }
    tell(fmt::format("{}: {}", arguments.network.file, network->note));
    return exit_done;
}

}  // namespace

void add_import_command(CLI::App &app, Action &action) {
    auto arguments = std::make_shared<ImportArguments>();
    CLI::App *command = app.add_subcommand("import", "Write the layers of an ONNX model as a workload list");
    command->add_option("MODEL", arguments->network.file, "The model; external data beside it")
        ->required()
        ->type_name("M.onnx");
    command->add_option("-o,--output", arguments->output, "The workload list; without it, stdout")->type_name("FILE");
    add_model_options(*command, arguments->network);
    command->footer(
        "Examples:\n"
        "  kiln import resnet50.onnx -o layers.json\n"
        "  kiln import ocr.onnx --shape x=1x3x480x480 -o layers.json\n"
        "  kiln tune --workloads layers.json --db kiln.db --time 20m\n"
        "`kiln tune --network` and others read a model themselves; a list can be edited and shared.");
    command->callback([&action, arguments] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace kiln
