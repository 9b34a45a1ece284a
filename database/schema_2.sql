-- Version 2 of the schema: times of whole networks. It only adds, so that files of version 1 can be read as they are.

CREATE TABLE network_time (
    id INTEGER PRIMARY KEY, -- order of arrival in this file
    network TEXT NOT NULL,
    who TEXT NOT NULL, -- kiln, default (kiln's default kernels), or a peer
    version TEXT NOT NULL, -- of kiln or of the peer
    target_id INTEGER NOT NULL REFERENCES target (id),
    machine_id INTEGER NOT NULL REFERENCES machine (id),
    median_ns REAL NOT NULL,
    min_ns REAL NOT NULL,
    rounds INTEGER NOT NULL,
    untuned INTEGER NOT NULL, -- 1: of kiln, with a kernel that has no recorded trial
    created_at TEXT NOT NULL, -- of the run of `kiln bench`, which all that ran in turns have in common
    CONSTRAINT "a time is of a network and has a name" CHECK (network <> '' AND who <> ''),
    CONSTRAINT "times of networks are positive and finite" CHECK (median_ns > 0 AND median_ns < 9e999 AND min_ns > 0 AND min_ns < 9e999),
    CONSTRAINT "a time of a network has a round" CHECK (rounds >= 1),
    CONSTRAINT "untuned is 0 or 1" CHECK (untuned IN (0, 1))
) STRICT;
CREATE INDEX network_time_of_network ON network_time (network, created_at);

CREATE TRIGGER network_time_is_final BEFORE UPDATE ON network_time
BEGIN
    SELECT RAISE(ABORT, 'times of networks are never changed');
END;

CREATE VIEW networks AS
SELECT
    network, who, version, target.halide AS target, target.threads, machine.key AS machine, median_ns, min_ns, rounds,
    untuned, network_time.created_at, network_time.id
FROM network_time
JOIN target ON target.id = network_time.target_id
JOIN machine ON machine.id = network_time.machine_id;
