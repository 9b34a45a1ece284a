#include "database/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "database/rows/race_rows.h"
#include "database/rows/trial_rows.h"
#include "records/record.h"

namespace kiln {
namespace {

struct Problems {
    static constexpr size_t shown = 5;
    const std::function<void()> &record_read;  // may be empty
    std::vector<std::string> first;
    size_t count = 0;

    void add(std::string problem) {
        if (++count <= shown) first.push_back(std::move(problem));
    }
};

// Ends at the first problem: pages that refer to each other in a circle have rows without end.
Status check_structure(const Connection &connection, Problems &problems) {
    const Result<Cell> structure = connection.query_value("PRAGMA integrity_check(1)");
    if (!structure) return structure.error();
    if (*structure != Cell("ok")) problems.add(std::get<std::string>(*structure));
    return {};
}

Status check_references(const Connection &connection, Problems &problems) {
    const Result<Table> dangling = connection.query("SELECT \"table\", rowid, parent FROM pragma_foreign_key_check");
    if (!dangling) return dangling.error();
    for (const auto &row : dangling->rows) {
        problems.add(fmt::format("a row of {} refers to a row of {} that is missing", std::get<std::string>(row[0]),
                                 std::get<std::string>(row[2])));
    }
    return {};
}

// `read` answers the record in the current row.
template<typename Read>
Status check_records(const Connection &connection, const std::string &sql, const Read &read, Problems &problems) {
    Result<Statement> rows = connection.prepare(sql);
    if (!rows) return rows.error();
    for (;;) {
        const Result<bool> row = rows->step();
        if (!row) return row.error();
        if (!*row) return {};
        if (problems.record_read) problems.record_read();
        const auto record = read(*rows);
        const Status status = record ? check_content(*record) : Status(record.error());
        if (!status) problems.add(status.error().message);
    }
}

Status check_names(const Connection &connection, Problems &problems) {
    return check_records(
        connection, "SELECT key, list, name, count FROM workload_name JOIN workload ON workload.id = workload_id",
        [](const Statement &row) { return read_row<WorkloadName>(row); }, problems);
}

Status check_measurements(const Connection &connection, Problems &problems) {
    return check_records(
        connection, fmt::format("SELECT {} FROM measurements ORDER BY seq", measurement_columns()),
        [](const Statement &row) { return read_row<StoredMeasurement>(row); }, problems);
}

Status check_trials(const Connection &connection, Problems &problems) {
    return check_records(
        connection, fmt::format("SELECT {} FROM trials ORDER BY seq", trial_columns()),
        [](const Statement &row) { return read_row<StoredTrial>(row); }, problems);
}

Status check_races(const Connection &connection, Problems &problems) {
    return check_records(
        connection, select_races(), [&](const Statement &row) { return read_race(connection, row); }, problems);
}

}  // namespace

Status verify(const Connection &connection, const std::function<void()> &record_read) {
    Problems problems{.record_read = record_read, .first = {}};
    for (const auto check :
         {check_structure, check_references, check_names, check_measurements, check_trials, check_races}) {
        if (Status status = check(connection, problems); !status) return status;
        if (check == check_structure && problems.count > 0) break;
    }
    if (problems.count == 0) return {};
    return bad_input(fmt::format("{}: damaged, {} problem{}: {}{}; restore a copy", connection.path(), problems.count,
                                 problems.count == 1 ? "" : "s", fmt::join(problems.first, "; "),
                                 problems.count > Problems::shown ? "; ..." : ""));
}

}  // namespace kiln
