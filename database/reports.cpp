#include "database/reports.h"

namespace kiln {

const char *const best_report = R"sql(
SELECT
    name, iif(metric = 'ns', median / 1000, NULL) AS median_us, spread,
    iif(metric = 'ns', flops / median, NULL) AS gflops, algorithm, candidate, evidence, max_error, error_budget, target,
    threads, cache, metric, toolchain, machine, workload, trial
FROM best
ORDER BY name IS NULL, name, workload, target, threads, machine, toolchain, cache, error_budget, metric
)sql";

const char *const trials_report = R"sql(
SELECT
    name, status, iif(metric = 'ns', median / 1000, NULL) AS median_us, spread,
    iif(metric = 'ns', flops / median, NULL) AS gflops, algorithm, candidate, origin, max_error, error_budget, target,
    threads, cache, metric, build_ns, run_ns, object_hash, object_bytes, toolchain, machine, workload, message, created_at,
    trial
FROM trials
ORDER BY created_at, seq
)sql";

const char *const workloads_report = R"sql(
SELECT
    (SELECT min(list || '/' || workload_name.name) FROM workload_name WHERE workload_id = workload.id) AS name,
    (SELECT sum(count) FROM workload_name WHERE workload_id = workload.id) AS count,
    workload.op, workload.flops, count(trials.trial) AS trials, ifnull(sum(status = 'ok'), 0) AS ok,
    ifnull(sum(status <> 'ok'), 0) AS failed, min(iif(metric = 'ns', median / 1000, NULL)) AS best_us,
    max(created_at) AS last_trial_at, workload.key AS workload
FROM workload LEFT JOIN trials ON trials.workload = workload.key
GROUP BY workload.id
ORDER BY name IS NULL, name, workload.key
)sql";

// One row for failures that say the same; the candidate and trial are those of the latest (SQLite takes bare columns
// from the row that max() chose).
const char *const failures_report = R"sql(
SELECT
    status, count(*) AS count, message, algorithm, name, workload, candidate, target, threads, toolchain, trial,
    max(created_at) AS last_at
FROM trials
WHERE status <> 'ok'
GROUP BY status, message, algorithm, workload, target, threads
ORDER BY count DESC, last_at DESC, trial
)sql";

// One row an entry, the latest race first.
const char *const races_report = R"sql(
SELECT
    (SELECT min(list || '/' || workload_name.name) FROM workload_name WHERE workload_id = race.workload_id) AS name,
    race.created_at, race_entry.place, race_entry.ratio, race_entry.ratio_lo, race_entry.ratio_hi,
    race_entry.ratio_lo <= 1 AND race_entry.ratio_hi >= 1 AS tie, json_array_length(race_entry.samples) AS rounds,
    trials.algorithm, trials.candidate, race.confidence, race.error_budget, trials.target, trials.threads, race.cache,
    race.metric, trials.toolchain, trials.machine, trials.workload, race.id AS race, race_entry.trial_id AS trial
FROM race
JOIN race_entry ON race_entry.race_id = race.id
JOIN trials ON trials.trial = race_entry.trial_id
ORDER BY race.created_at DESC, race.id, place
)sql";

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
