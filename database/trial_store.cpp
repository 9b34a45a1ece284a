#include "database/trial_store.h"

#include <fmt/format.h>

#include "database/database_file.h"
#include "database/race_rows.h"
#include "database/record_rows.h"
#include "database/record_text.h"
#include "database/reports.h"
#include "database/sqlite.h"
#include "database/trial_rows.h"
#include "database/verify.h"
#include "records/content_id.h"
#include "records/sample_list.h"

namespace kiln {

struct TrialStore::State {
    Connection connection;
    std::vector<std::string> notes;
};

namespace {

Status check(const Trial &trial, const std::optional<Measurement> &measurement) {
    if ((trial.status == TrialStatus::ok) != measurement.has_value()) {
        return bad_input(fmt::format("trial of {}: status is {}, so a measurement must {} be given", trial.candidate,
                                     name(trial.status), trial.status == TrialStatus::ok ? "also" : "not"));
    }
    if (!measurement) return {};
    if (!are_samples(measurement->samples)) {
        return bad_input(fmt::format("measurement of object {}: samples must be positive and finite, at least one",
                                     measurement->object_hash));
    }
    return {};
}

struct Where {
    std::string sql = " WHERE 1";
    std::vector<Cell> parameters;

    void add(const char *condition, Cell value) {
        sql += condition;
        parameters.push_back(std::move(value));
    }
};

Where where(const TrialFilter &filter) {
    Where where;
    if (!filter.workload.empty()) where.add(" AND workload = ?", filter.workload);
    if (!filter.target.empty()) where.add(" AND target = ?", filter.target);
    if (!filter.machine.empty()) where.add(" AND machine = ?", filter.machine);
    if (!filter.toolchain.empty()) where.add(" AND toolchain = ?", filter.toolchain);
    if (!filter.candidate.empty()) where.add(" AND candidate = ?", filter.candidate);
    if (filter.threads) where.add(" AND threads = ?", int64_t{*filter.threads});
    if (filter.cache) where.add(" AND cache = ?", std::string(name(*filter.cache)));
    if (filter.error_budget) where.add(" AND error_budget = ?", *filter.error_budget);
    if (filter.within_budget) {
        where.add(" AND max_error <= ?", *filter.within_budget);
        where.add(" AND ifnull(wide_error, 0) <= ?", wide_error_factor * *filter.within_budget);
    }
    return where;
}

// A page that had to leave the cache early would need the lock that keeps readers out, long before the commit: two
// processes that merge each other's files would wait for each other.
Result<Transaction> begin_merging(const Connection &connection) {
    if (Status status = connection.run("PRAGMA cache_spill = OFF"); !status) return status.error();
    return begin_writing(connection);
}

Status insert(const Connection &connection, const Record &record, RecordCounts *added) {
    const Result<bool> inserted = insert_record(connection, record);
    if (!inserted) return inserted.error();
    if (*inserted) added->add(record);
    return {};
}

TrialFilter without_candidates(TrialFilter filter) {
    filter.candidate.clear();
    filter.within_budget.reset();
    return filter;
}

}  // namespace

TrialStore::TrialStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
TrialStore::TrialStore(TrialStore &&) noexcept = default;
TrialStore &TrialStore::operator=(TrialStore &&) noexcept = default;
TrialStore::~TrialStore() = default;

Result<TrialStore> TrialStore::open(const std::string &path, OpenMode mode) {
    Result<OpenedDatabase> opened = open_database(path, mode);
    if (!opened) return opened.error();
    return TrialStore(std::make_unique<State>(State{std::move(opened->connection), std::move(opened->notes)}));
}

const std::vector<std::string> &TrialStore::notes() const { return state_->notes; }

Result<int64_t> TrialStore::state_of_others() const {
    const Result<Cell> version = state_->connection.query_value("PRAGMA data_version");
    if (!version) return version.error();
    return std::get<int64_t>(*version);
}

Result<std::string> TrialStore::append(const Trial &trial, const std::optional<Measurement> &measurement) {
    if (Status status = check(trial, measurement); !status) return status.error();
    const std::string measurement_id = measurement ? content_id(*measurement) : "";
    Trial stored = storable(trial);
    stored.id = content_id(stored, measurement_id);
    if (!trial.id.empty() && trial.id != stored.id) {
        return bad_input(
            fmt::format("trial {}: its content has the id {}; it was changed after it was made", trial.id, stored.id));
    }

    const Connection &connection = state_->connection;
    Result<Transaction> transaction = begin_writing(connection);
    if (!transaction) return transaction.error();
    const Result<Cell> known = connection.query_value("SELECT 1 FROM trial WHERE id = ?", {stored.id});
    if (!known) return known.error();
    if (*known != Cell()) return stored.id;
    if (measurement) {
        if (Status status = insert_measurement(connection, measurement_id, *measurement); !status)
            return status.error();
    }
    if (Status status = insert_trial(connection, stored, measurement_id); !status) return status.error();
    if (Status status = transaction->commit(); !status) return status.error();
    return stored.id;
}

Result<std::string> TrialStore::append(const Race &race) {
    if (Status status = check_race(race); !status) return status.error();
    Race stored = race;
    stored.id = content_id(race);
    if (!race.id.empty() && race.id != stored.id) {
        return bad_input(
            fmt::format("race {}: its content has the id {}; it was changed after it was made", race.id, stored.id));
    }
    const Connection &connection = state_->connection;
    Result<Transaction> transaction = begin_writing(connection);
    if (!transaction) return transaction.error();
    const Result<Cell> known = connection.query_value("SELECT 1 FROM race WHERE id = ?", {stored.id});
    if (!known) return known.error();
    if (*known != Cell()) return stored.id;
    if (Status status = insert_race(connection, stored); !status) return status.error();
    if (Status status = transaction->commit(); !status) return status.error();
    return stored.id;
}

Result<std::vector<Race>> TrialStore::races(const TrialFilter &filter) const {
    const Where conditions = where(without_candidates(filter));
    Result<Statement> rows = state_->connection.prepare(
        fmt::format("{}{} ORDER BY created_at, race", select_races, conditions.sql), conditions.parameters);
    if (!rows) return rows.error();
    std::vector<Race> races;
    for (;;) {
        const Result<bool> row = rows->step();
        if (!row) return row.error();
        if (!*row) return races;
        Result<Race> race = read_race(state_->connection, *rows);
        if (!race) return race.error();
        races.push_back(std::move(*race));
    }
}

Result<std::vector<Trial>> TrialStore::trials(const TrialFilter &filter) const {
    const Where conditions = where(filter);
    Result<Statement> rows = state_->connection.prepare(
        fmt::format("SELECT {} FROM trials{} ORDER BY created_at, seq", trial_columns, conditions.sql),
        conditions.parameters);
    if (!rows) return rows.error();
    std::vector<Trial> trials;
    for (;;) {
        const Result<bool> row = rows->step();
        if (!row) return row.error();
        if (!*row) return trials;
        Result<Trial> trial = read_trial(*rows);
        if (!trial) return trial.error();
        trials.push_back(std::move(*trial));
    }
}

Result<std::optional<Trial>> TrialStore::trial(const std::string &id) const {
    if (id.size() < 4 || id.size() > 32 || id.find_first_not_of("0123456789abcdef") != std::string::npos) {
        return bad_input(fmt::format("`{}` is not a trial's id: 4 to 32 digits of 0-9, a-f", id));
    }
    Result<Statement> rows = state_->connection.prepare(
        fmt::format("SELECT {} FROM trials WHERE trial >= ? AND trial < ? ORDER BY trial LIMIT 2", trial_columns),
        {id, id + "g"});
    if (!rows) return rows.error();
    Result<bool> row = rows->step();
    if (!row) return row.error();
    if (!*row) return std::optional<Trial>();
    Result<Trial> trial = read_trial(*rows);
    if (!trial) return trial.error();
    row = rows->step();
    if (!row) return row.error();
    if (*row) {
        return bad_input(
            fmt::format("`{}` is the beginning of more than one trial's id ({}, {}, ...); give more digits", id,
                        trial->id, rows->text(0)));
    }
    return std::optional(std::move(*trial));
}

namespace {

Result<std::optional<Measurement>> first_measurement(Statement &rows) {
    const Result<bool> row = rows.step();
    if (!row) return row.error();
    if (!*row) return std::optional<Measurement>();
    Result<Measurement> found = read_measurement(rows, 0);
    if (!found) return found.error();
    return std::optional(std::move(*found));
}

}  // namespace

Result<std::optional<Measurement>> TrialStore::measurement(const std::string &object_hash, const std::string &machine,
                                                           int threads, CacheMode cache, Metric metric) const {
    Result<Statement> rows = state_->connection.prepare(
        fmt::format("SELECT {} FROM measurements WHERE object_hash = ? AND machine = ? AND threads = ? AND cache = ? "
                    "AND metric = ? ORDER BY created_at DESC, measurement DESC LIMIT 1",
                    measurement_columns),
        {object_hash, machine, int64_t{threads}, std::string(name(cache)), std::string(name(metric))});
    if (!rows) return rows.error();
    return first_measurement(*rows);
}

Result<std::optional<Measurement>> TrialStore::measurement_of(const std::string &trial) const {
    Result<Statement> rows = state_->connection.prepare(
        fmt::format("SELECT {} FROM measurements JOIN trial ON trial.measurement_id = measurements.measurement WHERE "
                    "trial.id = ?",
                    measurement_columns),
        {trial});
    if (!rows) return rows.error();
    return first_measurement(*rows);
}

Result<std::optional<Best>> TrialStore::best(const TrialFilter &filter) const {
    // Medians compare within one metric only; a time is what people mean.
    const Where conditions = where(filter);
    Result<Statement> rows = state_->connection.prepare(
        fmt::format("WITH chosen AS (SELECT trial, evidence FROM best{} ORDER BY metric <> 'ns', metric, median, "
                    "object_bytes NULLS LAST, trial LIMIT 1) "
                    "SELECT {}, {}, chosen.evidence FROM chosen JOIN trials USING (trial) JOIN measurements USING "
                    "(measurement)",
                    conditions.sql, trial_columns, measurement_columns),
        conditions.parameters);
    if (!rows) return rows.error();
    const Result<bool> row = rows->step();
    if (!row) return row.error();
    if (!*row) return std::optional<Best>();
    Result<Trial> trial = read_trial(*rows);
    if (!trial) return trial.error();
    Result<Measurement> measurement = read_measurement(*rows, trial_column_count);
    if (!measurement) return measurement.error();
    return std::optional(
        Best{std::move(*trial), std::move(*measurement), rows->text(trial_column_count + measurement_column_count)});
}

Status TrialStore::name_workload(const std::string &key, const std::string &list, const std::string &name,
                                 int64_t count) {
    const Connection &connection = state_->connection;
    const Result<Cell> known = connection.query_value(
        "SELECT count FROM workload_name JOIN workload ON workload.id = workload_id WHERE key = ? AND list = ? AND "
        "name = ?",
        {key, list, name});
    if (!known) return known.error();
    if (*known == Cell(count)) return {};
    Result<Transaction> transaction = begin_writing(connection);
    if (!transaction) return transaction.error();
    if (Status status = insert_workload_name(connection, {key, list, name, count}); !status) return status;
    return transaction->commit();
}

Result<RecordCounts> TrialStore::merge(const TrialStore &from) {
    if (&from == this) return RecordCounts();
    const Connection &connection = state_->connection;
    Result<Transaction> transaction = begin_merging(connection);
    if (!transaction) return transaction.error();
    RecordCounts added;
    {
        const Connection &source = from.state_->connection;
        Result<Transaction> snapshot = Transaction::begin_reading(source);
        if (!snapshot) return snapshot.error();
        const auto add = [&](const Record &record) -> Status {
            Status status = check_content(record);
            if (status) status = insert(connection, record, &added);
            if (status || status.error().code != ErrorCode::bad_input) return status;
            return bad_input(fmt::format("{}: {}", source.path(), status.error().message));
        };
        if (Status status = for_each_record(source, add); !status) return status.error();
    }  // nobody who writes to `from` has to wait for the commit
    if (Status status = transaction->commit(); !status) return status.error();
    return added;
}

Result<RecordCounts> TrialStore::add(const std::vector<Record> &records) {
    const Connection &connection = state_->connection;
    Result<Transaction> transaction = begin_merging(connection);
    if (!transaction) return transaction.error();
    RecordCounts added;
    for (const Record &record : records) {
        Status status = check_content(record);
        if (status) status = insert(connection, record, &added);
        if (!status) return status.error();
    }
    if (Status status = transaction->commit(); !status) return status.error();
    return added;
}

Result<std::string> TrialStore::export_text() const {
    Result<Transaction> snapshot = Transaction::begin_reading(state_->connection);
    if (!snapshot) return snapshot.error();
    std::string text = fmt::format("{}\n", export_head);
    Status status = for_each_record(state_->connection, [&](const Record &record) -> Status {
        if (Status whole = check_content(record); !whole) {
            return bad_input(fmt::format("{}: {}; restore a copy", state_->connection.path(), whole.error().message));
        }
        text += record_text(record);
        text += '\n';
        return {};
    });
    if (!status) return status.error();
    return text;
}

Result<std::string> TrialStore::digest() const {
    Result<Statement> rows = state_->connection.prepare(
        "SELECT id FROM measurement UNION ALL SELECT id FROM trial UNION ALL SELECT id FROM race ORDER BY id", {});
    if (!rows) return rows.error();
    std::vector<std::string> ids;
    for (;;) {
        const Result<bool> row = rows->step();
        if (!row) return row.error();
        if (!*row) return digest_of_ids(ids);
        ids.push_back(rows->text(0));
    }
}

Result<Table> TrialStore::best_table() const { return state_->connection.query(best_report); }
Result<Table> TrialStore::trials_table() const { return state_->connection.query(trials_report); }
Result<Table> TrialStore::workloads_table() const { return state_->connection.query(workloads_report); }
Result<Table> TrialStore::failures_table() const { return state_->connection.query(failures_report); }
Result<Table> TrialStore::races_table() const { return state_->connection.query(races_report); }
Result<Table> TrialStore::sql(const std::string &text) const { return state_->connection.query_untrusted(text); }

Result<Table> TrialStore::info() const {
    Result<Table> facts = state_->connection.query(info_report);
    if (!facts) return facts;
    facts->rows.insert(facts->rows.begin(), {Cell("file"), Cell(state_->connection.path())});
    const Result<std::string> content = digest();
    if (!content) return content.error();
    facts->rows.push_back({Cell("digest"), Cell(*content)});
    for (const std::string &note : state_->notes) facts->rows.push_back({Cell("note"), Cell(note)});
    return facts;
}

Status TrialStore::verify() const { return kiln::verify(state_->connection); }

}  // namespace kiln
