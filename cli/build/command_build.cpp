#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <iterator>

#include "cli/answers/output.h"
#include "cli/build/build_report.h"
#include "cli/clock.h"
#include "cli/command.h"
#include "cli/layer_options.h"
#include "cli/network/network_layers.h"
#include "cli/network/network_program.h"
#include "package/c/c_budget.h"
#include "package/c/c_network_package.h"
#include "package/c/c_package.h"
#include "package/network/network_package.h"
#include "package/output/package_name.h"
#include "package/package.h"
#include "package/package_kernels.h"
#include "tuner/build/expected_builds.h"
#include "tuner/process/host_machine.h"
#include "tuner/process/interrupt.h"

namespace kiln {
namespace {

struct BuildArguments {
    LayerOptions layers;
    TargetOptions targets;  // several, separated by commas
    AlgorithmFilter algorithms;
    double error_budget = default_error_budget;
    std::string db, name, output, weights = "file";
    std::optional<std::string> given_name;
    bool fallback = false;
    std::string max_text, max_stack, max_workspace;  // as written; empty: unlimited
};

// What the package is for, and who runs its kernels: this machine, or a simulated core.
struct Places {
    std::vector<Target> targets;
    Machine machine;
    SimulatedCore core;
};

// Every kernel is checked on this machine before it ships, so it must run here.
Result<std::vector<Target>> read_targets(const TargetOptions &options, const Machine &machine) {
    std::vector<Target> targets;
    for (size_t begin = 0; begin <= options.target.size();) {
        const size_t end = std::min(options.target.find(',', begin), options.target.size());
        TargetOptions one = options;
        one.target = options.target.substr(begin, end - begin);
        begin = end + 1;
        const Result<Target> target = read(one, machine);
        if (!target) return target.error();
        if (is_soft_core(*target)) {
            return Error{
                ErrorCode::usage,
                fmt::format("target {} is a soft core, whose package is C sources for nothing else; build it on "
                            "its own",
                            one.target)};
        }
        const std::vector<std::string> missing = missing_features(*target, machine.halide_target);
        if (!missing.empty()) {
            return usage_error(
                fmt::format("target {} does not run on this machine, which lacks {}; a package's kernels "
                            "are checked where it is built, so build it on a machine that has them",
                            one.target, fmt::join(missing, ", ")));
        }
        const Result<Target> runnable = read_runnable(one, machine);
        if (!runnable) return runnable.error();
        if (std::find(targets.begin(), targets.end(), *target) == targets.end()) targets.push_back(*target);
    }
    return targets;
}

Result<Places> read_places(const TargetOptions &options) {
    const Machine machine = read_machine();
    const bool is_one = options.target.find(',') == std::string::npos;
    const Result<Target> target = is_one ? read(options, machine) : Result<Target>(Target());
    if (!target) return target.error();
    if (is_one && is_soft_core(*target)) {
        const Result<Place> place = read_place(options);
        if (!place) return place.error();
        return Places{{place->target}, place->machine, place->core};
    }
    if (!options.core.empty()) {
        return Error{
            ErrorCode::usage,
            fmt::format("--core is for soft cores, such as --target rv32im; the target is {}", options.target)};
    }
    Result<std::vector<Target>> targets = read_targets(options, machine);
    if (!targets) return targets.error();
    return Places{std::move(*targets), machine, {}};
}

// "12k", "1M" or a plain number of bytes.
Status read_bytes(const char *option, const std::string &text, int64_t *bytes) {
    if (text.empty()) return {};
    const char *end = text.data() + text.size();
    const char unit = text.back();
    const int64_t scale = unit == 'k' || unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : 1;
    if (scale > 1) end--;
    constexpr int64_t most = int64_t{1} << 40;
    int64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || value < 0 || value > most) {
        return Error{ErrorCode::usage,
                     fmt::format("{} {}: needs a number of bytes, such as 12000, 32k or 1M", option, text)};
    }
    *bytes = value * scale;
    return {};
}

Result<MemoryBudget> read_budget(const BuildArguments &arguments) {
    MemoryBudget budget;
    if (Status s = read_bytes("--max-text", arguments.max_text, &budget.text); !s) return s.error();
    if (Status s = read_bytes("--max-stack", arguments.max_stack, &budget.stack); !s) return s.error();
    if (Status s = read_bytes("--max-workspace", arguments.max_workspace, &budget.workspace); !s) return s.error();
    return budget;
}

// What there is for soft cores only.
Status check_cpu_options(const BuildArguments &arguments, const MemoryBudget &budget) {
    if (!budget.is_limited()) return {};
    return Error{ErrorCode::usage,
                 fmt::format("--max-text, --max-stack and --max-workspace are for soft cores, such as "
                             "--target rv32im; the target is {}",
                             arguments.targets.target)};
}

// What there is for CPUs only.
Status check_soft_core_options(const BuildArguments &arguments) {
    const auto refused = [&](const char *option, const char *why) {
        return Error{ErrorCode::usage, fmt::format("{}: packages for soft cores have {}; the target is {}", option, why,
                                                   arguments.targets.target)};
    };
    if (arguments.fallback) return refused("--fallback", "no kernel for any sizes");
    if (arguments.layers.network.prepares_input)
        return refused("--prepare-input", "one function that takes the inputs as the model has them");
    if (arguments.weights != "file") return refused("--weights", "all constants in C files");
    return {};
}

// The name of a network's library where none is given: that of the model's file as a name in C.
std::string library_name(const std::string &model) {
    std::string name;
    for (const char c : std::filesystem::path(model).stem().string().substr(0, 60)) {
        const auto letter = static_cast<unsigned char>(c);
        name += letter < 0x80 && std::isalnum(letter) ? char(std::tolower(letter)) : '_';
    }
    if (!name.empty() && std::isdigit(static_cast<unsigned char>(name[0]))) name.insert(0, "n");
    return check_package_name(name).ok() ? name : "kiln_network";
}

Status check_options(const BuildArguments &arguments) {
    if (Status s = check_package_name(arguments.name); !s) return s;
    if (Status s = check_error_budget(arguments.error_budget); !s) return s;
    if (Status s = check(arguments.layers); !s) return s;
    if (Status s = check_names(arguments.algorithms, arguments.layers.network); !s) return s;
    const bool of_network = arguments.layers.of_network();
    if (of_network && arguments.layers.workloads.filter != "*") {
        return Error{ErrorCode::usage, "--filter goes with --workloads; a network is built as a whole"};
    }
    if (!of_network && arguments.weights != "file") return Error{ErrorCode::usage, "--weights needs --network"};
    return {};
}

// What is built.
struct BuildInput {
    std::vector<NamedWorkload> workloads;  // of no network
    std::optional<NetworkPrograms> programs;
    MemoryBudget budget;
};

// The kernels that there are. How many are missing goes to `missing`.
Result<Package> package_of_layers(const BuildArguments &arguments, const BudgetRequest &request,
                                  const std::vector<Target> &targets, const CollectEnvironment &environment,
                                  int64_t *missing) {
    const size_t count = request.workloads.size();
    tell_line(fmt::format("{} layer{}; building and checking {} for {}", count, count == 1 ? "" : "s",
                          count == 1 ? "its kernel" : "their kernels", arguments.targets.target));
    Result<CollectedKernels> collected = request.budget.is_limited()
                                             ? collect_within(request, environment, show_kernel)
                                             : collect_kernels(request.workloads, targets, environment, show_kernel);
    if (!collected) return collected.error();
    *missing = std::ranges::count(collected->reports, KernelSource::missing, &KernelReport::source);
    if (collected->kernels.empty()) return unsupported("no kernel for any workload, so no package was written");
    Package package;
    package.name = arguments.name;
    package.kernels = std::move(collected->kernels);
    return package;
}

bool calls_kernels(const network::Program &program) {
    return std::ranges::any_of(program.steps, [](const network::Step &step) {
        return std::holds_alternative<network::KernelCall>(step.work);
    });
}

Result<Package> package_of_network(const BuildArguments &arguments, const NetworkPrograms &programs,
                                   const std::vector<Target> &targets, const NetworkPackageTools &tools) {
    const network::Program &program = programs.network;
    tell_line(fmt::format("{}: {} steps; building and checking their kernels for {}", program.name,
                          program.steps.size(), arguments.targets.target));
    if (programs.preparation && !calls_kernels(*programs.preparation)) {
        tell_line(fmt::format("{}: its first kernels read the inputs as they are, so {}_prepare() copies them",
                              program.name, arguments.name));
    }
    const NetworkPackageRequest request{program, targets, arguments.name, arguments.weights == "embed",
                                        programs.preparation ? &*programs.preparation : nullptr};
    NetworkReports reports(targets.size(), layers_of(programs).layers.size() * targets.size(), now_ns);
    return make_network_package(request, tools, [&](const KernelReport &report) { reports.show(report); });
}

Result<Package> package_of_soft_network(const BuildArguments &arguments, const BuildInput &input, const Places &places,
                                        const CollectEnvironment &environment, const std::string &work_folder) {
    const network::Program &program = input.programs->network;
    tell_line(fmt::format("{}: {} steps; building and simulating their kernels", program.name, program.steps.size()));
    NetworkReports reports(1, layers_of(*input.programs).layers.size(), now_ns);
    return make_c_network({program, places.targets.front(), *places.core, arguments.name, input.budget, work_folder},
                          environment, [&](const KernelReport &report) { reports.show(report); });
}

Status describe_database(const BuildArguments &arguments, TrialStore *store, Package *package) {
    if (!store) return {};
    package->database = std::filesystem::path(arguments.db).filename().string();
    Result<std::string> digest = store->digest();
    if (!digest) return digest.error();
    package->database_digest = std::move(*digest);
    return {};
}

// The layouts of a network are those of its first target's times.
Result<BuildInput> read_input(const BuildArguments &arguments, const Places &places, const TrialStore *store) {
    const Target &target = places.targets.front();
    BuildInput input;
    if (arguments.layers.of_network()) {
        Result<NetworkPrograms> programs =
            read_programs(arguments.layers.network, {.target = target,
                                                     .machine = places.machine,
                                                     .store = store,
                                                     .toolchain = "",
                                                     .algorithms = arguments.algorithms,
                                                     .error_budget = arguments.error_budget,
                                                     .caches = caches_of_networks});
        if (!programs) return programs.error();
        input.programs = std::move(*programs);
        return input;
    }
    Result<std::vector<NamedWorkload>> workloads = read(arguments.layers);
    if (!workloads) return workloads.error();
    input.workloads = std::move(*workloads);
    return input;
}

// Writes the package, and says on stdout what it has.
Status finish(Package package, const PackageParts &parts, const BuildArguments &arguments, const SimulatedCore &core) {
    if (package.soft_core_network) {
        const Result<Package> written = write_c_network_package(std::move(package), *core, parts, arguments.output);
        if (!written) return written.error();
        print_package(*written, arguments.output);
        return {};
    }
    if (!package.kernels.empty() && is_soft_core(package.kernels.front().target)) {
        const Result<Package> written = write_c_package(std::move(package), parts, arguments.output);
        if (!written) return written.error();
        print_package(*written, arguments.output);
        return {};
    }
    if (Status s = write_package(package, parts, arguments.output); !s) return s;
    print_package(package, arguments.output);
    return {};
}

int build(const BuildArguments &arguments, const BuildInput &input, const Places &places, TrialStore *store) {
    const std::vector<Target> &targets = places.targets;
    const Result<Workshop> workshop = make_workshop(places.core);
    if (!workshop) return fail(workshop.error());
    const Result<PackageParts> parts = package_parts(*workshop);
    if (!parts) return fail(parts.error());
    ExpectedBuilds builds(*workshop->builder, building_threads());
    const CollectEnvironment environment{.builder = builds,
                                         .runner = *workshop->runner,
                                         .store = store,
                                         .machine = places.machine,
                                         .algorithms = arguments.algorithms,
                                         .error_budget = arguments.error_budget,
                                         .caches = input.programs ? caches_of_networks : caches_of_layers,
                                         .interrupted = interrupted};
    if (!input.budget.is_limited())
        expect_kernels(input.programs ? layers_of(*input.programs).layers : input.workloads, targets, environment,
                       builds);
    int64_t missing = 0;
    const auto made = [&]() -> Result<Package> {
        if (input.programs && places.core)
            return package_of_soft_network(arguments, input, places, environment, parts->work_folder);
        if (input.programs)
            return package_of_network(arguments, *input.programs, targets, {environment, *workshop->packer, *parts});
        return package_of_layers(arguments, {input.workloads, targets.front(), input.budget, parts->work_folder},
                                 targets, environment, &missing);
    };
    Result<Package> package = made();
    if (!package) {
        const int status =
            fail_in_lines(package.error());  // of a soft core's network: one for each step without a kernel
        return package.error().code == ErrorCode::unsupported ? exit_failed : status;
    }
    package->toolchain = workshop->builder->toolchain();
    package->fallback = arguments.fallback;
    if (Status s = describe_database(arguments, store, &*package); !s) return fail(s.error());
    if (Status s = finish(std::move(*package), *parts, arguments, places.core); !s) {
        const int status = fail_in_lines(s.error());  // those of a compiler
        return s.error().code == ErrorCode::unsupported ? exit_failed : status;
    }
    if (missing == 0) return exit_done;
    tell(fmt::format("{} without a kernel, see above; the package has the others", missing));
    return exit_failed;
}

int run(BuildArguments arguments) {
    const bool of_network = arguments.layers.of_network();
    const std::string usual = of_network ? library_name(arguments.layers.network.file) : "kiln_kernels";
    arguments.name = arguments.given_name.value_or(usual);
    if (Status s = check_options(arguments); !s) return fail(s.error());
    const Result<MemoryBudget> budget = read_budget(arguments);
    if (!budget) return fail(budget.error());
    const Result<Places> places = read_places(arguments.targets);
    if (!places) return fail(places.error());
    const Status options = places->core ? check_soft_core_options(arguments) : check_cpu_options(arguments, *budget);
    if (!options) return fail(options.error());
    Result<std::optional<TrialStore>> opened = open_if_named(arguments.db);
    if (!opened) return fail(opened.error());
    TrialStore *store = *opened ? &**opened : nullptr;
    Result<BuildInput> input = read_input(arguments, *places, store);
    if (!input) return fail(arguments.layers, input.error());
    input->budget = *budget;
    if (Status s = check_package_folder(arguments.output, arguments.name); !s) return fail(s.error());
    if (!places->core) {
        if (Status s = check_package_tools(); !s) return fail(s.error());
    }
    install_interrupt_handler();
    return build(arguments, *input, *places, store);
}

}  // namespace

void add_build_command(CLI::App &app, Action &action) {
    auto arguments = std::make_shared<BuildArguments>();
    CLI::App *command =
        app.add_subcommand("build", "Write a library of the best kernels or of a whole network, for programs to link");
    add_options(*command, arguments->layers);
    add_prepare_option(*command, arguments->layers.network);
    command->add_option("--db", arguments->db, "Database with recorded trials; without it everything is untuned")
        ->type_name("FILE");
    add_options(*command, arguments->targets);
    command->get_option("--target")->type_name("T,T2");
    add_core_option(*command, arguments->targets);
    command
        ->add_option("--name", arguments->given_name,
                     "Of the library and its C functions [kiln_kernels, or that of the model]")
        ->type_name("NAME");
    command
        ->add_option("-o,--output", arguments->output,
                     "Folder; a package of that name that is there already is replaced")
        ->required()
        ->type_name("DIR");
    command
        ->add_option("--weights", arguments->weights,
                     "Of a network: a file beside the library, or embed them in it [file]")
        ->check(one_of({"file", "embed"}))
        ->type_name("PLACE");
    command->add_flag(
        "--fallback", arguments->fallback,
        "Add a kernel for convolutions of any sizes, see kiln_find_or_fallback in DIR/include/NAME/kiln.h");
    const std::pair<const char *, std::string *> limits[] = {{"--max-text", &arguments->max_text},
                                                             {"--max-stack", &arguments->max_stack},
                                                             {"--max-workspace", &arguments->max_workspace}};
    const char *meanings[] = {"For a soft core: bytes of code and constants of all layers together, such as 32k",
                              "Bytes of stack of a call", "Bytes of workspace, which all layers share"};
    for (size_t i = 0; i < std::size(limits); i++)
        command->add_option(limits[i].first, *limits[i].second, meanings[i])->type_name("B");
    add_algorithm_options(*command, arguments->algorithms);
    add_max_error_option(*command, arguments->error_budget,
                         "Use no kernel with a larger error, recorded or found here [1e-05]");
    command->footer(
        "Examples:\n"
        "  kiln build --workloads workloads/resnet50.json --db kiln.db -o dist\n"
        "  kiln build --workloads workloads/resnet50.json --db kiln.db --target avx512,avx2 -o dist\n"
        "  kiln build --network resnet50.onnx --db kiln.db -o dist\n"
        "DIR/README.md shows the calls.");
    command->callback([&action, arguments] {
        arguments->layers.network.without = arguments->algorithms.without;
        action = [arguments] { return run(*arguments); };
    });
}

}  // namespace kiln
