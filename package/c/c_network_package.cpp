#include "package/c/c_network_package.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "package/c/c_budget.h"
#include "package/c/c_kernel_files.h"
#include "package/c/c_network.h"
#include "package/c/c_network_check.h"
#include "package/c/c_network_files.h"
#include "package/c/c_package.h"
#include "package/c/c_package_texts.h"
#include "package/network/program_checks.h"
#include "package/output/package_name.h"
#include "package/output/text_files.h"
#include "simulate/counts_json.h"
#include "text/quoted_text.h"
#include "tuner/build/core_program.h"
#include "tuner/build/cross_compiler.h"
#include "tuner/process/child_process.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> own_flags = {"-O2"};

std::vector<NamedWorkload> workloads_of(const network::Program &program) {
    std::vector<NamedWorkload> workloads;
    for (const network::Step &step : program.steps) {
        const auto *call = std::get_if<network::KernelCall>(&step.work);
        if (call)
            workloads.push_back(
                {.list = program.name, .name = quoted_line(step.name), .count = 1, .workload = call->workload});
    }
    return workloads;
}

// All steps without a kernel, with the reason.
Status check_complete(const network::Program &program, const CollectedKernels &collected) {
    std::vector<std::pair<std::string, int>>
        found;  // each once, and how often: recurrent operators have many equal steps
    for (const network::Step &step : program.steps) {
        const auto *call = std::get_if<network::KernelCall>(&step.work);
        if (!call) continue;
        const auto is_of_step = [&](const KernelReport &report) {
            return report.source == KernelSource::missing && report.workload.workload == call->workload;
        };
        const auto report = std::ranges::find_if(collected.reports, is_of_step);
        if (report == collected.reports.end()) continue;
        std::string line = fmt::format("{}: {}{}", quoted_line(step.name), quoted_line(report->message),
                                       step.why.empty() ? "" : " (" + step.why + ")");
        const auto same = std::ranges::find(found, line, &std::pair<std::string, int>::first);
        if (same == found.end()) {
            found.emplace_back(std::move(line), 1);
        } else {
            same->second++;
        }
    }
    if (found.empty()) return {};
    std::string lines;
    for (const auto &[line, count] : found) lines += "\n" + line + (count > 1 ? fmt::format(" ({} steps)", count) : "");
    return unsupported("no kernel computes these steps, so no package was written; models need static quantization:" +
                       lines);
}

struct OwnFile {
    std::string stem, text;
};

std::vector<OwnFile> own_files(const CNetwork &network) {
    std::vector<OwnFile> files{{network.package + "_run", c_network_run(network)}};
    if (!network.constants.empty()) files.push_back({network.package + "_constants", c_network_constants(network)});
    return files;
}

std::vector<CFile> c_files(const CNetwork &network) {
    std::vector<CFile> files;
    for (const OwnFile &file : own_files(network)) files.push_back({file.stem, own_flags});
    for (CFile &file : c_files_of(network.layers)) files.push_back(std::move(file));
    return files;
}

Status write_sources(const CNetwork &network, const std::string &folder) {
    const fs::path path = folder;
    if (Status s = write_text(path / "include" / (network.package + ".h"), c_network_header(network)); !s) return s;
    const std::string kernels = c_kernels_header(network.package, network.layers);
    if (Status s = write_text(path / "src" / (network.package + "_kernels.h"), kernels); !s) return s;
    if (Status s = write_kernel_files(network.package, network.layers, folder); !s) return s;
    for (const OwnFile &file : own_files(network)) {
        if (Status s = write_text(path / "src" / (file.stem + ".c"), file.text); !s) return s;
    }
    return {};
}

Status link(const std::string &work_folder, const CoreProgram &program) {
    const Result<std::string> linker = find_cross_tool(cross_linker_name);
    if (!linker) return linker.error();
    ChildRequest child;
    child.arguments = link_command(*linker, work_folder, program);
    const Result<ChildResult> ended = run_child(child);
    if (!ended) return ended.error();
    if (ended->end == ChildResult::End::exited && ended->code == 0) return {};
    return environment_error(
        fmt::format("{} does not link the network: {}\n{}", cross_linker_name, describe(*ended), ended->error_output));
}

std::string conditions_of(const CNetworkRun &run, const CoreDescription &core) {
    nlohmann::ordered_json json = {{"core", key(core)}, {"clock_hz", core.clock_hz}};
    json.update(json_of(run.counts));
    json["stack_bytes"] = run.stack_bytes;
    return json.dump();
}

// Compiles everything, runs the network, and fills in what was found of kernels and network.
Status examine(const CNetwork &network, const CoreDescription &core, const std::string &work_folder, Package *package) {
    const std::string folder = work_folder + "/package";
    if (Status s = write_sources(network, folder); !s) return s;
    const Result<CKernelFacts> facts = compile_kernel_files(network.layers, folder);
    if (!facts) return facts.error();
    describe_kernels(network.layers, *facts, package);
    CoreProgram program{network.function(), kernel_objects(network.layers, folder),
                        folder + "/" + network.package + ".elf"};
    SoftCoreNetwork &found = *package->soft_core_network;
    for (const PackagedKernel &kernel : package->kernels) {
        found.text_bytes += kernel.soft_core->text_bytes, found.constant_bytes += kernel.soft_core->rodata_bytes;
        found.stack_bytes = std::max(found.stack_bytes, kernel.soft_core->stack_bytes);
    }
    for (const SharedSoftCoreCode &code : package->shared_code)
        found.text_bytes += code.text_bytes, found.constant_bytes += code.rodata_bytes;
    for (const OwnFile &file : own_files(network)) {
        program.objects.push_back(folder + "/" + file.stem + ".o");
        const auto own =
            compile_own_object({file.stem, "src/" + file.stem + ".c", own_flags}, folder, program.objects.back());
        if (!own) return own.error();
        found.text_bytes += own->text_bytes, found.constant_bytes += own->rodata_bytes;
        found.stack_bytes += own->stack_bytes;
    }
    if (Status s = link(work_folder, program); !s) return s;
    const Result<CNetworkRun> run = check_c_network(*network.program, program.program, network.function(), core);
    if (!run) return run.error();
    found.function = network.function(), found.core = key(core);
    found.arena_bytes = network.arena_bytes();
    found.cycles = run->counts.cycles, found.conditions = conditions_of(*run, core);
    for (const CNetworkStep &step : network.steps) found.kernels.push_back(step.kernel);
    for (const CPort &port : network.ports) found.parameters.push_back(port.name);
    return {};
}

Result<Package> package_of(const std::string &name, const network::Program &program,
                           const CollectedKernels &collected) {
    if (Status s = check_complete(program, collected); !s) return s.error();
    Package package;
    package.name = name;
    package.kernels = collected.kernels;
    package.soft_core_network = SoftCoreNetwork{.program = program};
    return package;
}

// Bytes of code, with the constants that are in it.
struct CodeSizes {
    int64_t kernels = 0, calls = 0;
};

Result<CodeSizes> code_sizes(const Package &package, const CoreDescription &core, const std::string &folder) {
    const Result<CNetwork> network = lay_out_c_network(package, package.soft_core_network->program, core);
    if (!network) return network.error();
    if (Status s = write_sources(*network, folder); !s) return s.error();
    const Result<CKernelFacts> facts = compile_kernel_files(network->layers, folder);
    if (!facts) return facts.error();
    CodeSizes sizes;
    for (const auto *of : {&facts->layers, &facts->shared}) {
        for (const CObjectFacts &fact : *of) sizes.kernels += fact.text_bytes + fact.rodata_bytes;
    }
    const OwnFile calls = own_files(*network).front();
    const auto own = compile_own_object({calls.stem, "src/" + calls.stem + ".c", own_flags}, folder,
                                        folder + "/" + calls.stem + ".o");
    if (!own) return own.error();
    sizes.calls = own->text_bytes + own->rodata_bytes;
    return sizes;
}

}  // namespace

Result<Package> make_c_network(const CNetworkRequest &request, const CollectEnvironment &environment,
                               const CollectListener &listener) {
    if (Status s = check_program(request.program); !s) return s.error();
    const network::Program program = without_idle_steps(request.program);
    const std::vector<NamedWorkload> workloads = workloads_of(program);
    if (!request.budget.is_limited()) {
        const auto collected = collect_kernels(workloads, {request.target}, environment, listener);
        return collected ? package_of(request.name, program, *collected) : collected.error();
    }
    // How much code the calls are is known when the kernels are: it depends on where their constants lie. Each turn but the last
    // leaves more for them.
    for (BudgetRequest within{workloads, request.target, request.budget, request.work_folder, true};;) {
        const auto collected = collect_within(within, environment, [](const KernelReport &) {});
        if (!collected && within.budget.caller_text == 0 && collected.error().code == ErrorCode::unsupported)
            return unsupported(collected.error().message + ". The calls of a network come on top");
        if (!collected) return collected.error();
        Result<Package> package = package_of(request.name, program, *collected);
        if (!package) return package.error();
        const auto sizes = code_sizes(*package, request.core, request.work_folder + "/budget");
        if (!sizes) return sizes.error();
        if (sizes->calls <= within.budget.caller_text || sizes->calls + sizes->kernels <= request.budget.text) {
            for (const KernelReport &report : collected->reports) listener(report);
            return package;
        }
        within.budget.caller_text = sizes->calls;
    }
}

Result<Package> write_c_network_package(Package package, const CoreDescription &core, const PackageParts &parts,
                                        const std::string &folder) {
    if (Status s = check_package_name(package.name); !s) return s.error();
    const network::Program program = package.soft_core_network->program;
    const Result<CNetwork> network = lay_out_c_network(package, program, core);
    if (!network) return network.error();
    if (Status s = examine(*network, core, parts.work_folder, &package); !s) return s.error();
    const std::vector<CFile> sources = c_files(*network);
    package.files = listed_files_of(sources, {"src/" + package.name + "_kernels.h"});
    const auto write = [&](const fs::path &path) { return write_sources(*network, path.string()); };
    const std::string readme = c_network_readme(*network, package);
    if (Status s = write_c_folder(package, {write, sources, readme}, parts, folder); !s) return s.error();
    return package;
}

}  // namespace kiln
