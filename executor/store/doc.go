// Package store is the record: all that dbmatrix knows of what was planned and
// measured, in one SQLite file, results.db, beside the experiment.
//
//	RecordPlan ─► experiment, cell, cell_level, run
//	BeginRunner ─► runner               what an earlier runner left becomes interrupted
//	BeginAttempt ─► attempt             one pass through a run
//	  BeginPhase | TakePhase ─► phase   executed, or taken over with a snapshot
//	    FinishIteration ─► iteration, metric, series, reading, histogram, ...
//	  FinishPhase ─► the phase's end status, with what belongs to it as a whole
//	FinishAttempt ─► the attempt's end status
//
//	History ─► matrix.History           what the plan compares with
//	Results, Readings, Detail ─► report, show, status
//
// Every method that writes is one transaction, committed to the device before it
// returns: a result and the status that says it is there appear together. Writes
// do not heed the cancellation of their context, because a status must be
// recorded after an interrupt too. A reader may have the file open while a runner
// writes.
//
// Attempts are append-only. Which of them counts is computed, never stored: the
// newest complete one that was not withdrawn. The views "result" and
// "throughput" show just those and are made for the plain sqlite3 program:
//
//	sqlite3 results.db "SELECT cell, replicate, ips FROM throughput WHERE phase = 'load'"
//
// Units: durations are seconds (REAL), sizes bytes (INTEGER), wall times
// nanoseconds since 1970 in UTC (INTEGER, columns named *_ns), times within a
// measured window milliseconds (INTEGER, columns named *_ms). Numbers of a metric
// are REAL, which holds whole numbers up to 2^53 exactly.
//
// The schema is numbered: migrations/NNNN.sql leads from version NNNN-1 to NNNN,
// and PRAGMA user_version tells the version of a file. An older file is copied
// with VACUUM INTO, then migrated, when it is opened for writing.
package store
