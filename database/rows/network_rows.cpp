#include "database/rows/network_rows.h"

#include "database/rows/context_rows.h"

namespace kiln {

Status insert_network_times(const Connection &connection, const NetworkTimes &times) {
    if (Status status = insert_machine(connection, times.machine); !status) return status;
    if (Status status = insert_target(connection, times.target, times.threads); !status) return status;
    for (const NetworkTime &time : times.times) {
        const Status status = connection.run(
            "INSERT INTO network_time (network, who, version, target_id, machine_id, median_ns, min_ns, rounds, "
            "untuned, created_at) VALUES (?, ?, ?, (SELECT id FROM target WHERE halide = ? AND threads = ?), "
            "(SELECT id FROM machine WHERE key = ?), ?, ?, ?, ?, ?)",
            {times.network, time.who, time.version, times.target, int64_t{times.threads}, times.machine, time.median_ns,
             time.min_ns, int64_t{time.rounds}, int64_t{time.untuned}, times.created_at});
        if (!status) return status;
    }
    return {};
}

Result<bool> has_network_times(const Connection &connection) {
    const Result<Cell> found =
        connection.query_value("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'network_time'");
    if (!found) return found.error();
    return *found != Cell(int64_t{0});
}

Result<std::vector<std::string>> read_network_names(const Connection &connection) {
    std::vector<std::string> names;
    const Result<bool> has_any = has_network_times(connection);
    if (!has_any) return has_any.error();
    if (!*has_any) return names;
    const Result<Table> table = connection.query("SELECT DISTINCT network FROM network_time ORDER BY network");
    if (!table) return table.error();
    for (const auto &row : table->rows) {
        if (const auto *name = std::get_if<std::string>(&row[0])) names.push_back(*name);
    }
    return names;
}

}  // namespace kiln
