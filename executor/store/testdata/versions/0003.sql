CREATE TABLE experiment (
  id          INTEGER PRIMARY KEY,
  name        TEXT NOT NULL,
  host        TEXT NOT NULL,             -- machine id
  title       TEXT NOT NULL,
  description TEXT NOT NULL,
  source      TEXT NOT NULL,             -- where it was published first
  seed        INTEGER NOT NULL,          -- of the shuffled order and of workloads
  planned_ns  INTEGER NOT NULL,          -- when a plan was last recorded
  UNIQUE (name, host)
) STRICT;
CREATE TABLE fingerprint (
  id   INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE cell (
  id             INTEGER PRIMARY KEY,
  experiment_id  INTEGER NOT NULL REFERENCES experiment,
  key            TEXT NOT NULL,          -- engine=myrocks,dio=dio
  matrix         TEXT NOT NULL,
  position       INTEGER,                -- in the plan recorded last; NULL: not in it
  fingerprint_id INTEGER REFERENCES fingerprint, -- of its last phase, in that plan
  UNIQUE (experiment_id, key)
) STRICT;
CREATE TABLE cell_level (
  cell_id  INTEGER NOT NULL REFERENCES cell,
  axis     TEXT NOT NULL,
  level    TEXT NOT NULL,
  label    TEXT NOT NULL,                -- how tables show it
  ordinal  INTEGER NOT NULL,             -- of the axis among the cell's axes, from 0
  position INTEGER NOT NULL,             -- of the level on its axis, from 0
  PRIMARY KEY (cell_id, axis)
) STRICT, WITHOUT ROWID;
CREATE TABLE run (
  id        INTEGER PRIMARY KEY,
  cell_id   INTEGER NOT NULL REFERENCES cell,
  replicate INTEGER NOT NULL CHECK (replicate >= 1),
  position  INTEGER,                     -- in the plan recorded last; NULL: not in it
  UNIQUE (cell_id, replicate)
) STRICT;
CREATE TABLE runner (
  id            INTEGER PRIMARY KEY,
  experiment_id INTEGER NOT NULL REFERENCES experiment,
  version       TEXT NOT NULL,           -- of dbmatrix
  command       TEXT NOT NULL,
  pid           INTEGER NOT NULL,
  start_ticks   INTEGER NOT NULL,        -- field 22 of /proc/PID/stat
  boot_id       TEXT NOT NULL,
  began_ns      INTEGER NOT NULL,
  ended_ns      INTEGER                  -- NULL: runs, or was killed
) STRICT;
CREATE TABLE setting (
  id    INTEGER PRIMARY KEY,
  name  TEXT NOT NULL,
  value TEXT NOT NULL,
  UNIQUE (name, value)
) STRICT;
CREATE TABLE epoch (
  id            INTEGER PRIMARY KEY,
  experiment_id INTEGER NOT NULL REFERENCES experiment,
  boot_id       TEXT NOT NULL,
  reason        TEXT NOT NULL,           -- why it began: first, reboot, accepted ...
  began_ns      INTEGER NOT NULL
) STRICT;
CREATE TABLE epoch_fact (
  epoch_id   INTEGER NOT NULL REFERENCES epoch,
  ordinal    INTEGER NOT NULL,
  setting_id INTEGER NOT NULL REFERENCES setting,
  PRIMARY KEY (epoch_id, ordinal)
) STRICT, WITHOUT ROWID;
CREATE TABLE attempt (
  id             INTEGER PRIMARY KEY,
  run_id         INTEGER NOT NULL REFERENCES run,
  number         INTEGER NOT NULL CHECK (number >= 1),
  runner_id      INTEGER NOT NULL REFERENCES runner,
  epoch_id       INTEGER REFERENCES epoch,
  fingerprint_id INTEGER REFERENCES fingerprint, -- of the last phase that it is to execute
  phases         INTEGER NOT NULL,       -- how many it is to execute or take over
  status         TEXT NOT NULL CHECK (status IN ('running', 'ok', 'sla_missed',
                   'failed', 'timeout', 'hung', 'crashed', 'invalid', 'interrupted', 'skipped')),
  message        TEXT NOT NULL DEFAULT '',
  began_ns       INTEGER NOT NULL,
  ended_ns       INTEGER,
  UNIQUE (run_id, number)
) STRICT;
CREATE TABLE withdrawal (
  attempt_id INTEGER PRIMARY KEY REFERENCES attempt,
  reason     TEXT NOT NULL,
  by         TEXT NOT NULL,
  at_ns      INTEGER NOT NULL
) STRICT;
CREATE TABLE acceptance (
  attempt_id     INTEGER NOT NULL REFERENCES attempt,
  fingerprint_id INTEGER NOT NULL REFERENCES fingerprint, -- that it may stand for
  reason         TEXT NOT NULL,
  by             TEXT NOT NULL,
  at_ns          INTEGER NOT NULL,
  PRIMARY KEY (attempt_id, fingerprint_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE phase (
  id             INTEGER PRIMARY KEY,
  attempt_id     INTEGER NOT NULL REFERENCES attempt,
  ordinal        INTEGER NOT NULL,       -- among the attempt's phases, from 1
  block          TEXT NOT NULL,          -- the phase block that ran
  name           TEXT NOT NULL,          -- under which results are kept
  workload       TEXT NOT NULL,
  workload_version INTEGER NOT NULL,
  fingerprint_id INTEGER REFERENCES fingerprint,
  taken_from     INTEGER REFERENCES phase, -- measured there, taken over with a snapshot
  planned        INTEGER NOT NULL,       -- iterations that it is to have
  finished       INTEGER NOT NULL DEFAULT 0, -- those of them that are complete
  stage          TEXT NOT NULL DEFAULT '', -- what a running phase is at
  status         TEXT NOT NULL CHECK (status IN ('running', 'ok', 'sla_missed',
                   'failed', 'timeout', 'hung', 'crashed', 'invalid', 'interrupted')),
  message        TEXT NOT NULL DEFAULT '',
  began_ns       INTEGER NOT NULL,
  ended_ns       INTEGER,
  seconds        REAL,                   -- start, warm-up and settle included
  settle_seconds REAL,
  bytes          INTEGER,                -- allocated size of the data at its end
  UNIQUE (attempt_id, ordinal)
) STRICT;
CREATE TABLE iteration (
  id       INTEGER PRIMARY KEY,
  phase_id INTEGER NOT NULL REFERENCES phase,
  number   INTEGER NOT NULL CHECK (number >= 0),
  status   TEXT NOT NULL CHECK (status IN ('ok', 'sla_missed',
             'failed', 'timeout', 'hung', 'crashed', 'invalid', 'interrupted')),
  message  TEXT NOT NULL DEFAULT '',
  began_ns INTEGER,                      -- the measured window; NULL: there was none
  ended_ns INTEGER,
  UNIQUE (phase_id, number)
) STRICT;
CREATE TABLE flag (
  iteration_id INTEGER NOT NULL REFERENCES iteration,
  name         TEXT NOT NULL,            -- swap, steal, foreign_cpu ...
  detail       TEXT NOT NULL,
  PRIMARY KEY (iteration_id, name, detail)
) STRICT, WITHOUT ROWID;
CREATE TABLE metric_name (
  id   INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  unit TEXT NOT NULL,                    -- s, B, count, 1/s ...
  UNIQUE (name, unit)
) STRICT;
CREATE TABLE metric (
  iteration_id   INTEGER NOT NULL REFERENCES iteration,
  metric_name_id INTEGER NOT NULL REFERENCES metric_name,
  value          REAL NOT NULL,
  PRIMARY KEY (iteration_id, metric_name_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE series (
  id             INTEGER PRIMARY KEY,
  iteration_id   INTEGER NOT NULL REFERENCES iteration,
  metric_name_id INTEGER NOT NULL REFERENCES metric_name,
  instance       TEXT NOT NULL,          -- client 3; '' where there is one source
  UNIQUE (iteration_id, metric_name_id, instance)
) STRICT;
CREATE TABLE reading (
  series_id INTEGER NOT NULL REFERENCES series,
  at_ms     INTEGER NOT NULL,            -- since the window began
  value     REAL,                        -- NULL: a gap
  PRIMARY KEY (series_id, at_ms)
) STRICT, WITHOUT ROWID;
CREATE TABLE histogram (
  iteration_id INTEGER NOT NULL REFERENCES iteration,
  operation    TEXT NOT NULL,
  count        INTEGER NOT NULL,
  encoded      BLOB NOT NULL,
  PRIMARY KEY (iteration_id, operation)
) STRICT, WITHOUT ROWID;
CREATE TABLE query_plan (
  iteration_id INTEGER NOT NULL REFERENCES iteration,
  query        TEXT NOT NULL,
  plan         TEXT NOT NULL,
  PRIMARY KEY (iteration_id, query)
) STRICT, WITHOUT ROWID;
CREATE TABLE event (
  id            INTEGER PRIMARY KEY,
  experiment_id INTEGER NOT NULL REFERENCES experiment,
  attempt_id    INTEGER REFERENCES attempt,
  phase_id      INTEGER REFERENCES phase,
  iteration     INTEGER,                 -- its number; it may never have finished
  at_ns         INTEGER NOT NULL,
  kind          TEXT NOT NULL,
  message       TEXT NOT NULL,
  detail        TEXT NOT NULL            -- evidence, such as log lines
) STRICT;
CREATE TABLE fact (
  attempt_id INTEGER NOT NULL REFERENCES attempt,
  setting_id INTEGER NOT NULL REFERENCES setting,
  PRIMARY KEY (attempt_id, setting_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE option (
  phase_id INTEGER NOT NULL REFERENCES phase,
  name     TEXT NOT NULL,
  asked    TEXT NOT NULL,
  in_force TEXT,                         -- NULL: nothing tells
  verdict  TEXT NOT NULL CHECK (verdict IN ('verified', 'adjusted', 'contradicted', 'unverifiable')),
  granule  INTEGER NOT NULL,             -- 1: only rounded to the server's own unit
  varied   INTEGER NOT NULL,             -- 1: an axis, a matrix or a phase sets it
  origin   TEXT NOT NULL,                -- the places that set it, one a line
  detail   TEXT NOT NULL,
  PRIMARY KEY (phase_id, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE variable (
  phase_id   INTEGER NOT NULL REFERENCES phase,
  setting_id INTEGER NOT NULL REFERENCES setting,
  PRIMARY KEY (phase_id, setting_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE input (
  fingerprint_id INTEGER NOT NULL REFERENCES fingerprint,
  setting_id     INTEGER NOT NULL REFERENCES setting,
  PRIMARY KEY (fingerprint_id, setting_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE artifact (
  id         INTEGER PRIMARY KEY,
  attempt_id INTEGER NOT NULL REFERENCES attempt,
  phase_id   INTEGER REFERENCES phase,
  kind       TEXT NOT NULL,              -- option file, error log, client output ...
  path       TEXT NOT NULL,              -- relative to the folder of results.db
  bytes      INTEGER NOT NULL,
  UNIQUE (attempt_id, path)
) STRICT;
CREATE TABLE snapshot (
  id             INTEGER PRIMARY KEY,
  experiment_id  INTEGER NOT NULL REFERENCES experiment,
  fingerprint_id INTEGER NOT NULL REFERENCES fingerprint,
  replicate      INTEGER NOT NULL,
  attempt_id     INTEGER NOT NULL REFERENCES attempt, -- that made it
  path           TEXT NOT NULL,
  bytes          INTEGER NOT NULL,
  made_ns        INTEGER NOT NULL,
  removed_ns     INTEGER                 -- NULL: it is there
) STRICT;
CREATE TABLE setup (
  id         INTEGER PRIMARY KEY,
  attempt_id INTEGER NOT NULL REFERENCES attempt,
  phase      TEXT NOT NULL,              -- '' where it is of the run
  dir        TEXT NOT NULL,
  env        TEXT NOT NULL,              -- JSON: ["NAME=value", ...]
  teardown   TEXT NOT NULL,              -- JSON: [["program", "argument"], ...]
  began_ns   INTEGER NOT NULL,
  undone_ns  INTEGER                     -- NULL: it is still to be undone
) STRICT;
CREATE TABLE import (
  id         INTEGER PRIMARY KEY,
  experiment TEXT NOT NULL,              -- its name; it need not have been run
  name       TEXT NOT NULL,              -- the source that tables show
  file       TEXT NOT NULL,              -- that it was read from
  at_ns      INTEGER NOT NULL,
  UNIQUE (experiment, name)
) STRICT;
CREATE TABLE import_row (
  id        INTEGER PRIMARY KEY,
  import_id INTEGER NOT NULL REFERENCES import,
  cell      TEXT NOT NULL,               -- its key
  matrix    TEXT NOT NULL,
  phase     TEXT NOT NULL,
  iteration INTEGER NOT NULL CHECK (iteration >= 1),
  replicate INTEGER NOT NULL CHECK (replicate >= 1),
  status    TEXT NOT NULL,
  UNIQUE (import_id, cell, matrix, phase, iteration, replicate)
) STRICT;
CREATE TABLE import_level (
  row_id INTEGER NOT NULL REFERENCES import_row,
  axis   TEXT NOT NULL,
  level  TEXT NOT NULL,
  PRIMARY KEY (row_id, axis)
) STRICT, WITHOUT ROWID;
CREATE TABLE import_value (
  row_id INTEGER NOT NULL REFERENCES import_row,
  token  TEXT NOT NULL,                  -- the column
  text   TEXT NOT NULL,                  -- as it was written
  number REAL,                           -- NULL: it is no number
  PRIMARY KEY (row_id, token)
) STRICT, WITHOUT ROWID;
CREATE INDEX attempt_running ON attempt (id) WHERE status = 'running';
CREATE INDEX phase_taken_from ON phase (taken_from) WHERE taken_from IS NOT NULL;
CREATE INDEX event_attempt ON event (attempt_id);
CREATE INDEX snapshot_there ON snapshot (experiment_id) WHERE removed_ns IS NULL;
CREATE INDEX setup_there ON setup (id) WHERE undone_ns IS NULL;
CREATE VIEW run_attempt AS
SELECT e.name AS experiment, e.host, c.key AS cell, r.replicate,
       a.number AS attempt, a.status, a.message, a.began_ns, a.ended_ns,
       w.reason AS withdrawn,
       a.status IN ('ok', 'sla_missed') AND w.attempt_id IS NULL AND NOT EXISTS (
         SELECT 1 FROM attempt n
         WHERE n.run_id = a.run_id AND n.id <> a.id AND n.status IN ('ok', 'sla_missed')
           AND (c.fingerprint_id IS NULL OR c.fingerprint_id IS n.fingerprint_id OR EXISTS (
                  SELECT 1 FROM acceptance ac WHERE ac.attempt_id = n.id AND ac.fingerprint_id = c.fingerprint_id), n.number)
             > (c.fingerprint_id IS NULL OR c.fingerprint_id IS a.fingerprint_id OR EXISTS (
                  SELECT 1 FROM acceptance ac WHERE ac.attempt_id = a.id AND ac.fingerprint_id = c.fingerprint_id), a.number)
       ) AS counts,
       c.fingerprint_id IS NOT NULL AND c.fingerprint_id IS NOT a.fingerprint_id AND NOT EXISTS (
         SELECT 1 FROM acceptance ac
         WHERE ac.attempt_id = a.id AND ac.fingerprint_id = c.fingerprint_id
       ) AS stale,
       r.position IS NOT NULL AS planned,
       a.id AS attempt_id, r.id AS run_id, c.id AS cell_id
FROM attempt a
JOIN run r ON r.id = a.run_id
JOIN cell c ON c.id = r.cell_id
JOIN experiment e ON e.id = c.experiment_id
LEFT JOIN withdrawal w ON w.attempt_id = a.id;
CREATE VIEW result AS
SELECT ra.experiment, ra.host, ra.cell, ra.replicate, ra.attempt,
       p.name AS phase, i.number AS iteration, i.status, ra.stale,
       p.taken_from IS NOT NULL AS shared,
       n.name AS metric, m.value, n.unit
FROM run_attempt ra
JOIN phase p ON p.attempt_id = ra.attempt_id
JOIN iteration i ON i.phase_id = coalesce(p.taken_from, p.id)
JOIN metric m ON m.iteration_id = i.id
JOIN metric_name n ON n.id = m.metric_name_id
WHERE ra.planned AND ra.counts;
CREATE VIEW throughput AS
SELECT experiment, host, cell, replicate, attempt, phase, iteration, status, stale, shared,
       max(value) FILTER (WHERE metric = 'secs') AS secs,
       max(value) FILTER (WHERE metric = 'rows_inserted') / max(value) FILTER (WHERE metric = 'secs') AS ips,
       max(value) FILTER (WHERE metric = 'queries')       / max(value) FILTER (WHERE metric = 'secs') AS qps,
       max(value) FILTER (WHERE metric = 'transactions')  / max(value) FILTER (WHERE metric = 'secs') AS tps
FROM result
WHERE iteration > 0
GROUP BY experiment, host, cell, replicate, attempt, phase, iteration;
INSERT INTO "experiment" VALUES (1, 'dio', 'host-a', 'Direct I/O', '', '', 7, 1796040001000000000);
INSERT INTO "fingerprint" VALUES (1, 'query-000000000000000000000000000000000000000000000000000000000000');
INSERT INTO "fingerprint" VALUES (2, 'query-000000000000000000000000000000000000000000000000000000000001');
INSERT INTO "fingerprint" VALUES (3, 'load-000000000000000000000000000000000000000000000000000000000000');
INSERT INTO "fingerprint" VALUES (4, 'load-000000000000000000000000000000000000000000000000000000000001');
INSERT INTO "cell" VALUES (1, 1, 'io=0', '', 1, 1);
INSERT INTO "cell" VALUES (2, 1, 'io=1', '', 2, 2);
INSERT INTO "cell_level" VALUES (1, 'io', '0', 'io 0', 0, 0);
INSERT INTO "cell_level" VALUES (2, 'io', '1', 'io 1', 0, 1);
INSERT INTO "run" VALUES (1, 1, 1, 1);
INSERT INTO "run" VALUES (2, 2, 1, 2);
INSERT INTO "runner" VALUES (1, 1, 'test', '', 1, 2, 'boot', 1796040002000000000, NULL);
INSERT INTO "setting" VALUES (1, 'my_cnf.innodb_flush_method', '0');
INSERT INTO "setting" VALUES (2, 'workload.step', 'load');
INSERT INTO "setting" VALUES (3, 'workload.step', 'query');
INSERT INTO "setting" VALUES (4, 'my_cnf.innodb_flush_method', '1');
INSERT INTO "attempt" VALUES (1, 1, 1, 1, NULL, 1, 2, 'ok', '', 1796040003000000000, 1796040008000000000);
INSERT INTO "attempt" VALUES (2, 1, 2, 1, NULL, 1, 2, 'ok', '', 1796040009000000000, 1796040014000000000);
INSERT INTO "attempt" VALUES (3, 2, 1, 1, NULL, 2, 2, 'ok', '', 1796040015000000000, 1796040020000000000);
INSERT INTO "withdrawal" VALUES (2, 'noise', 'me', 1796040021000000000);
INSERT INTO "phase" VALUES (1, 1, 1, 'load', 'load', 'insert_benchmark', 1, 3, NULL, 1, 1, '', 'ok', '', 1796040004000000000, 1796040005000000000, 12.0, 2.0, 1073741824);
INSERT INTO "phase" VALUES (2, 1, 2, 'query', 'query', 'insert_benchmark', 1, 1, NULL, 2, 2, '', 'ok', '', 1796040006000000000, 1796040007000000000, 12.0, 2.0, 1073741824);
INSERT INTO "phase" VALUES (3, 2, 1, 'load', 'load', 'insert_benchmark', 1, 3, NULL, 1, 1, '', 'ok', '', 1796040010000000000, 1796040011000000000, 12.0, 2.0, 1073741824);
INSERT INTO "phase" VALUES (4, 2, 2, 'query', 'query', 'insert_benchmark', 1, 1, NULL, 2, 2, '', 'ok', '', 1796040012000000000, 1796040013000000000, 12.0, 2.0, 1073741824);
INSERT INTO "phase" VALUES (5, 3, 1, 'load', 'load', 'insert_benchmark', 1, 4, NULL, 1, 1, '', 'ok', '', 1796040016000000000, 1796040017000000000, 12.0, 2.0, 1073741824);
INSERT INTO "phase" VALUES (6, 3, 2, 'query', 'query', 'insert_benchmark', 1, 2, NULL, 2, 2, '', 'ok', '', 1796040018000000000, 1796040019000000000, 12.0, 2.0, 1073741824);
INSERT INTO "iteration" VALUES (1, 1, 1, 'ok', '', NULL, NULL);
INSERT INTO "iteration" VALUES (2, 2, 1, 'ok', '', NULL, NULL);
INSERT INTO "iteration" VALUES (3, 2, 2, 'ok', '', NULL, NULL);
INSERT INTO "iteration" VALUES (4, 3, 1, 'ok', '', NULL, NULL);
INSERT INTO "iteration" VALUES (5, 4, 1, 'ok', '', NULL, NULL);
INSERT INTO "iteration" VALUES (6, 4, 2, 'ok', '', NULL, NULL);
INSERT INTO "iteration" VALUES (7, 5, 1, 'ok', '', NULL, NULL);
INSERT INTO "iteration" VALUES (8, 6, 1, 'ok', '', NULL, NULL);
INSERT INTO "iteration" VALUES (9, 6, 2, 'ok', '', NULL, NULL);
INSERT INTO "metric_name" VALUES (1, 'secs', 's');
INSERT INTO "metric_name" VALUES (2, 'rows_inserted', 'count');
INSERT INTO "metric" VALUES (1, 1, 10.0);
INSERT INTO "metric" VALUES (1, 2, 1000.0);
INSERT INTO "metric" VALUES (2, 1, 10.0);
INSERT INTO "metric" VALUES (2, 2, 1000.0);
INSERT INTO "metric" VALUES (3, 1, 10.0);
INSERT INTO "metric" VALUES (3, 2, 1000.0);
INSERT INTO "metric" VALUES (4, 1, 10.0);
INSERT INTO "metric" VALUES (4, 2, 5.0);
INSERT INTO "metric" VALUES (5, 1, 10.0);
INSERT INTO "metric" VALUES (5, 2, 5.0);
INSERT INTO "metric" VALUES (6, 1, 10.0);
INSERT INTO "metric" VALUES (6, 2, 5.0);
INSERT INTO "metric" VALUES (7, 1, 10.0);
INSERT INTO "metric" VALUES (7, 2, 1000.0);
INSERT INTO "metric" VALUES (8, 1, 10.0);
INSERT INTO "metric" VALUES (8, 2, 1000.0);
INSERT INTO "metric" VALUES (9, 1, 10.0);
INSERT INTO "metric" VALUES (9, 2, 1000.0);
INSERT INTO "input" VALUES (1, 1);
INSERT INTO "input" VALUES (1, 3);
INSERT INTO "input" VALUES (2, 3);
INSERT INTO "input" VALUES (2, 4);
INSERT INTO "input" VALUES (3, 1);
INSERT INTO "input" VALUES (3, 2);
INSERT INTO "input" VALUES (4, 2);
INSERT INTO "input" VALUES (4, 4);
PRAGMA application_id = 1684172152;
PRAGMA user_version = 3;
