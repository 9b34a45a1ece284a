#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "check/conformance_check.h"
#include "check/network_check.h"
#include "cli/answers/answer_options.h"
#include "cli/answers/output.h"
#include "cli/command.h"
#include "cli/judge_options.h"
#include "cli/network/network_program.h"
#include "cli/network/network_workshop.h"
#include "tuner/process/host_machine.h"
#include "tuner/process/interrupt.h"
#include "workload/lists/glob.h"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

struct CheckArguments {
    std::string suite, filter = "*", db;
    AlgorithmFilter algorithms;
    CheckOptions options;
    TargetOptions target;
    JudgeOptions judge;
    AnswerOptions answer;
};

constexpr CaseStatus statuses[] = {CaseStatus::passed, CaseStatus::failed, CaseStatus::unsupported,
                                   CaseStatus::recorded, CaseStatus::not_applicable};

std::map<CaseStatus, int64_t> count(const std::vector<CaseResult> &results) {
    std::map<CaseStatus, int64_t> counts;
    for (CaseStatus status : statuses) counts[status] = 0;
    for (const CaseResult &result : results) counts[result.status]++;
    return counts;
}

Json text_or_null(const std::string &text) { return text.empty() ? Json() : Json(text); }

void print_checks_json(const std::vector<CaseResult> &results) {
    Json document = {{"format", "check/1"}};
    for (const auto &[status, n] : count(results)) document[std::string(name(status))] = n;
    document["cases"] = Json::array();
    for (const CaseResult &r : results) {
        document["cases"].push_back({{"id", r.id},
                                     {"status", name(r.status)},
                                     {"algorithm", text_or_null(r.algorithm)},
                                     {"candidate", text_or_null(r.candidate)},
                                     {"max_error", r.max_error ? Json(*r.max_error) : Json()},
                                     {"reason", text_or_null(r.reason)},
                                     {"untuned", r.untuned}});
    }
    print_document(document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

const std::vector<std::string> columns = {"id", "status", "algorithm", "max_error", "reason", "candidate"};
const TableForm form = {
    {.name = "id", .title = "case"}, {.name = "status"}, {.name = "max_error", .title = "max error"},
    {.name = "algorithm"},           {.name = "reason"},
};

void print_checks_table(const std::vector<CaseResult> &results, const AnswerOptions &options) {
    Table table{.columns = columns, .rows = {}};
    int64_t untuned = 0;
    for (const CaseResult &r : results) {
        untuned += r.untuned;
        table.rows.push_back({r.id, std::string(name(r.status)), r.algorithm,
                              r.max_error ? Cell(fmt::format("{:.2e}", *r.max_error)) : Cell(), r.reason, r.candidate});
    }
    print(std::move(table), form, options);
    std::string summary;
    for (const auto &[status, n] : count(results)) {
        summary += fmt::format("{}{} {}", summary.empty() ? "" : ", ", n, name(status));
    }
    print_line("");
    print_line(fmt::format("{} cases: {}", results.size(), summary));
    if (untuned > 0) print_line(fmt::format("{} untuned: no database row, the default candidate was checked", untuned));
}

// The chosen cases of a suite.
Result<ConformanceSuite> read_suite(const CheckArguments &arguments) {
    Result<ConformanceSuite> suite = read_conformance_suite(arguments.suite);
    if (!suite) return suite;
    std::vector<std::string> names;
    for (const ConformanceCase &c : suite->cases) names.push_back(suite->name + "/" + c.id);
    std::erase_if(suite->cases,
                  [&](const ConformanceCase &c) { return !glob_match(arguments.filter, suite->name + "/" + c.id); });
    if (suite->cases.empty()) return no_match(arguments.filter, "case", names);
    return suite;
}

// Networks of a suite have the same alterations; where there are none, --without names algorithms alone.
Status check_names_for(const ConformanceSuite &suite, const AlgorithmFilter &algorithms) {
    const auto found =
        std::ranges::find_if(suite.cases, [](const ConformanceCase &c) { return c.network.has_value(); });
    const NetworkOptions network{.file = found == suite.cases.end() ? "" : found->network->model, .shapes = {}};
    return check_names(algorithms, network);
}

// What `build` plans a network by: its layouts and alterations are chosen from cold times, whichever toolchain they are of.
ChoiceContext of_plans(ChoiceContext context) {
    context.toolchain.clear();
    context.caches = caches_of_networks;
    return context;
}

// Cases with a workload and cases with a network, in the order of the suite.
class SuiteCheck {
public:
    SuiteCheck(const CheckArguments &arguments, const ChoiceContext &context, Workshop &workshop, PackageParts parts)
        : kernels_(context, arguments.options, *workshop.builder,
                   [&](const ExecuteRequest &request, const Operands &operands) {
                       return workshop.runner->execute(request, operands);
                   }),
          networks_(workshop, context, std::move(parts)),
          plans_(of_plans(context)) {}

    // All networks first, so that their kernels are built while others run.
    Status plan(const ConformanceSuite &suite) {
        for (const ConformanceCase &c : suite.cases) {
            if (interrupted()) return Error{ErrorCode::interrupted, "interrupted"};
            if (!c.network) continue;
            Result<PlannedNetwork> planned =
                plan_network(*c.network, [&](const graph::Graph &graph) { return program(c.network->model, graph); });
            if (!planned) return planned.error();
            if (planned->program) networks_.expect(*planned->program);
            planned_.emplace(c.id, std::move(*planned));
        }
        return {};
    }

    Result<CaseResult> check(const ConformanceCase &c) {
        if (!c.network) return kernels_.check(c);
        const auto build = [&](const network::Program &planned) { return networks_.build(planned); };
        return check_network(c, planned_.at(c.id),
                             {build, networks_.runner(), networks_.folder(), plans_.target.threads});
    }

private:
    // The one that `build` would ship.
    Result<network::Program> program(const std::string &model, const graph::Graph &graph) const {
        if (is_soft_core(plans_.target)) {
            return unsupported("networks of soft cores are C sources; `kiln build --network` checks their kernels");
        }
        const NetworkOptions options{.file = model, .shapes = {}, .without = plans_.algorithms.without};
        return program_of(graph, options, choice_for(plans_));
    }

    ConformanceChecker kernels_;
    NetworkWorkshop networks_;
    ChoiceContext plans_;
    std::map<std::string, PlannedNetwork> planned_;  // by the case's id
};

int run(const CheckArguments &arguments) {
    if (Status s = check_columns(arguments.answer, columns); !s) return fail(s.error());
    const Result<Place> place = read_place(arguments.target);
    if (!place) return fail(place.error());
    const Result<ConformanceSuite> suite = read_suite(arguments);
    if (!suite) return fail(suite.error());
    if (Status s = check_names_for(*suite, arguments.algorithms); !s) return fail(s.error());
    const Result<std::optional<TrialStore>> opened = open_if_named(arguments.db);
    if (!opened) return fail(opened.error());
    const TrialStore *store = *opened ? &**opened : nullptr;
    install_interrupt_handler();
    const Result<std::string> judge = core_judge(arguments.judge, place->core);
    if (!judge) return fail(judge.error());
    Result<Workshop> workshop = make_workshop(place->core, *judge);
    if (!workshop) return fail(workshop.error());
    Result<PackageParts> parts = package_parts(*workshop);
    if (!parts) return fail(parts.error());

    const ChoiceContext context{.target = place->target,
                                .machine = place->machine,
                                .store = store,
                                .toolchain = workshop->builder->toolchain(),
                                .algorithms = arguments.algorithms};
    SuiteCheck check(arguments, context, *workshop, std::move(*parts));
    if (Status s = check.plan(*suite); !s) return fail(s.error());
    std::vector<CaseResult> results;
    for (const ConformanceCase &c : suite->cases) {
        if (interrupted()) return fail({ErrorCode::interrupted, "interrupted"});
        Result<CaseResult> result = check.check(c);
        if (!result) return fail(result.error());
        tell_line(fmt::format("[{}/{}] {} {}", results.size() + 1, suite->cases.size(), c.id, name(result->status)));
        results.push_back(std::move(*result));
    }
    arguments.answer.format == TableFormat::json ? print_checks_json(results)
                                                 : print_checks_table(results, arguments.answer);
    return count(results)[CaseStatus::failed] > 0 ? exit_failed : exit_done;
}

}  // namespace

void add_check_command(CLI::App &app, Action &action) {
    auto arguments = std::make_shared<CheckArguments>();
    CLI::App *command =
        app.add_subcommand("check", "Put conformance cases through the kernels that `build` would choose");
    command->add_option("--suite", arguments->suite, "Manifest of a conformance suite")
        ->required()
        ->type_name("MANIFEST");
    command->add_option("--filter", arguments->filter, "Only cases whose suite/id matches; * crosses /")
        ->type_name("GLOB");
    command->add_option("--db", arguments->db, "Database with recorded trials; without it everything is untuned")
        ->type_name("FILE");
    add_algorithm_options(*command, arguments->algorithms);
    CLI::Option *candidates = command
                                  ->add_option("--candidates", arguments->options.random_candidates,
                                               "Check N random candidates a case instead of the chosen one")
                                  ->check(CLI::Range(1, 1000))
                                  ->type_name("N");
    command->add_option("--seed", arguments->options.seed, "Seed of the random candidates")
        ->needs(candidates)
        ->type_name("N");
    add_options(*command, arguments->target);
    add_core_option(*command, arguments->target);
    add_options(*command, arguments->judge,
                "each kernel runs there, too, and must compute the same in as many instructions");
    add_options(*command, arguments->answer, {TableFormat::table, TableFormat::json});
    command->footer(
        "Examples:\n"
        "  kiln check --suite tests/conformance/xla_conv.json\n"
        "  kiln check --suite tests/conformance/onnx_graph.json --threads 2\n"
        "  kiln check --suite tests/conformance/winograd.json --candidates 5 --seed 7 --format json");
    command->callback([&action, arguments] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace kiln
