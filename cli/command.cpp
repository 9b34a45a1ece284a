#include "cli/command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include "catalog/catalog.h"
#include "cli/answers/output.h"
#include "cli/measuring/measuring_turn.h"
#include "cli/network/network_program.h"
#include "simulate/core_file.h"
#include "tuner/process/host_machine.h"
#include "tuner/process/interrupt.h"
#include "workload/lists/glob.h"

namespace kiln {

int exit_status(const Error &error) {
    switch (error.code) {
        case ErrorCode::usage:
        case ErrorCode::bad_input:
        case ErrorCode::unsupported:
            return exit_usage;
        case ErrorCode::environment:
            return exit_environment;
        case ErrorCode::interrupted:
            return exit_interrupted;
    }
    return exit_environment;
}

int fail(const Error &error) {
    tell(error.message);
    return exit_status(error);
}

int fail_in_lines(const Error &error) {
    size_t begin = 0;
    for (size_t end = 0; end != std::string::npos; begin = end + 1) {
        end = error.message.find('\n', begin);
        const std::string line = error.message.substr(begin, end == std::string::npos ? end : end - begin);
        begin == 0 ? tell(line) : tell_line("  " + line);
    }
    return exit_status(error);
}

Result<TrialStore> open_to_read(const std::string &db) {
    Result<TrialStore> store = TrialStore::open(db, OpenMode::read_only);
    if (store) store->stop_when(interrupted);
    return store;
}

Result<std::optional<TrialStore>> open_if_named(const std::string &db) {
    if (db.empty()) return std::optional<TrialStore>();
    Result<TrialStore> store = open_to_read(db);
    if (!store) return store.error();
    return std::optional<TrialStore>(std::move(*store));
}

void tell_notes(const TrialStore &store) {
    for (const std::string &note : store.notes()) tell(fmt::format("note: {}", note));
}

void add_options(CLI::App &command, WorkloadOptions &options) {
    command.add_option("--workloads", options.files, "Workload lists (format workloads/1)")
        ->required()
        ->type_name("FILE");
    command.add_option("--filter", options.filter, "Only layers whose list/name matches; * crosses /")
        ->type_name("GLOB");
}

Result<std::vector<NamedWorkload>> read(const WorkloadOptions &options) {
    std::vector<NamedWorkload> chosen;
    std::vector<std::string> names;
    for (const std::string &file : options.files) {
        Result<std::vector<NamedWorkload>> list = read_workload_list(file);
        if (!list) return list.error();
        for (NamedWorkload &workload : *list) {
            names.push_back(workload.list + "/" + workload.name);
            if (glob_match(options.filter, names.back())) chosen.push_back(std::move(workload));
        }
    }
    if (chosen.empty()) return no_match(options.filter, "layer", names);
    return chosen;
}

void add_options(CLI::App &command, TargetOptions &options) {
    command
        .add_option("--target", options.target,
                    "host, an alias that `kiln targets` lists, or a Halide target string [host]")
        ->type_name("T");
    command.add_option("--threads", options.threads, "Threads that a kernel may use [1]")->type_name("N");
}

Result<Target> read(const TargetOptions &options, const Machine &machine) {
    return parse_target(options.target, options.threads, machine.halide_target);
}

Result<Target> read_runnable(const TargetOptions &options, const Machine &machine) {
    Result<Target> target = read(options, machine);
    if (!target) return target;
    if (is_soft_core(*target)) {
        return usage_error(
            fmt::format("target {} is a soft core: `bench`, `build`, `check`, `repro` and `tune` simulate it, and "
                        "nothing else does",
                        options.target));
    }
    const std::vector<std::string> missing = missing_features(*target, machine.halide_target);
    if (!missing.empty()) {
        return usage_error(fmt::format("target {} does not run on this machine ({}), which lacks {}", options.target,
                                       machine.halide_target, fmt::join(missing, ", ")));
    }
    if (target->threads > machine.cores) {
        return usage_error(fmt::format("--threads {}: this machine has {} core{} for this process", target->threads,
                                       machine.cores, machine.cores == 1 ? "" : "s"));
    }
    return target;
}

void add_core_option(CLI::App &command, TargetOptions &options) {
    command.add_option("--core", options.core, "The core to simulate (format core/1), for a soft core such as rv32im")
        ->type_name("FILE");
}

Result<Place> read_place(const TargetOptions &options) {
    const Machine host = read_machine();
    const Result<Target> target = read(options, host);
    if (!target) return target.error();
    if (!is_soft_core(*target)) {
        const Result<Target> runnable = read_runnable(options, host);
        if (!runnable) return runnable.error();
        if (options.core.empty()) return Place{*runnable, host, {}};
        return usage_error(
            fmt::format("--core is for soft cores, such as --target rv32im; the target is {}", options.target));
    }
    CoreDescription core;
    if (!options.core.empty()) {
        Result<CoreDescription> described = read_core_file(options.core);
        if (!described) return described.error();
        core = std::move(*described);
    }
    return Place{*target, machine_of(core), core};
}

Result<std::string> own_folder() {
    std::error_code error;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) return environment_error("cannot find kiln's own folder (/proc/self/exe): " + error.message());
    return self.parent_path().string();
}

Result<Workshop> make_workshop(const SimulatedCore &core, const std::string &core_judge) {
    const Result<std::string> folder = own_folder();
    if (!folder) return folder.error();
    return make_workshop(*folder, tell_wait, core, core_judge);
}

Result<PackageParts> package_parts(const Workshop &workshop) {
    const Result<std::string> folder = own_folder();
    if (!folder) return folder.error();
    const std::filesystem::path root = std::filesystem::path(*folder).parent_path();
    PackageParts parts;
    parts.runtime_library = root / "lib" / "libkiln_kernel_runtime.a";
    parts.header_folder = root / "include" / "kiln";
    parts.work_folder = workshop.folder.path();
    for (const std::string &path : {parts.runtime_library, parts.header_folder}) {
        std::error_code ignored;
        if (!std::filesystem::exists(path, ignored)) {
            return environment_error(path + " is missing; build kiln with ./setup");
        }
    }
    return parts;
}

CLI::Validator whole_number() {
    const auto check = [](const std::string &text) -> std::string {
        int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool ok = error == std::errc() && end == text.data() + text.size() && value >= 0;
        return ok ? ""
                  : fmt::format("`{}` is not a whole number from 0 to {}", text, std::numeric_limits<int64_t>::max());
    };
    return CLI::Validator(check, "");
}

CLI::Validator one_of(std::vector<std::string> words) {
    const auto check = [words = std::move(words)](const std::string &text) -> std::string {
        const bool known = std::find(words.begin(), words.end(), text) != words.end();
        return known ? "" : fmt::format("`{}` is unknown; needs one of {}", text, fmt::join(words, ", "));
    };
    return CLI::Validator(check, "");
}

void add_algorithm_options(CLI::App &command, AlgorithmFilter &filter) {
    command.add_option("--algorithm", filter.algorithm, "Only algorithms whose name matches")->type_name("GLOB");
    command
        .add_option("--without", filter.without, "No algorithms, and no alterations of a network, whose name matches")
        ->type_name("GLOB");
}

Status check_glob(std::string_view option, const std::string &glob, std::string_view what,
                  const std::vector<std::string> &names) {
    if (std::ranges::any_of(names, [&](const std::string &name) { return glob_match(glob, name); })) return {};
    return usage_error(fmt::format("{} {}: matches no {}; there are {}", option, glob, what, fmt::join(names, ", ")));
}

Status check_names(const AlgorithmFilter &filter, const NetworkOptions &network) {
    std::vector<std::string> names;
    for (const Algorithm &algorithm : catalog()) names.emplace_back(algorithm.name);
    if (Status s = check_glob("--algorithm", filter.algorithm, "algorithm", names); !s) return s;
    if (filter.without.empty()) return {};
    std::vector<std::string> all = names;
    if (!network.file.empty()) {
        const Result<std::vector<std::string>> alterations = alteration_names(network);
        if (!alterations) return alterations.error();
        all.insert(all.end(), alterations->begin(), alterations->end());
    }
    const std::string_view what = network.file.empty() ? "algorithm" : "algorithm or alteration";
    if (Status s = check_glob("--without", filter.without, what, all); !s) return s;
    if (std::ranges::any_of(catalog(), [&](const Algorithm &algorithm) { return filter.allows(algorithm); })) return {};
    return usage_error(
        fmt::format("--algorithm and --without leave no algorithm; there are {}", fmt::join(names, ", ")));
}

void add_max_error_option(CLI::App &command, double &error_budget, const std::string &meaning) {
    command.add_option("--max-error", error_budget, meaning)->type_name("E");
}

Status check_error_budget(double error_budget) {
    if (error_budget > 0 && std::isfinite(error_budget)) return {};
    return usage_error(fmt::format("--max-error {}: needs a positive number", error_budget));
}

Error no_match(const std::string &filter, std::string_view what, const std::vector<std::string> &names) {
    constexpr size_t most = 4;
    if (names.empty()) return usage_error(fmt::format("--filter {}: there is no {} at all", filter, what));
    const std::vector<std::string> few(names.begin(), names.begin() + std::min(most, names.size()));
    const std::string more = names.size() > most ? fmt::format(" and {} more", names.size() - most) : "";
    return usage_error(
        fmt::format("--filter {}: matches no {}; there are {}{}", filter, what, fmt::join(few, ", "), more));
}

}  // namespace kiln
