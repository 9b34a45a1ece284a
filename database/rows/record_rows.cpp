#include "database/rows/record_rows.h"

#include <fmt/format.h>

#include "database/rows/context_rows.h"
#include "database/rows/race_rows.h"
#include "database/rows/trial_rows.h"

namespace kiln {
namespace {

// The rows of a query, each read as a Record.
template<typename Read>
Status for_each_row(const Connection &connection, const std::string &sql, const Read &read,
                    const std::function<Status(const Record &)> &visit) {
    Result<Statement> rows = connection.prepare(sql);
    if (!rows) return rows.error();
    for (;;) {
        const Result<bool> row = rows->step();
        if (!row) return row.error();
        if (!*row) return {};
        const Result<Record> record = read(*rows);
        if (!record) return record.error();
        if (Status status = visit(*record); !status) return status;
    }
}

template<typename Stored>
Result<Record> read_record(const Statement &row) {
    Result<Stored> stored = read_row<Stored>(row);
    if (!stored) return stored.error();
    return Record(std::move(*stored));
}

Result<bool> has_row(const Connection &connection, std::string_view sql, const std::string &id) {
    const Result<Cell> found = connection.query_value(sql, {id});
    if (!found) return found.error();
    return *found != Cell();
}

constexpr std::string_view find_measurement = "SELECT 1 FROM measurement WHERE id = ?";
constexpr std::string_view find_trial = "SELECT 1 FROM trial WHERE id = ?";
constexpr std::string_view find_race = "SELECT 1 FROM race WHERE id = ?";

const Insertion added{Insertion::Kind::added};

Result<Insertion> insert(const Connection &connection, const WorkloadName &n) {
    const Result<Cell> known = connection.query_value(
        "SELECT count FROM workload_name JOIN workload ON workload.id = workload_id WHERE key = ? AND list = ? AND "
        "name = ?",
        {n.workload, n.list, n.name});
    if (!known) return known.error();
    if (const auto *count = std::get_if<int64_t>(&*known); count && *count >= n.count) return Insertion();
    if (Status status = insert_workload_name(connection, n); !status) return status.error();
    return added;
}

Result<Insertion> insert(const Connection &connection, const StoredMeasurement &stored) {
    const Result<bool> known = has_row(connection, find_measurement, stored.id);
    if (!known) return known.error();
    if (*known) return Insertion();
    if (Status status = insert_measurement(connection, stored); !status) return status.error();
    return added;
}

Result<Insertion> insert(const Connection &connection, const StoredTrial &stored) {
    const Result<bool> known = has_row(connection, find_trial, stored.trial.id);
    if (!known) return known.error();
    if (*known) return Insertion();
    if (!stored.measurement.empty()) {
        const Result<bool> found = has_row(connection, find_measurement, stored.measurement);
        if (!found) return found.error();
        if (!*found) return Insertion{Insertion::Kind::waiting, stored.measurement};
    }
    if (Status status = insert_trial(connection, stored); !status) return status.error();
    return added;
}

Result<Insertion> insert(const Connection &connection, const Race &race) {
    const Result<bool> known = has_row(connection, find_race, race.id);
    if (!known) return known.error();
    if (*known) return Insertion();
    for (const RaceEntry &entry : race.entries) {
        const Result<bool> found = has_row(connection, find_trial, entry.trial);
        if (!found) return found.error();
        if (!*found) return Insertion{Insertion::Kind::waiting, entry.trial};
    }
    if (Status status = insert_race(connection, race); !status) return status.error();
    return added;
}

}  // namespace

Status for_each_record(const Connection &connection, const std::function<Status(const Record &)> &visit) {
    Status status =
        for_each_row(connection,
                     "SELECT key, list, name, count FROM workload_name JOIN workload ON workload.id = workload_id "
                     "ORDER BY key, list, name",
                     read_record<WorkloadName>, visit);
    if (!status) return status;
    status = for_each_row(
        connection, fmt::format("SELECT {} FROM measurements ORDER BY created_at, measurement", measurement_columns()),
        read_record<StoredMeasurement>, visit);
    if (!status) return status;
    status = for_each_row(connection, fmt::format("SELECT {} FROM trials ORDER BY created_at, trial", trial_columns()),
                          read_record<StoredTrial>, visit);
    if (!status) return status;
    const auto read_race_record = [&](const Statement &row) -> Result<Record> {
        Result<Race> race = read_race(connection, row);
        if (!race) return race.error();
        return Record(std::move(*race));
    };
    return for_each_row(connection, fmt::format("{} ORDER BY created_at, race", select_races()), read_race_record,
                        visit);
}

Result<Insertion> insert_record(const Connection &connection, const Record &record) {
    Result<Insertion> inserted = std::visit([&](const auto &value) { return insert(connection, value); }, record);
    if (inserted || inserted.error().code != ErrorCode::bad_input) return inserted;
    return Error{inserted.error().code, title(record) + ": " + inserted.error().message};
}

}  // namespace kiln
