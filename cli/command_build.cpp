#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "cli/answers/output.h"
#include "cli/command.h"
#include "package/output/package_name.h"
#include "package/package.h"
#include "package/package_kernels.h"
#include "tuner/process/host_machine.h"
#include "tuner/process/interrupt.h"

namespace kiln {
namespace {

struct BuildArguments {
    WorkloadOptions workloads;
    TargetOptions targets;  // several, separated by commas
    AlgorithmFilter algorithms;
    double error_budget = default_error_budget;
    std::string db, name = "kiln_kernels", output;
    bool fallback = false;
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
        const std::vector<std::string> missing = missing_features(*target, machine.halide_target);
        if (!missing.empty()) {
            return unsupported(
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

void show(const KernelReport &report) {
    const std::string layer =
        fmt::format("{}/{}, {}", report.workload.list, report.workload.name, report.target.halide);
    const std::string why = report.message.empty() ? "" : "; " + report.message;
    switch (report.source) {
        case KernelSource::tuned:
            tell_line(fmt::format("{}: tuned{}", layer, why));
            break;
        case KernelSource::stale:
            tell_line(fmt::format("{}: stale: this compiler makes another object than the measured one{}", layer, why));
            break;
        case KernelSource::untuned:
            tell_line(fmt::format("{}: untuned{}", layer, why));
            break;
        case KernelSource::missing:
            tell_line(fmt::format("{}: no kernel: {}", layer, report.message));
            break;
    }
}

int64_t count(const CollectedKernels &collected, KernelSource source) {
    return std::count_if(collected.reports.begin(), collected.reports.end(),
                         [&](const KernelReport &report) { return report.source == source; });
}

int run(const BuildArguments &arguments) {
    if (Status s = check_package_name(arguments.name); !s) return fail(s.error());
    if (Status s = check_error_budget(arguments.error_budget); !s) return fail(s.error());
    const Machine machine = read_machine();
    const Result<std::vector<Target>> targets = read_targets(arguments.targets, machine);
    if (!targets) {
        const int status = fail(targets.error());
        return targets.error().code == ErrorCode::unsupported ? exit_failed : status;
    }
    const Result<std::vector<NamedWorkload>> workloads = read(arguments.workloads);
    if (!workloads) return fail(workloads.error());
    std::optional<TrialStore> store;
    if (!arguments.db.empty()) {
        Result<TrialStore> opened = open_to_read(arguments.db);
        if (!opened) return fail(opened.error());
        store = std::move(*opened);
    }
    if (Status s = check_package_folder(arguments.output, arguments.name); !s) return fail(s.error());
    install_interrupt_handler();
    const Result<Workshop> workshop = make_workshop();
    if (!workshop) return fail(workshop.error());
    const Result<PackageParts> parts = package_parts(*workshop);
    if (!parts) return fail(parts.error());

    const CollectEnvironment environment{.builder = *workshop->builder,
                                         .runner = *workshop->runner,
                                         .store = store ? &*store : nullptr,
                                         .machine = machine,
                                         .algorithms = arguments.algorithms,
                                         .error_budget = arguments.error_budget,
                                         .interrupted = interrupted};
    Result<CollectedKernels> collected = collect_kernels(*workloads, *targets, environment, show);
    if (!collected) return fail(collected.error());
    const int64_t missing = count(*collected, KernelSource::missing);
    if (collected->kernels.empty()) {
        tell("no kernel for any workload, so no package was written");
        return exit_failed;
    }
    Package package;
    package.name = arguments.name;
    package.toolchain = workshop->builder->toolchain();
    package.database = std::filesystem::path(arguments.db).filename().string();
    package.kernels = std::move(collected->kernels);
    if (store) {
        Result<std::string> digest = store->digest();
        if (!digest) return fail(digest.error());
        package.database_digest = std::move(*digest);
    }
    package.fallback = arguments.fallback;
    if (Status s = write_package(package, *parts, arguments.output); !s) return fail(s.error());
    const int64_t untuned = count(*collected, KernelSource::untuned), stale = count(*collected, KernelSource::stale);
    print_line(fmt::format("{}: {} kernels, {} tuned, {} untuned, {} stale", arguments.output, package.kernels.size(),
                           package.kernels.size() - untuned - stale, untuned, stale));
    if (missing == 0) return exit_done;
    tell(fmt::format("{} without a kernel, see above; the package has the others", missing));
    return exit_failed;
}

}  // namespace

void add_build_command(CLI::App &app, Action &action) {
    auto arguments = std::make_shared<BuildArguments>();
    CLI::App *command = app.add_subcommand("build", "Write a library of the best kernels, for programs to link");
    add_options(*command, arguments->workloads);
    command->add_option("--db", arguments->db, "Database with recorded trials; without it everything is untuned")
        ->type_name("FILE");
    add_options(*command, arguments->targets);
    command->get_option("--target")->type_name("T,T2");
    command->add_option("--name", arguments->name, "Of the library and its C function [kiln_kernels]")
        ->type_name("NAME");
    command
        ->add_option("-o,--output", arguments->output,
                     "Folder; a package of that name that is there already is replaced")
        ->required()
        ->type_name("DIR");
    command->add_flag(
        "--fallback", arguments->fallback,
        "Add a kernel for convolutions of any sizes, see kiln_find_or_fallback in DIR/include/NAME/kiln.h");
    add_algorithm_options(*command, arguments->algorithms);
    add_max_error_option(*command, arguments->error_budget,
                         "Use no recorded kernel with a larger error, recorded or found here");
    command->footer(
        "Examples:\n"
        "  kiln build --workloads workloads/resnet50.json --db kiln.db -o dist\n"
        "  kiln build --workloads workloads/resnet50.json --db kiln.db --target avx512,avx2,baseline --name resnet50 "
        "-o "
        "dist\n"
        "DIR/README.md shows the calls.");
    command->callback([&action, arguments] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace kiln
