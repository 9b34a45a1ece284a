#include <fmt/format.h>

#include "catalog/algorithm_rules.h"
#include "catalog/fold_algorithm.h"
#include "catalog/fold_cost.h"
#include "cli/command.h"
#include "cli/explain_package.h"
#include "tuner/process/host_machine.h"

namespace kiln {
namespace {

struct ExplainArguments {
    std::string package, kernel;
    WorkloadOptions workloads;
    TargetOptions target;
    AnswerOptions answer;
};

std::string rule_reason(std::string_view algorithm) {
    for (const AlgorithmRule &rule : algorithm_rules()) {
        if (rule.algorithm == algorithm) return rule.reason;
    }
    return "";
}

// The role of an algorithm for a workload without trials. `is_first`: it comes before all others that apply.
std::string role(const Algorithm &algorithm, bool is_first) {
    if (is_first) return "default";
    return algorithm.prepares ? "on request" : "searched";
}

std::string reason(const Algorithm &algorithm, bool is_first, const Workload &w, const Target &target,
                   const Core &core) {
    if (is_fold(algorithm.name)) return fold_cost(w, target, core).explanation();
    return is_first ? rule_reason(algorithm.name) : "";
}

const std::vector<std::string> workload_columns = {"workload", "algorithm", "untuned", "why"};

int explain_workloads(const ExplainArguments &arguments) {
    if (Status s = check_columns(arguments.answer, workload_columns); !s) return fail(s.error());
    const Machine machine = read_machine();
    const Result<Target> target = read(arguments.target, machine);
    if (!target) return fail(target.error());
    const Result<std::vector<NamedWorkload>> workloads = read(arguments.workloads);
    if (!workloads) return fail(workloads.error());
    const Core core = core_of(machine, *target);
    Table table{.columns = workload_columns, .rows = {}};
    for (const NamedWorkload &w : *workloads) {
        bool is_first = true;
        for (const Algorithm *algorithm : by_preference(w.workload, *target, core, default_error_budget)) {
            const Status applies = algorithm->applies(w.workload, *target);
            const std::string name = w.list + "/" + w.name;
            if (!applies) {
                table.rows.push_back({name, std::string(algorithm->name), "refused", applies.error().message});
                continue;
            }
            table.rows.push_back({name, std::string(algorithm->name), role(*algorithm, is_first),
                                  reason(*algorithm, is_first, w.workload, *target, core)});
            is_first = false;
        }
    }
    print(std::move(table), {}, arguments.answer);
    return exit_done;
}

int run(const ExplainArguments &arguments) {
    const bool of_package = !arguments.package.empty(), of_workloads = !arguments.workloads.files.empty();
    if (of_package == of_workloads) {
        return fail(
            {ErrorCode::usage, "explain needs either a package (its folder, library or manifest) or --workloads"});
    }
    if (of_workloads) return explain_workloads(arguments);
    return explain_package({arguments.package, arguments.kernel, arguments.workloads.filter, arguments.answer});
}

}  // namespace

void add_explain_command(CLI::App &app, Action &action) {
    auto arguments = std::make_shared<ExplainArguments>();
    CLI::App *command = app.add_subcommand(
        "explain", "Where the kernels of a package come from, or why an algorithm is used or refused");
    command->add_option("package", arguments->package, "A package's folder, manifest or library, or a program with it")
        ->type_name("LIB|MANIFEST");
    command->add_option("kernel", arguments->kernel, "All facts of the kernels whose layer or key matches")
        ->type_name("KERNEL");
    add_options(*command, arguments->workloads);
    command->get_option("--workloads")->required(false);
    add_options(*command, arguments->target);
    add_options(*command, arguments->answer, {TableFormat::table, TableFormat::json, TableFormat::csv});
    command->footer(
        "Examples:\n"
        "  kiln explain dist/lib/libresnet50.a\n"
        "  kiln explain dist '*/conv1'\n"
        "  kiln explain --workloads workloads/stems.json");
    command->callback([&action, arguments] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace kiln
