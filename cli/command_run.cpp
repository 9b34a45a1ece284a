#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cli/answers/output.h"
#include "cli/command.h"
#include "cli/network/input_files.h"
#include "cli/network/network_options.h"
#include "cli/network/network_program.h"
#include "cli/network/network_workshop.h"
#include "package/output/output_places.h"
#include "package/package.h"
#include "text/quoted_text.h"
#include "tuner/process/host_machine.h"
#include "tuner/process/interrupt.h"

namespace kiln {
namespace fs = std::filesystem;

namespace {

struct RunArguments {
    NetworkOptions network;
    TargetOptions target;
    AlgorithmFilter algorithms;
    std::vector<std::string> inputs;
    std::string db, output;
};

Status make_folder(const std::string &path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (fs::is_directory(path, error)) return {};
    return environment_error(fmt::format("{}: cannot be made: {}", path, error.message()));
}

// The elements that the runner wrote, with a header before them.
Status keep_output(const network::Port &port, const std::string &elements, const fs::path &to) {
    errno = 0;
    std::ifstream from(elements, std::ios::binary);
    std::ofstream file(to, std::ios::binary | std::ios::trunc);
    file << npy_header(npy_descr(port.form.type), port.form.shape);
    if (from.peek() != std::ifstream::traits_type::eof()) file << from.rdbuf();
    file.close();
    if (from && file) return {};
    return environment_error(
        fmt::format("{}: cannot be written: {}", to.string(), std::strerror(errno != 0 ? errno : EIO)));
}

std::string shape_text(const graph::Shape &shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

// The files of one call, elements alone.
struct CallFiles {
    std::vector<std::string> inputs, outputs;
};

Result<CallFiles> write_inputs(const std::vector<NpyArray> &arrays, size_t outputs, const std::string &folder) {
    CallFiles files;
    for (const NpyArray &array : arrays) {
        files.inputs.push_back(fmt::format("{}/input{}.bin", folder, files.inputs.size()));
        if (Status s = write_elements(files.inputs.back(), array); !s) return s.error();
    }
    for (size_t i = 0; i < outputs; i++) files.outputs.push_back(fmt::format("{}/output{}.bin", folder, i));
    return files;
}

int run_network(const RunArguments &arguments, const network::Program &program, const std::vector<NpyArray> &inputs,
                NetworkWorkshop &workshop) {
    Result<NetworkBuild> build = workshop.build(program);
    if (!build) return fail(build.error());
    if (const auto *unbuilt = std::get_if<Unbuilt>(&*build)) {
        tell(unbuilt->reason);
        return exit_failed;
    }
    const auto &built = std::get<BuiltNetwork>(*build);
    if (built.untuned) tell(fmt::format("{}: untuned; `kiln tune --network` finds faster kernels", program.name));
    const Result<CallFiles> files = write_inputs(inputs, program.outputs.size(), workshop.folder());
    if (!files) return fail(files.error());
    const Result<Attempt<NetworkRunReport>> ran = workshop.runner().run({.files = built.files,
                                                                         .threads = arguments.target.threads,
                                                                         .inputs = files->inputs,
                                                                         .outputs = files->outputs});
    if (!ran) return fail(ran.error());
    if (!ran->ok()) {
        tell(fmt::format("{}: {}: {}", program.name, name(ran->failure().status), ran->failure().message));
        return exit_failed;
    }
    if (Status s = make_folder(arguments.output); !s) return fail(s.error());
    const std::vector<std::string> names = output_file_names(program.outputs);
    for (size_t i = 0; i < names.size(); i++) {
        const fs::path path = fs::path(arguments.output) / names[i];
        if (Status s = keep_output(program.outputs[i], files->outputs[i], path); !s) return fail(s.error());
        print_line(fmt::format("{}  {} {}", path.string(), graph::name(program.outputs[i].form.type),
                               shape_text(program.outputs[i].form.shape)));
    }
    return exit_done;
}

int run(const RunArguments &arguments) {
    if (Status s = check_names(arguments.algorithms, arguments.network); !s) return fail(s.error());
    const Machine machine = read_machine();
    const Result<Target> target = read_runnable(arguments.target, machine);
    if (!target) return fail(target.error());
    const Result<std::optional<TrialStore>> opened = open_if_named(arguments.db);
    if (!opened) return fail(opened.error());
    ChoiceContext context{.target = *target,
                          .machine = machine,
                          .store = *opened ? &**opened : nullptr,
                          .toolchain = "",
                          .algorithms = arguments.algorithms,
                          .caches = caches_of_networks};
    const Result<network::Program> program = read_program(arguments.network, context);
    if (!program) return fail_in_lines(program.error());
    const Result<std::vector<NpyArray>> inputs = read_inputs(program->inputs, arguments.inputs);
    if (!inputs) return fail_in_lines(inputs.error());
    // Before the network is built, which may take minutes.
    if (Status s = check_output_folder(arguments.output); !s) return fail(s.error());
    if (Status s = check_package_tools(); !s) return fail(s.error());
    install_interrupt_handler();
    Result<Workshop> workshop = make_workshop();
    if (!workshop) return fail(workshop.error());
    context.toolchain = workshop->builder->toolchain();
    Result<PackageParts> parts = package_parts(*workshop);
    if (!parts) return fail(parts.error());
    NetworkWorkshop networks(*workshop, context, std::move(*parts));
    return run_network(arguments, *program, *inputs, networks);
}

}  // namespace

void add_run_command(CLI::App &app, Action &action) {
    auto arguments = std::make_shared<RunArguments>();
    CLI::App *command = app.add_subcommand("run", "Compute a network once, on inputs from .npy files");
    command->add_option("--network", arguments->network.file, "An ONNX model")->required()->type_name("M.onnx");
    add_model_options(*command, arguments->network);
    add_alterations_option(*command, arguments->network);
    command
        ->add_option("--input", arguments->inputs, "An array for an input; the name may be left out where there is one")
        ->type_name("[NAME=]FILE.npy");
    command->add_option("-o,--output", arguments->output, "Folder for the outputs, each as NAME.npy")
        ->required()
        ->type_name("DIR");
    command->add_option("--db", arguments->db, "Database with recorded trials; without it everything is untuned")
        ->type_name("FILE");
    add_algorithm_options(*command, arguments->algorithms);
    add_options(*command, arguments->target);
    command->footer(
        "Examples:\n"
        "  kiln run --network m.onnx --input x.npy -o out\n"
        "  kiln run --network m.onnx --db kiln.db --input left=l.npy --input right=r.npy -o out");
    command->callback([&action, arguments] {
        arguments->network.without = arguments->algorithms.without;
        action = [arguments] { return run(*arguments); };
    });
}

}  // namespace kiln
