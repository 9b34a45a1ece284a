#include <fmt/format.h>

#include "cli/command.h"

namespace kiln {
namespace {

struct DbArguments {
    std::string action, db;
    TableFormat format = TableFormat::table;
};

int run(const DbArguments &arguments, const std::vector<std::string> &rest) {
    if (arguments.action == "merge" || arguments.action == "export" || arguments.action == "import") {
        return fail({ErrorCode::usage, fmt::format("db {}: not available in this version of kiln", arguments.action)});
    }
    if (!rest.empty()) {
        return fail({ErrorCode::usage,
                     fmt::format("db {}: `{}` is not expected; see `kiln db --help`", arguments.action, rest.front())});
    }
    if (arguments.db.empty()) {
        return fail({ErrorCode::usage, fmt::format("db {}: --db is required", arguments.action)});
    }
    Result<TrialStore> store = TrialStore::open(arguments.db, OpenMode::read_only);
    if (!store) return fail(store.error());
    if (arguments.action == "verify") {
        if (Status s = store->verify(); !s) {
            fail(s.error());
            return s.error().code == ErrorCode::bad_input ? exit_failed : exit_status(s.error());
        }
        fmt::print("{}: ok\n", arguments.db);
        return exit_done;
    }
    Result<Table> info = store->info();
    if (!info) return fail(info.error());
    print(*info, arguments.format);
    return exit_done;
}

}  // namespace

void add_db_command(CLI::App &app, Action &action) {
    auto arguments = std::make_shared<DbArguments>();
    CLI::App *command = app.add_subcommand("db", "Look at a database file as a whole");
    command->add_option("action", arguments->action, "info: facts about the file; verify: check all of it")
        ->required()
        ->check(one_of({"info", "verify", "merge", "export", "import"}))
        ->type_name("info|verify");
    command->add_option("--db", arguments->db, "Database file")->type_name("FILE");
    add_format_option(*command, arguments->format, {TableFormat::table, TableFormat::json, TableFormat::csv});
    command->allow_extras();  // of the actions to come, whose own message is clearer
    command->footer("Examples:\n  kiln db info --db kiln.db\n  kiln db verify --db kiln.db");
    command->callback([&action, arguments, command] {
        action = [arguments, command] { return run(*arguments, command->remaining()); };
    });
}

}  // namespace kiln
