// Package sysbench runs the sysbench program and reads its report.
//
// The program talks to the server over its unix socket, runs under the guardian
// and has a deadline of its own. The measured window is from its line "Threads
// started!" to the first line of its report. Its words are taken as they are:
// tps is what it prints as transactions per second. What it prints beyond that,
// the histogram of response times, becomes percentiles by its own rule.
//
// The forms of versions 1.0 and 1.1 are known. A report that is cut short, has
// another form or holds the word FATAL is an error, also where the program ends
// with status 0.
package sysbench
