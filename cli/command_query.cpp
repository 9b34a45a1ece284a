#include <fmt/format.h>

#include "cli/command.h"

namespace kiln {
namespace {

struct QueryArguments {
    std::string what, sql, db;
    TableFormat format = TableFormat::table;
};

Result<Table> answer(const QueryArguments &arguments, const TrialStore &store) {
    if (arguments.what == "best") return store.best_table();
    if (arguments.what == "trials") return store.trials_table();
    if (arguments.what == "workloads") return store.workloads_table();
    if (arguments.what == "failures") return store.failures_table();
    if (arguments.what == "races") return store.races_table();
    return store.sql(arguments.sql);
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
    Result<TrialStore> store = TrialStore::open(arguments.db, OpenMode::read_only);
    if (!store) return fail(store.error());
    Result<Table> table = answer(arguments, *store);
    if (!table) return fail(table.error());
    print(*table, arguments.format);
    return exit_done;
}

}  // namespace

void add_query_command(CLI::App &app, Action &action) {
    auto arguments = std::make_shared<QueryArguments>();
    CLI::App *command = app.add_subcommand("query", "Ask the database what was tried and what is best");
    command
        ->add_option(
            "what", arguments->what,
            "best: the winner for each workload; trials: all; workloads: what was tuned; failures: trials that "
            "failed, and why; races: what was compared side by side; sql: a SELECT of your own")
        ->required()
        ->check(one_of({"best", "trials", "workloads", "failures", "races", "sql"}))
        ->type_name("best|trials|workloads|failures|races|sql");
    command->add_option("statement", arguments->sql, "For sql: one statement that only reads")->type_name("SQL");
    command->add_option("--db", arguments->db, "Database file")->required()->type_name("FILE");
    add_format_option(*command, arguments->format, {TableFormat::table, TableFormat::json, TableFormat::csv});
    command->footer(
        "Examples:\n"
        "  kiln query best --db kiln.db\n"
        "  kiln query failures --db kiln.db --format csv\n"
        "  kiln query sql \"SELECT status, count(*) FROM trials GROUP BY status\" --db kiln.db --format json");
    command->callback([&action, arguments] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace kiln
