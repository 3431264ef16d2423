// Package pgbench runs PostgreSQL's own benchmark program and reads its report.
//
// The step init makes the database pgbench anew and fills it by the program's
// -i. The step run measures:
//
//	vacuum, CHECKPOINT ──► Begin ──► pgbench -n -P 1 ... ──► End
//	             │                                           │
//	             └ position of the write-ahead log ──────────┴ wal_bytes
//
// As the program does by itself, the small tables are vacuumed and the history
// is emptied first, but outside the window, so that this is in no number. The
// checkpoint makes the first change of every page write a full page image in
// every run alike. wal_bytes is how far the insert position of the log moved.
//
// tps is what the program prints without the time of connecting; the window,
// and so secs, is the whole life of the program. Its progress lines become a
// series of each second. Transactions that the server rolled back because of
// others (serialization failures and deadlocks) are counted as errors and, with
// max_tries, tried again; any other error fails the phase.
//
// The reports of 15 and 17 are recorded in testdata, the older forms, of 9.4 to
// 14, are written after the documentation. A report that is cut short, that
// holds a line of another form or says that a client was aborted is an error.
package pgbench
