-- Version 1 of the schema; docs/database.md explains it. Frozen once released: a later change is a new step in
-- schema.cpp, never an edit of this file. Names of constraints are what a person reads when a row is refused.

CREATE TABLE workload (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    op TEXT NOT NULL,
    flops INTEGER, -- of the direct method; NULL where this kiln could not read the key
    CONSTRAINT "a workload has a key" CHECK (key <> '' AND op <> ''),
    CONSTRAINT "flops are not negative" CHECK (flops >= 0)
) STRICT;

-- What workload lists call a workload; for people, not for lookup.
CREATE TABLE workload_name (
    workload_id INTEGER NOT NULL REFERENCES workload (id),
    list TEXT NOT NULL,
    name TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (workload_id, list, name),
    CONSTRAINT "a name occurs at least once" CHECK (count >= 1)
) STRICT, WITHOUT ROWID;

CREATE TABLE target (
    id INTEGER PRIMARY KEY,
    halide TEXT NOT NULL,
    threads INTEGER NOT NULL,
    UNIQUE (halide, threads),
    CONSTRAINT "a target has a Halide target and at least one thread" CHECK (halide <> '' AND threads >= 1)
) STRICT;

CREATE TABLE machine (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    CONSTRAINT "a machine has a key" CHECK (key <> '')
) STRICT;

CREATE TABLE toolchain (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE,
    CONSTRAINT "a toolchain has a text" CHECK (text <> '')
) STRICT;

CREATE TABLE measurement (
    seq INTEGER PRIMARY KEY, -- order of arrival in this file; no content
    id TEXT NOT NULL UNIQUE,
    object_hash TEXT NOT NULL,
    machine_id INTEGER NOT NULL REFERENCES machine (id),
    threads INTEGER NOT NULL,
    cache TEXT NOT NULL,
    metric TEXT NOT NULL,
    samples TEXT NOT NULL, -- JSON array, one number a call, in the order taken
    median REAL NOT NULL,
    spread REAL NOT NULL, -- interquartile range / median
    conditions TEXT NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT "an id is 32 hex digits" CHECK (length(id) = 32 AND id NOT GLOB '*[^0-9a-f]*'),
    CONSTRAINT "a measurement is of an object" CHECK (object_hash <> ''),
    CONSTRAINT "threads are at least 1" CHECK (threads >= 1),
    CONSTRAINT "cache is warm or cold" CHECK (cache IN ('warm', 'cold')),
    CONSTRAINT "metric is ns, cycles or instructions" CHECK (metric IN ('ns', 'cycles', 'instructions')),
    CONSTRAINT "samples are a JSON array of at least one" CHECK (
        iif(json_valid(samples), json_type(samples) = 'array' AND json_array_length(samples) >= 1, 0)),
    CONSTRAINT "a median is positive and finite" CHECK (median > 0 AND median < 9e999),
    CONSTRAINT "a spread is not negative" CHECK (spread >= 0 AND spread < 9e999),
    CONSTRAINT "conditions are JSON or empty" CHECK (conditions = '' OR json_valid(conditions)),
    CONSTRAINT "created_at is 2000-12-31T23:59:59.999Z" CHECK (created_at GLOB
        '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]Z')
) STRICT;
CREATE INDEX measurement_of_object ON measurement (object_hash, machine_id, threads, cache, metric);

CREATE TABLE trial (
    seq INTEGER PRIMARY KEY, -- order of arrival in this file; no content
    id TEXT NOT NULL UNIQUE,
    workload_id INTEGER NOT NULL REFERENCES workload (id),
    target_id INTEGER NOT NULL REFERENCES target (id),
    machine_id INTEGER NOT NULL REFERENCES machine (id),
    toolchain_id INTEGER NOT NULL REFERENCES toolchain (id),
    candidate TEXT NOT NULL,
    algorithm TEXT NOT NULL GENERATED ALWAYS AS (
        substr(candidate, 1, iif(instr(candidate, '/'), instr(candidate, '/') - 1, length(candidate)))) VIRTUAL,
    origin TEXT NOT NULL,
    status TEXT NOT NULL,
    message TEXT NOT NULL,
    stderr_text TEXT NOT NULL,
    error_budget REAL NOT NULL,
    max_error REAL,
    rms_error REAL,
    wide_error REAL,
    object_hash TEXT,
    object_bytes INTEGER,
    packed_bytes INTEGER,
    workspace_bytes INTEGER,
    workspace_bytes_per_thread INTEGER,
    build_ns INTEGER,
    run_ns INTEGER,
    cache TEXT NOT NULL,
    measurement_id TEXT REFERENCES measurement (id),
    created_at TEXT NOT NULL,
    CONSTRAINT "an id is 32 hex digits" CHECK (length(id) = 32 AND id NOT GLOB '*[^0-9a-f]*'),
    CONSTRAINT "a trial has a candidate" CHECK (candidate <> ''),
    CONSTRAINT "status is one of the known" CHECK (status IN ('ok', 'compile_error', 'compile_timeout', 'crash', 'timeout',
        'out_of_memory', 'wrong_result', 'unstable', 'refused')),
    CONSTRAINT "a time exists exactly when the status is ok" CHECK ((status = 'ok') = (measurement_id IS NOT NULL)),
    CONSTRAINT "a message exists exactly when the status is not ok" CHECK ((status = 'ok') = (message = '')),
    CONSTRAINT "an ok trial has an object" CHECK (status <> 'ok' OR object_hash IS NOT NULL),
    CONSTRAINT "an ok trial is within its error budget" CHECK (status <> 'ok' OR max_error <= error_budget),
    CONSTRAINT "errors are not negative" CHECK (
        error_budget >= 0 AND error_budget < 9e999
        AND ifnull(max_error, 0) >= 0 AND ifnull(rms_error, 0) >= 0 AND ifnull(wide_error, 0) >= 0),
    CONSTRAINT "an object hash is not empty" CHECK (object_hash <> ''),
    CONSTRAINT "sizes are not negative" CHECK (
        ifnull(object_bytes, 0) >= 0 AND ifnull(packed_bytes, 0) >= 0
        AND ifnull(workspace_bytes, 0) >= 0 AND ifnull(workspace_bytes_per_thread, 0) >= 0),
    CONSTRAINT "wall times are not negative" CHECK (ifnull(build_ns, 0) >= 0 AND ifnull(run_ns, 0) >= 0),
    CONSTRAINT "cache is warm or cold" CHECK (cache IN ('warm', 'cold')),
    CONSTRAINT "created_at is 2000-12-31T23:59:59.999Z" CHECK (created_at GLOB
        '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]Z')
) STRICT;
CREATE INDEX trial_of_workload ON trial (workload_id, target_id, machine_id, status);
CREATE INDEX trial_of_measurement ON trial (measurement_id);

-- A paired, interleaved comparison of trials in one run. Place 1 wins; a ratio is an entry's time over the winner's, and
-- an interval that includes 1 is a tie.
CREATE TABLE race (
    seq INTEGER PRIMARY KEY, -- order of arrival in this file; no content
    id TEXT NOT NULL UNIQUE,
    workload_id INTEGER NOT NULL REFERENCES workload (id),
    target_id INTEGER NOT NULL REFERENCES target (id),
    machine_id INTEGER NOT NULL REFERENCES machine (id),
    toolchain_id INTEGER NOT NULL REFERENCES toolchain (id),
    cache TEXT NOT NULL,
    error_budget REAL NOT NULL,
    metric TEXT NOT NULL,
    confidence REAL NOT NULL, -- of the intervals
    conditions TEXT NOT NULL,
    created_at TEXT NOT NULL,
    CONSTRAINT "an id is 32 hex digits" CHECK (length(id) = 32 AND id NOT GLOB '*[^0-9a-f]*'),
    CONSTRAINT "cache is warm or cold" CHECK (cache IN ('warm', 'cold')),
    CONSTRAINT "errors are not negative" CHECK (error_budget >= 0 AND error_budget < 9e999),
    CONSTRAINT "metric is ns, cycles or instructions" CHECK (metric IN ('ns', 'cycles', 'instructions')),
    CONSTRAINT "confidence is between 0 and 1" CHECK (confidence > 0 AND confidence < 1),
    CONSTRAINT "conditions are JSON or empty" CHECK (conditions = '' OR json_valid(conditions)),
    CONSTRAINT "created_at is 2000-12-31T23:59:59.999Z" CHECK (created_at GLOB
        '[0-9][0-9][0-9][0-9]-[0-1][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9].[0-9][0-9][0-9]Z')
) STRICT;
CREATE INDEX race_of_workload ON race (workload_id, target_id, machine_id);

CREATE TABLE race_entry (
    race_id TEXT NOT NULL REFERENCES race (id),
    place INTEGER NOT NULL,
    trial_id TEXT NOT NULL REFERENCES trial (id),
    ratio REAL NOT NULL,
    ratio_lo REAL NOT NULL,
    ratio_hi REAL NOT NULL,
    samples TEXT NOT NULL, -- JSON array, one number a round; rounds pair the entries
    PRIMARY KEY (race_id, place),
    UNIQUE (race_id, trial_id),
    CONSTRAINT "places count from 1" CHECK (place >= 1),
    CONSTRAINT "a ratio is positive and inside its interval" CHECK (
        0 < ratio_lo AND ratio_lo <= ratio AND ratio <= ratio_hi AND ratio_hi < 9e999),
    CONSTRAINT "the winner's ratio is 1" CHECK (place > 1 OR (ratio_lo = 1 AND ratio_hi = 1)),
    CONSTRAINT "samples are a JSON array of at least one" CHECK (
        iif(json_valid(samples), json_type(samples) = 'array' AND json_array_length(samples) >= 1, 0))
) STRICT, WITHOUT ROWID;
CREATE INDEX race_entry_of_trial ON race_entry (trial_id);

-- Conditions over several tables, which a CHECK cannot see.
CREATE TRIGGER trial_fits_measurement BEFORE INSERT ON trial
WHEN NEW.measurement_id IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM measurement JOIN target ON target.id = NEW.target_id
    WHERE measurement.id = NEW.measurement_id AND measurement.object_hash = NEW.object_hash
        AND measurement.machine_id = NEW.machine_id AND measurement.threads = target.threads
        AND measurement.cache = NEW.cache)
BEGIN
    SELECT RAISE(ABORT, 'a trial''s measurement is of the same object, machine, threads and cache');
END;

CREATE TRIGGER race_entry_fits_race BEFORE INSERT ON race_entry
WHEN NOT EXISTS (
    SELECT 1 FROM race
    JOIN trial USING (workload_id, target_id, machine_id, toolchain_id, cache, error_budget)
    JOIN measurement ON measurement.id = trial.measurement_id AND measurement.metric = race.metric
    WHERE race.id = NEW.race_id AND trial.id = NEW.trial_id AND trial.status = 'ok')
BEGIN
    SELECT RAISE(ABORT,
        'a race is between ok trials of its workload, target, machine, toolchain, cache, error budget and metric');
END;

-- What was written never changes. Deleting stays possible, for pruning.
CREATE TRIGGER measurement_is_final BEFORE UPDATE ON measurement
BEGIN
    SELECT RAISE(ABORT, 'a measurement never changes');
END;
CREATE TRIGGER trial_is_final BEFORE UPDATE ON trial
BEGIN
    SELECT RAISE(ABORT, 'a trial never changes');
END;
CREATE TRIGGER race_is_final BEFORE UPDATE ON race
BEGIN
    SELECT RAISE(ABORT, 'a race never changes');
END;
CREATE TRIGGER race_entry_is_final BEFORE UPDATE ON race_entry
BEGIN
    SELECT RAISE(ABORT, 'a race never changes');
END;

-- Every trial with the texts that its row refers to. `name` is one of the names of the workload.
CREATE VIEW trials AS
SELECT
    trial.id AS trial,
    (SELECT min(list || '/' || workload_name.name) FROM workload_name WHERE workload_id = workload.id) AS name,
    workload.key AS workload, workload.op AS op, workload.flops AS flops,
    target.halide AS target, target.threads AS threads, machine.key AS machine, toolchain.text AS toolchain,
    trial.cache, trial.error_budget, trial.algorithm, trial.candidate, trial.origin,
    trial.status, trial.message, trial.stderr_text, trial.max_error, trial.rms_error, trial.wide_error,
    trial.object_hash, trial.object_bytes, trial.packed_bytes, trial.workspace_bytes, trial.workspace_bytes_per_thread,
    trial.build_ns, trial.run_ns, trial.measurement_id AS measurement, measurement.metric, measurement.median,
    measurement.spread, trial.created_at, trial.seq
FROM trial
JOIN workload ON workload.id = trial.workload_id
JOIN target ON target.id = trial.target_id
JOIN machine ON machine.id = trial.machine_id
JOIN toolchain ON toolchain.id = trial.toolchain_id
LEFT JOIN measurement ON measurement.id = trial.measurement_id;

CREATE VIEW measurements AS
SELECT
    measurement.id AS measurement, object_hash, machine.key AS machine, threads, cache, metric, samples, median, spread,
    conditions, created_at, seq
FROM measurement JOIN machine ON machine.id = measurement.machine_id;

-- The one trial to use per workload, target, threads, machine, toolchain, cache, error budget and metric: the winner of
-- the latest race, else the lowest median; equal medians: the smaller object, then the lower id, so that rebuilds are
-- stable. Partitions are by text, not by id, so that a WHERE on the view's columns reaches the tables' indexes.
CREATE VIEW best AS
WITH winner AS (
    SELECT race_entry.trial_id, row_number() OVER (
        PARTITION BY workload_id, target_id, machine_id, toolchain_id, cache, error_budget, metric
        ORDER BY created_at DESC, race.id DESC) AS nth
    FROM race JOIN race_entry ON race_entry.race_id = race.id AND race_entry.place = 1
), ranked AS (
    SELECT trials.*, iif(winner.trial_id IS NULL, 'median', 'race') AS evidence, row_number() OVER (
        PARTITION BY workload, target, threads, machine, toolchain, cache, error_budget, metric
        ORDER BY winner.trial_id IS NULL, median, object_bytes NULLS LAST, trial) AS nth
    FROM trials LEFT JOIN winner ON winner.trial_id = trials.trial AND winner.nth = 1
    WHERE status = 'ok'
)
SELECT
    name, workload, op, flops, target, threads, machine, toolchain, cache, error_budget, metric, evidence, algorithm, candidate,
    origin, median, spread, max_error, rms_error, wide_error, object_hash, object_bytes, packed_bytes, workspace_bytes,
    workspace_bytes_per_thread, trial, measurement, created_at
FROM ranked WHERE nth = 1;
