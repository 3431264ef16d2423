package executor

import (
	"context"
	"errors"
	"fmt"
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
	restore, err := ph.subject.Drain(ctx, s)
	defer func() {
		if ph.alive() {
			err = errors.Join(err, restore(context.WithoutCancel(ctx)))
		}
	}()
	if err != nil {
		return ph.settleError(ctx, err)
	}
	if err := ph.settleCriteria(ctx); err != nil {
		return err
	}
	_, err = ph.settleWait(ctx, s.Pause, nil)
	return err
}

// settleCriteria waits until all that the settle block asks for is reached.
func (ph *phaseRun) settleCriteria(ctx context.Context) error {
	s := ph.p.Settle
	var bound <-chan time.Time
	if s.MaxWait > 0 {
		t := time.NewTimer(s.MaxWait)
		defer t.Stop()
		bound = t.C
	}
	for {
		debt, err := ph.subject.Debt(ctx)
		if err != nil {
			return ph.settleError(ctx, err)
		}
		open, err := unsettled(s, debt)
		if err != nil || len(open) == 0 {
			return err
		}
		over, err := ph.settleWait(ctx, settlePoll, bound)
		if err != nil {
			return err
		}
		if over {
			ph.whole.Flags = append(ph.whole.Flags, matrix.Flag{Name: "settle",
				Detail: fmt.Sprintf("the server did not settle within %s: %s", s.MaxWait, strings.Join(open, ", "))})
			return nil
		}
	}
}

// settleWait waits for a while. It reports true where the bound comes first.
func (ph *phaseRun) settleWait(ctx context.Context, d time.Duration, bound <-chan time.Time) (bool, error) {
	if d <= 0 {
		return false, nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return false, nil
	case <-bound:
		return true, nil
	case <-ph.subject.Done():
		return false, ph.crashed()
	case <-ctx.Done():
		return false, context.Cause(ctx)
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

// unsettled returns what of a settle block is not reached yet, in words. A
// criterion that the server knows nothing of is an error: waiting for it would
// be waiting for nothing.
func unsettled(s *matrix.Settle, d server.Debt) ([]string, error) {
	var open []string
	judge := func(name string, want, have *float64, unit string) error {
		switch {
		case want == nil:
		case have == nil:
			return failed("settle { %s }: the server does not tell; leave it out for this engine", name)
		case *have > *want:
			open = append(open, fmt.Sprintf("%s is %.6g%s, %.6g%s is asked for", name, *have, unit, *want, unit))
		}
		return nil
	}
	var zero float64
	compaction := &zero
	if !s.Compaction {
		compaction = nil
	}
	for _, c := range []struct {
		name       string
		want, have *float64
		unit       string
	}{
		{"dirty_pages_pct", s.DirtyPagesPct, d.DirtyPagesPct, " %"},
		{"checkpoint_age", float(s.CheckpointAge), float(d.CheckpointAge), " bytes"},
		{"purge_history", float(s.PurgeHistory), float(d.PurgeHistory), " entries"},
		{"compaction", compaction, float(d.PendingCompaction), " flushes and compactions"},
	} {
		if err := judge(c.name, c.want, c.have, c.unit); err != nil {
			return nil, err
		}
	}
	return open, nil
}

// float converts a count, nil staying nil.
func float(n *uint64) *float64 {
	if n == nil {
		return nil
	}
	f := float64(*n)
	return &f
}
