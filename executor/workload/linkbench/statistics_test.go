package linkbench

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/executor/workload"
)

func TestBuckets(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct{ time, low, high time.Duration }{
		{0, 0, ms / 10},
		{ms/10 - 1, 0, ms / 10},
		{ms / 10, ms / 10, ms / 5},
		{ms - 1, 9 * ms / 10, ms},
		{ms, ms, 2 * ms},
		{99999 * time.Microsecond, 99 * ms, 100 * ms},
		{100 * ms, 100 * ms, 200 * ms},
		{999 * ms, 900 * ms, time.Second},
		{time.Second, time.Second, 2 * time.Second},
		{9999 * ms, 9 * time.Second, 10 * time.Second},
		{10 * time.Second, 10 * time.Second, 100 * time.Second},
		{time.Hour, 10 * time.Second, 100 * time.Second},
	} {
		low, high := bounds(bucket(test.time))
		if low != test.low || high != test.high {
			t.Errorf("%s lies in [%s, %s), want [%s, %s)", test.time, low, high, test.low, test.high)
		}
	}
	last := time.Duration(0)
	for i := range allBuckets {
		low, high := bounds(i)
		if low != last || high <= low || bucket(low) != i || bucket(high-1) != i {
			t.Errorf("bucket %d is [%s, %s) after %s", i, low, high, last)
		}
		last = high
	}
}

func TestTimes(t *testing.T) {
	one := newTimes("get_node", true)
	ta := tally{times: one}
	for i := range 1000 { // 0 to 0.999 ms
		ta.add(time.Duration(i) * time.Microsecond)
	}
	ta.add(-time.Second) // a clock that went back
	ta.flush()
	got := statistics([]*times{one, newTimes("add_node", true)})
	want := "op,count,p25_low,p25_high,p50_low,p50_high,p75_low,p75_high,p95_low,p95_high,p99_low,p99_high,max,mean\n" +
		"GET_NODE,1001,0.2,0.3,0.4,0.5,0.7,0.8,0.9,1,0.9,1,0.999,0.499\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	r := workload.NewRecorder("", workload.Hooks{})
	one.record(r)
	result := r.Result()
	for name, want := range map[string]float64{
		"requests_get_node": 1001, "lat_get_node_p99_upper": 0.001, "lat_get_node_max": 0.000999,
		"lat_get_node_p50": 0.0005, "lat_get_node_p99": 0.00099, "lat_get_node_mean": 0.000499,
	} {
		got, ok := result.Metric(name)
		if !ok || got < want*0.995 || got > want*1.005 {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	// What is above all buckets is no less than it was.
	slow := newTimes("add_node", true)
	slow.add([]time.Duration{200 * time.Second})
	r = workload.NewRecorder("", workload.Hooks{})
	slow.record(r)
	slowest := r.Result()
	if got, _ := slowest.Metric("lat_add_node_p99_upper"); got != 200 {
		t.Errorf("the upper bound of 200 s is %v s", got)
	}
}

func TestSizes(t *testing.T) {
	var all, one sizes
	for rows := range 100 {
		one[rows]++
	}
	all[listLimit] = 1
	all.merge(&one)
	r := workload.NewRecorder("", workload.Hooks{})
	all.record(r)
	new(sizes).record(r)
	result := r.Result()
	for name, want := range map[string]float64{
		"list_rows_p50": 50, "list_rows_p75": 75, "list_rows_p95": 95, "list_rows_p99": 99, "list_rows_max": listLimit,
	} {
		if got, ok := result.Metric(name); !ok || got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}
