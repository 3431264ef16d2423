package report

import (
	"golang.org/x/perf/benchmath"
)

const (
	// confidence is that of intervals of the median.
	confidence = 0.95

	// intervalRuns is how many runs an interval of the median needs: with
	// five, minimum and maximum hold it with a probability of 1 - 2/32, less
	// than 95%.
	intervalRuns = 6

	// testRuns is how many runs a side needs for a test at 5%: with three
	// and three the smallest possible p is 2/20.
	testRuns = 4
)

func sampleOf(all []observation) *benchmath.Sample {
	values := make([]float64, len(all))
	for i, o := range all {
		values[i] = o.Number
	}
	return benchmath.NewSample(values, &benchmath.DefaultThresholds)
}

// summarize returns the median of a sample and its interval. No distribution is
// assumed: benchmark results are seldom normal.
func summarize(all []observation) benchmath.Summary {
	return benchmath.AssumeNothing.Summary(sampleOf(all), confidence)
}

// bounds returns the interval of the median, or minimum and maximum where there
// are too few runs for one.
func bounds(all []observation) (low, high float64, what string) {
	if len(all) >= intervalRuns {
		s := summarize(all)
		return s.Lo, s.Hi, boundInterval
	}
	return all[0].Number, all[len(all)-1].Number, boundRange
}

// What the bounds of a cell are.
const (
	boundInterval = "interval"
	boundRange    = "range"
)

// compare tests whether two samples differ, by Mann and Whitney's U test. ok is
// false where there are too few runs to test.
func compare(a, b []observation) (p float64, significant, ok bool) {
	if !testable(a, b) {
		return 0, false, false
	}
	c := benchmath.AssumeNothing.Compare(sampleOf(a), sampleOf(b))
	return c.P, c.P < c.Alpha, true
}

// testable reports whether two samples have runs enough to test whether they differ.
func testable(a, b []observation) bool { return len(a) >= testRuns && len(b) >= testRuns }
