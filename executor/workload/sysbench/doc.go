// Package sysbench runs the sysbench program and reads its report.
//
// The program talks to the server over its unix socket, by its driver mysql or
// pgsql, runs under the guardian and has a deadline of its own. The measured window is from its line "Threads
// started!" to the first line of its report. Its words are taken as they are:
// tps is what it prints as transactions per second. What it prints beyond that,
// the histogram of response times, becomes percentiles by its own rule.
//
// The program seeds the random numbers of run, not those of prepare: what it loads
// is alike each time, not the same. Cells that go on from one snapshot have the
// same data.
//
// The forms of versions 1.0 and 1.1 are known. A report that is cut short, has
// another form or holds the word FATAL is an error, also where the program ends
// with status 0.
package sysbench
