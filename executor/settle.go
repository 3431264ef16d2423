package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dbmatrix/executor/server"
	"dbmatrix/matrix"
)

// settlePoll is how often a server is asked for the work it has put off.
const settlePoll = time.Second

// settle waits until the server has done the work that the phase made it put off.
// What is not reached in time is a flag of the phase, not a failure.
func (ph *phaseRun) settle(ctx context.Context) (err error) {
	s := ph.p.Settle
	if s == nil {
		return nil
	}
	if err := ph.measureSize(ctx, "unsettled_"); err != nil {
		return err
	}
	ph.stage(ctx, "settling")
	began := time.Now()
	defer func() { ph.settled = time.Since(began) }()
	bounded, cancel := ctx, func() {}
	if s.MaxWait > 0 {
		bounded, cancel = context.WithTimeoutCause(ctx, s.MaxWait, errSettleBound)
	}
	defer cancel()
	restore, err := ph.subject.Drain(bounded, s)
	defer func() {
		if ph.alive() {
			err = errors.Join(err, restore(context.WithoutCancel(ctx)))
		}
	}()
	ph.crash.at(crashSettling)
	if err == nil {
		err = ph.settleCriteria(bounded, began)
	} else {
		err = ph.settleError(bounded, err)
	}
	if errors.Is(err, errSettleBound) && ctx.Err() == nil {
		ph.unsettledFlag("it was still doing what it was told to")
		err = nil
	}
	if err != nil {
		return err
	}
	return ph.settleWait(ctx, s.Pause)
}

// settleCriteria waits until all that the settle block asks for is reached, and
// records when each was.
func (ph *phaseRun) settleCriteria(ctx context.Context, began time.Time) error {
	s := ph.p.Settle
	waiting := map[string]bool{}
	for {
		debt, err := ph.subject.Debt(ctx)
		if err != nil {
			return ph.settleError(ctx, err)
		}
		criteria, err := settleState(s, debt)
		if err != nil {
			return err
		}
		var open []string
		for _, c := range criteria {
			if c.open != "" {
				open = append(open, c.open)
			}
			if c.open == "" && !waiting[c.name] {
				ph.whole.Metrics = append(ph.whole.Metrics, matrix.Metric{Name: "settle_" + c.name, Unit: "s", Value: time.Since(began).Seconds()})
				waiting[c.name] = true
			}
		}
		if len(open) == 0 {
			return nil
		}
		if slices.ContainsFunc(criteria, func(c criterion) bool { return c.name == "checkpoint_age" && c.open != "" }) {
			// What the server has written since the last one does not go by itself.
			if _, err := ph.subject.Drain(ctx, &matrix.Settle{CheckpointAge: s.CheckpointAge}); err != nil {
				return ph.settleError(ctx, err)
			}
		}
		err = ph.settleWait(ctx, settlePoll)
		if errors.Is(err, errSettleBound) {
			ph.unsettledFlag(strings.Join(open, ", "))
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// errSettleBound says that a settle took all the time that it may.
var errSettleBound = errors.New("the settle took its max_wait")

// unsettledFlag notes that the server did not settle in time.
func (ph *phaseRun) unsettledFlag(why string) {
	ph.whole.Flags = append(ph.whole.Flags, matrix.Flag{Name: "settle",
		Detail: fmt.Sprintf("the server did not settle within %s: %s", ph.p.Settle.MaxWait, why)})
}

// settleWait waits for a while.
func (ph *phaseRun) settleWait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ph.subject.Done():
		return ph.crashed()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// settleError tells why a server could not be asked.
func (ph *phaseRun) settleError(ctx context.Context, err error) error {
	if !ph.alive() {
		return ph.crashed()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("asking the server what it still has to do: %w", err)
}

// A criterion is one that a settle block asks for; open says how far it is, and is
// "" where it is reached.
type criterion struct{ name, open string }

// settleState returns the criteria of a settle block. One that the server knows
// nothing of is an error: waiting for it would be waiting for nothing.
func settleState(s *matrix.Settle, d server.Debt) ([]criterion, error) {
	var zero float64
	wanted := func(asked bool) *float64 {
		if asked {
			return &zero
		}
		return nil
	}
	var criteria []criterion
	for _, c := range []struct {
		name       string
		want, have *float64
		unit       string
	}{
		{"dirty_pages_pct", s.DirtyPagesPct, d.DirtyPagesPct, " %"},
		{"checkpoint_age", float(s.CheckpointAge), float(d.CheckpointAge), " bytes"},
		{"purge_history", float(s.PurgeHistory), float(d.PurgeHistory), " entries"},
		{"compaction", wanted(s.Compaction), float(d.PendingCompaction), " flushes and compactions"},
		{"vacuum", wanted(s.Vacuum), float(d.Vacuums), " vacuums"},
	} {
		switch {
		case c.want == nil:
		case c.have == nil:
			return nil, failed("settle { %s }: the server does not tell; leave it out for this engine", c.name)
		case *c.have > *c.want:
			criteria = append(criteria, criterion{c.name, fmt.Sprintf("%s is %.6g%s, %.6g%s is asked for", c.name, *c.have, c.unit, *c.want, c.unit)})
		default:
			criteria = append(criteria, criterion{c.name, ""})
		}
	}
	return criteria, nil
}

// float converts a count, nil staying nil.
func float(n *uint64) *float64 {
	if n == nil {
		return nil
	}
	f := float64(*n)
	return &f
}
