-- Version 3 of the record: numbers that were measured elsewhere, brought in by the
-- command import. They belong to an experiment, not to a host, and make no run
-- done.

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
