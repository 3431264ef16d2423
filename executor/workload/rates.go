package workload

import (
	"math"
	"slices"
	"time"
)

// Interval is the length of the intervals for which each client's operations
// are counted.
const Interval = time.Second

// minIntervals is how many intervals a phase must have for percentiles of
// their rates; below it there are none. The insert benchmark's reports print
// NA there.
const minIntervals = 10

// ratePercentiles are the percentiles of rates that are recorded.
var ratePercentiles = [...]int{50, 75, 90, 95, 99}

// rate returns the rate that p percent of the intervals reach or beat: of the
// rates in descending order the one at index round(p/100 x N), as the insert
// benchmark defines it. So the 99th is a low rate. It sorts rates.
func rate(rates []float64, p int) float64 {
	slices.SortFunc(rates, func(a, b float64) int {
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	i := int(math.Round(float64(p) / 100 * float64(len(rates))))
	return rates[min(i, len(rates)-1)]
}
