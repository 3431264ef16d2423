// Package execprog runs any program and takes metrics from what it prints: the
// way to plug in a benchmark that dbmatrix does not know.
//
//	workload "exec" {
//	  command = ["./bench.sh", "--clients", "4"]
//	  metric "tps" {
//	    regex = "^tps = ([0-9.]+)"
//	    unit  = "1/s"
//	  }
//	}
//
// A regular expression is matched against all that the program prints, to both
// of its streams, line after line; ^ and $ are the ends of a line. It must match
// once: which of several numbers is meant would be a guess. A path is followed
// in the JSON document that the program prints to its standard output. A metric
// that is not found, or is no number, fails the phase, as an exit status other
// than 0 does.
//
// The metric secs is the time from the program's start to its end. The program
// may count what the built-in workloads count, such as rows_inserted or
// transactions: the columns that divide by these work then.
package execprog
