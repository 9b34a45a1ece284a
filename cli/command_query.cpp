#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <map>
#include <new>

#include "cli/answers/answer_options.h"
#include "cli/answers/candidate_text.h"
#include "cli/answers/output.h"
#include "cli/answers/svg.h"
#include "cli/command.h"
#include "cli/pareto/pareto_answer.h"
#include "cli/pareto/pareto_chart.h"
#include "workload/lists/glob.h"

namespace kiln {
namespace {

struct QueryArguments {
    std::string what, sql, db, svg;
    std::optional<std::string> filter;
    AnswerOptions answer;
};

// What an answer shows where nobody says which columns: name, time and speed first.
struct Answer {
    ReportKind kind;
    TableForm form;
};

TableForm with_context(TableForm form) {
    const TableForm context = {{.name = "target", .context = true},
                               {.name = "threads", .context = true},
                               {.name = "machine", .context = true},
                               {.name = "toolchain", .context = true},
                               {.name = "cache", .context = true},
                               {.name = "metric", .context = true},
                               {.name = "error_budget", .title = "error budget", .context = true}};
    form.insert(form.end(), context.begin(), context.end());
    return form;
}

const ColumnForm median{.name = "median_us", .title = "us", .digits = 1};
const ColumnForm speed{.name = "gflops", .title = "GFLOP/s", .digits = 1};
const ColumnForm spread{.name = "spread", .title = "spread %", .digits = 1, .scale = 100};
const ColumnForm trial_id{.name = "trial", .prefix = 12};

const std::map<std::string, Answer> &answers() {
    static const std::map<std::string, Answer> table = {
        {"best",
         {ReportKind::best, with_context({{.name = "name"},
                                          median,
                                          speed,
                                          {.name = "cycles"},
                                          {.name = "rtl_cycles", .title = "rtl cycles"},
                                          {.name = "candidate"},
                                          {.name = "evidence"},
                                          trial_id,
                                          spread,
                                          {.name = "instructions"},
                                          {.name = "load_misses", .title = "load misses"},
                                          {.name = "text_bytes", .title = "text"},
                                          {.name = "stack_bytes", .title = "stack"},
                                          {.name = "workspace_bytes", .title = "workspace"}})}},
        {"trials",
         {ReportKind::trials, with_context({{.name = "name"},
                                            median,
                                            speed,
                                            {.name = "status"},
                                            {.name = "candidate"},
                                            {.name = "message"},
                                            trial_id,
                                            spread,
                                            {.name = "origin"}})}},
        {"workloads",
         {ReportKind::workloads,
          {{.name = "name"},
           {.name = "count"},
           {.name = "best_us", .title = "best us", .digits = 1},
           {.name = "trials"},
           {.name = "ok"},
           {.name = "failed"},
           {.name = "workload"}}}},
        {"failures",
         {ReportKind::failures, with_context({{.name = "name"},
                                              {.name = "status"},
                                              {.name = "count"},
                                              {.name = "message"},
                                              trial_id,
                                              {.name = "candidate"}})}},
        {"races",
         {ReportKind::races, with_context({{.name = "name"},
                                           {.name = "place"},
                                           {.name = "ratio", .digits = 3},
                                           {.name = "ratio_lo", .title = "from", .digits = 3},
                                           {.name = "ratio_hi", .title = "to", .digits = 3},
                                           {.name = "tie"},
                                           {.name = "rounds"},
                                           {.name = "network"},
                                           {.name = "candidate"},
                                           trial_id,
                                           {.name = "created_at", .title = "at"}})}},
        {"networks",
         {ReportKind::networks,
          {{.name = "network"},
           {.name = "created_at", .title = "at"},
           {.name = "who"},
           {.name = "version"},
           {.name = "median_ms", .title = "ms", .digits = 3},
           {.name = "ratio", .digits = 2},
           {.name = "untuned"},
           {.name = "min_ms", .title = "min ms", .digits = 3},
           {.name = "rounds"},
           {.name = "threads", .context = true},
           {.name = "target", .context = true},
           {.name = "machine", .context = true}}}},
    };
    return table;
}

// Names of networks that the filter matches.
Result<std::vector<std::string>> matching_networks(const TrialStore &store, const std::string &filter) {
    const Result<std::vector<std::string>> all = store.network_names();
    if (!all) return all.error();
    std::vector<std::string> matching;
    std::ranges::copy_if(*all, std::back_inserter(matching),
                         [&](const std::string &name) { return glob_match(filter, name); });
    if (matching.empty()) return no_match(filter, "network of the database", *all);
    return matching;
}

// Keys of the workloads whose names, or whose key, the filter matches.
Result<std::vector<std::string>> matching_workloads(const TrialStore &store, const std::string &filter) {
    const Result<std::vector<WorkloadNames>> all = store.workload_names();
    if (!all) return all.error();
    std::vector<std::string> keys, names;
    for (const WorkloadNames &workload : *all) {
        bool matches = glob_match(filter, workload.key);
        for (const std::string &name : workload.names) matches = matches || glob_match(filter, name);
        if (matches) keys.push_back(workload.key);
        names.insert(names.end(), workload.names.begin(), workload.names.end());
        if (workload.names.empty()) names.push_back(workload.key);
    }
    if (keys.empty()) return no_match(filter, "layer of the database", names);
    return keys;
}

// Times where times were measured, counts where cycles were counted: a column that says nothing in any row is not shown.
TableForm with_values(TableForm form, const Table &table) {
    std::erase_if(form, [&](const ColumnForm &column) {
        const auto index = static_cast<size_t>(std::ranges::find(table.columns, column.name) - table.columns.begin());
        const auto is_null = [&](const std::vector<Cell> &row) {
            return std::holds_alternative<std::monostate>(row[index]);
        };
        return !column.context && index < table.columns.size() && !table.rows.empty() &&
               std::ranges::all_of(table.rows, is_null);
    });
    return form;
}

int run_report(const QueryArguments &arguments, const TrialStore &store) {
    const AnswerOptions &options = arguments.answer;
    const Answer &answer = answers().at(arguments.what);
    const SortOrder order = sort_order(options);
    ReportRequest request{
        .kind = answer.kind, .sort = order.column, .descending = order.descending, .top = options.top};
    if (!request.top && options.format == TableFormat::table) request.top = most_rows_of_a_table;
    if (arguments.filter) {
        const bool of_networks = answer.kind == ReportKind::networks;
        Result<std::vector<std::string>> keys =
            of_networks ? matching_networks(store, *arguments.filter) : matching_workloads(store, *arguments.filter);
        if (!keys) return fail(keys.error());
        request.workloads = std::move(*keys);
    }
    Result<Report> report = store.report(request);
    if (!report) return fail(report.error());
    if (Status s = check_columns(options, report->table.columns); !s) return fail(s.error());
    const bool shortens = options.format == TableFormat::table && !options.wide;
    const bool shortened = shortens && shorten_candidates(&report->table);
    const std::vector<std::string> hidden =
        print_rows(report->table, report->rows, with_values(answer.form, report->table), options);
    if (shortened && is_shown("candidate", options, hidden)) tell(short_candidates_note);
    return exit_done;
}

int run_pareto(const QueryArguments &arguments, const TrialStore &store) {
    const AnswerOptions &options = arguments.answer;
    std::optional<std::vector<std::string>> keys;
    if (arguments.filter) {
        Result<std::vector<std::string>> matching = matching_workloads(store, *arguments.filter);
        if (!matching) return fail(matching.error());
        keys = std::move(*matching);
    }
    size_t without = 0;
    Result<Table> table = pareto_table(store, keys, &without);
    if (!table) return fail(table.error());
    if (Status s = check_columns(options, table->columns); !s) return fail(s.error());
    const std::string chart = arguments.svg.empty() ? "" : pareto_chart(*table);
    const size_t all = table->rows.size();
    if (options.format == TableFormat::table && !options.top && options.sort.empty()) thin_pareto(&*table);
    if (table->rows.size() < all) {
        tell(fmt::format("{} of {} choices, each with 2 % more code than the one before; --format csv has all",
                         table->rows.size(), all));
    }
    if (without > 0) tell(fmt::format("{} layers without counted cycles are left out", without));
    print(std::move(*table), pareto_form(), options);
    if (!chart.empty()) {
        if (Status s = write_svg(chart, arguments.svg); !s) return fail(s.error());
    }
    return exit_done;
}

int run_sql(const QueryArguments &arguments, const TrialStore &store) {
    if (arguments.filter) return fail({ErrorCode::usage, "query sql: --filter is for the other answers; use WHERE"});
    Result<Table> table = store.sql(arguments.sql);
    if (!table) return fail(table.error());
    if (Status s = check_columns(arguments.answer, table->columns); !s) return fail(s.error());
    print(std::move(*table), {}, arguments.answer);
    return exit_done;
}

// An answer is collected before it is shown, so that its columns can be as wide as what is in them.
Error too_large(const QueryArguments &arguments) {
    return environment_error(fmt::format(
        "{}: there is not enough memory for the answer to `query {}`; ask for less: {}", arguments.db, arguments.what,
        arguments.what == "sql" ? "name the columns that you need, add WHERE or LIMIT"
                                : "use --top N or --filter GLOB, or `kiln query sql` with WHERE and LIMIT"));
}

int run(const QueryArguments &arguments) {
    const bool is_sql = arguments.what == "sql";
    if (is_sql && arguments.sql.empty()) {
        return fail({ErrorCode::usage, "query sql: needs a statement, such as \"SELECT * FROM best\""});
    }
    if (!is_sql && !arguments.sql.empty()) {
        return fail({ErrorCode::usage, fmt::format("query {}: `{}` is not expected; see `kiln query --help`",
                                                   arguments.what, arguments.sql)});
    }
    if (!arguments.svg.empty() && arguments.what != "pareto") {
        return fail({ErrorCode::usage, fmt::format("query {}: --svg is for `query pareto`", arguments.what)});
    }
    Result<TrialStore> store = open_to_read(arguments.db);
    if (!store) return fail(store.error());
    if (arguments.what == "pareto") return run_pareto(arguments, *store);
    return is_sql ? run_sql(arguments, *store) : run_report(arguments, *store);
}

}  // namespace

void add_query_command(CLI::App &app, Action &action) {
    auto arguments = std::make_shared<QueryArguments>();
    CLI::App *command = app.add_subcommand("query", "Ask the database what was tried and what is best");
    command
        ->add_option(
            "WHAT", arguments->what,
            "best: the winner for each workload; trials: all; workloads: what was tuned; failures: trials that "
            "failed, and why; races: what was compared side by side; networks: whole networks, run by run; pareto: of "
            "soft cores, cycles of all layers against bytes of code; sql: a SELECT of your own")
        ->required()
        ->check(one_of({"best", "trials", "workloads", "failures", "races", "networks", "pareto", "sql"}))
        ->type_name("best|trials|workloads|failures|races|networks|pareto|sql");
    command->add_option("STATEMENT", arguments->sql, "For sql: one statement that only reads")->type_name("SQL");
    command->add_option("--db", arguments->db, "Database file")->required()->type_name("FILE");
    command
        ->add_option("--filter", arguments->filter,
                     "Only layers whose list/name or key matches, or networks whose name does; * crosses /")
        ->type_name("GLOB");
    command->add_option("--svg", arguments->svg, "For pareto: also write a picture of cycles by bytes")
        ->type_name("FILE");
    add_options(*command, arguments->answer, {TableFormat::table, TableFormat::json, TableFormat::csv});
    command->footer(
        "Examples:\n"
        "  kiln query best --db kiln.db\n"
        "  kiln query trials --db kiln.db --filter 'resnet50/res2*' --sort median_us --top 10\n"
        "  kiln query failures --db kiln.db --format csv\n"
        "  kiln query sql \"SELECT status, count(*) FROM trials GROUP BY status\" --db kiln.db --format json");
    command->callback([&action, arguments] {
        action = [arguments] {
            try {
                return run(*arguments);
            } catch (const std::bad_alloc &) {
                return fail(too_large(*arguments));
            }
        };
    });
}

}  // namespace kiln
