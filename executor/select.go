package executor

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"dbmatrix/matrix"
)

// A Selection says which runs of a plan are executed, and how far.
type Selection struct {
	// Cells are patterns of cell keys, as path.Match has them; a run needs
	// to match one. None matches all.
	Cells []string

	// Statuses are the plan's statuses that are taken up. None stands for
	// all but done, gone and the five failures: a resumed matrix would else
	// wait for the same hang each time.
	Statuses []matrix.Status

	// Until is the last phase block to be executed; "" is the last one.
	Until string

	// Fresh takes up all runs, from their beginning, whatever is recorded.
	Fresh bool
}

// Pending returns the runs of a plan that are selected, in its order. It fails
// for a phase that no run has and for a pattern that no cell matches: both would
// quietly select nothing.
func (s Selection) Pending(plan *matrix.Plan) ([]*matrix.Run, error) {
	if err := s.check(plan); err != nil {
		return nil, err
	}
	var runs []*matrix.Run
	for _, r := range plan.Runs {
		if s.cell(r.Cell.Key) && s.takes(r) {
			runs = append(runs, r)
		}
	}
	return runs, nil
}

// check judges the selection against the plan.
func (s Selection) check(plan *matrix.Plan) error {
	for _, p := range s.Cells {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("%q is no pattern of cells: %w", p, err)
		}
		if !slices.ContainsFunc(plan.Cells, func(c *matrix.Cell) bool { return matchCell(p, c.Key) }) {
			return fmt.Errorf("no cell matches %q; a cell is called such as %q", p, example(plan.Cells))
		}
	}
	if s.Until == "" {
		return nil
	}
	var names []string
	for _, p := range plan.Experiment.Phases {
		if p.Name == s.Until {
			return nil
		}
		names = append(names, p.Name)
	}
	return fmt.Errorf("there is no phase %q; there are %s", s.Until, strings.Join(names, ", "))
}

// cell reports whether the selection includes a cell.
func (s Selection) cell(key matrix.CellKey) bool {
	return len(s.Cells) == 0 || slices.ContainsFunc(s.Cells, func(p string) bool { return matchCell(p, key) })
}

// matchCell reports whether a pattern matches a key. Stars match slashes too,
// which path.Match would keep apart.
func matchCell(pattern string, key matrix.CellKey) bool {
	hide := func(s string) string { return strings.ReplaceAll(s, "/", "\x00") }
	ok, err := path.Match(hide(pattern), hide(string(key)))
	return err == nil && ok
}

// example returns the key of some cell.
func example(cells []*matrix.Cell) matrix.CellKey {
	if len(cells) == 0 {
		return ""
	}
	return cells[0].Key
}

// takes reports whether a run is taken up for its status.
func (s Selection) takes(r *matrix.Run) bool {
	if s.Fresh {
		return len(s.Statuses) == 0 || slices.Contains(s.Statuses, r.Status)
	}
	if len(s.Statuses) > 0 {
		return slices.Contains(s.Statuses, r.Status)
	}
	if r.Status == matrix.Done || r.Status == matrix.Gone || r.Status.Failure() {
		return false
	}
	return slices.ContainsFunc(s.phases(r), func(p matrix.RunPhase) bool { return p.Status != matrix.Done })
}

// phases returns the phases of a run up to the last one to be executed.
func (s Selection) phases(r *matrix.Run) []matrix.RunPhase {
	for i, p := range r.Phases {
		if p.Phase.Block == s.Until {
			return r.Phases[:i+1]
		}
	}
	return r.Phases
}
