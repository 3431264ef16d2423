package workload

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestRate(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(i + 1) // 1 .. 100, so that index i descending is 100 - i
	}
	for _, test := range []struct {
		name  string
		rates []float64
		want  [5]float64 // p50, p75, p90, p95, p99
	}{
		{"one", []float64{7}, [5]float64{7, 7, 7, 7, 7}},
		{"index is rounded and bounded", []float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, [5]float64{5, 2, 1, 1, 1}},
		{"a low rate is a high percentile", hundred, [5]float64{50, 25, 10, 5, 1}},
	} {
		for i, p := range ratePercentiles {
			if got := rate(test.rates, p); got != test.want[i] {
				t.Errorf("%s: p%d is %v, want %v", test.name, p, got, test.want[i])
			}
		}
	}
}

var (
	insert = Operation{Name: "insert", Calls: "inserts", Items: "rows_inserted", Rate: "ips"}
	query  = Operation{Name: "query", Calls: "queries", Rate: "qps"}
)

// record makes a recorder whose window had the given length.
func record(length time.Duration, f func(*Recorder)) Result {
	r := NewRecorder("", Hooks{})
	r.Begin()
	f(r)
	r.End()
	result := r.Result()
	r.end = result.Start.Add(length)
	return r.Result()
}

func values(result Result) map[string]float64 {
	values := map[string]float64{}
	for _, m := range result.Metrics {
		values[m.Name] = m.Value
	}
	return values
}

func TestResult(t *testing.T) {
	result := record(12*time.Second, func(r *Recorder) {
		one, two := r.Track(insert, 1), r.Track(insert, 2)
		for i := range 12 {
			at := time.Duration(i)*time.Second + 500*time.Millisecond
			one.Done(100, at-10*time.Millisecond, at)
			two.Done(10*int64(i), at-30*time.Millisecond, at)
		}
		r.Track(query, 1).Done(3, 0, time.Second)
		r.Count("errors", 0)
		r.Count("deadlocks", 2)
		r.Count("deadlocks", 1)
		r.Metric("target_rate", UnitRate, 5)
	})
	// Pooled, in descending order: 110, 12 x 100, 100, 90, 80 ... 10, 0; 24 in all.
	want := map[string]float64{
		"secs": 12, "inserts": 24, "rows_inserted": 1860, "queries": 1,
		"lat_insert_mean": 0.02, "lat_insert_p50": 0.01, "lat_insert_p95": 0.03, "lat_insert_p99": 0.03, "lat_insert_max": 0.03,
		"lat_query_mean": 1, "lat_query_p50": 1, "lat_query_p95": 1, "lat_query_p99": 1, "lat_query_max": 1,
		"ips_p50": 100, "ips_p75": 50, "ips_p90": 10, "ips_p95": 0, "ips_p99": 0,
		"qps_p50": 0, "qps_p75": 0, "qps_p90": 0, "qps_p95": 0, "qps_p99": 0,
		"errors": 0, "deadlocks": 3, "target_rate": 5,
	}
	// A histogram has three digits.
	if diff := cmp.Diff(want, values(result), cmpopts.EquateApprox(0.001, 0)); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	if got := result.Histograms[0].Hist.TotalCount(); got != 24 {
		t.Errorf("the histogram has %d values, want 24", got)
	}
	var sums []float64
	for _, s := range result.Series {
		if s.Name == "ips" && s.Client == 0 {
			sums = s.Values
		}
	}
	if diff := cmp.Diff([]float64{100, 110, 120, 130, 140, 150, 160, 170, 180, 190, 200, 210}, sums); diff != "" {
		t.Errorf("rates of all clients (-want +got):\n%s", diff)
	}
}

func TestFirstClient(t *testing.T) {
	result := record(10*time.Second, func(r *Recorder) {
		r.OnlyFirstClient()
		for client := 1; client <= 2; client++ {
			track := r.Track(insert, client)
			for i := range 10 {
				track.Done(int64(client*100), 0, time.Duration(i)*time.Second)
			}
		}
	})
	if got := values(result)["ips_p50"]; got != 100 {
		t.Errorf("the median rate is %v, want 100, that of client 1", got)
	}
}

// TestPartialIntervals checks that an interval which a client did not work in
// from its start to its end is no rate.
func TestPartialIntervals(t *testing.T) {
	full := func(r *Recorder) *Track {
		track := r.Track(insert, 1)
		for i := range 11 {
			track.Done(100, 0, time.Duration(i)*time.Second+time.Millisecond)
		}
		return track
	}
	for _, test := range []struct {
		name   string
		length time.Duration
		work   func(*Recorder)
		want   []float64 // p99, p50; nil: too few intervals
	}{
		{"the last one is cut off by the end", 10*time.Second + 500*time.Millisecond, func(r *Recorder) { full(r) }, []float64{100, 100}},
		{"too few", 9*time.Second + 999*time.Millisecond, func(r *Recorder) { full(r) }, nil},
		{"too few of many clients", 9 * time.Second, func(r *Recorder) { full(r); full(r) }, nil},
		{"a client that finished early", 20 * time.Second, func(r *Recorder) { full(r).Finish(11 * time.Second) }, []float64{100, 100}},
		{"a client that stands still", 20 * time.Second, func(r *Recorder) { full(r) }, []float64{0, 100}},
	} {
		got := values(record(test.length, test.work))
		p99, ok := got["ips_p99"]
		if ok != (test.want != nil) || ok && (p99 != test.want[0] || got["ips_p50"] != test.want[1]) {
			t.Errorf("%s: p99 %v, p50 %v, there: %v; want %v", test.name, p99, got["ips_p50"], ok, test.want)
		}
	}
}

func TestLongResponse(t *testing.T) {
	result := record(3*time.Hour, func(r *Recorder) { r.Track(query, 1).Done(1, 0, 2*time.Hour) })
	got := values(result)
	if got["lat_query_max"] != 7200 || math.Abs(got["lat_query_p99"]-3600) > 10 {
		t.Errorf("two hours are recorded as %v s at most, %v s at p99; want 7200 and the highest of the histogram, 3600", got["lat_query_max"], got["lat_query_p99"])
	}
}

func TestWindow(t *testing.T) {
	var order []string
	hook := func(name string) func(time.Time) { return func(time.Time) { order = append(order, name) } }
	r := NewRecorder("", Hooks{Begin: hook("begin"), End: hook("end")})
	if got := r.Result(); len(got.Metrics) != 0 || !got.Start.IsZero() {
		t.Errorf("before Begin there is %+v", got)
	}
	if r.Elapsed() != 0 {
		t.Error("time passes before Begin")
	}
	r.Begin()
	if _, ok := values(r.Result())["secs"]; ok {
		t.Error("a window that has not ended has a length")
	}
	r.End()
	end := r.Result().End
	r.End()
	if !r.Result().End.Equal(end) {
		t.Error("a second End moved the end")
	}
	if diff := cmp.Diff([]string{"begin", "end"}, order); diff != "" {
		t.Error(diff)
	}
}

func TestProgress(t *testing.T) {
	r := NewRecorder("", Hooks{})
	if got := r.Progress(); got.Stage != Preparing {
		t.Errorf("the stage is %q at first", got.Stage)
	}
	r.Stage(WarmingUp)
	r.Expect("insert", 1000, time.Minute)
	one, two := r.Track(insert, 1), r.Track(insert, 2)
	r.Track(query, 1).Done(1, 0, 0)
	r.Begin()
	one.Done(100, 0, 0)
	two.Done(50, 0, 0)
	r.Advance(7)
	got := r.Progress()
	got.Elapsed = 0
	if diff := cmp.Diff(Progress{Measuring, "insert", 157, 1000, 0, time.Minute}, got); diff != "" {
		t.Error(diff)
	}
	r.End()
	if got := r.Progress(); got.Stage != Verifying {
		t.Errorf("the stage is %q after End", got.Stage)
	}
}

func TestArtifacts(t *testing.T) {
	dir := t.TempDir()
	r := NewRecorder(dir, Hooks{})
	for range 2 {
		if err := r.WriteArtifact("a.txt", "text"); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(dir, "a.txt")); err != nil || string(got) != "text" {
		t.Errorf("the file holds %q, %v", got, err)
	}
	if diff := cmp.Diff([]string{"a.txt"}, r.Result().Artifacts); diff != "" {
		t.Error(diff)
	}
	if err := r.WriteArtifact("../a.txt", ""); err == nil {
		t.Error("an artifact was written outside of the folder")
	}
	if err := NewRecorder("", Hooks{}).WriteArtifact("a.txt", "text"); err != nil {
		t.Error(err)
	}
}

func TestFactsAndPlans(t *testing.T) {
	r := NewRecorder("", Hooks{})
	r.Fact("seed", "1")
	r.Fact("seed", "2")
	r.Plan("q", "text")
	got := r.Result()
	if diff := cmp.Diff([]Fact{{"seed", "2"}}, got.Facts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Plan{{"q", "text"}}, got.Plans); diff != "" {
		t.Error(diff)
	}
}
