#include "database/reports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "database/schema.h"
#include "database/sqlite.h"

namespace kiln {
namespace {

// In each query `{}` stands for the condition on the workload.
struct ReportText {
    const char *select, *order, *workload;
    // Of a report with a row for each trial, of which there may be millions: which rows there are, in the column `seq`, with the computed
    // columns that may order them, and how many. The rows that are asked for are found by that alone, and the rest is read for these.
    const char *rows = nullptr, *count = nullptr;
};

constexpr ReportText best_report = {
    R"sql(
SELECT
    name, iif(metric = 'ns', median / 1000, NULL) AS median_us, spread,
    iif(metric = 'ns', flops / median, NULL) AS gflops, algorithm, candidate, evidence, max_error, error_budget, target,
    threads, cache, metric, toolchain, machine, workload, trial,
    iif(metric = 'cycles', CAST(median AS INTEGER), NULL) AS cycles, json_extract(counts, '$.instructions') AS instructions,
    json_extract(counts, '$.fetch_misses') AS fetch_misses, json_extract(counts, '$.load_misses') AS load_misses,
    json_extract(counts, '$.text_bytes') AS text_bytes, json_extract(counts, '$.rodata_bytes') AS rodata_bytes,
    json_extract(counts, '$.stack_bytes') AS stack_bytes, iif(metric = 'cycles', workspace_bytes, NULL) AS workspace_bytes,
    iif(metric = 'cycles' AND evidence = 'race', (
        SELECT CAST(json_extract(iif(json_valid(race_entry.samples), race_entry.samples, 'null'), '$[0]') AS INTEGER)
        FROM race_entry JOIN race ON race.id = race_entry.race_id
        WHERE race_entry.trial_id = best.trial AND race_entry.place = 1
        ORDER BY race.created_at DESC, race.id DESC LIMIT 1
    ), NULL) AS rtl_cycles
FROM best
LEFT JOIN (SELECT id, iif(json_valid(conditions), conditions, 'null') AS counts FROM measurement WHERE metric = 'cycles') AS counted
ON counted.id = best.measurement
WHERE {}
)sql",
    "name IS NULL, name, workload, target, threads, machine, toolchain, cache, error_budget, metric", "workload"};

constexpr ReportText trials_report = {R"sql(
SELECT
    name, status, iif(metric = 'ns', median / 1000, NULL) AS median_us, spread,
    iif(metric = 'ns', flops / median, NULL) AS gflops, algorithm, candidate, origin, max_error, error_budget, target,
    threads, cache, metric, build_ns, run_ns, object_hash, object_bytes, toolchain, machine, workload, message, created_at,
    trial
FROM trials
WHERE {}
)sql",
                                      "created_at, seq", "workload", R"sql(
SELECT seq, iif(metric = 'ns', median / 1000, NULL) AS median_us, iif(metric = 'ns', flops / median, NULL) AS gflops
FROM trials WHERE {}
)sql",
                                      R"sql(
SELECT count(*) FROM (SELECT key AS workload FROM trial JOIN workload ON workload.id = trial.workload_id) WHERE {}
)sql"};

// sum() is an error where it passes 63 bits; the whole part of total() is the largest number then. The least time is one of the
// latest measurements, as in `best`. Everything about trials is read from indexes.
constexpr ReportText workloads_report = {R"sql(
SELECT
    (SELECT min(list || '/' || workload_name.name) FROM workload_name WHERE workload_id = workload.id) AS name,
    (SELECT iif(count(*), CAST(total(count) AS INTEGER), NULL) FROM workload_name WHERE workload_id = workload.id) AS count,
    workload.op, workload.flops, count(trial.seq) AS trials, ifnull(sum(status = 'ok'), 0) AS ok,
    ifnull(sum(status <> 'ok'), 0) AS failed, (
        SELECT min(latest.median) / 1000
        FROM trial AS valid INDEXED BY ok_trial
        CROSS JOIN target ON target.id = valid.target_id
        CROSS JOIN measurement AS latest INDEXED BY latest_measurement
            ON latest.object_hash = valid.object_hash AND latest.machine_id = valid.machine_id
            AND latest.threads = target.threads AND latest.cache = valid.cache AND latest.metric = 'ns'
        WHERE valid.workload_id = workload.id AND valid.status = 'ok' AND NOT EXISTS (
            SELECT 1 FROM measurement AS later INDEXED BY latest_measurement
            WHERE later.object_hash = latest.object_hash AND later.machine_id = latest.machine_id
                AND later.threads = latest.threads AND later.cache = latest.cache AND later.metric = latest.metric
                AND (later.created_at, later.id) > (latest.created_at, latest.id))
    ) AS best_us,
    max(trial.created_at) AS last_trial_at, workload.key AS workload
FROM workload
LEFT JOIN trial INDEXED BY trial_of_workload ON trial.workload_id = workload.id
WHERE {}
GROUP BY workload.id
)sql",
                                         "name IS NULL, name, workload.key", "workload.key"};

// The same of a file before version 4, which has no such indexes.
constexpr ReportText workloads_before_4_report = {R"sql(
SELECT
    (SELECT min(list || '/' || workload_name.name) FROM workload_name WHERE workload_id = workload.id) AS name,
    (SELECT iif(count(*), CAST(total(count) AS INTEGER), NULL) FROM workload_name WHERE workload_id = workload.id) AS count,
    workload.op, workload.flops, count(trial.id) AS trials, ifnull(sum(status = 'ok'), 0) AS ok,
    ifnull(sum(status <> 'ok'), 0) AS failed, min(iif(metric = 'ns', median / 1000, NULL)) AS best_us,
    max(trial.created_at) AS last_trial_at, workload.key AS workload
FROM workload
LEFT JOIN trial ON trial.workload_id = workload.id
LEFT JOIN measurement ON measurement.id = trial.measurement_id
WHERE {}
GROUP BY workload.id
)sql",
                                                  "name IS NULL, name, workload.key", "workload.key"};

// One row for failures that say the same; the candidate and trial are those of the latest (SQLite takes bare columns
// from the row that max() chose).
constexpr ReportText failures_report = {R"sql(
SELECT
    status, count(*) AS count, message, algorithm, name, workload, candidate, target, threads, toolchain, trial,
    max(created_at) AS last_at
FROM trials
WHERE status <> 'ok' AND {}
GROUP BY status, message, algorithm, workload, target, threads
)sql",
                                        "count DESC, last_at DESC, trial", "workload"};

// One row an entry, the latest race first.
constexpr ReportText races_report = {R"sql(
SELECT
    (SELECT min(list || '/' || workload_name.name) FROM workload_name WHERE workload_id = race.workload_id) AS name,
    race.created_at, race_entry.place, race_entry.ratio, race_entry.ratio_lo, race_entry.ratio_hi,
    race_entry.place > 1 AND race_entry.ratio_lo <= 1 AND race_entry.ratio_hi >= 1 AS tie, iif(json_valid(race_entry.samples), json_array_length(race_entry.samples), NULL) AS rounds,
    trials.algorithm, trials.candidate, race.confidence, race.error_budget, trials.target, trials.threads, race.cache,
    race.metric, trials.toolchain, trials.machine, trials.workload, race.id AS race, race_entry.trial_id AS trial,
    iif(json_valid(race.conditions), json_extract(race.conditions, '$.network'), NULL) AS network
FROM race
JOIN race_entry ON race_entry.race_id = race.id
JOIN trials ON trials.trial = race_entry.trial_id
WHERE {}
)sql",
                                     "race.created_at DESC, race.id, place", "trials.workload"};

// The latest run first; `ratio` says how many times as long it took as kiln in the same run.
constexpr ReportText networks_report = {R"sql(
SELECT
    network, created_at, who, version, median_ns / 1e6 AS median_ms, min_ns / 1e6 AS min_ms,
    median_ns / (
        SELECT median_ns FROM networks AS kiln
        WHERE kiln.network = networks.network AND kiln.created_at = networks.created_at AND kiln.who = 'kiln'
        AND kiln.target = networks.target AND kiln.threads = networks.threads AND kiln.machine = networks.machine
        ORDER BY kiln.id LIMIT 1
    ) AS ratio,
    rounds, untuned, threads, target, machine
FROM networks
WHERE {}
)sql",
                                        "network, created_at DESC, networks.id", "network"};

// The same columns of a file of version 1, which has no such times.
constexpr ReportText no_networks_report = {R"sql(
SELECT
    '' AS network, '' AS created_at, '' AS who, '' AS version, 0.0 AS median_ms, 0.0 AS min_ms, 0.0 AS ratio, 0 AS rounds,
    0 AS untuned, 0 AS threads, '' AS target, '' AS machine
WHERE 0 AND {}
)sql",
                                           "1", "network"};

const ReportText &text_of(ReportKind kind) {
    switch (kind) {
        case ReportKind::best:
            return best_report;
        case ReportKind::trials:
            return trials_report;
        case ReportKind::workloads:
            return workloads_report;
        case ReportKind::failures:
            return failures_report;
        case ReportKind::networks:
            return networks_report;
        case ReportKind::races:
            break;
    }
    return races_report;
}

// A file that is only read may have an older schema.
Result<const ReportText *> text_in(const Connection &connection, ReportKind kind) {
    const Result<int64_t> version = schema_version(connection);
    if (!version) return version.error();
    if (kind == ReportKind::networks && *version < 2) return &no_networks_report;
    if (kind == ReportKind::workloads && *version < 4) return &workloads_before_4_report;
    return &text_of(kind);
}

Status check_column(const Connection &connection, const ReportText &report, const std::string &column) {
    const Result<Statement> statement = connection.prepare(fmt::format(fmt::runtime(report.select), "1"));
    if (!statement) return statement.error();
    std::vector<std::string> columns;
    for (int i = 0; i < statement->columns(); i++) columns.push_back(statement->column_name(i));
    if (std::find(columns.begin(), columns.end(), column) != columns.end()) return {};
    return Error{ErrorCode::usage, fmt::format("unknown column `{}`; there are {}", column, fmt::join(columns, ", "))};
}

// Rows without a value come last in both directions.
std::string order_of(const ReportText &report, const ReportRequest &request) {
    if (request.sort.empty()) return report.order;
    return fmt::format("\"{0}\" IS NULL, \"{0}\"{1}, {2}", request.sort, request.descending ? " DESC" : "",
                       report.order);
}

struct Condition {
    std::string sql = "1";
    std::vector<Cell> parameters;
};

// A list of parameters reaches the tables' indexes through the views, an array in one parameter does not; but there may
// not be many thousands of parameters.
Condition condition(const ReportText &report, const ReportRequest &request) {
    constexpr size_t most_parameters = 10000;
    if (!request.workloads) return {};
    const std::vector<std::string> &keys = *request.workloads;
    if (keys.size() > most_parameters) {
        const nlohmann::json array = keys;
        return {fmt::format("{} IN (SELECT value FROM json_each(?1))", report.workload),
                {array.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)}};
    }
    const std::vector<std::string_view> marks(keys.size(), "?");
    return {fmt::format("{} IN ({})", report.workload, fmt::join(marks, ", ")), {keys.begin(), keys.end()}};
}

// The rows in order. Of a report with a row for each trial, only those that `top` asks for.
std::string rows_in_order(const ReportText &report, const std::string &workloads, const ReportRequest &request) {
    const std::string order = order_of(report, request);
    std::string condition = workloads;
    if (request.top && report.rows) {
        const std::string rows = fmt::format(fmt::runtime(report.rows), workloads);
        condition = fmt::format("seq IN (SELECT seq FROM ({} ORDER BY {} LIMIT {}))", rows, order, *request.top);
    }
    return fmt::format("{} ORDER BY {}", fmt::format(fmt::runtime(report.select), condition), order);
}

// The first `top` rows, and how many there are.
Result<Report> first_rows(Statement &rows, std::optional<int64_t> top) {
    Report report;
    for (int i = 0; i < rows.columns(); i++) report.table.columns.push_back(rows.column_name(i));
    for (;; report.rows++) {
        const Result<bool> row = rows.step();
        if (!row) return row.error();
        if (!*row) return report;
        if (top && report.rows >= *top) continue;
        auto &cells = report.table.rows.emplace_back();
        for (int i = 0; i < rows.columns(); i++) cells.push_back(rows.cell(i));
    }
}

}  // namespace

Result<Report> read_report(const Connection &connection, const ReportRequest &request) {
    const Result<const ReportText *> text = text_in(connection, request.kind);
    if (!text) return text.error();
    const ReportText &report = **text;
    if (!request.sort.empty()) {
        if (Status s = check_column(connection, report, request.sort); !s) return s.error();
    }
    const Condition wanted = condition(report, request);
    Result<Statement> rows = connection.prepare(rows_in_order(report, wanted.sql, request), wanted.parameters);
    if (!rows) return rows.error();
    Result<Report> first = first_rows(*rows, request.top);
    if (!first || !report.rows || !request.top || first->rows < *request.top) return first;
    const Result<Cell> all =
        connection.query_value(fmt::format(fmt::runtime(report.count), wanted.sql), wanted.parameters);
    if (!all) return all.error();
    first->rows = std::get<int64_t>(*all);
    return first;
}

Result<std::vector<WorkloadNames>> read_workload_names(const Connection &connection) {
    Result<Statement> rows = connection.prepare(
        "SELECT key, list || '/' || name FROM workload LEFT JOIN workload_name ON workload_id = workload.id "
        "ORDER BY workload.id, list, name");
    if (!rows) return rows.error();
    std::vector<WorkloadNames> workloads;
    for (;;) {
        const Result<bool> row = rows->step();
        if (!row) return row.error();
        if (!*row) return workloads;
        if (workloads.empty() || workloads.back().key != rows->text(0)) workloads.push_back({rows->text(0), {}});
        if (!rows->is_null(1)) workloads.back().names.push_back(rows->text(1));
    }
}

const char *const info_report = R"sql(
SELECT 'schema version' AS fact, user_version AS value FROM pragma_user_version
UNION ALL SELECT 'bytes', page_count * page_size FROM pragma_page_count, pragma_page_size
UNION ALL SELECT 'journal mode', iif(journal_mode = 'wal', 'wal', 'rollback') FROM pragma_journal_mode
UNION ALL SELECT 'SQLite', sqlite_version()
UNION ALL SELECT 'workloads', count(*) FROM workload
UNION ALL SELECT 'trials', count(*) FROM trial
UNION ALL SELECT 'ok', count(*) FROM trial WHERE status = 'ok'
UNION ALL SELECT 'failed', count(*) FROM trial WHERE status <> 'ok'
UNION ALL SELECT 'measurements', count(*) FROM measurement
UNION ALL SELECT 'races', count(*) FROM race
UNION ALL SELECT 'first trial at', min(created_at) FROM trial
UNION ALL SELECT 'last trial at', max(created_at) FROM trial
UNION ALL SELECT 'machine', key FROM machine
UNION ALL SELECT 'toolchain', text FROM toolchain
)sql";

}  // namespace kiln
