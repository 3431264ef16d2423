package main

import (
	"context"
	"io"
	"strconv"
	"time"

	"dbmatrix/executor/store"
	"dbmatrix/matrix"

	"github.com/rogpeppe/go-internal/testscript"
)

// measured records made-up results of every run of an experiment, as a runner
// would: measured DIR [FACTOR [HOST]]. A cell has 1000 rows for its place in the
// plan, one more for each replicate, times the factor, in 10 seconds.
func measured(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 3 {
		ts.Fatalf("usage: measured DIR [FACTOR [HOST]]")
	}
	factor, host := 1.0, ""
	if len(args) > 1 {
		var err error
		factor, err = strconv.ParseFloat(args[1], 64)
		ts.Check(err)
	}
	if len(args) > 2 {
		host = args[2]
	}
	ts.Check(recordMadeUp(context.Background(), ts.MkAbs(args[0]), ts.Getenv("DBMATRIX_MACHINE"), factor, host))
}

// recordMadeUp records one attempt of each run.
func recordMadeUp(ctx context.Context, dir, machine string, factor float64, host string) error {
	o := experimentOptions{machine: machine}
	exp, cells, err := o.expand(ctx, &streams{out: io.Discard, err: io.Discard, quiet: true}, dir)
	if err != nil {
		return err
	}
	p, err := exp.MakePlan(cells, matrix.History{}, matrix.PlanOptions{})
	if err != nil {
		return err
	}
	if host != "" {
		p.Host.ID = host
	}
	s, err := writeRecord(ctx, exp)
	if err != nil {
		return err
	}
	defer s.Close()
	id, err := s.RecordPlan(ctx, p)
	if err != nil {
		return err
	}
	runner, _, err := s.BeginRunner(ctx, store.Runner{Experiment: id, Version: "test", BootID: "boot"}, func(store.Runner) bool { return false })
	if err != nil {
		return err
	}
	places := map[*matrix.Cell]int{}
	for i, c := range cells {
		places[c] = i + 1
	}
	for _, r := range p.Runs {
		rows := (1000*float64(places[r.Cell]) + float64(r.Replicate)) * factor
		if err := recordRun(ctx, s, store.AttemptStart{Experiment: id, Runner: runner, Cell: r.Cell.Key, Replicate: r.Replicate,
			Fingerprint: r.Phases[len(r.Phases)-1].Fingerprint, Phases: len(r.Phases)}, r, rows); err != nil {
			return err
		}
	}
	return s.EndRunner(ctx, runner)
}

func recordRun(ctx context.Context, s *store.Store, a store.AttemptStart, r *matrix.Run, rows float64) error {
	id, _, err := s.BeginAttempt(ctx, a)
	if err != nil {
		return err
	}
	if err := s.AddFacts(ctx, id, []store.Fact{{Name: "kernel", Value: "6.1"}}); err != nil {
		return err
	}
	for i, p := range r.Phases {
		phase, err := s.BeginPhase(ctx, store.PhaseStart{Attempt: id, Ordinal: i + 1, Phase: p.Phase, Fingerprint: p.Fingerprint, Inputs: p.Phase.Inputs})
		if err != nil {
			return err
		}
		if err := s.AddOptions(ctx, phase, asAsked(p.Phase.Settings)); err != nil {
			return err
		}
		_, err = s.FinishIteration(ctx, phase, store.Iteration{
			Number: 1, Status: matrix.OK,
			Metrics: []matrix.Metric{{Name: "secs", Unit: "s", Value: 10}, {Name: "rows_inserted", Unit: "count", Value: rows}, {Name: "disk_writes", Unit: "count", Value: 1 / 3.0}},
			Series:  []matrix.Series{{Metric: "disk_writes", Unit: "count", Readings: []matrix.Reading{{At: time.Second, Value: 1}}}},
		})
		if err != nil {
			return err
		}
		if err := s.FinishPhase(ctx, phase, store.PhaseEnd{Status: matrix.OK, Seconds: 11}); err != nil {
			return err
		}
	}
	return s.FinishAttempt(ctx, id, matrix.OK, "")
}

// asAsked returns the options of a phase's server as in force.
func asAsked(settings *matrix.Settings) []store.Option {
	var options []store.Option
	for _, o := range settings.Options {
		options = append(options, store.Option{Name: o.Name, Asked: o.Value.String(), InForce: o.Value.String(), Verdict: "verified"})
	}
	return options
}
