-- Version 4 of the schema: a time that did not hold no longer makes a trial the best, and `best` reads indexes alone until it
-- knows the rows of its answer.

-- In the order of the latest measurement of an object. Rows of measurements are long, because of their samples.
DROP INDEX measurement_of_object;
CREATE INDEX latest_measurement ON measurement (object_hash, machine_id, threads, cache, metric, created_at, id, median);

-- `status` is the same in all rows; without it SQLite would read the row to see that.
CREATE INDEX ok_trial ON trial (
    workload_id, target_id, machine_id, toolchain_id, cache, error_budget, object_hash, measurement_id, object_bytes, id, status
) WHERE status = 'ok';

DROP INDEX trial_of_workload;
CREATE INDEX trial_of_workload ON trial (workload_id, target_id, machine_id, status, created_at);

-- The one trial to use per workload, target, threads, machine, toolchain, cache, error budget and metric: the winner of
-- the latest race, else the lowest median; equal medians: the smaller object, then the trial with that very measurement, then
-- the lower id, so that rebuilds are stable. The time of a trial is the latest measurement of its object. The joins are in the
-- order of ok_trial, so that SQLite sorts few rows at a time. `usable` is written out here, on ids. The first partition is by
-- text, so that a WHERE on the workload reaches its index.
DROP VIEW best;
CREATE VIEW best AS
WITH ranked AS (
    SELECT
        workload.key AS workload, trial.workload_id, trial.target_id, trial.machine_id, trial.toolchain_id, trial.cache,
        trial.error_budget, latest.metric, trial.id, row_number() OVER (
            PARTITION BY workload.key, trial.target_id, trial.machine_id, trial.toolchain_id, trial.cache,
                trial.error_budget, latest.metric
            ORDER BY latest.median, trial.object_bytes NULLS LAST, latest.id <> trial.measurement_id, trial.id) AS nth
    FROM workload
    CROSS JOIN trial INDEXED BY ok_trial ON trial.workload_id = workload.id
    CROSS JOIN target ON target.id = trial.target_id
    CROSS JOIN measurement AS latest INDEXED BY latest_measurement
        ON latest.object_hash = trial.object_hash AND latest.machine_id = trial.machine_id
        AND latest.threads = target.threads AND latest.cache = trial.cache
    WHERE trial.status = 'ok'
        AND NOT EXISTS (
            SELECT 1 FROM measurement AS later INDEXED BY latest_measurement
            WHERE later.object_hash = latest.object_hash AND later.machine_id = latest.machine_id
                AND later.threads = latest.threads AND later.cache = latest.cache AND later.metric = latest.metric
                AND (later.created_at, later.id) > (latest.created_at, latest.id))
        AND (latest.id = trial.measurement_id OR latest.metric = (
            SELECT own.metric FROM measurement AS own WHERE own.id = trial.measurement_id))
        AND NOT EXISTS (
            SELECT 1 FROM trial AS failed
            WHERE failed.object_hash = trial.object_hash AND failed.status IN ('wrong_result', 'crash')
                AND (failed.status = 'crash' OR failed.error_budget >= trial.error_budget)
                AND +failed.workload_id = trial.workload_id AND +failed.target_id = trial.target_id
                AND +failed.machine_id = trial.machine_id)
), chosen AS (
    SELECT workload, id, target_id, machine_id, metric, (
        SELECT race_entry.trial_id FROM race_entry
        WHERE race_entry.place = 1 AND race_entry.race_id = (
            SELECT race.id FROM race
            WHERE race.workload_id = ranked.workload_id AND race.target_id = ranked.target_id
                AND race.machine_id = ranked.machine_id AND race.toolchain_id = ranked.toolchain_id
                AND race.cache = ranked.cache AND race.error_budget = ranked.error_budget AND race.metric = ranked.metric
            ORDER BY race.created_at DESC, race.id DESC LIMIT 1)
            AND EXISTS (SELECT 1 FROM usable WHERE usable.trial = race_entry.trial_id)
    ) AS winner
    FROM ranked WHERE nth = 1
)
SELECT
    trials.name, chosen.workload, trials.op, trials.flops, trials.target, trials.threads, trials.machine, trials.toolchain,
    trials.cache, trials.error_budget, chosen.metric, iif(chosen.winner IS NULL, 'median', 'race') AS evidence,
    trials.algorithm, trials.candidate, trials.origin, latest.median, latest.spread, trials.max_error, trials.rms_error,
    trials.wide_error, trials.object_hash, trials.object_bytes, trials.packed_bytes, trials.workspace_bytes,
    trials.workspace_bytes_per_thread, trials.trial, latest.id AS measurement, trials.created_at
FROM chosen
CROSS JOIN trials ON trials.trial = ifnull(chosen.winner, chosen.id)
CROSS JOIN target ON target.id = chosen.target_id
CROSS JOIN measurement AS latest ON latest.seq = (
    SELECT seq FROM measurement INDEXED BY latest_measurement
    WHERE object_hash = trials.object_hash AND machine_id = chosen.machine_id AND threads = target.threads
        AND cache = trials.cache AND metric = chosen.metric
    ORDER BY created_at DESC, id DESC LIMIT 1);
