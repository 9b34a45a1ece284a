#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "catalog/algorithm_rules.h"
#include "catalog/fold_algorithm.h"
#include "catalog/fold_cost.h"
#include "cli/answers/answer_options.h"
#include "cli/answers/output.h"
#include "cli/command.h"
#include "cli/explain_package.h"
#include "cli/network/network_alterations.h"
#include "cli/network/network_options.h"
#include "cli/network/network_page.h"
#include "cli/network/network_plan.h"
#include "cli/network/network_program.h"
#include "graph/passes/passes.h"
#include "package/output/text_files.h"
#include "text/quoted_text.h"
#include "tuner/job/workshop.h"
#include "tuner/process/child_process.h"
#include "tuner/process/executables.h"
#include "tuner/process/host_machine.h"

namespace kiln {
namespace {

struct ExplainArguments {
    std::string package, kernel;
    WorkloadOptions workloads;
    TargetOptions target;
    NetworkOptions network;
    std::string db;      // for the plan of a network
    std::string pass;    // of a network; empty: the last
    std::string html;    // a page about a network's program
    std::string format;  // empty: table, and text of a network
    AnswerOptions answer;
    std::vector<std::string> given;  // options of `uses` that are there, in its order
};

// The name for the graph before any pass.
constexpr std::string_view before_passes = "import";
// Names for what is run in the end, and for why it is so.
constexpr std::string_view plan_name = "plan", alterations_name = "alterations";

// What is explained. An option is for one of them or for several.
enum Explained : unsigned {
    a_package = 1,
    workload_lists = 2,
    a_graph = 4,
    a_plan = 8,  // or the alterations
    a_page = 16,
    any_network = a_graph | a_plan | a_page
};

// Options that mean nothing for some of it: given there, somebody expects what does not come.
struct OptionUse {
    const char *option;
    unsigned of;
    const char *needs;
};
constexpr const char *plan_or_page = "--network with --pass plan, --pass alterations or --html";
constexpr const char *lists_plan_or_page = "--workloads, or --network with --pass plan, --pass alterations or --html";
constexpr const char *what_has_rows = "a package, --workloads, or --network with --pass plan or --pass alterations";
constexpr OptionUse uses[] = {
    {"--pass", any_network, "--network"},
    {"--html", any_network, "--network"},
    {"--shape", any_network, "--network"},
    {"--constant", any_network, "--network"},
    {"--batch", any_network, "--network"},
    {"--outputs", any_network, "--network"},
    {"--filter", a_package | workload_lists, "a package or --workloads"},
    {"--db", a_plan | a_page, plan_or_page},
    {"--without", a_plan | a_page, plan_or_page},
    {"--alterations", a_plan | a_page, plan_or_page},
    {"--target", workload_lists | a_plan | a_page, lists_plan_or_page},
    {"--threads", workload_lists | a_plan | a_page, lists_plan_or_page},
    {"--columns", a_package | workload_lists | a_plan, what_has_rows},
    {"--sort", a_package | workload_lists | a_plan, what_has_rows},
    {"--top", a_package | workload_lists | a_plan, what_has_rows},
    {"--wide", a_package | workload_lists | a_plan, what_has_rows},
    {"--guard-formulas", a_package | workload_lists | a_plan, what_has_rows},
};

Explained explained_by(const ExplainArguments &arguments) {
    if (!arguments.package.empty()) return a_package;
    if (arguments.network.file.empty()) return workload_lists;
    if (!arguments.html.empty()) return a_page;
    return arguments.pass == plan_name || arguments.pass == alterations_name ? a_plan : a_graph;
}

Status check_uses(const ExplainArguments &arguments) {
    const Explained explained = explained_by(arguments);
    for (const OptionUse &use : uses) {
        const bool is_given = std::ranges::find(arguments.given, use.option) != arguments.given.end();
        if (is_given && (use.of & explained) == 0)
            return usage_error(fmt::format("{} needs {}", use.option, use.needs));
    }
    return {};
}

std::string pass_names() {
    std::string names(before_passes);
    for (const graph::Pass &pass : graph::passes()) names += fmt::format(", {}", pass.name);
    return fmt::format("{}, {}, {}", names, alterations_name, plan_name);
}

std::optional<TableFormat> table_format(const std::string &format) {
    if (format.empty() || format == "table") return TableFormat::table;
    if (format == "json") return TableFormat::json;
    return format == "csv" ? std::optional(TableFormat::csv) : std::nullopt;
}

// The picture of a graph in Graphviz's language, as SVG without what stands before it in a file of its own.
Result<std::string> drawn(const std::string &graph) {
    const std::string dot = find_executable("dot");
    if (dot.empty()) {
        return environment_error("--html: `dot` is in none of the folders of PATH; install the package graphviz");
    }
    const Result<ChildResult> child =
        run_child({.arguments = {dot, "-Tsvg"}, .input = graph, .output_limit_bytes = size_t(64) << 20});
    if (!child) return child.error();
    const size_t begin = child->output.find("<svg");
    if (child->end != ChildResult::End::exited || child->code != 0 || begin == std::string::npos) {
        return environment_error(fmt::format("{}: {}: {}", dot, describe(*child), child->error_output));
    }
    return child->output.substr(begin);
}

Status write_page(const ExplainArguments &arguments, const network::Program &program, const ChoiceContext &context) {
    const network::KernelTimes time_of = kernel_times(context);
    std::vector<std::optional<double>> step_ns;
    for (const network::Step &step : program.steps) {
        const auto *call = std::get_if<network::KernelCall>(&step.work);
        step_ns.push_back(call && time_of ? time_of(call->workload) : std::nullopt);
    }
    Result<std::string> drawing = drawn(program_graph(program, step_ns));
    if (!drawing) return drawing.error();
    NetworkPage page{.title = program.name,
                     .summary = plan_summary(program),
                     .drawing = std::move(*drawing),
                     .steps = plan_table(program, context),
                     .alterations = alteration_table(program)};
    page.steps.columns.insert(page.steps.columns.begin() + 1, "recorded us");
    for (size_t i = 0; i < step_ns.size(); i++) {
        auto &row = page.steps.rows[i];
        row.insert(row.begin() + 1, step_ns[i] ? Cell(*step_ns[i] * 1e-3) : Cell());
    }
    return write_text(std::filesystem::absolute(arguments.html), to_html(page));
}

int explain_plan(const ExplainArguments &arguments) {
    AnswerOptions answer = arguments.answer;
    const std::optional<TableFormat> format = table_format(arguments.format == "text" ? "table" : arguments.format);
    const bool of_alterations = arguments.pass == alterations_name;
    if (!format) {
        return fail({ErrorCode::usage, fmt::format("explain --pass {} prints --format table, json or csv",
                                                   of_alterations ? alterations_name : plan_name)});
    }
    answer.format = *format;
    if (Status s = check_columns(answer, of_alterations ? alteration_columns : plan_columns); !s)
        return fail(s.error());
    const Machine host = read_machine();
    const Result<Target> target = read(arguments.target, host);
    if (!target) return fail(target.error());
    const Machine machine = is_soft_core(*target) ? machine_of(CoreDescription()) : host;
    const Result<std::optional<TrialStore>> opened = open_if_named(arguments.db);
    if (!opened) return fail(opened.error());
    const TrialStore *store = *opened ? &**opened : nullptr;
    const ChoiceContext context{.target = *target,
                                .machine = machine,
                                .store = store,
                                .toolchain = "",
                                .algorithms = {},
                                .caches = caches_of_networks};
    const Result<network::Program> program = read_program(arguments.network, context);
    if (!program) return fail_in_lines(program.error());
    if (!arguments.html.empty()) {
        const Status written = write_page(arguments, *program, context);
        return written ? exit_done : fail(written.error());
    }
    if (of_alterations) {
        print(alteration_table(*program), alteration_form(), answer);
        return exit_done;
    }
    if (answer.format == TableFormat::table) {
        for (const std::string &line : plan_summary(*program)) print_line(line);
        print_line("");
    }
    print(plan_table(*program, context), plan_form(), answer);
    return exit_done;
}

// A graph's alterations by name; there is nothing else that the glob could be for.
Status check_without(const NetworkOptions &options) {
    if (options.without.empty()) return {};
    const Result<std::vector<std::string>> known = alteration_names(options);
    if (!known) return known.error();
    return check_glob("--without", options.without, "alteration", *known);
}

int explain_network(const ExplainArguments &arguments) {
    const bool has_other_pass = !arguments.pass.empty() && arguments.pass != plan_name;
    if (!arguments.html.empty() && (has_other_pass || !arguments.format.empty())) {
        return fail(
            {ErrorCode::usage, "--html is a page about the plan; it goes with no other --pass and no --format"});
    }
    if (Status s = check_without(arguments.network); !s) return fail(s.error());
    if (explained_by(arguments) != a_graph) return explain_plan(arguments);
    if (!arguments.format.empty() && arguments.format != "text" && arguments.format != "dot") {
        return fail({ErrorCode::usage, "explain --network prints --format text or dot"});
    }
    Result<graph::Graph> graph = read(arguments.network);
    if (!graph) return fail_in_lines(graph.error());
    if (arguments.pass != before_passes) graph = graph::run_passes(*graph, arguments.pass);
    if (!graph)
        return fail(
            {ErrorCode::usage, fmt::format("--pass: there is no `{}`; there are {}", arguments.pass, pass_names())});
    const std::string text = arguments.format == "dot" ? graph::to_graphviz(*graph) : graph::to_text(*graph);
    write_text(stdout, quoted_lines(text));
    return exit_done;
}

// An algorithm may have several rules.
std::string rule_reason(std::string_view algorithm, const Workload &w, const Target &target, const Core &core) {
    for (const AlgorithmRule &rule : algorithm_rules()) {
        if (rule.algorithm == algorithm && rule.preferred(w, target, core)) return rule.reason;
    }
    return "";
}

// The role of an algorithm for a workload without trials. `is_first`: it comes before all others that apply.
std::string role(const Algorithm &algorithm, const Target &target, bool is_first) {
    if (is_first) return "default";
    const bool on_request = algorithm.prepares || (algorithm.last_on_soft_cores && is_soft_core(target));
    return on_request ? "on request" : "searched";
}

std::string reason(const Algorithm &algorithm, bool is_first, const Workload &w, const Target &target,
                   const Core &core) {
    if (is_fold(algorithm.name)) return fold_cost(w, target, core).explanation();
    return is_first ? rule_reason(algorithm.name, w, target, core) : "";
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
            table.rows.push_back({name, std::string(algorithm->name), role(*algorithm, *target, is_first),
                                  reason(*algorithm, is_first, w.workload, *target, core)});
            is_first = false;
        }
    }
    print(std::move(table), {}, arguments.answer);
    return exit_done;
}

int run(ExplainArguments arguments) {
    const bool of_package = !arguments.package.empty(), of_workloads = !arguments.workloads.files.empty();
    const bool of_network = !arguments.network.file.empty();
    if (of_package + of_workloads + of_network != 1) {
        return fail({ErrorCode::usage,
                     "explain needs one of a package (its folder, library or manifest), --workloads and --network"});
    }
    if (Status s = check_uses(arguments); !s) return fail(s.error());
    if (of_network) return explain_network(arguments);
    const std::optional<TableFormat> format = table_format(arguments.format);
    if (!format) return fail({ErrorCode::usage, "--format text and dot need --network"});
    arguments.answer.format = *format;
    if (of_workloads) return explain_workloads(arguments);
    return explain_package({arguments.package, arguments.kernel, arguments.workloads.filter, arguments.answer});
}

}  // namespace

void add_explain_command(CLI::App &app, Action &action) {
    auto arguments = std::make_shared<ExplainArguments>();
    CLI::App *command = app.add_subcommand(
        "explain",
        "Show where the kernels of a package come from, why an algorithm is used or refused, or a network's graph");
    command->add_option("PACKAGE", arguments->package, "A package's folder, manifest or library, or a program with it")
        ->type_name("LIB|MANIFEST");
    command->add_option("KERNEL", arguments->kernel, "All facts of the kernels whose layer or key matches")
        ->type_name("KERNEL");
    add_options(*command, arguments->workloads);
    command->get_option("--workloads")->required(false);
    add_options(*command, arguments->target);
    command->add_option("--network", arguments->network.file, "The graph of an ONNX model")->type_name("M.onnx");
    add_model_options(*command, arguments->network);
    add_alterations_option(*command, arguments->network);
    command
        ->add_option("--without", arguments->network.without,
                     "With --pass plan, --pass alterations and --html: no alterations whose name matches")
        ->type_name("GLOB");
    command
        ->add_option("--pass", arguments->pass,
                     fmt::format("The graph after this pass, one of {} [the last that is a graph]", pass_names()))
        ->type_name("NAME");
    command
        ->add_option("--html", arguments->html,
                     "Write a page about a network's plan: its steps drawn, with recorded times; needs `dot` (Debian's "
                     "graphviz)")
        ->type_name("FILE");
    command
        ->add_option("--db", arguments->db,
                     "With --pass plan, --pass alterations and --html: the database that kernels are chosen from")
        ->type_name("FILE");
    command->add_option("--format", arguments->format, "How to print the answer; text and dot (Graphviz) of a network")
        ->check(one_of({"table", "json", "csv", "text", "dot"}))
        ->type_name("table|json|csv|text|dot");
    add_table_options(*command, arguments->answer, true);
    command->footer(
        "Examples:\n"
        "  kiln explain dist/lib/libresnet50.a\n"
        "  kiln explain dist '*/conv1'\n"
        "  kiln explain --workloads workloads/stems.json\n"
        "  kiln explain --network m.onnx --shape x=1x3x480x480 --format dot | dot -Tsvg > m.svg\n"
        "  kiln explain --network m.onnx --pass plan --db kiln.db\n"
        "  kiln explain --network m.onnx --pass alterations --db kiln.db\n"
        "  kiln explain --network m.onnx --db kiln.db --html m.html");
    command->callback([&action, arguments, command] {
        for (const OptionUse &use : uses) {
            if (command->get_option(use.option)->count() > 0) arguments->given.emplace_back(use.option);
        }
        action = [arguments] { return run(*arguments); };
    });
}

}  // namespace kiln
