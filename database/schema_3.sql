-- Version 3 of the schema: a kernel that failed once more is not used, and one look-up of the best trial reads the races of
-- its own workload only.

CREATE INDEX failed_object ON trial (object_hash) WHERE status IN ('wrong_result', 'crash');

-- The ok trials whose very object did not fail in another trial of the workload on the same machine: was never wrong by as
-- much as the budget allows, and never crashed. Where it did, chance decides whether the kernel is right. A `+` keeps SQLite
-- from searching among all trials of the workload: few objects failed.
CREATE VIEW usable AS
SELECT * FROM trials
WHERE status = 'ok' AND NOT EXISTS (
    SELECT 1 FROM trials AS failed
    WHERE failed.object_hash = trials.object_hash AND failed.status IN ('wrong_result', 'crash')
        AND (failed.status = 'crash' OR failed.error_budget >= trials.error_budget)
        AND +failed.workload = trials.workload AND +failed.target = trials.target
        AND +failed.threads = trials.threads AND +failed.machine = trials.machine);

-- The one trial to use per workload, target, threads, machine, toolchain, cache, error budget and metric: the winner of
-- the latest race, else the lowest median; equal medians: the smaller object, then the lower id, so that rebuilds are
-- stable. Partitions are by text, not by id, so that a WHERE on the view's columns reaches the tables' indexes.
DROP VIEW best;
CREATE VIEW best AS
WITH judged AS (
    SELECT usable.*, iif(EXISTS (
        SELECT 1 FROM race_entry JOIN race ON race.id = race_entry.race_id
        WHERE race_entry.trial_id = usable.trial AND race_entry.place = 1 AND NOT EXISTS (
            SELECT 1 FROM race AS later
            WHERE later.workload_id = race.workload_id AND later.target_id = race.target_id
                AND later.machine_id = race.machine_id AND later.toolchain_id = race.toolchain_id
                AND later.cache = race.cache AND later.error_budget = race.error_budget AND later.metric = race.metric
                AND (later.created_at, later.id) > (race.created_at, race.id))
    ), 'race', 'median') AS evidence
    FROM usable
), ranked AS (
    SELECT judged.*, row_number() OVER (
        PARTITION BY workload, target, threads, machine, toolchain, cache, error_budget, metric
        ORDER BY evidence <> 'race', median, object_bytes NULLS LAST, trial) AS nth
    FROM judged
)
SELECT
    name, workload, op, flops, target, threads, machine, toolchain, cache, error_budget, metric, evidence, algorithm, candidate,
    origin, median, spread, max_error, rms_error, wide_error, object_hash, object_bytes, packed_bytes, workspace_bytes,
    workspace_bytes_per_thread, trial, measurement, created_at
FROM ranked WHERE nth = 1;
