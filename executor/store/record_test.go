package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"dbmatrix/matrix"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// rows returns the rows of a query, their columns joined by "|", as the sqlite3
// program prints them.
func rows(t *testing.T, s *Store, query string) []string {
	t.Helper()
	var lines []string
	err := s.query(t.Context(), "a test", func(t *tx) error {
		return t.each(query, nil, func(r *sql.Rows) error {
			columns, err := r.Columns()
			if err != nil {
				return err
			}
			texts := make([]sql.NullString, len(columns))
			dest := make([]any, len(columns))
			for i := range texts {
				dest[i] = &texts[i]
			}
			if err := r.Scan(dest...); err != nil {
				return err
			}
			values := make([]string, len(columns))
			for i := range texts {
				values[i] = texts[i].String
			}
			lines = append(lines, strings.Join(values, "|"))
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func wantRows(t *testing.T, s *Store, query string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, rows(t, s, query)); diff != "" {
		t.Errorf("%s\n(-want +got):\n%s", query, diff)
	}
}

func TestResults(t *testing.T) {
	s := newStore(t)
	p := plan(2, 1)
	r := record(t, s, p)
	a := r.attempt(p.Cells[1], 1)
	load := r.begin(a, p.Cells[1], 0)
	began := time.Date(2026, 11, 30, 13, 0, 0, 5, time.UTC)
	id, err := s.FinishIteration(r.ctx, load, Iteration{
		Number: 1, Status: matrix.SLAMissed, Message: "90 of 100 inserts/s", Began: began, Ended: began.Add(time.Minute),
		Flags:   []matrix.Flag{{Name: "swap", Detail: "1.0 MiB were swapped in"}},
		Metrics: []matrix.Metric{{Name: "secs", Unit: "s", Value: 60.25}, {Name: "rows_inserted", Unit: "count", Value: 1 << 52}},
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.FinishPhase(r.ctx, load, PhaseEnd{
		Status: matrix.SLAMissed, Seconds: 75.5, SettleSeconds: 3.5, Bytes: 1 << 40,
		Whole: Iteration{Metrics: []matrix.Metric{{Name: "size_allocated", Unit: "B", Value: 1 << 40}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	query := r.begin(a, p.Cells[1], 1)
	if err := s.SetStage(r.ctx, query, "measuring"); err != nil {
		t.Fatal(err)
	}

	got, err := s.Results(r.ctx, "dio", Selection{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Attempt{{
		ID: a, Host: "host-a", Cell: "io=1", Levels: p.Cells[1].Levels, Replicate: 1, Number: 1, Planned: true,
		Fingerprint: fingerprint("query", 1), Status: Running, Began: got[0].Began,
		Phases: []Phase{{
			ID: load, Block: "load", Name: "load", Workload: "insert_benchmark", Fingerprint: fingerprint("load", 1),
			Status: matrix.SLAMissed, Planned: 1, Finished: 1, Began: got[0].Phases[0].Began, Ended: got[0].Phases[0].Ended,
			Seconds: 75.5, SettleSeconds: 3.5, Bytes: 1 << 40,
			Iterations: []IterationResult{{
				ID: id + 1, Number: 0, Status: matrix.SLAMissed, Metrics: Metrics{{Name: "size_allocated", Unit: "B", Value: 1 << 40}},
			}, {
				ID: id, Number: 1, Status: matrix.SLAMissed, Message: "90 of 100 inserts/s", Began: began, Ended: began.Add(time.Minute),
				Flags:   []matrix.Flag{{Name: "swap", Detail: "1.0 MiB were swapped in"}},
				Metrics: Metrics{{Name: "rows_inserted", Unit: "count", Value: 1 << 52}, {Name: "secs", Unit: "s", Value: 60.25}},
			}},
		}, {
			ID: query, Block: "query", Name: "query", Workload: "insert_benchmark", Fingerprint: fingerprint("query", 1),
			Status: Running, Stage: "measuring", Planned: 2, Began: got[0].Phases[1].Began,
		}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if running, err := s.Results(r.ctx, "dio", Selection{Running: true}); err != nil || len(running) != 1 {
		t.Errorf("%d attempts under way, %v; want 1", len(running), err)
	}
	if it := got[0].Phases[0].Iteration(1); it == nil || it.ID != id {
		t.Errorf("iteration 1 is %v, want the one with id %d", it, id)
	}
	if it := got[0].Phases[0].Iteration(2); it != nil {
		t.Errorf("iteration 2 is %v, want nil", it)
	}
}

func TestWhichAttemptCounts(t *testing.T) {
	s := newStore(t)
	p := plan(1, 1)
	r := record(t, s, p)
	c := p.Cells[0]

	// counting says which attempt counts and which results shows.
	check := func(when string, counting, shown int, ips string) {
		t.Helper()
		got, err := s.Results(r.ctx, "dio", Selection{})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || got[0].Number != shown || got[0].Counts != (counting == shown) {
			t.Errorf("%s: got %+v, want attempt %d alone, counts %v", when, got, shown, counting == shown)
		}
		all, err := s.Results(r.ctx, "dio", Selection{All: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range all {
			if a.Counts != (a.Number == counting) {
				t.Errorf("%s: attempt %d counts: %v", when, a.Number, a.Counts)
			}
		}
		var want []string
		if ips != "" {
			want = []string{ips}
		}
		wantRows(t, s, "SELECT ips FROM throughput WHERE phase = 'load'", want...)
	}

	first := r.whole(c, 1, 1000)
	check("one complete", 1, 1, "100")
	r.whole(c, 1, 2000)
	check("a newer one", 2, 2, "200")

	failed := r.attempt(c, 1)
	load := r.begin(failed, c, 0)
	r.iteration(load, 1, matrix.Metric{Name: "secs", Unit: "s", Value: 1})
	r.finish(load, matrix.Failed, "error 1062")
	r.end(failed, matrix.Failed, "error 1062")
	check("a failed one hides nothing", 2, 2, "200")

	all, err := s.Results(r.ctx, "dio", Selection{All: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Withdraw(r.ctx, all[1].ID, "the disk was being rebuilt", "me"); err != nil {
		t.Fatal(err)
	}
	check("the newest complete withdrawn, which brings no older one back", 0, 3, "")
	r.whole(c, 1, 3000)
	check("measured again", 4, 4, "300")

	for _, err := range []error{
		s.Withdraw(r.ctx, first, " ", "me"),
		s.Withdraw(r.ctx, 999, "no such attempt", "me"),
		s.Accept(r.ctx, first, "f", "", "me"),
		s.Accept(r.ctx, 999, "f", "no such attempt", "me"),
	} {
		if err == nil {
			t.Error("a withdrawal or acceptance without reason or attempt gave no error")
		}
	}
}

func TestStale(t *testing.T) {
	s := newStore(t)
	p := plan(1, 1)
	r := record(t, s, p)
	id := r.whole(p.Cells[0], 1, 1000)
	const query = "SELECT stale FROM run_attempt"
	wantRows(t, s, query, "0")

	p.Cells[0].Fingerprints[1] = fingerprint("query", 7)
	if _, err := s.RecordPlan(r.ctx, p); err != nil {
		t.Fatal(err)
	}
	wantRows(t, s, query, "1")
	if err := s.Accept(r.ctx, id, fingerprint("query", 7), "only the log's path changed", "me"); err != nil {
		t.Fatal(err)
	}
	wantRows(t, s, query, "0")

	h, err := s.History(r.ctx, "dio", "host-a")
	if err != nil {
		t.Fatal(err)
	}
	if got := h.Attempts[0].Accepted; got != fingerprint("query", 7) {
		t.Errorf("accepted for %q", got)
	}
}

func TestTakePhase(t *testing.T) {
	s := newStore(t)
	p := plan(2, 1)
	p.Cells[1].Fingerprints[0] = p.Cells[0].Fingerprints[0] // they share the load
	r := record(t, s, p)
	first := r.whole(p.Cells[0], 1, 1000)

	second := r.attempt(p.Cells[1], 1)
	start := PhaseStart{Attempt: second, Ordinal: 1, Phase: p.Cells[1].Phases[0], Fingerprint: p.Cells[1].Fingerprints[0], Inputs: inputs(p.Cells[1], 0)}
	if _, err := s.TakePhase(r.ctx, start, first); err != nil {
		t.Fatal(err)
	}
	query := r.begin(second, p.Cells[1], 1)
	r.finish(query, matrix.OK, "")
	r.end(second, matrix.OK, "")

	wantRows(t, s, "SELECT cell, phase, shared, ips FROM throughput WHERE phase = 'load' ORDER BY cell",
		"io=0|load|0|100", "io=1|load|1|100")

	if err := s.Withdraw(r.ctx, first, "noise", "me"); err != nil {
		t.Fatal(err)
	}
	got, err := s.Results(r.ctx, "dio", Selection{Cells: []matrix.CellKey{"io=1"}})
	if err != nil {
		t.Fatal(err)
	}
	load := got[0].Phases[0]
	secs, _ := load.Iteration(1).Metrics.Get("secs")
	if load.From != first || load.FromWithdrawn != "noise" || load.Finished != 1 || load.Bytes != 1<<30 || secs.Value != 10 {
		t.Errorf("the load that was taken over is %+v", load)
	}
	h, err := s.History(r.ctx, "dio", "host-a")
	if err != nil {
		t.Fatal(err)
	}
	want := matrix.PastPhase{Block: "load", Fingerprint: fingerprint("load", 0), Iterations: 1, Status: matrix.OK, Bytes: 1 << 30, FromID: int64(first)}
	if diff := cmp.Diff(want, h.Attempts[1].Phases[0]); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}

	// A third goes on from the second, yet what it shows was measured by the first.
	third := r.attempt(p.Cells[1], 1)
	start.Attempt = third
	if _, err := s.TakePhase(r.ctx, start, second); err != nil {
		t.Fatal(err)
	}
	if got, err = s.Results(r.ctx, "dio", Selection{Running: true}); err != nil || got[0].Phases[0].From != first {
		t.Errorf("the load was measured by attempt %d, %v; want %d", got[0].Phases[0].From, err, first)
	}
	start.Ordinal, start.Fingerprint = 2, "another"
	if _, err := s.TakePhase(r.ctx, start, second); !errors.Is(err, ErrNotFound) {
		t.Errorf("a phase of another fingerprint was taken over: %v", err)
	}
}

func TestHistory(t *testing.T) {
	s := newStore(t)
	empty, err := s.History(t.Context(), "dio", "host-a")
	if err != nil || len(empty.Attempts)+len(empty.Snapshots) > 0 {
		t.Fatalf("the history of nothing is %+v, %v", empty, err)
	}

	p := plan(2, 1)
	r := record(t, s, p)
	done := r.whole(p.Cells[0], 1, 1000)
	failed := r.attempt(p.Cells[1], 1)
	r.finish(r.begin(failed, p.Cells[1], 0), matrix.Crashed, "signal 11")
	r.end(failed, matrix.Crashed, "signal 11")
	running := r.attempt(p.Cells[1], 1)
	r.iteration(r.begin(running, p.Cells[1], 0), 1)
	if err := s.AddSnapshot(r.ctx, Snapshot{Experiment: r.exp, Fingerprint: fingerprint("load", 0), Replicate: 1, Attempt: done, Path: "/data/s1", Bytes: 77}); err != nil {
		t.Fatal(err)
	}

	// Another experiment and another host are recorded beside it.
	other := plan(1, 1)
	other.Experiment.Name = "other"
	record(t, s, other).whole(other.Cells[0], 1, 5)
	elsewhere := plan(1, 1)
	elsewhere.Host.ID = "host-b"
	far := record(t, s, elsewhere)
	away := far.whole(elsewhere.Cells[0], 1, 5)
	if err := s.AddSnapshot(r.ctx, Snapshot{Experiment: far.exp, Fingerprint: fingerprint("load", 0), Replicate: 1, Attempt: away, Path: "/data/s2", Bytes: 78}); err != nil {
		t.Fatal(err)
	}

	got, err := s.History(r.ctx, "dio", "host-a")
	if err != nil {
		t.Fatal(err)
	}
	past := func(block string, cell, iterations int, status matrix.Status) matrix.PastPhase {
		return matrix.PastPhase{Block: block, Fingerprint: fingerprint(block, cell), Iterations: iterations, Status: status, Seconds: 12, Bytes: 1 << 30}
	}
	crashed := past("load", 1, 0, matrix.Crashed)
	crashed.Message = "signal 11"
	interrupted := matrix.PastPhase{Block: "load", Fingerprint: fingerprint("load", 1), Iterations: 1, Status: matrix.Interrupted}
	whole := []matrix.PastPhase{past("load", 0, 1, matrix.OK), past("query", 0, 2, matrix.OK)}
	want := matrix.History{
		Attempts: []matrix.Attempt{
			{ID: int64(done), Cell: "io=0", Replicate: 1, Number: 1, Host: "host-a", Status: matrix.OK, Phases: whole},
			{ID: int64(failed), Cell: "io=1", Replicate: 1, Number: 1, Host: "host-a", Status: matrix.Crashed, Message: "signal 11", Phases: []matrix.PastPhase{crashed}},
			{ID: int64(running), Cell: "io=1", Replicate: 1, Number: 2, Host: "host-a", Status: matrix.Interrupted, Phases: []matrix.PastPhase{interrupted}},
			{ID: int64(away), Cell: "io=0", Replicate: 1, Number: 1, Host: "host-b", Status: matrix.OK, Phases: whole},
		},
		Snapshots: []matrix.Snapshot{{Fingerprint: fingerprint("load", 0), Replicate: 1, Bytes: 77, Path: "/data/s1", Attempt: int64(done)}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(matrix.History{}, "Inputs")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	in, err := got.Inputs(fingerprint("load", 0))
	if err != nil {
		t.Fatal(err)
	}
	wantInputs := []matrix.Input{{Name: "my_cnf.innodb_flush_method", Value: "0"}, {Name: "workload.step", Value: "load"}}
	if diff := cmp.Diff(wantInputs, in); diff != "" {
		t.Errorf("inputs (-want +got):\n%s", diff)
	}
	if in, err = got.Inputs("never seen"); in != nil || err != nil {
		t.Errorf("inputs of a fingerprint that is not there: %v, %v", in, err)
	}
}

func TestRunnerThatIsGone(t *testing.T) {
	s := newStore(t)
	p := plan(4, 1)
	r := record(t, s, p)

	// One had finished all its phases but for its own end, one is in a
	// phase, one had a phase that failed, one has not begun a phase.
	all := r.attempt(p.Cells[0], 1)
	for i := range 2 {
		r.finish(r.begin(all, p.Cells[0], i), matrix.OK, "")
	}
	broken := r.attempt(p.Cells[1], 1)
	r.finish(r.begin(broken, p.Cells[1], 0), matrix.OK, "")
	r.iteration(r.begin(broken, p.Cells[1], 1), 1)
	failed := r.attempt(p.Cells[2], 1)
	r.finish(r.begin(failed, p.Cells[2], 0), matrix.Hung, "no progress")
	early := r.attempt(p.Cells[3], 1)

	next := Runner{Experiment: r.exp, Version: "test", PID: 3, StartTicks: math.MaxUint64, BootID: "boot"}
	var asked []Runner
	_, left, err := s.BeginRunner(r.ctx, next, func(o Runner) bool { asked = append(asked, o); return true })
	if err != nil || len(left) > 0 || len(asked) != 1 || asked[0].ID != r.run {
		t.Fatalf("with the earlier runner alive: %v, %v, asked about %v", left, err, asked)
	}
	_, left, err = s.BeginRunner(r.ctx, next, func(o Runner) bool { return o.ID != r.run })
	if err != nil {
		t.Fatal(err)
	}
	want := []Interruption{
		{Attempt: all, Cell: "io=0", Replicate: 1, Number: 1, Status: matrix.OK},
		{Attempt: broken, Cell: "io=1", Replicate: 1, Number: 1, Phase: "query", Status: matrix.Interrupted},
		{Attempt: failed, Cell: "io=2", Replicate: 1, Number: 1, Status: matrix.Hung},
		{Attempt: early, Cell: "io=3", Replicate: 1, Number: 1, Status: matrix.Interrupted},
	}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantRows(t, s, "SELECT status, message FROM attempt ORDER BY id",
		"ok|", "interrupted|the runner was gone", "hung|no progress", "interrupted|the runner was gone")
	wantRows(t, s, "SELECT status FROM phase ORDER BY id", "ok", "ok", "ok", "interrupted", "hung")
	open, err := s.OpenRunners(r.ctx, r.exp)
	if err != nil || len(open) != 2 || open[0].StartTicks != math.MaxUint64 {
		t.Errorf("open runners %+v, %v; want the two that are alive", open, err)
	}
	if err := s.FinishAttempt(r.ctx, broken, matrix.OK, ""); !errors.Is(err, ErrNotFound) {
		t.Errorf("an attempt that was interrupted ended again: %v", err)
	}
}

func TestEndOfWhatIsNotRunning(t *testing.T) {
	s := newStore(t)
	p := plan(1, 1)
	r := record(t, s, p)
	a := r.attempt(p.Cells[0], 1)
	id := r.begin(a, p.Cells[0], 0)
	if err := s.FinishPhase(r.ctx, id, PhaseEnd{Status: Running}); err == nil {
		t.Error("a phase ended as running")
	}
	if err := s.FinishAttempt(r.ctx, a, matrix.Done, ""); err == nil {
		t.Error("an attempt ended as done, which is a word of the plan")
	}
	if _, err := s.FinishIteration(r.ctx, id, Iteration{Number: 0, Status: matrix.OK}); err == nil {
		t.Error("an iteration 0 was recorded")
	}
	r.finish(id, matrix.OK, "")
	if err := s.FinishPhase(r.ctx, id, PhaseEnd{Status: matrix.Failed, Whole: Iteration{Flags: []matrix.Flag{{Name: "x"}}}}); !errors.Is(err, ErrNotFound) {
		t.Errorf("a phase ended twice: %v", err)
	}
	if _, err := s.FinishIteration(r.ctx, id, Iteration{Number: 1, Status: matrix.OK}); !errors.Is(err, ErrNotFound) {
		t.Errorf("an iteration of a phase that had ended: %v", err)
	}
	wantRows(t, s, "SELECT count(*) FROM iteration", "0") // nothing of the two is left
	if _, _, err := s.BeginAttempt(r.ctx, AttemptStart{Experiment: r.exp, Runner: r.run, Cell: "io=9", Replicate: 1}); !errors.Is(err, ErrNotFound) {
		t.Errorf("an attempt of a run that was not planned: %v", err)
	}
}

func TestWritesIgnoreCancellation(t *testing.T) {
	s := newStore(t)
	p := plan(1, 1)
	r := record(t, s, p)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.ctx = ctx
	r.whole(p.Cells[0], 1, 1000)
	wantRows(t, s, "SELECT status FROM attempt", "ok")
}

func TestIterationDetails(t *testing.T) {
	s := newStore(t)
	p := plan(1, 1)
	r := record(t, s, p)
	a := r.attempt(p.Cells[0], 1)
	phase := r.begin(a, p.Cells[0], 0)
	h := hdrhistogram.New(1, int64(time.Hour), 3)
	for i := range int64(1000) {
		if err := h.RecordValue(i * 1000); err != nil {
			t.Fatal(err)
		}
	}
	series := []matrix.Series{
		{Metric: "disk_reads", Unit: "count", Readings: []matrix.Reading{{At: time.Second, Value: 5}, {At: 2 * time.Second, Value: math.NaN()}, {At: 2*time.Second + 900*time.Microsecond, Value: 7}}},
		{Metric: "ips", Unit: "1/s", Instance: "client 2", Readings: []matrix.Reading{{At: time.Second, Value: 0.5}}},
	}
	id, err := s.FinishIteration(r.ctx, phase, Iteration{
		Number: 1, Status: matrix.OK, Series: series,
		Histograms: []Histogram{{"insert", h}},
		QueryPlans: []QueryPlan{{"SELECT 1", "No tables used"}},
		Artifacts:  []Artifact{{Kind: "client output", Path: "artifacts/a/1/1/load/out.txt", Bytes: 12}},
	})
	if err != nil {
		t.Fatal(err)
	}

	series[0].Readings[2].At = 2*time.Second + time.Millisecond // the same millisecond: the next one
	got, err := s.Series(r.ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(series, got, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	if got, err = s.Series(r.ctx, id, "ips", "qps"); err != nil || len(got) != 1 || got[0].Metric != "ips" {
		t.Errorf("series of ips: %v, %v", got, err)
	}
	histograms, err := s.Histograms(r.ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	if back := histograms["insert"]; back == nil || back.TotalCount() != 1000 || back.ValueAtQuantile(99) != h.ValueAtQuantile(99) {
		t.Errorf("the histogram did not come back: %v", back)
	}
	plans, err := s.QueryPlans(r.ctx, id)
	if err != nil || !cmp.Equal(plans, []QueryPlan{{"SELECT 1", "No tables used"}}) {
		t.Errorf("query plans %v, %v", plans, err)
	}
	d, err := s.Detail(r.ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	if want := []Artifact{{Phase: phase, Kind: "client output", Path: "artifacts/a/1/1/load/out.txt", Bytes: 12}}; !cmp.Equal(want, d.Artifacts) {
		t.Errorf("artifacts %v", d.Artifacts)
	}

	for name, it := range map[string]Iteration{
		"a metric that is no number":       {Number: 2, Metrics: []matrix.Metric{{Name: "n", Value: math.NaN()}}},
		"a metric that is there twice":     {Number: 2, Metrics: []matrix.Metric{{Name: "n", Unit: "s"}, {Name: "n", Unit: "B"}}},
		"an artifact that is out of place": {Number: 2, Artifacts: []Artifact{{Path: "../../etc/passwd"}}},
		"an iteration that is there":       {Number: 1},
	} {
		it.Status = matrix.OK
		if _, err := s.FinishIteration(r.ctx, phase, it); err == nil {
			t.Errorf("%s gave no error", name)
		}
	}
	wantRows(t, s, "SELECT count(*) FROM iteration", "1")
}

func TestDetail(t *testing.T) {
	s := newStore(t)
	p := plan(1, 1)
	r := record(t, s, p)
	a := r.attempt(p.Cells[0], 1)
	phase := r.begin(a, p.Cells[0], 0)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	options := []Option{
		{Name: "b", Asked: "1", Unknown: true, Verdict: "unverifiable", Varied: true, Origin: "level io.1\ndefaults", Detail: "no variable"},
		{Name: "a", Asked: "8K", InForce: "8192", Verdict: "verified"},
		{Name: "c", Asked: "9M", InForce: "8M", Verdict: "adjusted", Granule: true},
	}
	must(s.AddOptions(r.ctx, phase, options))
	must(s.AddVariables(r.ctx, phase, []Fact{{"version", "10.11"}, {"autocommit", "ON"}}))
	must(s.AddFacts(r.ctx, a, []Fact{{"host.kernel", "6.1"}, {"data.device", "sdb"}, {"data.device", "sda"}}))
	must(s.AddArtifacts(r.ctx, a, []Artifact{{Kind: "error log", Path: "artifacts/e.log", Bytes: 1}}))
	must(s.AddArtifacts(r.ctx, a, []Artifact{{Phase: phase, Kind: "error log", Path: "artifacts/e.log", Bytes: 2}}))
	must(s.AddEvents(r.ctx,
		Event{Experiment: r.exp, Attempt: a, Phase: phase, Iteration: 2, Kind: "log_warning", Message: "page_cleaner: 1000ms loop", Detail: "line 7"},
		Event{Experiment: r.exp, Kind: "disk", Message: "filling up"}))

	got, err := s.Detail(r.ctx, a)
	must(err)
	want := &Detail{
		Facts:     []Fact{{"data.device", "sda"}, {"data.device", "sdb"}, {"host.kernel", "6.1"}},
		Options:   map[PhaseID][]Option{phase: {options[1], options[0], options[2]}},
		Variables: map[PhaseID][]Fact{phase: {{"autocommit", "ON"}, {"version", "10.11"}}},
		Events: []Event{{Experiment: r.exp, Attempt: a, Phase: phase, Iteration: 2, At: got.Events[0].At, Kind: "log_warning",
			Message: "page_cleaner: 1000ms loop", Detail: "line 7"}},
		Artifacts: []Artifact{{Phase: phase, Kind: "error log", Path: "artifacts/e.log", Bytes: 2}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := s.Detail(r.ctx, 999); !errors.Is(err, ErrNotFound) {
		t.Errorf("an attempt that is not there: %v", err)
	}

	events, err := s.Events(r.ctx, r.exp, 0)
	must(err)
	if len(events) != 1 || events[0].Message != "filling up" || events[0].At.IsZero() {
		t.Errorf("events of the experiment: %v", events)
	}
	facts, err := s.Facts(r.ctx, "dio")
	must(err)
	if diff := cmp.Diff(map[AttemptID][]Fact{a: want.Facts}, facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	deviating, err := s.Options(r.ctx, "dio", false)
	must(err)
	if diff := cmp.Diff(map[PhaseID][]Option{phase: {options[0], options[2]}}, deviating); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

func TestDifferingVariables(t *testing.T) {
	s := newStore(t)
	p := plan(2, 1)
	r := record(t, s, p)
	phases := make([]PhaseID, 2)
	differing := func() map[PhaseID][]Fact {
		t.Helper()
		got, err := s.DifferingVariables(r.ctx, "dio")
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for i, c := range p.Cells {
		a := r.attempt(c, 1)
		phases[i] = r.begin(a, c, 0)
		if err := s.AddVariables(r.ctx, phases[i], []Fact{{"version", "10.11"}, {"io_capacity", fmt.Sprint(i)}, {"autocommit", "ON"}}); err != nil {
			t.Fatal(err)
		}
		if got := differing(); len(got) != i {
			t.Errorf("with an attempt under way: %v, want those of %d phases", got, i)
		}
		r.finish(phases[i], matrix.OK, "")
		r.end(a, matrix.OK, "")
		if want := (map[PhaseID][]Fact{phases[0]: nil}); i == 0 && !cmp.Equal(want, differing()) {
			t.Errorf("with one attempt: %v, want %v", differing(), want)
		}
	}
	want := map[PhaseID][]Fact{phases[0]: {{"io_capacity", "0"}}, phases[1]: {{"io_capacity", "1"}}}
	if diff := cmp.Diff(want, differing()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSnapshots(t *testing.T) {
	s := newStore(t)
	p := plan(1, 1)
	r := record(t, s, p)
	a := r.whole(p.Cells[0], 1, 1)
	for _, path := range []string{"/d/one", "/d/two"} {
		if err := s.AddSnapshot(r.ctx, Snapshot{Experiment: r.exp, Fingerprint: "f", Replicate: 1, Attempt: a, Path: path, Bytes: 9}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.RemoveSnapshot(r.ctx, "/d/one"); err != nil {
		t.Fatal(err)
	}
	if err := s.RemoveSnapshot(r.ctx, "/d/one"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a snapshot was removed twice: %v", err)
	}
	got, err := s.Snapshots(r.ctx, r.exp)
	if err != nil || len(got) != 1 || got[0].Path != "/d/two" || got[0].Made.IsZero() {
		t.Errorf("snapshots %+v, %v; want /d/two alone", got, err)
	}
}

func TestSetups(t *testing.T) {
	s := newStore(t)
	p := plan(1, 1)
	r := record(t, s, p)
	a := r.attempt(p.Cells[0], 1)
	first, err := s.BeginSetup(r.ctx, Setup{Attempt: a, Dir: "/d", Env: []string{"A=b c"}, Teardown: [][]string{{"umount", "/mnt/x y"}}})
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.BeginSetup(r.ctx, Setup{Attempt: a, Phase: "load"})
	if err != nil {
		t.Fatal(err)
	}
	open, err := s.OpenSetups(r.ctx, r.exp)
	if err != nil || len(open) != 2 || open[0].ID != second {
		t.Fatalf("open setups %+v, %v; want the second first", open, err)
	}
	if err := s.EndSetup(r.ctx, second); err != nil {
		t.Fatal(err)
	}
	if open, err = s.OpenSetups(r.ctx, r.exp); err != nil {
		t.Fatal(err)
	}
	want := []Setup{{ID: first, Attempt: a, Cell: "io=0", Replicate: 1, Dir: "/d", Env: []string{"A=b c"}, Teardown: [][]string{{"umount", "/mnt/x y"}}, Began: open[0].Began, BootID: "boot"}}
	if diff := cmp.Diff(want, open); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := s.EndSetup(r.ctx, second); !errors.Is(err, ErrNotFound) {
		t.Errorf("a setup was undone twice: %v", err)
	}
}

func TestEpochs(t *testing.T) {
	s := newStore(t)
	r := record(t, s, plan(1, 1))
	if _, err := s.LastEpoch(r.ctx, r.exp); !errors.Is(err, ErrNotFound) {
		t.Errorf("the first epoch is there already: %v", err)
	}
	want := Epoch{BootID: "b2", Reason: "reboot", Facts: []Fact{{"kernel", "6.1"}, {"governor", "powersave"}}}
	for _, e := range []Epoch{{BootID: "b1", Reason: "first"}, want} {
		id, err := s.BeginEpoch(r.ctx, r.exp, e)
		if err != nil {
			t.Fatal(err)
		}
		want.ID = id
	}
	got, err := s.LastEpoch(r.ctx, r.exp)
	if err != nil {
		t.Fatal(err)
	}
	want.Began = got.Began
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPlanRecordedAgain(t *testing.T) {
	s := newStore(t)
	r := record(t, s, plan(3, 2))
	smaller := plan(3, 1)
	smaller.Cells = smaller.Cells[1:]
	smaller.Runs = smaller.Runs[1:]
	smaller.Cells[0].Levels[0].Text = "new label"
	smaller.Runs[0].Position, smaller.Runs[1].Position = 2, 1
	id, err := s.RecordPlan(r.ctx, smaller)
	if err != nil || id != r.exp {
		t.Fatalf("experiment %d, %v; want %d as before", id, err, r.exp)
	}
	wantRows(t, s, "SELECT c.key, c.position, r.replicate, r.position, v.label FROM run r JOIN cell c ON c.id = r.cell_id JOIN cell_level v ON v.cell_id = c.id ORDER BY c.key, r.replicate",
		"io=0||1||io 0", "io=0||2||io 0", "io=1|1|1|2|new label", "io=1|1|2||new label", "io=2|2|1|1|io 2", "io=2|2|2||io 2")
	if got, err := s.Experiment(r.ctx, "dio", "host-a"); err != nil || got != r.exp {
		t.Errorf("experiment %d, %v", got, err)
	}
	if _, err := s.Experiment(r.ctx, "dio", "host-z"); !errors.Is(err, ErrNotFound) {
		t.Errorf("an experiment of another host: %v", err)
	}
}

// TestEditTakenBack tests that an older attempt counts where the newer one measured
// what the plan does not want any more.
func TestEditTakenBack(t *testing.T) {
	s := newStore(t)
	p := plan(1, 1)
	r := record(t, s, p)
	c := p.Cells[0]
	r.whole(c, 1, 1000)
	again := func(fp matrix.Fingerprint) {
		t.Helper()
		c.Fingerprints[1] = fp
		if _, err := s.RecordPlan(r.ctx, p); err != nil {
			t.Fatal(err)
		}
	}
	was := c.Fingerprints[1]
	again(fingerprint("query", 7))
	newer := r.whole(c, 1, 2000)
	const query = "SELECT attempt, stale FROM run_attempt WHERE counts"
	wantRows(t, s, query, "2|0")
	again(was)
	wantRows(t, s, query, "1|0")
	if err := s.Withdraw(r.ctx, newer, "noise", "me"); err != nil {
		t.Fatal(err)
	}
	wantRows(t, s, query, "1|0")
	again(fingerprint("query", 7))
	wantRows(t, s, query)
}

// TestRename tests that attempts go with a cell to its new name, and what the views
// show of names that the plan has no more.
func TestRename(t *testing.T) {
	s := newStore(t)
	before := plan(3, 1)
	r := record(t, s, before)
	r.whole(before.Cells[0], 1, 1000)
	first := r.whole(before.Cells[0], 1, 2000)
	second := r.whole(before.Cells[1], 1, 3000)
	r.whole(before.Cells[2], 1, 4000) // is not in the plan any more

	after := plan(2, 1)
	after.Cells[0].Key = "path=0" // another axis
	after.Cells[1].Key = "io=0"   // the name that another cell had
	after.Runs[0].Attempt, after.Runs[1].Attempt = int64(first), int64(second)
	for range 2 { // the second time there is nothing to do
		if _, err := s.RecordPlan(r.ctx, after); err != nil {
			t.Fatal(err)
		}
		wantRows(t, s, "SELECT cell, attempt, counts, stale, planned FROM run_attempt ORDER BY attempt_id",
			"io=0|1|0|1|1", "path=0|1|1|0|1", "io=0|2|1|0|1", "io=2|1|1|0|0")
		wantRows(t, s, "SELECT cell, ips FROM throughput WHERE phase = 'load' ORDER BY cell", "io=0|300", "path=0|200")
		wantRows(t, s, "SELECT attempt_id, kind, message FROM event ORDER BY id",
			"2|renamed|was recorded as attempt 2 of io=0", "3|renamed|was recorded as attempt 1 of io=1")
	}

	// No cell is called io=0 now: all that was recorded of it goes along.
	after.Cells[1].Key = "path=1"
	if _, err := s.RecordPlan(r.ctx, after); err != nil {
		t.Fatal(err)
	}
	wantRows(t, s, "SELECT cell, attempt, counts, planned FROM run_attempt ORDER BY attempt_id",
		"path=1|1|0|1", "path=0|1|1|1", "path=1|2|1|1", "io=2|1|1|0")

	// Two runs that rest on one attempt, one of them of its own name.
	after.Runs[0].Attempt = int64(second)
	if _, err := s.RecordPlan(r.ctx, after); err != nil {
		t.Fatal(err)
	}
	wantRows(t, s, "SELECT cell FROM run_attempt WHERE attempt_id = 3", "path=1")
}

func TestSkipRun(t *testing.T) {
	s := newStore(t)
	p := plan(1, 1)
	r := record(t, s, p)
	_, err := s.SkipRun(r.ctx, AttemptStart{Experiment: r.exp, Runner: r.run, Cell: "io=0", Replicate: 1}, "its build cannot start")
	if err != nil {
		t.Fatal(err)
	}
	wantRows(t, s, "SELECT number, status, message, began_ns = ended_ns FROM attempt", "1|skipped|its build cannot start|1")
}

// TestDocumentedQuery runs the query of the package documentation.
func TestDocumentedQuery(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), `sqlite3 results.db "`)
	query, _, found := strings.Cut(rest, `"`)
	if !found {
		t.Fatal("the documentation has no query")
	}
	s := newStore(t)
	p := plan(2, 1)
	r := record(t, s, p)
	r.whole(p.Cells[0], 1, 1000)
	r.whole(p.Cells[1], 1, 1500)
	wantRows(t, s, query, "io=0|1|100", "io=1|1|150")
}
