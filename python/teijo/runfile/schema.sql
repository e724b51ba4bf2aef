-- The run file, version 1: the log of one conversation between a method and a device.
-- Later versions add columns in schema.py; a new file is made at version 1 and migrated.
-- Times end in _ns and count from the run's own clock; sizes end in _bytes; *_at is ISO 8601.
-- docs/run-file.md explains every column; a test keeps the two together.

CREATE TABLE run (
    id          TEXT NOT NULL,
    method      TEXT NOT NULL,
    spec        TEXT NOT NULL,
    settings    TEXT NOT NULL CHECK (json_valid(settings)),
    seed        INTEGER NOT NULL,
    engine      TEXT NOT NULL,
    version     TEXT NOT NULL,
    started_at  TEXT NOT NULL,
    ended_at    TEXT NOT NULL,
    ending      TEXT NOT NULL CHECK (
        ending IN ('running', 'done', 'steady', 'not steady', 'interrupted', 'failed')
    ),
    error       TEXT NOT NULL,
    digest      TEXT NOT NULL
) STRICT;

CREATE TABLE environment (
    name   TEXT PRIMARY KEY,
    value  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE device (
    kind                    TEXT NOT NULL CHECK (kind IN ('simulated', 'file', 'block')),
    target                  TEXT NOT NULL,
    model                   TEXT NOT NULL,
    serial                  TEXT NOT NULL,
    firmware                TEXT NOT NULL,
    interface               TEXT NOT NULL,
    wwid                    TEXT NOT NULL,
    write_cache             TEXT NOT NULL,
    facts                   TEXT NOT NULL CHECK (json_valid(facts)),
    capacity_bytes          INTEGER NOT NULL CHECK (capacity_bytes > 0),
    nominal_capacity_bytes  INTEGER NOT NULL CHECK (nominal_capacity_bytes > 0),
    logical_block_bytes     INTEGER NOT NULL CHECK (logical_block_bytes > 0),
    physical_block_bytes    INTEGER NOT NULL CHECK (physical_block_bytes > 0)
) STRICT;

CREATE TABLE step (
    seq            INTEGER PRIMARY KEY CHECK (seq >= 1),
    status         TEXT NOT NULL CHECK (status IN ('running', 'done', 'gap')),
    kind           TEXT NOT NULL,
    phase          TEXT NOT NULL,
    round          INTEGER,
    cell           TEXT,
    step           TEXT NOT NULL CHECK (json_valid(step)),
    seed           INTEGER NOT NULL,
    interval_ns    INTEGER NOT NULL CHECK (interval_ns > 0),
    started_ns     INTEGER,
    elapsed_ns     INTEGER,
    gap_ns         INTEGER,
    gap_reason     TEXT,
    cursors        TEXT CHECK (cursors IS NULL OR json_valid(cursors)),
    health_before  TEXT CHECK (health_before IS NULL OR json_valid(health_before)),
    health_after   TEXT CHECK (health_after IS NULL OR json_valid(health_after)),
    detail         TEXT CHECK (detail IS NULL OR json_valid(detail)),
    CHECK ((status = 'done') = (started_ns IS NOT NULL)),
    CHECK ((status = 'gap') = (gap_reason IS NOT NULL))
) STRICT;

CREATE TABLE result (
    step            INTEGER NOT NULL REFERENCES step (seq),
    place           INTEGER NOT NULL,
    stream          TEXT NOT NULL,
    direction       TEXT NOT NULL CHECK (direction IN ('read', 'write')),
    ios             INTEGER NOT NULL CHECK (ios >= 0),
    bytes           INTEGER NOT NULL CHECK (bytes >= 0),
    errors          TEXT NOT NULL CHECK (json_valid(errors)),
    latency_ns_sum  INTEGER NOT NULL,
    latency_ns_min  INTEGER NOT NULL,
    latency_ns_max  INTEGER NOT NULL,
    histogram       BLOB NOT NULL,
    intervals       INTEGER CHECK (intervals >= 0),
    PRIMARY KEY (step, stream, direction)
) STRICT;

CREATE TABLE interval (
    step            INTEGER NOT NULL REFERENCES step (seq),
    stream          TEXT NOT NULL,
    direction       TEXT NOT NULL CHECK (direction IN ('read', 'write')),
    number          INTEGER NOT NULL CHECK (number >= 0),
    ios             INTEGER NOT NULL,
    bytes           INTEGER NOT NULL,
    errors          INTEGER NOT NULL,
    latency_ns_sum  INTEGER NOT NULL,
    latency_ns_min  INTEGER NOT NULL,
    latency_ns_max  INTEGER NOT NULL,
    PRIMARY KEY (step, stream, direction, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE remark (
    place  INTEGER PRIMARY KEY,
    kind   TEXT NOT NULL,
    text   TEXT NOT NULL,
    step   INTEGER REFERENCES step (seq)
) STRICT;
