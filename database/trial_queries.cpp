// The queries of a TrialStore.
#include <fmt/format.h>

#include "database/rows/race_rows.h"
#include "database/rows/trial_rows.h"
#include "database/schema.h"
#include "database/trial_store_state.h"

namespace kiln {
namespace {

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

TrialFilter without_candidates(TrialFilter filter) {
    filter.candidate.clear();
    filter.within_budget.reset();
    return filter;
}

// A record that comes out of a file is as it was written, or an error that names the file.
template<typename Stored>
Result<Stored> checked(const Connection &connection, Result<Stored> stored) {
    const Status status = stored ? check_content(*stored) : Status(stored.error());
    if (status) return stored;
    return Error{status.error().code,
                 fmt::format("{}: {}; `kiln db verify` checks all of it", connection.path(), status.error().message)};
}

Result<std::optional<Measurement>> first_measurement(const Connection &connection, Statement &rows) {
    const Result<bool> row = rows.step();
    if (!row) return row.error();
    if (!*row) return std::optional<Measurement>();
    Result<StoredMeasurement> found = checked(connection, read_row<StoredMeasurement>(rows));
    if (!found) return found.error();
    return std::optional(std::move(found->measurement));
}

Result<std::vector<Trial>> read_trials(const Connection &connection, const char *view, const Where &conditions) {
    Result<Statement> rows = connection.prepare(
        fmt::format("SELECT {} FROM {} AS trials{} ORDER BY created_at, seq", trial_columns(), view, conditions.sql),
        conditions.parameters);
    if (!rows) return rows.error();
    std::vector<Trial> trials;
    for (;;) {
        const Result<bool> row = rows->step();
        if (!row) return row.error();
        if (!*row) return trials;
        Result<StoredTrial> stored = checked(connection, read_row<StoredTrial>(*rows));
        if (!stored) return stored.error();
        trials.push_back(std::move(stored->trial));
    }
}

}  // namespace

Result<std::vector<Race>> TrialStore::races(const TrialFilter &filter) const {
    const Where conditions = where(without_candidates(filter));
    Result<Statement> rows = state_->connection.prepare(
        fmt::format("{}{} ORDER BY created_at, race", select_races(), conditions.sql), conditions.parameters);
    if (!rows) return rows.error();
    std::vector<Race> races;
    for (;;) {
        const Result<bool> row = rows->step();
        if (!row) return row.error();
        if (!*row) return races;
        Result<Race> race = checked(state_->connection, read_race(state_->connection, *rows));
        if (!race) return race.error();
        races.push_back(std::move(*race));
    }
}

Result<std::vector<Trial>> TrialStore::trials(const TrialFilter &filter, int64_t after) const {
    Where conditions = where(filter);
    if (after > 0) conditions.add(" AND seq > ?", after);
    return read_trials(state_->connection, "trials", conditions);
}

Result<int64_t> TrialStore::last_arrival() const {
    const Result<Cell> last = state_->connection.query_value("SELECT ifnull(max(seq), 0) FROM trial");
    if (!last) return last.error();
    return std::get<int64_t>(*last);
}

Result<std::vector<Trial>> TrialStore::usable_trials(const TrialFilter &filter) const {
    const Result<int64_t> version = schema_version(state_->connection);
    if (!version) return version.error();
    Where conditions = where(filter);
    if (*version >= 3) return read_trials(state_->connection, "usable", conditions);
    conditions.sql += " AND status = 'ok'";  // an old file that is only read
    return read_trials(state_->connection, "trials", conditions);
}

Result<std::vector<std::string>> TrialStore::workloads_measured_in(Metric metric) const {
    const Result<Table> rows = state_->connection.query(
        "SELECT DISTINCT workload.key FROM measurement JOIN trial ON trial.measurement_id = measurement.id "
        "JOIN workload ON workload.id = trial.workload_id WHERE metric = ? ORDER BY workload.key",
        {std::string(name(metric))});
    if (!rows) return rows.error();
    std::vector<std::string> keys;
    for (const std::vector<Cell> &row : rows->rows) keys.push_back(std::get<std::string>(row.at(0)));
    return keys;
}

Result<std::optional<Trial>> TrialStore::trial(const std::string &id) const {
    if (id.size() < 4 || id.size() > 32 || id.find_first_not_of("0123456789abcdef") != std::string::npos) {
        return bad_input(fmt::format("`{}` is not a trial's id: 4 to 32 digits of 0-9, a-f", id));
    }
    Result<Statement> rows = state_->connection.prepare(
        fmt::format("SELECT {} FROM trials WHERE trial >= ? AND trial < ? ORDER BY trial LIMIT 2", trial_columns()),
        {id, id + "g"});
    if (!rows) return rows.error();
    Result<bool> row = rows->step();
    if (!row) return row.error();
    if (!*row) return std::optional<Trial>();
    Result<StoredTrial> stored = checked(state_->connection, read_row<StoredTrial>(*rows));
    if (!stored) return stored.error();
    row = rows->step();
    if (!row) return row.error();
    if (*row) {
        return bad_input(
            fmt::format("`{}` is the beginning of more than one trial's id ({}, {}, ...); give more digits", id,
                        stored->trial.id, rows->text(0)));
    }
    return std::optional(std::move(stored->trial));
}

Result<std::optional<Measurement>> TrialStore::measurement(const std::string &object_hash, const std::string &machine,
                                                           int threads, CacheMode cache, Metric metric) const {
    Result<Statement> rows = state_->connection.prepare(
        fmt::format("SELECT {} FROM measurements WHERE object_hash = ? AND machine = ? AND threads = ? AND cache = ? "
                    "AND metric = ? ORDER BY created_at DESC, measurement DESC LIMIT 1",
                    measurement_columns()),
        {object_hash, machine, int64_t{threads}, std::string(name(cache)), std::string(name(metric))});
    if (!rows) return rows.error();
    return first_measurement(state_->connection, *rows);
}

Result<std::optional<Measurement>> TrialStore::measurement_of(const std::string &trial) const {
    Result<Statement> rows = state_->connection.prepare(
        fmt::format("SELECT {} FROM measurements JOIN trial ON trial.measurement_id = measurements.measurement WHERE "
                    "trial.id = ?",
                    measurement_columns()),
        {trial});
    if (!rows) return rows.error();
    return first_measurement(state_->connection, *rows);
}

Result<std::optional<Best>> TrialStore::best(const TrialFilter &filter) const {
    // Medians compare within one metric only. Times come first, because people mean times. A tenth is what a race's field
    // may be behind (tuner/race/race_field.h).
    const Where conditions = where(filter);
    Result<Statement> rows = state_->connection.prepare(
        fmt::format("WITH chosen AS (SELECT trial, evidence FROM best{} ORDER BY metric <> 'ns', metric, "
                    "median * iif(evidence = 'race', 1, 1.1), object_bytes NULLS LAST, trial LIMIT 1) "
                    "SELECT {}, {}, chosen.evidence FROM chosen JOIN trials USING (trial) JOIN measurements USING "
                    "(measurement)",
                    conditions.sql, trial_columns(), measurement_columns()),
        conditions.parameters);
    if (!rows) return rows.error();
    const Result<bool> row = rows->step();
    if (!row) return row.error();
    if (!*row) return std::optional<Best>();
    const int measurement_column = column_count<StoredTrial>();
    const int evidence_column = measurement_column + column_count<StoredMeasurement>();
    Result<StoredTrial> trial = checked(state_->connection, read_row<StoredTrial>(*rows));
    if (!trial) return trial.error();
    Result<StoredMeasurement> own = checked(state_->connection, read_row<StoredMeasurement>(*rows, measurement_column));
    if (!own) return own.error();
    // In a file older than schema 4, which is only read, it may not be what the view ranked by; the latest counts there, too.
    const Measurement &m = own->measurement;
    Result<std::optional<Measurement>> latest = measurement(m.object_hash, m.machine, m.threads, m.cache, m.metric);
    if (!latest) return latest.error();
    return std::optional(Best{std::move(trial->trial), latest->value_or(m), rows->text(evidence_column)});
}

}  // namespace kiln
