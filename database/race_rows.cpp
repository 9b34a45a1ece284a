#include "database/race_rows.h"

#include <fmt/format.h>

#include "database/trial_rows.h"
#include "records/sample_list.h"

namespace kiln {

const std::string_view select_races =
    "WITH races AS (SELECT race.id AS race, workload.key AS workload, target.halide AS target, target.threads AS "
    "threads, machine.key AS machine, toolchain.text AS toolchain, race.cache AS cache, race.error_budget AS "
    "error_budget, race.metric AS metric, race.confidence AS confidence, race.conditions AS conditions, "
    "race.created_at AS created_at FROM race JOIN workload ON workload.id = race.workload_id "
    "JOIN target ON target.id = race.target_id JOIN machine ON machine.id = race.machine_id "
    "JOIN toolchain ON toolchain.id = race.toolchain_id) "
    "SELECT race, workload, target, threads, machine, toolchain, cache, error_budget, metric, confidence, conditions, "
    "created_at FROM races";

namespace {

Error unreadable(const std::string &id, std::string_view column, const std::string &text) {
    return bad_input(fmt::format("database row of race {}: `{}` is not a known {}", id, text, column));
}

Result<std::vector<RaceEntry>> read_entries(const Connection &connection, const std::string &id) {
    Result<Statement> rows = connection.prepare(
        "SELECT trial_id, ratio, ratio_lo, ratio_hi, samples FROM race_entry WHERE race_id = ? ORDER BY place", {id});
    if (!rows) return rows.error();
    std::vector<RaceEntry> entries;
    for (;;) {
        const Result<bool> row = rows->step();
        if (!row) return row.error();
        if (!*row) return entries;
        const std::string samples = rows->text(4);
        auto list = parse_sample_list(samples);
        if (!list) return unreadable(id, "list of samples", samples);
        entries.push_back({rows->text(0), rows->real(1), rows->real(2), rows->real(3), std::move(*list)});
    }
}

}  // namespace

Result<Race> read_race(const Connection &connection, const Statement &row) {
    Race r;
    int i = 0;
    r.id = row.text(i++);
    r.workload = row.text(i++);
    r.target = row.text(i++);
    r.threads = static_cast<int>(row.integer(i++));
    r.machine = row.text(i++);
    r.toolchain = row.text(i++);
    const std::string cache = row.text(i++);
    r.error_budget = row.real(i++);
    const std::string metric = row.text(i++);
    r.confidence = row.real(i++);
    r.conditions = row.text(i++);
    r.created_at = row.text(i++);

    const auto known_cache = parse_cache_mode(cache);
    if (!known_cache) return unreadable(r.id, "cache", cache);
    const auto known_metric = parse_metric(metric);
    if (!known_metric) return unreadable(r.id, "metric", metric);
    r.cache = *known_cache;
    r.metric = *known_metric;
    Result<std::vector<RaceEntry>> entries = read_entries(connection, r.id);
    if (!entries) return entries.error();
    r.entries = std::move(*entries);
    return r;
}

Status insert_race(const Connection &connection, const Race &r) {
    if (Status status = insert_context(connection, {r.workload, r.target, r.threads, r.machine, r.toolchain}); !status)
        return status;
    Status status = connection.run(
        "INSERT INTO race (id, workload_id, target_id, machine_id, toolchain_id, cache, error_budget, metric, "
        "confidence, conditions, created_at) "
        "VALUES (?, (SELECT id FROM workload WHERE key = ?), (SELECT id FROM target WHERE halide = ? AND threads = ?), "
        "(SELECT id FROM machine WHERE key = ?), (SELECT id FROM toolchain WHERE text = ?), ?, ?, ?, ?, ?, ?)",
        {r.id, r.workload, r.target, int64_t{r.threads}, r.machine, r.toolchain, std::string(name(r.cache)),
         r.error_budget, std::string(name(r.metric)), r.confidence, r.conditions, r.created_at});
    if (!status) return status;
    int64_t place = 0;
    for (const RaceEntry &entry : r.entries) {
        status = connection.run(
            "INSERT INTO race_entry (race_id, place, trial_id, ratio, ratio_lo, ratio_hi, samples) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            {r.id, ++place, entry.trial, entry.ratio, entry.ratio_lo, entry.ratio_hi, sample_list_text(entry.samples)});
        if (!status) return status;
    }
    return {};
}

}  // namespace kiln
