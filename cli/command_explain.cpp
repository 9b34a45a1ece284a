#include <fmt/format.h>

#include "cli/command.h"
#include "generators/algorithm_rules.h"
#include "generators/fold_algorithm.h"
#include "generators/fold_cost.h"

namespace kiln {
namespace {

struct ExplainArguments {
    WorkloadOptions workloads;
    TargetOptions target;
    TableFormat format = TableFormat::table;
};

std::string rule_reason(std::string_view algorithm) {
    for (const AlgorithmRule &rule : algorithm_rules()) {
        if (rule.algorithm == algorithm) return rule.reason;
    }
    return "";
}

// What an algorithm is to a workload without trials, and why. `is_first`: it comes before all others that apply.
std::string role(const Algorithm &algorithm, bool is_first) {
    if (is_first) return "default";
    return algorithm.prepares ? "on request" : "searched";
}

std::string reason(const Algorithm &algorithm, bool is_first, const Workload &w, const Target &target,
                   const Machine &machine) {
    if (is_fold(algorithm.name)) return fold_cost(w, target, machine).explanation();
    return is_first ? rule_reason(algorithm.name) : "";
}

int run(const ExplainArguments &arguments) {
    const Machine machine = read_machine();
    const Result<Target> target = read(arguments.target, machine);
    if (!target) return fail(target.error());
    const Result<std::vector<NamedWorkload>> workloads = read(arguments.workloads);
    if (!workloads) return fail(workloads.error());
    Table table{.columns = {"workload", "algorithm", "untuned", "why"}};
    for (const NamedWorkload &w : *workloads) {
        bool is_first = true;
        for (const Algorithm *algorithm : by_preference(w.workload, *target)) {
            const Status applies = algorithm->applies(w.workload, *target);
            const std::string name = w.list + "/" + w.name;
            if (!applies) {
                table.rows.push_back({name, std::string(algorithm->name), "refused", applies.error().message});
                continue;
            }
            table.rows.push_back({name, std::string(algorithm->name), role(*algorithm, is_first),
                                  reason(*algorithm, is_first, w.workload, *target, machine)});
            is_first = false;
        }
    }
    print(table, arguments.format);
    return exit_done;
}

}  // namespace

void add_explain_command(CLI::App &app, Action &action) {
    auto arguments = std::make_shared<ExplainArguments>();
    CLI::App *command =
        app.add_subcommand("explain", "Why an algorithm is used where nothing was measured, or refused");
    add_options(*command, arguments->workloads);
    add_options(*command, arguments->target);
    add_format_option(*command, arguments->format, {TableFormat::table, TableFormat::json, TableFormat::csv});
    command->footer("Example:\n  kiln explain --workloads workloads/stems.json");
    command->callback([&action, arguments] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace kiln
