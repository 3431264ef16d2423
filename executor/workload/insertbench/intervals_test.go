package insertbench

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/workloadtest"
)

// TestIntervals holds the lines of a client to what it did.
func TestIntervals(t *testing.T) {
	r := workload.NewRecorder("", workload.Hooks{})
	r.Begin()
	client := tracks{inserts: r.Track(insertOperation, 1), queries: r.Track(queryOperation, 1)}
	client.inserts.Done(100, 100*time.Millisecond, 110*time.Millisecond)
	client.inserts.Done(100, 200*time.Millisecond, 1300*time.Millisecond)
	client.inserts.Retried(2, 1300*time.Millisecond)
	client.inserts.Done(100, 2*time.Second, 2001*time.Millisecond) // in no whole interval
	client.inserts.Finish(2100 * time.Millisecond)
	for i := range 5 {
		at := time.Duration(i) * 500 * time.Millisecond
		client.queries.Done(1, at, at+123*time.Microsecond)
	}
	client.queries.Finish(2600 * time.Millisecond)
	want := intervalHead +
		"1.0\t1.0\t100\t100\t0\t0\t2\t2\t10000\t0\t123\t100\t0\t2\t0\t0\t0\n" +
		"1.0\t2.0\t100\t100\t0\t0\t2\t2\t1100000\t0\t123\t200\t0\t4\t2\t0\t0\n"
	if diff := cmp.Diff(want, client.lines(2900*time.Millisecond)); diff != "" {
		t.Error(diff)
	}
	if got := strings.Count(intervalHead, "\t") + 1; got != 17 {
		t.Errorf("a line has %d fields, want 17", got)
	}
}

// longSteps checks what a step that takes some seconds leaves, and that max_seconds
// ends it.
func longSteps(t *testing.T, target workload.Target) {
	common := block{"rows": 2000, "insert_rows": 1000000}
	for _, step := range []string{"l.i0", "l.x"} {
		run(t, target, common, block{"step": step})
	}
	started := time.Now()
	result := run(t, target, common, block{"step": "l.i1", "insert_rate": 1000, "max_seconds": 3})
	if took := time.Since(started); took < 2900*time.Millisecond || took > 10*time.Second {
		t.Errorf("the step took %s, want 3 s", took)
	}
	if rows := workloadtest.Metric(t, result, "rows_inserted"); rows < 2000 || rows > 3050 {
		t.Errorf("%v rows were inserted, want 3000", rows)
	}
	if diff := cmp.Diff([]string{"intervals.1.tsv", "response_times.tsv"}, result.Artifacts); diff != "" {
		t.Errorf("artifacts (-want +got):\n%s", diff)
	}
	for name, least := range map[string]float64{"ips": 500, "dps": 500, "lat_insert_max": 1e-5, "lat_delete_max": 1e-5} {
		found := false
		for _, s := range result.Series {
			if s.Name != name || s.Client != 0 {
				continue
			}
			found = true
			// The last batch is due some time before the end.
			if len(s.Values) < 2 || s.Values[1] < least {
				t.Errorf("the series %s is %v, want two values or three of at least %v", name, s.Values, least)
			}
		}
		if !found {
			t.Errorf("there is no series %s", name)
		}
	}
}
