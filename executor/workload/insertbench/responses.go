package insertbench

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"dbmatrix/executor/workload"
)

// responseBounds are the upper bounds of the buckets in which the original
// counts response times. What is longer is counted as gt.
var responseBounds = []time.Duration{
	256 * time.Microsecond, time.Millisecond, 4 * time.Millisecond, 16 * time.Millisecond, 64 * time.Millisecond,
	256 * time.Millisecond, time.Second, 4 * time.Second, 16 * time.Second,
}

// keepResponses keeps the response times of each operation in the buckets of the
// original, and the longest. An insert or delete is a statement, not a row.
func keepResponses(r *workload.Recorder) error {
	result := r.Result()
	var b strings.Builder
	b.WriteString("operation")
	for _, bound := range responseBounds {
		b.WriteString("\t" + bound.String())
	}
	b.WriteString("\tgt\tmax\n")
	histograms := slices.SortedFunc(slices.Values(result.Histograms), func(x, y workload.Histogram) int { return cmp.Compare(x.Op, y.Op) })
	for _, h := range histograms {
		b.WriteString(h.Op)
		for _, n := range bucketCounts(h) {
			fmt.Fprintf(&b, "\t%d", n)
		}
		longest, _ := result.Metric("lat_" + h.Op + "_max")
		fmt.Fprintf(&b, "\t%.6f\n", longest)
	}
	return r.WriteArtifact("response_times.tsv", b.String())
}

// bucketCounts returns how many response times each bucket has, the last being
// of those above all bounds.
func bucketCounts(h workload.Histogram) []int64 {
	counts := make([]int64, len(responseBounds)+1)
	for _, bar := range h.Hist.Distribution() {
		if bar.Count > 0 {
			// The middle of a bar, whose width is a thousandth of it.
			middle := time.Duration(bar.From + (bar.To-bar.From)/2)
			i, _ := slices.BinarySearch(responseBounds, middle)
			counts[i] += bar.Count
		}
	}
	return counts
}
