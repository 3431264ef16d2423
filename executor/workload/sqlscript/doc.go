// Package sqlscript is the workload sql: statements that are timed one by one.
//
// It is for what a benchmark does not do by itself: dropping what it made, an
// ALTER TABLE, a report query. The metric secs is the time of all statements,
// secs_1, secs_2 ... are those of each. A warning of the server fails the phase
// unless its code is among allow_errors, since a statement that was taken
// otherwise than written was not what is measured.
//
//	statements, file ──► split, by the flavour's rules ──► one session for each connection
//
// Where the server rolls a statement back because of other clients it is sent
// again, with all of its transaction where one was begun by BEGIN or START
// TRANSACTION; its time is that of all sendings, and the metric queries counts
// each that was done.
package sqlscript
