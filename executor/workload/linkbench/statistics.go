package linkbench

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"dbmatrix/executor/workload"
)

// How many buckets of each width the original has: up to 1 ms, 100 ms, 1 s, 10 s,
// and one for what is longer.
const (
	tenths     = 10
	millis     = 99
	hundreds   = 9
	seconds    = 9
	allBuckets = tenths + millis + hundreds + seconds + 1

	lastBound = 100 * time.Second
)

// buckets counts response times as the original does. Its percentiles are the
// bounds of buckets, and its tables show the upper ones.
type buckets [allBuckets]int64

// bucket returns the bucket of a response time.
func bucket(d time.Duration) int {
	switch {
	case d < time.Millisecond:
		return int(d / (100 * time.Microsecond))
	case d < 100*time.Millisecond:
		return tenths - 1 + int(d/time.Millisecond)
	case d < time.Second:
		return tenths + millis - 1 + int(d/(100*time.Millisecond))
	case d < 10*time.Second:
		return tenths + millis + hundreds - 1 + int(d/time.Second)
	}
	return allBuckets - 1
}

// bounds returns the bounds of a bucket: the least time in it and the least above
// it.
func bounds(bucket int) (low, high time.Duration) {
	width := 100 * time.Microsecond
	low = time.Duration(bucket) * width
	switch {
	case bucket == allBuckets-1:
		return 10 * time.Second, lastBound
	case bucket >= tenths+millis+hundreds:
		width = time.Second
		low = time.Duration(bucket-tenths-millis-hundreds+1) * width
	case bucket >= tenths+millis:
		width = 100 * time.Millisecond
		low = time.Duration(bucket-tenths-millis+1) * width
	case bucket >= tenths:
		width = time.Millisecond
		low = time.Duration(bucket-tenths+1) * width
	}
	return low, low + width
}

// percentile returns the bounds of the bucket that p percent of the response
// times reach. There must be some.
func (b *buckets) percentile(p int64) (low, high time.Duration) {
	var all, sum int64
	for _, n := range b {
		all += n
	}
	needed := max(1, all*p/100)
	for i, n := range b {
		if sum += n; sum >= needed {
			return bounds(i)
		}
	}
	return bounds(allBuckets - 1)
}

// times are the response times of one operation, all clients together.
type times struct {
	name string

	mu      sync.Mutex
	buckets buckets
	calls   int64

	// What follows is for operations whose times no track keeps.
	hist    *hdrhistogram.Histogram
	sum     time.Duration
	longest time.Duration
}

// Bounds and precision of the histograms, in nanoseconds: those of tracks.
const (
	lowestLatency  = 100
	highestLatency = int64(time.Hour)
	latencyDigits  = 3
)

// newTimes returns the times of an operation. Without a histogram they are
// buckets alone.
func newTimes(name string, histogram bool) *times {
	t := &times{name: name}
	if histogram {
		t.hist = hdrhistogram.New(lowestLatency, highestLatency, latencyDigits)
	}
	return t
}

func (t *times) add(some []time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls += int64(len(some))
	for _, d := range some {
		t.buckets[bucket(d)]++
		t.sum += d
		t.longest = max(t.longest, d)
		if t.hist != nil {
			// The value lies within the bounds, so there is no error to be had.
			_ = t.hist.RecordValue(min(int64(d), highestLatency))
		}
	}
}

// A tally is what one client adds to times, in portions: a histogram for each
// client and operation would take more memory than the rest of the program.
type tally struct {
	times *times
	some  []time.Duration
}

// portion is how many response times a client keeps for itself.
const portion = 256

func (t *tally) add(d time.Duration) {
	t.some = append(t.some, max(0, d))
	if len(t.some) == portion {
		t.flush()
	}
}

func (t *tally) flush() {
	t.times.add(t.some)
	t.some = t.some[:0]
}

// record records the metrics of the operation. Where it never ran there are
// none but its count.
func (t *times) record(r *workload.Recorder) {
	r.Count("requests_"+t.name, t.calls)
	if t.calls == 0 {
		return
	}
	metric := func(statistic string, seconds float64) {
		r.Metric("lat_"+t.name+"_"+statistic, workload.UnitSeconds, seconds)
	}
	if t.hist != nil {
		for _, p := range []int{50, 95, 99} {
			metric(fmt.Sprintf("p%d", p), float64(t.hist.ValueAtQuantile(float64(p)))/1e9)
		}
		metric("mean", t.sum.Seconds()/float64(t.calls))
		metric("max", t.longest.Seconds())
		r.AddHistogram(workload.Histogram{Op: t.name, Hist: t.hist})
	}
	_, high := t.buckets.percentile(99)
	metric("p99_upper", max(high, t.beyond()).Seconds())
}

// sizes counts how many lists had how many links, which is what the original
// calls RANGE_SIZE. No list is longer than what is read of one at once.
type sizes [listLimit + 1]uint32

func (s *sizes) merge(other *sizes) {
	for rows, n := range other {
		s[rows] += n
	}
}

// record records the percentiles, where there are any.
func (s *sizes) record(r *workload.Recorder) {
	var all, sum int64
	for _, n := range s {
		all += int64(n)
	}
	names := []string{"list_rows_p50", "list_rows_p75", "list_rows_p95", "list_rows_p99", "list_rows_max"}
	shares := []int64{50, 75, 95, 99, 100}
	for rows, n := range s {
		sum += int64(n)
		for all > 0 && len(shares) > 0 && 100*sum >= shares[0]*all {
			r.Metric(names[0], workload.UnitCount, float64(rows))
			names, shares = names[1:], shares[1:]
		}
	}
}

// beyond returns the longest time where it lies above all buckets.
func (t *times) beyond() time.Duration {
	if t.longest < lastBound {
		return 0
	}
	return t.longest
}

// statistics writes what the original prints of each operation: counts, the
// bounds of percentiles, the longest and the mean, in milliseconds.
func statistics(all []*times) string {
	percentiles := []int64{25, 50, 75, 95, 99}
	var b strings.Builder
	b.WriteString("op,count")
	for _, p := range percentiles {
		fmt.Fprintf(&b, ",p%d_low,p%d_high", p, p)
	}
	b.WriteString(",max,mean\n")
	for _, t := range all {
		if t.calls == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s,%d", strings.ToUpper(t.name), t.calls)
		for _, p := range percentiles {
			low, high := t.buckets.percentile(p)
			fmt.Fprintf(&b, ",%s,%s", milliseconds(low), milliseconds(high))
		}
		fmt.Fprintf(&b, ",%s,%s\n", milliseconds(t.longest), milliseconds(t.sum/time.Duration(t.calls)))
	}
	return b.String()
}

// milliseconds gives a time in milliseconds with the digits that it has, down to
// microseconds.
func milliseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d.Microseconds())/1000, 'f', -1, 64)
}
