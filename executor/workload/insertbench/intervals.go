package insertbench

import (
	"fmt"
	"strings"
	"time"

	"dbmatrix/executor/workload"
)

// intervalHead names the columns of a line, as the original's client has them:
// i_ is of the interval, t_ since the start.
const intervalHead = "i_sec\tt_sec\ti_ips\tt_ips\ti_dps\tt_dps\ti_qps\tt_qps\tmax_i\tmax_d\tmax_q\tt_ins\tt_del\tt_query\tretry_i\tretry_d\tretry_q\n"

// tracks are what one client did. What it does not do is nil.
type tracks struct{ inserts, deletes, queries *workload.Track }

// keepIntervals keeps what each client did in each interval, in the lines of the
// original's client.
func keepIntervals(r *workload.Recorder, clients []tracks) error {
	result := r.Result()
	window := result.End.Sub(result.Start)
	for i, client := range clients {
		if err := r.WriteArtifact(fmt.Sprintf("intervals.%d.tsv", i+1), client.lines(window)); err != nil {
			return err
		}
	}
	return nil
}

// lines returns a head and a line for each whole interval of the window in which
// the client was at work.
func (c tracks) lines(window time.Duration) string {
	var b strings.Builder
	b.WriteString(intervalHead)
	operations := [...][]workload.Tally{c.inserts.Tallies(window), c.deletes.Tallies(window), c.queries.Tallies(window)}
	intervals := 0
	for _, tallies := range operations {
		intervals = max(intervals, len(tallies))
	}
	var done, retries [len(operations)]int64
	for i := range intervals {
		elapsed := float64(i+1) * workload.Interval.Seconds()
		fmt.Fprintf(&b, "%.1f\t%.1f", workload.Interval.Seconds(), elapsed)
		var longest [len(operations)]time.Duration
		for o, tallies := range operations {
			var now workload.Tally
			if i < len(tallies) {
				now = tallies[i]
			}
			done[o] += now.Done
			retries[o] += now.Retries
			longest[o] = now.Longest
			fmt.Fprintf(&b, "\t%.0f\t%.0f", float64(now.Done)/workload.Interval.Seconds(), float64(done[o])/elapsed)
		}
		for _, d := range longest {
			fmt.Fprintf(&b, "\t%d", d.Microseconds())
		}
		for _, numbers := range [...][len(operations)]int64{done, retries} {
			for _, n := range numbers {
				fmt.Fprintf(&b, "\t%d", n)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
