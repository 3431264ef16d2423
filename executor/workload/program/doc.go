// Package program runs the programs of workloads: under the guardian, in the
// run's scratch directory, with the exact command and all that is printed kept
// as artifacts.
//
//	Find ──► Program.Run ──► Line, for each line of both streams
//	              │
//	              └ NAME.sh the command, NAME.txt what it printed
//
// What the lines mean is the business of the workload. An error of Run shows the
// last of them. The values of variables that are secrets by their names, such as
// DB_PASSWORD, are in none of what is kept or shown.
package program
