package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"dbmatrix/executor/server"
	"dbmatrix/executor/store"
	"dbmatrix/matrix"
)

// A leftRun is the data directory of a run that its attempt left behind.
type leftRun struct {
	layout server.Layout
	owner  server.Owner
}

// of reports whether the directory is that of an attempt of a cell.
func (l leftRun) of(cell matrix.CellKey, replicate, number int) bool {
	return l.owner.Cell == cell && l.owner.Replicate == replicate && l.owner.Attempt == number
}

// leftRuns returns the data directories of an experiment's runs that are there.
func leftRuns(exp *matrix.Experiment) ([]leftRun, error) {
	var found []leftRun
	for _, dir := range exp.DataDirs() {
		listed, err := server.Listed(dir, server.KindRun)
		if err != nil {
			return nil, err
		}
		for _, path := range listed {
			owner, err := server.ReadOwner(path)
			if err != nil || owner.Experiment != exp.Dir || filepath.Base(owner.Path) != filepath.Base(path) {
				continue // it is not ours, or not whole
			}
			if _, err := os.Lstat(filepath.Join(path, keptFile)); err == nil {
				continue // a human has it
			}
			found = append(found, leftRun{server.Layout{Dir: path, Roles: owner.Roles}, owner})
		}
	}
	return found, nil
}

// MarkKept notes in a history which data directories its interrupted attempts have
// left: a phase with on_interrupt = "continue" goes on in them.
func MarkKept(exp *matrix.Experiment, h *matrix.History) error {
	left, err := leftRuns(exp)
	if err != nil {
		return fmt.Errorf("looking for the data of interrupted runs: %w", err)
	}
	for i := range h.Attempts {
		a := &h.Attempts[i]
		for _, l := range left {
			if a.Status == matrix.Interrupted && a.Host == exp.Host.ID && l.of(a.Cell, a.Replicate, a.Number) {
				a.Kept = append(a.Kept, l.owner.Fingerprint)
			}
		}
	}
	return nil
}

// A continuation is how an interrupted attempt goes on.
type continuation struct {
	leftRun
	store.Broken
	index int // of the phase among those of the run
}

// continuing returns the index of the phase in which a run goes on, or -1.
func continuing(run *matrix.Run) int {
	return slices.IndexFunc(run.Phases, func(p matrix.RunPhase) bool { return p.Continues })
}

// findContinuations finds what the runs go on from that the plan says so of.
// Where it is not there after all, the run begins again.
func (e *executor) findContinuations(ctx context.Context) error {
	e.continuations = map[*matrix.Run]*continuation{}
	var left []leftRun
	for _, run := range e.plan.Runs {
		index := continuing(run)
		if index < 0 || e.opts.Selection.Fresh {
			continue
		}
		if left == nil {
			var err error
			if left, err = leftRuns(e.plan.Experiment); err != nil {
				return environmentError("looking for the data of interrupted runs: %w", err)
			}
		}
		broken, err := e.deps.Store.BrokenPhase(ctx, store.AttemptID(run.Attempt))
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return e.recordError("reading what was interrupted", err)
		}
		var before matrix.Fingerprint
		if index > 0 {
			before = run.Phases[index-1].Fingerprint
		}
		for _, l := range left {
			if l.of(run.Cell.Key, run.Replicate, broken.Number) && l.owner.Fingerprint == before && broken.Block == run.Phases[index].Phase.Block {
				e.continuations[run] = &continuation{leftRun: l, Broken: broken, index: index}
			}
		}
	}
	return nil
}

// dropChanged lets those runs begin again that were interrupted in another
// environment: one result must not have iterations of both. A reboot alone changes
// none.
func (e *executor) dropChanged(ctx context.Context) error {
	if len(e.continuations) == 0 {
		return nil
	}
	epochs, err := e.deps.Store.Epochs(ctx, e.experiment)
	if err != nil {
		return e.recordError("reading the epochs", err)
	}
	facts := map[store.EpochID][]store.Fact{}
	for _, epoch := range epochs {
		facts[epoch.ID] = epoch.Facts
	}
	for run, c := range e.continuations {
		changes := environment{facts: facts[e.epoch]}.changes(facts[c.Epoch])
		if len(changes) == 0 {
			continue
		}
		delete(e.continuations, run)
		e.event(Event{Kind: Notice, Run: run, Message: fmt.Sprintf("it begins again instead of going on after iteration %d: the environment changed since (%s)",
			c.Finished, strings.Join(changes, ", "))})
		if err := e.machine.remove(c.layout); err != nil {
			return environmentError("removing the data of an interrupted run: %w", err)
		}
	}
	return nil
}

// goesOn reports whether a run goes on in a directory.
func (e *executor) goesOn(dir string) bool {
	for _, c := range e.continuations {
		if c.layout.Dir == dir {
			return true
		}
	}
	return false
}

// goOn makes an attempt go on where it was interrupted, if it does.
func (a *attempt) goOn(ctx context.Context) (bool, error) {
	c := a.continuations[a.run]
	if c == nil || c.index >= len(a.phases) {
		return false, nil
	}
	if err := a.deps.Store.ContinueAttempt(ctx, c.Broken, a.runner); err != nil {
		return true, a.recordError("going on with an attempt", err)
	}
	a.continuation, a.id, a.number = c, c.Attempt, c.Number
	a.layout, a.token, a.segments = c.layout, c.owner.Token, segmentOf(c.layout.Dir)
	delete(a.continuations, a.run)
	return true, nil
}

// segmentName matches the end of a run's directory name: its attempt and, from the
// second on, the number of the directory.
var segmentName = regexp.MustCompile(`-a\d+(?:-(\d+))?$`)

// segmentOf returns which of its attempt's directories a directory is, from 1.
func segmentOf(dir string) int {
	if m := segmentName.FindStringSubmatch(dir); m != nil && m[1] != "" {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	return 1
}

// flag says on the first iteration after the gap what lies before it.
func (c *continuation) flag(now time.Time, start time.Duration, epoch store.EpochID) matrix.Flag {
	text := fmt.Sprintf("went on %s after iteration %d had ended, on the same data directory", now.Sub(c.Last).Round(time.Second), c.Finished)
	if !c.owner.Clean {
		text += fmt.Sprintf("; the server was not seen to stop cleanly, and was ready again after %s", start.Round(10*time.Millisecond))
	}
	if epoch != c.Epoch {
		text += "; meanwhile the host was rebooted"
	}
	return matrix.Flag{Name: "continued", Detail: text}
}

// keepsState reports whether the data of a run that ended so is left for the next
// execution, which goes on in it.
func (a *attempt) keepsState(res result) bool {
	return a.goesOnLater && res.status == matrix.Interrupted
}
