package store

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"dbmatrix/matrix"
)

// newStore opens a new record whose clock advances by a second at every look.
func newStore(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "results.db"))
	if err != nil {
		t.Fatal(err)
	}
	tick(s)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func tick(s *Store) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	s.now = func() time.Time {
		at = at.Add(time.Second)
		return at
	}
}

// plan makes a plan of n cells, "io=0" and so on, with r replicates, of the phases
// load and query.
func plan(n, r int) *matrix.Plan {
	p := &matrix.Plan{
		Experiment: &matrix.Experiment{Name: "dio", Title: "Direct I/O", Seed: 7},
		Host:       matrix.Host{ID: "host-a"},
	}
	for i := range n {
		p.Cells = append(p.Cells, cell(i))
	}
	for k := 1; k <= r; k++ {
		for _, c := range p.Cells {
			p.Runs = append(p.Runs, &matrix.Run{Position: len(p.Runs) + 1, Cell: c, Replicate: k})
		}
	}
	return p
}

func cell(i int) *matrix.Cell {
	phase := func(name string, iterations int) *matrix.Phase {
		return &matrix.Phase{
			Block: name, Name: name, FirstIteration: 1, Iterations: iterations, Steps: 1,
			Workload: matrix.Workload{Type: "insert_benchmark", Version: 1},
		}
	}
	return &matrix.Cell{
		Key:          matrix.CellKey(fmt.Sprintf("io=%d", i)),
		Levels:       []matrix.CellLevel{{Axis: "io", Name: fmt.Sprint(i), Text: fmt.Sprintf("io %d", i), Pos: i}},
		Phases:       []*matrix.Phase{phase("load", 1), phase("query", 2)},
		Fingerprints: []matrix.Fingerprint{fingerprint("load", i), fingerprint("query", i)},
	}
}

// inputs is what the fingerprint of a phase of a cell is a hash of.
func inputs(c *matrix.Cell, phase int) func() []matrix.Input {
	return func() []matrix.Input {
		return []matrix.Input{
			{Name: "my_cnf.innodb_flush_method", Value: c.Levels[0].Name},
			{Name: "workload.step", Value: c.Phases[phase].Name},
		}
	}
}

func fingerprint(phase string, i int) matrix.Fingerprint {
	return matrix.Fingerprint(fmt.Sprintf("%s-%060d", phase, i))
}

// A recorder drives a store as the executor does.
type recorder struct {
	t   testing.TB
	s   *Store
	ctx context.Context
	exp ExperimentID
	run RunnerID
}

func record(t testing.TB, s *Store, p *matrix.Plan) *recorder {
	t.Helper()
	r := &recorder{t: t, s: s, ctx: context.Background()}
	var err error
	if r.exp, err = s.RecordPlan(r.ctx, p); err != nil {
		t.Fatal(err)
	}
	r.run, _, err = s.BeginRunner(r.ctx, Runner{Experiment: r.exp, Version: "test", PID: 1, StartTicks: 2, BootID: "boot"}, dead)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func dead(Runner) bool { return false }

func (r *recorder) attempt(c *matrix.Cell, replicate int) AttemptID {
	r.t.Helper()
	id, _, err := r.s.BeginAttempt(r.ctx, AttemptStart{
		Experiment: r.exp, Runner: r.run, Cell: c.Key, Replicate: replicate,
		Fingerprint: c.Fingerprints[len(c.Fingerprints)-1], Phases: len(c.Phases),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

func (r *recorder) begin(a AttemptID, c *matrix.Cell, i int) PhaseID {
	r.t.Helper()
	id, err := r.s.BeginPhase(r.ctx, PhaseStart{Attempt: a, Ordinal: i + 1, Phase: c.Phases[i], Fingerprint: c.Fingerprints[i], Inputs: inputs(c, i)})
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

func (r *recorder) iteration(p PhaseID, number int, metrics ...matrix.Metric) IterationID {
	r.t.Helper()
	id, err := r.s.FinishIteration(r.ctx, p, Iteration{Number: number, Status: matrix.OK, Metrics: metrics})
	if err != nil {
		r.t.Fatal(err)
	}
	return id
}

func (r *recorder) finish(p PhaseID, status matrix.Status, message string) {
	r.t.Helper()
	err := r.s.FinishPhase(r.ctx, p, PhaseEnd{Status: status, Message: message, Seconds: 12, SettleSeconds: 2, Bytes: 1 << 30})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *recorder) end(a AttemptID, status matrix.Status, message string) {
	r.t.Helper()
	if err := r.s.FinishAttempt(r.ctx, a, status, message); err != nil {
		r.t.Fatal(err)
	}
}

// whole records a complete attempt that inserted rows in ten seconds.
func (r *recorder) whole(c *matrix.Cell, replicate int, rows float64) AttemptID {
	r.t.Helper()
	a := r.attempt(c, replicate)
	for i, p := range c.Phases {
		id := r.begin(a, c, i)
		for k := 1; k <= p.Recorded(); k++ {
			r.iteration(id, k,
				matrix.Metric{Name: "secs", Unit: "s", Value: 10},
				matrix.Metric{Name: "rows_inserted", Unit: "count", Value: rows})
		}
		r.finish(id, matrix.OK, "")
	}
	r.end(a, matrix.OK, "")
	return a
}
