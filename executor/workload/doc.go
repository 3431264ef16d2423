// Package workload is what a phase does to a server: the words that all
// workloads share, and what they are measured with.
//
//	Type.New(args) ──► Workload.Run(ctx, Target, *Recorder) ──► Recorder.Result
//	                        │                  │
//	                        │                  ├ Begin, End: the measured window
//	                        │                  └ Track: one client's operations
//	                        └ client.Conn, client.Run: the path to the server
//
// A Type tells the language which attributes a workload block may have and
// makes the Workload from their evaluated values. A Workload runs one
// iteration, or one of its own steps, against a Target: a server that answers
// on a socket, or no more than a directory. What it does it reports to a
// Recorder, which keeps response times in histograms, counts operations for
// each client and each second, and makes the metrics of them:
//
//   - secs is the wall time from Begin to End.
//   - ips_p99 is the rate, for one client, that 99 % of all one-second
//     intervals reach or beat (see Rates).
//   - lat_insert_p99 is a response time from the intended start of the
//     operation, so that a stalled server cannot hide behind a client that
//     waits with it.
//
// The workloads themselves live in packages of their own, which the command
// lists: insertbench, linkbench and sqlscript speak to the server themselves;
// sysbench, pgbench, tpcc and execprog run programs and read what they print.
package workload
