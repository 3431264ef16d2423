// Package client is the path from a built-in workload to its server. The client
// shares the machine with the server, so what it costs, the measured server
// lacks; and what it waits for beyond the server's answer is a wrong number.
//
//	Open ──► Conn: Exec, Query, Prepare, DDL
//	Run  ──► one goroutine for each Worker, one start line, one end
//
// A Conn speaks one of two protocols. To MySQL and MariaDB it is the driver's own
// connection, without database/sql over it; statements whose rows are only
// counted go past the driver, which would make a value of each (see wire). To
// PostgreSQL pgx makes the connection and reads its messages. What a statement
// says is the caller's: see Conn.Postgres.
//
// Both are on a blocking unix socket: a thread that waits for its server sleeps
// in the kernel and is woken by it, and not by Go's poller by way of its
// scheduler. BenchmarkPointSelect compares the rate and the CPU time of a query
// with those of sysbench and pgbench, clients written in C.
//
// Blocking calls know no context. What must end early is interrupted through
// its socket: Run does so for all of its workers when one fails or the context
// ends, and then kills their statements in the server, which would run on.
package client
