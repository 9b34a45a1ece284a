#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/answers/answer_options.h"
#include "cli/answers/output.h"
#include "cli/clock.h"
#include "cli/command.h"
#include "database/record_text.h"

namespace kiln {
namespace {

struct DbArguments {
    std::string action, db;
    std::vector<std::string> files;
    AnswerOptions answer;
};

// How many records were read, now and then: a million of them take minutes.
class RecordProgress {
public:
    explicit RecordProgress(std::string file) : file_(std::move(file)), latest_ns_(now_ns()) {}

    void see() {
        constexpr int64_t between_ns = 10'000'000'000;
        records_++;
        const int64_t now = now_ns();
        if (now < latest_ns_ + between_ns) return;
        latest_ns_ = now;
        tell_line(fmt::format("{}: {} records read", file_, records_));
    }

private:
    std::string file_;
    int64_t records_ = 0, latest_ns_;
};

RecordSource with_progress(RecordSource source) {
    auto for_each = std::move(source.for_each);
    source.for_each = [name = source.name, for_each = std::move(for_each)](const auto &visit) {
        RecordProgress progress(name);
        return for_each([&](const Record &record) {
            progress.see();
            return visit(record);
        });
    };
    return source;
}

Status verify_with_progress(const TrialStore &store, const std::string &file) {
    RecordProgress progress(file);
    return store.verify([&] { progress.see(); });
}

// What a source brought that was not there before.
class AddedTable {
public:
    static constexpr const char *columns[] = {"from", "trials", "measurements", "races", "names"};
    AddedTable() { table_.columns.assign(std::begin(columns), std::end(columns)); }
    void add(const std::string &from, const RecordCounts &added) {
        table_.rows.push_back({from, added.trials, added.measurements, added.races, added.names});
    }
    const Table &table() const { return table_; }

private:
    Table table_;
};

int info(const DbArguments &arguments) {
    Result<TrialStore> store = open_to_read(arguments.db);
    if (!store) return fail(store.error());
    Result<Table> table = store->info();
    if (!table) return fail(table.error());
    if (Status s = check_columns(arguments.answer, table->columns); !s) return fail(s.error());
    print(std::move(*table), {}, arguments.answer);
    return exit_done;
}

int verify(const DbArguments &arguments) {
    Result<TrialStore> store = open_to_read(arguments.db);
    if (!store) {
        const int status = fail(store.error());
        return is_damage(store.error()) ? exit_failed : status;
    }
    if (Status s = verify_with_progress(*store, arguments.db); !s) {
        fail(s.error());
        return s.error().code == ErrorCode::bad_input ? exit_failed : exit_status(s.error());
    }
    print_line(fmt::format("{}: ok", arguments.db));
    return exit_done;
}

// What was added, a row a source.
int add(const DbArguments &arguments, const std::vector<RecordSource> &sources) {
    Result<TrialStore> store = TrialStore::open(arguments.db, OpenMode::create);
    if (!store) return fail(store.error());
    tell_notes(*store);
    const Result<std::vector<RecordCounts>> counts = store->add(sources);
    if (!counts) return fail(counts.error());
    AddedTable added;
    for (size_t i = 0; i < sources.size(); i++) added.add(arguments.files[i], (*counts)[i]);
    print(added.table(), {}, arguments.answer);
    return exit_done;
}

// Every source is opened and checked before anything is written.
int merge(const DbArguments &arguments) {
    if (Status s = check_columns(arguments.answer, AddedTable().table().columns); !s) return fail(s.error());
    std::vector<TrialStore> stores;
    std::vector<RecordSource> sources;
    for (const std::string &file : arguments.files) {
        Result<TrialStore> store = open_to_read(file);
        if (!store) return fail(store.error());
        if (Status s = verify_with_progress(*store, file); !s) return fail(s.error());
        sources.push_back(with_progress(store->source()));
        stores.push_back(std::move(*store));
    }
    return add(arguments, sources);
}

int export_records(const DbArguments &arguments) {
    Result<TrialStore> store = open_to_read(arguments.db);
    if (!store) return fail(store.error());
    const Status status = store->write_export([](std::string_view part) {
        print_document(part);
        return std::ferror(stdout) == 0;  // main() tells where that failed
    });
    return status ? exit_done : fail(status.error());
}

// Every file is read and checked before anything is written.
int import_records(const DbArguments &arguments) {
    if (Status s = check_columns(arguments.answer, AddedTable().table().columns); !s) return fail(s.error());
    std::vector<RecordSource> sources;
    for (const std::string &file : arguments.files) {
        Result<RecordSource> source = read_export(file);
        if (!source) return fail(source.error());
        sources.push_back(with_progress(std::move(*source)));
        if (Status s = sources.back().for_each([](const Record &) { return Status(); }); !s) return fail(s.error());
    }
    return add(arguments, sources);
}

struct DbAction {
    const char *name;
    int (*run)(const DbArguments &);
    const char *files;    // what the files after it are; empty where there are none
    bool prints_a_table;  // in which options choose
};
constexpr DbAction db_actions[] = {
    {"info", info, "", true},
    {"verify", verify, "", false},
    {"merge", merge, "databases to take trials from", true},
    {"export", export_records, "", false},
    {"import", import_records, "files that `kiln db export` wrote", true},
};

// Left alone, `--top 1` of an export would be taken for what it is not.
bool chooses_in_a_table(const AnswerOptions &options) {
    return options.format != TableFormat::table || options.wide || !options.columns.empty() || !options.sort.empty() ||
           options.top || options.guard_formulas;
}

int run(const DbArguments &arguments) {
    for (const DbAction &action : db_actions) {
        if (arguments.action != action.name) continue;
        const bool takes_files = *action.files != '\0';
        if (!takes_files && !arguments.files.empty()) {
            return fail({ErrorCode::usage, fmt::format("db {}: `{}` is not expected; see `kiln db --help`", action.name,
                                                       arguments.files.front())});
        }
        if (takes_files && arguments.files.empty()) {
            return fail({ErrorCode::usage, fmt::format("db {}: needs {}", action.name, action.files)});
        }
        if (!action.prints_a_table && chooses_in_a_table(arguments.answer)) {
            return fail({ErrorCode::usage, fmt::format("db {}: its answer is no table; leave out --format, --columns, "
                                                       "--sort, --top, --wide and --guard-formulas",
                                                       action.name)});
        }
        return action.run(arguments);
    }
    return exit_usage;  // the parser lets no other through
}

}  // namespace

void add_db_command(CLI::App &app, Action &action) {
    auto arguments = std::make_shared<DbArguments>();
    CLI::App *command = app.add_subcommand("db", "Look at a database file as a whole, merge it, exchange it as text");
    std::vector<std::string> names;
    for (const DbAction &known : db_actions) names.emplace_back(known.name);
    command
        ->add_option("ACTION", arguments->action,
                     "info: facts about the file; verify: check all of it; merge: add what other databases have; "
                     "export: all of it as text; import: add what was exported")
        ->required()
        ->check(one_of(names))
        ->type_name("info|verify|merge|export|import");
    command->add_option("FILES", arguments->files, "For merge: databases; for import: exported texts")
        ->type_name("FILE");
    command->add_option("--db", arguments->db, "Database file; merge and import make it if it does not exist")
        ->required()
        ->type_name("FILE");
    add_options(*command, arguments->answer, {TableFormat::table, TableFormat::json, TableFormat::csv});
    command->footer(
        "Examples:\n"
        "  kiln db info --db kiln.db\n"
        "  kiln db merge --db all.db host1.db host2.db\n"
        "  kiln db export --db kiln.db > kiln.jsonl\n"
        "  kiln db import --db kiln.db kiln.jsonl");
    command->callback([&action, arguments] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace kiln
