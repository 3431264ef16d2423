// Package tpcc runs the benchmark TPC-C by the program go-tpc, of version 1.0.12.
//
//	load   our tables ──► go-tpc prepare ──► rows counted, conditions tested
//	run    go-tpc run ──► [Current] lines: a series, [Summary]: metrics
//	check  the consistency conditions of the specification, in our SQL
//
// The program cannot choose an engine or a compression, so the tables are made
// here, as it would make them otherwise: the same columns, keys and ways of
// partitioning. It leaves tables alone that are there. Its own check takes
// minutes for a warehouse and is off; ours takes about a second. When an INSERT
// of the load fails, the program goes on without a word and ends with status 0:
// all rows are counted after the load.
//
// In PostgreSQL the program makes the secondary indexes itself, and after the load
// the tables are vacuumed and analyzed, as pgbench does.
//
// The program speaks TCP only: the server must listen on the loopback address.
// It seeds its random numbers by the time of day, so two loads are alike but not
// the same. Connections are not encrypted, whatever the server offers.
//
// A transaction that fails is not tried again: the client goes on with the next.
// Deadlocks, lock waits and conflicts (a record has changed since it was read, or
// PostgreSQL cannot serialize the access) are counted so; any other error that
// allow_errors does not name ends the run at once. Where the server ends a
// statement while its rows are read, most often for a deadlock, the program loses
// the reason and says that an item or a customer is not found: errors_unnamed
// counts these, and errors has them too.
//
// Its response times come from histograms of one significant digit that begin
// at a millisecond: percentiles and maxima are the upper bound of a bucket that
// is up to 6 % or half a millisecond wide. Means are exact.
//
// tpmC is new orders a minute, tpm all transactions a minute, as it prints them,
// and both are series too, of what was done in each second;
// efficiency is tpmC as a share of the 12.86 a minute that the keying and
// thinking times of the specification would allow for each warehouse.
package tpcc
