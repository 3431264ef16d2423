package main

import (
	"context"
	"fmt"
	"slices"

	"dbmatrix/executor"
	"dbmatrix/executor/store"
	"dbmatrix/matrix"
)

// A cellRecord is what is recorded of one cell of an experiment, also under the
// name that it had before a rename which no run has recorded yet.
type cellRecord struct {
	attempts []store.Attempt // by replicate and number
	runs     []*matrix.Run   // of the plan, by replicate
}

// readCell reads what is recorded of a cell, on one host or ("") on all.
func readCell(ctx context.Context, record *store.Store, exp *matrix.Experiment, cells []*matrix.Cell, cell *matrix.Cell, host string) (cellRecord, error) {
	h, err := history(ctx, record, exp)
	if err != nil {
		return cellRecord{}, err
	}
	p, err := exp.MakePlan(cells, h, matrix.PlanOptions{})
	if err != nil {
		return cellRecord{}, err
	}
	var c cellRecord
	rests := map[int64]bool{} // attempts that the runs rest on
	for _, r := range p.Runs {
		if r.Cell.Key == cell.Key {
			c.runs = append(c.runs, r)
			rests[r.Attempt] = true
		}
	}
	names := []matrix.CellKey{cell.Key}
	for _, a := range h.Attempts {
		if rests[a.ID] && !slices.Contains(names, a.Cell) {
			names = append(names, a.Cell)
		}
	}
	if c.attempts, err = record.Results(ctx, exp.Name, store.Selection{Host: host, Cells: names, All: true}); err != nil {
		return cellRecord{}, fmt.Errorf("reading the results: %w", err)
	}
	planned := func(key matrix.CellKey) bool {
		return slices.ContainsFunc(cells, func(c *matrix.Cell) bool { return c.Key == key })
	}
	c.attempts = slices.DeleteFunc(c.attempts, func(a store.Attempt) bool {
		return a.Cell != cell.Key && planned(a.Cell) && !rests[int64(a.ID)]
	})
	return c, nil
}

// run returns the plan's run of a replicate, or nil.
func (c *cellRecord) run(replicate int) *matrix.Run {
	for _, r := range c.runs {
		if r.Replicate == replicate {
			return r
		}
	}
	return nil
}

// stands reports whether an attempt is the one whose results stand for its run.
func (c *cellRecord) stands(a *store.Attempt) bool {
	if r := c.run(a.Replicate); r != nil && r.Status == matrix.Done {
		return r.Attempt == int64(a.ID)
	}
	return a.Counts
}

// alive reports whether a runner works on an experiment on this host. The record
// alone does not know: it takes what a killed runner left for running until the
// next one begins.
func alive(ctx context.Context, record *store.Store, exp *matrix.Experiment) (bool, error) {
	id, err := record.Experiment(ctx, exp.Name, exp.Host.ID)
	if err != nil {
		return false, fmt.Errorf("reading the record: %w", err)
	}
	runners, err := record.OpenRunners(ctx, id)
	if err != nil {
		return false, fmt.Errorf("reading the record: %w", err)
	}
	return slices.ContainsFunc(runners, executor.RunnerAlive), nil
}

// endDead makes the attempts that a killed runner left interrupted, as the next run
// will.
func (c *cellRecord) endDead(ctx context.Context, record *store.Store, exp *matrix.Experiment) error {
	under := func(a store.Attempt) bool { return a.Status == store.Running && a.Host == exp.Host.ID }
	if !slices.ContainsFunc(c.attempts, under) {
		return nil
	}
	works, err := alive(ctx, record, exp)
	if err != nil || works {
		return err
	}
	for i := range c.attempts {
		a := &c.attempts[i]
		if !under(*a) {
			continue
		}
		a.Status, a.Message = matrix.Interrupted, "its runner is gone"
		for k := range a.Phases {
			if a.Phases[k].Status == store.Running {
				a.Phases[k].Status = matrix.Interrupted
			}
		}
	}
	return nil
}
