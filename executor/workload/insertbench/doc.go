// Package insertbench is the insert benchmark: how fast rows go into tables with
// secondary indexes, and how fast queries are while they do. It has two
// profiles; the step of a phase says which one it is.
//
// The classic profile is the form of 2018:
//
//	load ─────► tables pi1..piN made, with their indexes; filled in key order
//	scan ─────► five queries, each over all tables at once, that read all and return nothing
//	query ────► per table one writer at a set rate and one reader at full speed
//
// The modern profile is the form of today:
//
//	l.i0 ─────► tables made with the primary key alone; filled in key order
//	l.x ──────► a batch of rows into each table, then its secondary indexes
//	l.i1 ─────► rows inserted and as many deleted, 50 in a transaction
//	l.i2 ─────► the same, 5 in a transaction
//	qr ───────► range queries at full speed; inserts and deletes at a set rate
//	qp ───────► the same with queries of ten rows by their key
//
// A client of the modern profile has a connection for each of inserts, deletes
// and queries. Deletes take the rows with the lowest keys, as many as inserts
// add, so that a table is a queue of constant length.
//
// The data is a function of the seed alone: the rows of one batch come from a
// generator that is started from the seed, the table and the number of the
// batch. So it does not matter how many clients load a table, or in which order
// their batches arrive; only transactionid and dateandtime differ.
//
// # Kept from the original
//
//   - The price of the modern profile is whole and is sent with two decimals.
//   - The place that a delete begins at is not read from the table: it moves by
//     as many keys as rows were to be deleted, and is read anew only every
//     resync_min deletes. Where keys have gaps it falls behind the lowest key
//     meanwhile, which costs the server what it costs to skip deleted rows. The
//     keys of point queries are drawn from there on.
//   - Point queries know the highest key of a hundred queries ago; not every key
//     that they ask for has a row.
//   - PostgreSQL gets the original's words: a delete finds its rows by a subquery,
//     queries are prepared and name no index, and a connection takes a thousand
//     keys at once, so that each leaves a gap.
//   - Inserts and deletes of a client stay within eight statements of each
//     other: the slower one sets the pace of both.
//   - rows_inserted of l.x is all rows that the tables then have, those of the
//     load and its own batch, so that ips is the rate at which rows are indexed.
//     The metric rows_added has its own rows alone.
//
// # Departures from the original
//
// Each for a number that is what it says:
//
//   - All clients start together, where the original starts one a second and
//     counts that time.
//   - A writer's schedule is fixed from the start and a slow second is made up;
//     the original never does, so its rate is at most what was asked.
//   - Steps with queries end by time; in the original they end by rows and run
//     on. Other steps insert exactly the rows that were asked for, where the
//     original fills its last batch.
//   - Percentiles are of the interval rates of all clients; bug_compat takes
//     those of the first client, as the original's scripts do.
//   - Deadlocks and lock waits are sent again and counted, and any other error
//     fails the phase; the original counts all as retries and goes on.
//   - Columns have no display widths, and the tables of MySQL and MariaDB are
//     latin1 on all builds. Indexes of the classic profile are named after their
//     table in PostgreSQL, where one schema has all names; its price is REAL.
//   - A line of intervals.N.tsv counts every query, the original's only each
//     sixteenth.
//   - A client may have several tables of the modern profile, and takes them in
//     turn. Where clients share a table each of them deletes its lowest rows,
//     and they wait for each other, as in the original. In PostgreSQL one that
//     waited finds its rows gone and deletes none in their place.
package insertbench
