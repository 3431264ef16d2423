// Package insertbench is the insert benchmark in its classic form: how fast rows
// go into tables with secondary indexes, and how fast short range queries are
// while they do.
//
//	load ─────► tables pi1..piN made, with their indexes; filled in key order
//	scan ─────► five queries, each over all tables at once, that read all and return nothing
//	query ────► per table one writer at a set rate and one reader at full speed
//
// The data is a function of the seed alone: the rows of one batch come from a
// generator that is started from the seed, the table and the number of the
// batch. So it does not matter how many clients load a table, or in which order
// their batches arrive; only transactionid and dateandtime differ.
//
// Departures from the original client, each for a number that is what it says:
//
//   - All clients start together, where the original starts one a second and
//     counts that time.
//   - A writer's schedule is fixed from the start and a slow second is made up;
//     the original never does, so its rate is at most what was asked.
//   - The query step ends by time; the original ends by rows and runs on.
//   - Percentiles are of the interval rates of all clients; bug_compat takes
//     those of the first client, as the original's scripts do.
//   - Deadlocks and lock waits are sent again and counted, and any other error
//     fails the phase; the original counts all as retries and goes on.
//   - Columns have no display widths, and the tables are latin1 on all builds.
package insertbench
